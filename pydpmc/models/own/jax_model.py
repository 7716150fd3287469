"""from_jax: the log-likelihood of one record as a JAX function, in double precision."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from ..._optional import require
from ...checks import given, whole
from ...data.public import Public
from ...errors import InvalidArgument, WrongType
from ..priors import Normal, Prior
from .code import Code, Function
from .model import Handle, OwnModel
from .parameters import Parameter, sites_of, unpacked
from .records import Layout, default_layout, layout_of

Floats = npt.NDArray[np.float64]
PURPOSE = "a model in JAX"


class JaxCode(Code):
    """A JAX function of theta and one record, mapped over microbatches by us."""

    __slots__ = ("_compiled", "_layout", "_of_record")

    def __init__(
        self, of_record: Callable[[Any, Any], Any], layout: Layout | None, most: int | None, backend: str
    ) -> None:
        super().__init__(backend, False, most)
        self._of_record, self._layout = of_record, layout
        self._compiled: dict[tuple[int, bool], tuple[Function, Function]] = {}

    def functions(self, public: Public) -> tuple[Function, Function]:
        """Return log-likelihood and gradient for tables of this shape."""
        key = (public.width, public.has_target)
        if key not in self._compiled:
            self._compiled[key] = self._compile(default_layout(public) if self._layout is None else self._layout)
        return self._compiled[key]

    @property
    def has_roots(self) -> bool:
        """Whether roots of curvatures can be computed: by JAX's Hessians."""
        return True

    def roots(self, public: Public) -> Function:
        """Return the gradient of a record and, below it, a root of the positive part of minus its Hessian."""
        jax = require("jax", "jax", PURPOSE)
        jnp = jax.numpy
        loglik = self._loglik(default_layout(public) if self._layout is None else self._layout)

        def both(theta: Any, x: Any, y: Any) -> Any:
            values, vectors = jnp.linalg.eigh(-jax.hessian(loglik)(theta, x, y))
            root = jnp.sqrt(jnp.maximum(values, 0.0))[:, None] * vectors.T
            return jnp.concatenate([jax.grad(loglik)(theta, x, y)[None], root])

        return _mapped(jax, both)

    def _compile(self, layout: Layout) -> tuple[Function, Function]:
        jax = require("jax", "jax", PURPOSE)
        loglik = self._loglik(layout)
        return _mapped(jax, loglik), _mapped(jax, jax.grad(loglik))

    def _loglik(self, layout: Layout) -> Callable[..., Any]:
        jax, of_record = require("jax", "jax", PURPOSE), self._of_record

        def loglik(theta: Any, x: Any, y: Any) -> Any:
            value = of_record(theta, layout.of(x, y, lambda whole: whole.astype(jax.numpy.int64)))
            if jax.numpy.shape(value) != ():
                raise InvalidArgument(
                    f"the log-likelihood of one record must be one number, but its shape is {jax.numpy.shape(value)}"
                )
            return value

        return loglik


def _mapped(jax: Any, of_one: Any) -> Function:
    with_target = jax.jit(jax.vmap(of_one, in_axes=(None, 0, 0)))
    without = jax.jit(jax.vmap(lambda theta, x: of_one(theta, x, None), in_axes=(None, 0)))
    double = jax.enable_x64

    def call(theta: Floats, x: Floats, y: Floats | None, out: Floats) -> None:
        with double(True):
            out[...] = without(theta, x) if y is None else with_target(theta, x, y)

    return call


def jax_prior(log_density: Callable[[Any], Any]) -> Handle:
    """Return a public prior of theta that the core can call."""
    jax = require("jax", "jax", PURPOSE)
    value, both = jax.jit(log_density), jax.jit(jax.value_and_grad(log_density))

    def call(theta: Floats, slopes: Floats | None) -> float:
        with jax.enable_x64(True):
            if slopes is None:
                return float(value(theta))
            made, gradient = both(theta)
            slopes[...] = gradient
            return float(made)

    return Handle(call)


def from_jax(
    log_lik: Callable[..., Any],
    *,
    parameters: Mapping[str, Parameter | int | tuple[int, ...]],
    prior: Prior | Mapping[str, Prior] | Callable[..., Any] | None = None,
    record: Mapping[str, Any] | None = None,
    microbatch: int | None = None,
    lipschitz: float | None = None,
    smoothness: float | None = None,
    information: float | None = None,
    simulate: Callable[..., Any] | None = None,
) -> OwnModel:
    """Return a model whose log-likelihood of one record is a JAX function; gradients come from JAX.

    Parameters
    ----------
    log_lik
        ``log_lik(theta, record)``: one number. `theta` holds the parameters by name, `record` the fields of one record.
    parameters
        Shape of each parameter by name, or a ``Parameter``.
    prior
        One prior for all, one by name, or a JAX function ``prior(theta)``: the log density of all parameters, for
        hierarchical models.
    record
        An example of a record, for names and shapes; by default ``x`` and ``y``. See ``from_numpy``.
    microbatch
        Records of a call; chosen from the batch size by default. Every call has this shape, so JAX compiles once.
    lipschitz, smoothness, information, simulate
        See ``OwnModel`` and ``from_numpy``.

    Examples
    --------
    >>> import jax, numpy as np, pydpmc as dp
    >>> def log_lik(theta, record):
    ...     return jax.nn.log_sigmoid((2.0 * record["y"] - 1.0) * (record["x"] @ theta["beta"]))
    >>> model = dp.models.from_jax(log_lik, parameters={"beta": 2}, prior=dp.Normal(1.0))
    >>> rng = np.random.default_rng(0)
    >>> data = dp.Data(rng.normal(size=(2000, 2)), rng.integers(0, 2, 2000), row_norm=1.0)
    >>> sgld = dp.SGLD(clip=1.0, step_size=1e-3, batch_size=200)
    >>> dp.sample(model, data, sgld, epsilon=1.0, delta=1e-6, progress=False, anyway=True).draws["beta"].shape[2]
    2
    """
    require("jax", "jax", PURPOSE)
    if not callable(log_lik):
        raise WrongType(f"log_lik must be a function, not {given(log_lik)}")
    jnp = require("jax.numpy", "jax", PURPOSE)
    prior = Normal() if prior is None else prior
    sites, layout = sites_of(parameters, prior), layout_of(record)
    most = None if microbatch is None else whole(microbatch, "microbatch", most=65536)
    return OwnModel(
        name=f"from_jax({getattr(log_lik, '__name__', 'log_lik')})",
        code=JaxCode(lambda theta, one: log_lik(unpacked(sites, theta, jnp), one), layout, most, "JAX"),
        sites=sites,
        layout=layout,
        public_prior=jax_prior(lambda theta: prior(unpacked(sites, theta, jnp))) if callable(prior) else None,
        stated_lipschitz=lipschitz,
        stated_smoothness=smoothness,
        stated_information=information,
        simulator=None if simulate is None else Handle(simulate),
    )
