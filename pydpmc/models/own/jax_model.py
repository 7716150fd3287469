"""from_jax: the log-likelihood of one record as a JAX function, in double precision."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from ... import _core
from ..._optional import require
from ...checks import given, whole
from ...data.public import Public
from ...errors import InvalidArgument, WrongType
from ..priors import Normal, Prior
from .code import Code
from .model import Handle, OwnModel
from .parameters import Parameter, sites_of, unpacked
from .records import Layout, default_layout, layout_of

Floats = npt.NDArray[np.float64]
PURPOSE = "a model in JAX"


class _Mapped:
    """A function of one record, compiled for blocks: features, targets and theta arrive in one array."""

    def __init__(self, jax: Any, of_one: Any, columns: int, has_target: bool) -> None:
        self._jax, self._of_one, self._columns, self._has_target = jax, of_one, columns, has_target
        self._compiled: dict[int, Callable[[Floats, Floats], None]] = {}

    def __call__(self, theta: Floats, x: Floats, y: Floats | None, out: Floats) -> None:
        targets = np.zeros(len(x)) if y is None else y
        self.of_block(len(x))(np.concatenate([x.ravel(), targets, theta]), out)

    def of_block(self, count: int) -> Callable[[Floats, Floats], None]:
        """Return the function for blocks of this size, as the core calls it."""
        if count not in self._compiled:
            self._compiled[count] = self._compile(count)
        return self._compiled[count]

    def _compile(self, count: int) -> Callable[[Floats, Floats], None]:
        jax, columns, has_target = self._jax, self._columns, self._has_target
        of_all = jax.vmap(self._of_one, in_axes=(None, 0, 0 if has_target else None))

        def split(numbers: Any) -> Any:
            x, y = numbers[: count * columns], numbers[count * columns : count * (columns + 1)]
            theta = numbers[count * (columns + 1) :]
            return of_all(theta, x.reshape(count, columns), y if has_target else None)

        compiled, double = jax.jit(split), jax.enable_x64

        def call(numbers: Floats, out: Floats) -> None:
            with double(True):
                out[...] = compiled(numbers)

        return call


class JaxCode(Code):
    """A JAX function of theta and one record, mapped over microbatches by us."""

    __slots__ = ("_compiled", "_layout", "_of_record")

    def __init__(
        self, of_record: Callable[[Any, Any], Any], layout: Layout | None, most: int | None, backend: str
    ) -> None:
        super().__init__(backend, False, most)
        self._of_record, self._layout = of_record, layout
        self._compiled: dict[tuple[int, bool], tuple[_Mapped, _Mapped]] = {}

    def functions(self, public: Public) -> tuple[_Mapped, _Mapped]:
        """Return log-likelihood and gradient for tables of this shape."""
        key = (public.width, public.has_target)
        if key not in self._compiled:
            jax = require("jax", "jax", PURPOSE)
            loglik = self._loglik(public)
            self._compiled[key] = _Mapped(jax, loglik, *key), _Mapped(jax, jax.grad(loglik), *key)
        return self._compiled[key]

    @property
    def has_roots(self) -> bool:
        """Whether roots of curvatures can be computed: by JAX's Hessians."""
        return True

    def roots(self, public: Public) -> _Mapped:
        """Return the gradient of a record and, below it, a root of the positive part of minus its Hessian."""
        jax = require("jax", "jax", PURPOSE)
        jnp = jax.numpy
        loglik = self._loglik(public)

        def both(theta: Any, x: Any, y: Any) -> Any:
            values, vectors = jnp.linalg.eigh(-jax.hessian(loglik)(theta, x, y))
            root = jnp.sqrt(jnp.maximum(values, 0.0))[:, None] * vectors.T
            return jnp.concatenate([jax.grad(loglik)(theta, x, y)[None], root])

        return _Mapped(jax, both, public.width, public.has_target)

    def core(self, public: Public, block: int) -> Any:
        """Return the functions as the core calls them."""
        return self.look(public, block, False)

    def look(self, public: Public, block: int, roots: bool) -> Any:
        """Return the functions for looks at gradients, with or without roots of curvatures."""
        loglik, gradient = self.functions(public)
        return _core.OwnModel.of_python(
            loglik=loglik.of_block(block),
            gradient=gradient.of_block(block),
            block=block,
            roots=self.roots(public).of_block(block) if roots else None,
            in_one_array=True,
        )

    def _loglik(self, public: Public) -> Callable[..., Any]:
        jax, of_record = require("jax", "jax", PURPOSE), self._of_record
        layout = default_layout(public) if self._layout is None else self._layout

        def loglik(theta: Any, x: Any, y: Any) -> Any:
            value = of_record(theta, layout.of(x, y, lambda whole: whole.astype(jax.numpy.int64)))
            kind = None if value is None else jax.numpy.result_type(value)
            if kind is None or not (jax.numpy.issubdtype(kind, jax.numpy.integer) or kind in (bool, np.float64)):
                raise InvalidArgument(
                    f"the log-likelihood of one record must be a real number in double precision, not {kind}"
                )
            if jax.numpy.shape(value) != ():
                raise InvalidArgument(
                    f"the log-likelihood of one record must be one number, but its shape is {jax.numpy.shape(value)}"
                )
            return value

        return loglik


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
