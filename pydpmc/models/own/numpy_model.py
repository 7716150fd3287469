"""from_numpy: a log-likelihood in numpy."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ...checks import given, whole, yes_or_no
from ...data.public import Public
from ...errors import InvalidArgument, WrongType
from ..priors import Normal, Prior
from .code import Code, Function, quietly
from .model import Handle, OwnModel
from .parameters import Parameter, Site, sites_of, unpacked
from .records import Layout, default_layout, layout_of

Floats = npt.NDArray[np.float64]


class NumpyCode(Code):
    """Functions of arrays, for a microbatch or for one record at a time."""

    __slots__ = ("_grad", "_layout", "_log_lik", "_sites")

    def __init__(
        self, log_lik: Any, grad: Any, sites: tuple[Site, ...], layout: Layout | None, apart: bool, most: int | None
    ) -> None:
        super().__init__("numpy", apart, most)
        self._log_lik, self._grad, self._sites, self._layout = log_lik, grad, sites, layout

    @property
    def has_gradient(self) -> bool:
        """Whether grad was given."""
        return self._grad is not None

    def functions(self, public: Public) -> tuple[Function, Function | None]:
        """Return log-likelihood and gradient for tables of this shape."""
        layout = default_layout(public) if self._layout is None else self._layout
        sites, log_lik, grad = self._sites, self._log_lik, self._grad

        def arguments(theta: Floats, x: Floats, y: Floats | None) -> tuple[Any, Any]:
            return unpacked(sites, theta, np), layout.of(x, y, lambda value: value.astype(np.int64))

        def logliks(theta: Floats, x: Floats, y: Floats | None, out: Floats) -> None:
            out[...] = _shaped(log_lik(*arguments(theta, x, y)), out.shape, "log_lik")

        def gradients(theta: Floats, x: Floats, y: Floats | None, out: Floats) -> None:
            named, record = arguments(theta, x, y)
            out[...] = _stacked(grad(named, record), sites, named, len(x))

        return quietly(logliks), None if grad is None else quietly(gradients)


def _shaped(values: Any, shape: tuple[int, ...], name: str) -> Floats:
    array = np.asarray(values, dtype=np.float64)
    if array.shape != shape:
        raise InvalidArgument(
            f"{name} must return one number per record, shape {shape}, but its shape is {array.shape}"
        )
    return array


def _stacked(made: Any, sites: Sequence[Site], named: Mapping[str, Floats], count: int) -> Floats:
    """Return gradients in theta: those of a positive parameter are taken in its logarithm."""
    if not isinstance(made, Mapping) or set(made) != {site.name for site in sites}:
        raise WrongType(f"grad must return a gradient for each parameter by name, {[site.name for site in sites]}")
    parts = []
    for site in sites:
        part = _shaped(made[site.name], (count, *site.shape), f"grad[{site.name!r}]")
        parts.append((part * named[site.name] if site.support == "positive" else part).reshape(count, site.size))
    return np.concatenate(parts, axis=1)


def numpy_prior(prior: Any, prior_grad: Any, sites: tuple[Site, ...]) -> Handle | None:
    """Return a prior of all parameters together as a function of theta; the core has the Jacobian of positive ones."""
    if not callable(prior):
        return None
    if not callable(prior_grad):
        raise WrongType("prior_grad must be given with a prior that is a function: it returns the gradient by name")

    def log_density(theta: Floats, slopes: Floats | None) -> float:
        with np.errstate(all="ignore"):
            named = unpacked(sites, theta, np)
            if slopes is not None:
                one = {name: np.asarray(value)[None] for name, value in prior_grad(named).items()}
                slopes[...] = _stacked(one, sites, named, 1)[0]
            return float(prior(named))

    return Handle(log_density)


def from_numpy(
    log_lik: Callable[..., Any],
    grad: Callable[..., Any] | None = None,
    *,
    parameters: Mapping[str, Parameter | int | tuple[int, ...]],
    prior: Prior | Mapping[str, Prior] | Callable[..., Any] | None = None,
    prior_grad: Callable[..., Any] | None = None,
    record: Mapping[str, Any] | None = None,
    record_by_record: bool = False,
    microbatch: int | None = None,
    lipschitz: float | None = None,
    smoothness: float | None = None,
    information: float | None = None,
    simulate: Callable[..., Any] | None = None,
) -> OwnModel:
    """Return a model whose log-likelihood is a numpy function of several records.

    Parameters
    ----------
    log_lik
        ``log_lik(theta, record)``: one number per record. `theta` holds the parameters by name, `record` the fields of
        a record by name, records on the first axis.
    grad
        ``grad(theta, record)``: the gradient in each parameter by name, records on the first axis. Without it only
        Barker can run the model.
    parameters
        Shape of each parameter by name, or a ``Parameter``.
    prior
        One prior for all, one by name, or a function ``prior(theta)`` of all parameters: their log density.
    prior_grad
        The gradient of a prior that is a function, by name.
    record
        An example of a record, for names and shapes: fields take the columns of Data in their order, and ``y`` is the
        target. By default ``x`` and ``y``.
    record_by_record
        Calls the functions for one record at a time: slow, but then no assumption about records in a batch is needed.
    microbatch
        Records of a call; chosen from the batch size by default.
    lipschitz, smoothness, information
        See ``OwnModel``.
    simulate
        ``simulate(theta, x, random)``: made-up targets for rows of features, for rehearsals.

    Examples
    --------
    >>> import numpy as np, pydpmc as dp
    >>> def log_lik(theta, record):
    ...     return -0.5 * ((record["y"] - record["x"] @ theta["beta"]) / theta["sigma"]) ** 2 - np.log(theta["sigma"])
    >>> model = dp.models.from_numpy(log_lik, parameters={"beta": 2, "sigma": dp.models.Parameter((), "positive")})
    >>> data = dp.Data(np.random.default_rng(0).normal(size=(500, 2)), np.zeros(500), y_bounds=(-3.0, 3.0))
    >>> post = dp.sample(model, data, dp.Barker(scale=0.1, clip=0.1), epsilon=1.0, delta=1e-6, progress=False)
    >>> bool(post.draws["sigma"].min() > 0.0)
    True
    """
    if not callable(log_lik) or not (grad is None or callable(grad)):
        raise WrongType(f"log_lik and grad must be functions, not {given(log_lik)} and {given(grad)}")
    yes_or_no(record_by_record, "record_by_record")
    prior = Normal() if prior is None else prior
    sites = sites_of(parameters, prior)
    most = None if microbatch is None else whole(microbatch, "microbatch", most=65536)
    layout = layout_of(record)
    return OwnModel(
        name=f"from_numpy({getattr(log_lik, '__name__', 'log_lik')})",
        code=NumpyCode(log_lik, grad, sites, layout, record_by_record, most),
        sites=sites,
        layout=layout,
        public_prior=numpy_prior(prior, prior_grad, sites),
        stated_lipschitz=lipschitz,
        stated_smoothness=smoothness,
        stated_information=information,
        simulator=None if simulate is None else Handle(simulate),
    )
