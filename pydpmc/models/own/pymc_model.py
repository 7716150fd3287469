"""from_pymc: a PyMC model whose records are in data containers; its graph is turned into JAX."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ..._optional import require
from ...checks import given, whole
from ...errors import InvalidArgument, PydpmcError, WrongType
from ..priors import Flat, Normal, Prior
from .jax_model import JaxCode, jax_prior
from .model import OwnModel
from .parameters import Site
from .records import TARGET, Field, Layout

Floats = npt.NDArray[np.float64]
PURPOSE = "a model in PyMC"


class _Graph:
    """The parts of a PyMC model: free variables, observed ones, and the containers of its records."""

    def __init__(self, model: Any, observed: Sequence[str], inputs: Sequence[str] | Mapping[str, Any]) -> None:
        self.model = model
        self.observed = [_named(model, name, "observed") for name in observed]
        if isinstance(inputs, Mapping):
            self.inputs = [self._constant(name, example) for name, example in inputs.items()]
        else:
            self.inputs = [_container(model, name) for name in inputs]
        self.free = list(model.free_RVs)
        self.values = [model.rvs_to_values[rv] for rv in self.free]

    def _constant(self, name: str, example: Any) -> Any:
        """Return the constant of the graph that has these values, such as a column of the table it was built on."""
        kind = require("pytensor.graph.basic", "pymc", PURPOSE).Constant
        ancestors = require("pytensor.graph.traversal", "pymc", PURPOSE).ancestors
        values = np.asarray(example)
        of = [*self.observed, *(self.model.rvs_to_values[rv] for rv in self.observed)]
        found = [
            node
            for node in ancestors(of)
            if isinstance(node, kind) and np.shape(node.data) == values.shape and np.array_equal(node.data, values)
        ]
        if values.ndim < 1 or len(found) != 1:
            raise InvalidArgument(
                f"inputs: {len(found)} constants of the model have the values of {name}, but there must be one; build "
                "the model on a made-up table, no two columns alike, whose columns enter as they are"
            )
        return found[0]

    @staticmethod
    def example(node: Any) -> Any:
        """Return the records that the model was built on: made-up ones."""
        return node.data if hasattr(node, "data") and not hasattr(node, "get_value") else node.get_value(borrow=True)

    def fresh(self) -> list[Any]:
        """Return variables in the place of the inputs, for any number of records."""
        tensor = require("pytensor.tensor", "pymc", PURPOSE).tensor
        return [tensor(dtype=node.dtype, shape=(None, *np.shape(self.example(node))[1:])) for node in self.inputs]

    def depends(self, variable: Any, on: Sequence[Any]) -> bool:
        """Return whether a variable is computed from any of these."""
        ancestors = require("pytensor.graph.traversal", "pymc", PURPOSE).ancestors
        found = set(ancestors([variable]))
        return any(one in found for one in on)

    def refuse(self) -> None:
        """Refuse what is not a likelihood of records with a prior of parameters."""
        names = {rv.name for rv in self.observed}
        others = [rv.name for rv in self.model.observed_RVs if rv.name not in names]
        if others:
            raise InvalidArgument(f"observed must list all observed variables; {others[0]!r} is missing")
        if not self.free:
            raise InvalidArgument("the model has no parameter: no free variable")
        for rv in self.free:
            if self.depends(rv, self.inputs):
                raise InvalidArgument(
                    f"{rv.name}: a parameter depends on the records (a latent of each record, or a prior computed from "
                    "them); integrate it out, or use public constants"
                )
            if np.dtype(rv.dtype).kind != "f":
                raise InvalidArgument(f"{rv.name}: discrete variables have no gradient; sum them out (pm.Mixture)")
        for potential in self.model.potentials:
            if self.depends(potential, self.inputs):
                raise InvalidArgument(
                    f"{potential.name}: a potential depends on the records; make it an observed variable"
                )

    def compiled(self, outputs: Sequence[Any], inputs: Sequence[Any]) -> Any:
        """Return a JAX function of these inputs."""
        jaxify = require("pymc.sampling.jax", "pymc", PURPOSE).get_jaxified_graph
        return jaxify(inputs=list(inputs), outputs=list(outputs))


def _container(model: Any, name: str) -> Any:
    shared = require("pytensor.compile.sharedvalue", "pymc", PURPOSE).SharedVariable
    found = _named(model, name, "inputs")
    if not isinstance(found, shared):
        raise InvalidArgument(f"inputs: {name} must be a pm.Data container, which can be given other records")
    return found


def _named(model: Any, name: str, argument: str) -> Any:
    if name not in model.named_vars:
        raise InvalidArgument(f"{argument}: the model has no variable {name!r}; it has {sorted(model.named_vars)}")
    return model.named_vars[name]


class _Natural:
    """From coordinates of one variable to its value."""

    __slots__ = ("_function", "_shape")

    def __init__(self, function: Any, shape: tuple[int, ...]) -> None:
        self._function, self._shape = function, shape

    def __call__(self, coordinates: Floats) -> Floats:
        jax = require("jax", "pymc", PURPOSE)
        with jax.enable_x64(True):
            made = jax.vmap(lambda one: self._function(one.reshape(self._shape))[0])(coordinates)
            return np.asarray(made, dtype=np.float64)


def _sites(graph: _Graph) -> tuple[Site, ...]:
    start = graph.model.initial_point(random_seed=0)
    sites = []
    for rv, value in zip(graph.free, graph.values, strict=True):
        shape = tuple(int(n) for n in np.shape(start[value.name]))
        size = int(np.prod(shape, dtype=int))
        prior = _plain_prior(graph, rv)
        if prior is not None:
            kind = "real" if graph.model.rvs_to_transforms[rv] is None else "positive"
            sites.append(Site(rv.name, shape, size, kind, prior))
            continue
        natural = graph.model.replace_rvs_by_values([rv])
        of_value = _Natural(graph.compiled(natural, [value]), shape)
        made = of_value(np.asarray(start[value.name], dtype=np.float64).reshape(1, -1))
        sites.append(Site(rv.name, made.shape[1:], size, "real", Flat(), of_value))
    return tuple(sites)


def _plain_prior(graph: _Graph, rv: Any) -> Prior | None:
    """Return the prior of a normal or half-normal variable with constant parameters."""
    operation = rv.owner.op
    kind, transform = getattr(operation, "name", ""), graph.model.rvs_to_transforms[rv]
    fits = {"normal": transform is None, "halfnormal": type(transform).__name__ == "LogTransform"}
    if not fits.get(kind, False):
        return None
    constants = operation.dist_params(rv.owner)
    if any(graph.depends(constant, graph.free) for constant in constants):
        return None
    shape = tuple(int(n) for n in np.shape(rv.eval()))
    loc, scale = (np.broadcast_to(constant.eval(), shape).astype(np.float64).ravel() for constant in constants)
    if kind == "halfnormal" and np.any(loc != 0.0):
        return None
    return Normal(*(float(v[0]) if np.ptp(v) == 0.0 else tuple(v.tolist()) for v in (scale, loc)))


def from_pymc(
    model: Any,
    *,
    observed: Sequence[str],
    inputs: Sequence[str] | Mapping[str, Any],
    target: str | None = None,
    microbatch: int | None = None,
    lipschitz: float | None = None,
    smoothness: float | None = None,
    information: float | None = None,
) -> OwnModel:
    """Return a PyMC model, as it is, for a private run.

    Its free variables are the parameters, sampled on PyMC's unconstrained scales; they come back on their natural ones.

    Parameters
    ----------
    model
        A ``pm.Model`` that was built on made-up records, not on private ones.
    observed
        Names of the observed variables: the likelihood of the records.
    inputs
        Names of the ``pm.Data`` containers that hold records on their first axis. They take the columns of Data in
        their order. Or, for a model without containers such as Bambi's, the made-up records that it was built on, by
        name: they are found among its constants.
    target
        The container of Data's target y; the last of `inputs` by default.
    microbatch, lipschitz, smoothness, information
        See ``from_numpyro``.

    Examples
    --------
    >>> import numpy as np, pymc as pm, pydpmc as dp
    >>> with pm.Model() as pymc_model:
    ...     X, Y = pm.Data("X", np.zeros((2, 3))), pm.Data("Y", np.zeros(2))
    ...     beta = pm.Normal("beta", 0.0, 1.0, shape=3)
    ...     obs = pm.Bernoulli("obs", logit_p=X @ beta, observed=Y)
    >>> dp.models.from_pymc(pymc_model, observed=["obs"], inputs=["X", "Y"]).priors()
    {'beta': Normal(scale=1.0, loc=0.0)}
    """
    pm = require("pymc", "pymc", PURPOSE)
    jax = require("jax", "jax", PURPOSE)
    if not isinstance(model, pm.Model):
        raise WrongType(f"model must be a pm.Model, not {given(model)}")
    for name, names in (("observed", observed), ("inputs", inputs)):
        if isinstance(names, str) or not names or (name == "observed" and isinstance(names, Mapping)):
            raise WrongType(f"{name} must be a list of names, not {given(names)}")
    graph = _Graph(model, observed, inputs)
    graph.refuse()
    last = list(inputs)[-1] if target is None else target
    layout = _layout(graph, list(inputs), last)
    try:
        with jax.enable_x64(True):
            sites = _sites(graph)
            code, prior = _functions(graph, sites, layout, microbatch)
    except PydpmcError:
        raise
    except Exception as error:
        text = (str(error).strip().splitlines() or [""])[0][:300]
        raise InvalidArgument(f"the model cannot be turned into JAX: {type(error).__name__}: {text}") from error
    return OwnModel(
        name=f"from_pymc({', '.join(observed)})",
        code=code,
        sites=sites,
        layout=layout,
        public_prior=prior,
        stated_lipschitz=lipschitz,
        stated_smoothness=smoothness,
        stated_information=information,
    )


def _layout(graph: _Graph, inputs: Sequence[str], target: str) -> Layout:
    fields = []
    for name, container in zip(inputs, graph.inputs, strict=True):
        shape = tuple(int(n) for n in np.shape(graph.example(container))[1:])
        whole_numbers = np.dtype(container.dtype).kind in "iu"
        fields.append(Field(TARGET if name == target else name, shape, whole_numbers))
    return Layout(tuple(fields))


def _functions(graph: _Graph, sites: tuple[Site, ...], layout: Layout, microbatch: int | None) -> tuple[JaxCode, Any]:
    jnp = require("jax.numpy", "jax", PURPOSE)
    replace = require("pytensor.graph.replace", "pymc", PURPOSE).clone_replace
    shapes = [tuple(int(n) for n in np.shape(graph.model.initial_point(random_seed=0)[v.name])) for v in graph.values]
    fresh = graph.fresh()
    terms = graph.model.logp(vars=graph.observed, sum=False)
    terms = replace(terms, dict(zip(graph.inputs, fresh, strict=True)), rebuild_strict=False)
    likelihood = graph.compiled(terms, [*graph.values, *fresh])
    dtypes = [np.dtype(container.dtype) for container in graph.inputs]

    def values(theta: Any) -> list[Any]:
        made, start = [], 0
        for site, shape in zip(sites, shapes, strict=True):
            made.append(theta[start : start + site.size].reshape(shape))
            start += site.size
        return made

    def loglik(theta: Any, record: Any) -> Any:
        rows = [value[None].astype(kind) for value, kind in zip(record.values(), dtypes, strict=True)]
        parts = likelihood(*values(theta), *rows)
        for part in parts:
            if jnp.ndim(part) < 1 or part.shape[0] != 1:
                raise InvalidArgument(
                    f"the log-likelihood of one record has the shape {tuple(part.shape)}: the model has a parameter "
                    "for each record, or its records interact"
                )
        return sum(jnp.sum(part) for part in parts)

    most = None if microbatch is None else whole(microbatch, "microbatch", most=65536)
    joint = [rv for rv, site in zip(graph.free, sites, strict=True) if site.to_natural is not None]
    code = JaxCode(loglik, layout, most, "JAX")
    if not joint and not graph.model.potentials:
        return code, None
    density = graph.compiled([graph.model.logp(vars=[*joint, *graph.model.potentials])], graph.values)
    return code, jax_prior(lambda theta: density(*values(theta))[0])
