"""The sites of a NumPyro model that is traced on made-up records: which are parameters, prior and likelihood."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..._optional import require
from ...errors import InvalidArgument
from ..priors import Flat, Laplace, Normal, Prior, StudentT, Uniform
from .parameters import Site

Floats = npt.NDArray[np.float64]
PURPOSE = "a model in NumPyro"
Fields = Mapping[str, Any]
PLAIN: dict[str, Callable[[Any], Prior]] = {
    "Normal": lambda d: Normal(_flat(d, "scale"), _flat(d, "loc")),
    "Laplace": lambda d: Laplace(_flat(d, "scale"), _flat(d, "loc")),
    "Cauchy": lambda d: StudentT(1.0, _flat(d, "scale"), _flat(d, "loc")),
    "HalfNormal": lambda d: Normal(_flat(d, "scale")),
    "HalfCauchy": lambda d: StudentT(1.0, _flat(d, "scale")),
}


@dataclass(frozen=True)
class Model:
    """A NumPyro function with the name of its plate over records, and what else it is called with."""

    function: Callable[..., Any]
    plate: str
    options: Mapping[str, Any]

    def trace(self, fields: Fields, values: Mapping[str, Any] | None = None, seed: Any = 0) -> dict[str, Any]:
        """Return all sites of the model, called with these records and values of its latent sites."""
        handlers = require("numpyro.handlers", "numpyro", PURPOSE)
        seeded = handlers.seed(self.function, rng_seed=seed)
        if values is not None:
            seeded = handlers.substitute(seeded, data=values)
        found: dict[str, Any] = handlers.trace(seeded).get_trace(**fields, **self.options)
        return found

    def inside(self, site: Mapping[str, Any]) -> bool:
        """Return whether a site is in the plate over records."""
        return any(frame.name == self.plate for frame in site.get("cond_indep_stack", ()))

    def likelihood(self, fields: Fields, values: Mapping[str, Any], seed: int = 0) -> Any:
        """Return the summed log-likelihood of records: of the observed sites in their plate."""
        sites = self.trace(fields, values, seed).values()
        return sum(log_prob(site) for site in sites if is_observed(site) and self.inside(site))

    def rest(self, fields: Fields, values: Mapping[str, Any], plain: frozenset[str] = frozenset()) -> Any:
        """Return the log density of everything else but the plain sites: the prior."""
        sites = self.trace(fields, values).items()
        return sum(
            (
                log_prob(site)
                for name, site in sites
                if site["type"] == "sample" and not self.inside(site) and name not in plain
            ),
            start=0.0,
        )


def is_observed(site: Mapping[str, Any]) -> bool:
    """Return whether a site is an observation."""
    return site["type"] == "sample" and bool(site["is_observed"])


def is_latent(site: Mapping[str, Any]) -> bool:
    """Return whether a site is a parameter, of the whole model or of a record."""
    return site["type"] == "sample" and not site["is_observed"]


def log_prob(site: Mapping[str, Any]) -> Any:
    """Return the log density of a site, with its scale."""
    jnp = require("jax.numpy", "numpyro", PURPOSE)
    value = jnp.sum(site["fn"].log_prob(site["value"]))
    return value if site.get("scale") is None else jnp.sum(site["scale"] * site["fn"].log_prob(site["value"]))


def refuse(model: Model, fields: Fields, count: int) -> None:
    """Refuse a model that is not a likelihood of records with a prior of parameters."""
    sites = model.trace(fields)
    plates = {name: site for name, site in sites.items() if site["type"] == "plate"}
    if model.plate not in plates:
        raise InvalidArgument(
            f"plate: the model has no plate {model.plate!r} over its records; its plates are {sorted(plates) or 'none'}"
        )
    if any(int(size) != count for size in plates[model.plate]["args"] if size is not None):
        raise InvalidArgument(
            f"plate: {model.plate!r} must have the size of the records it gets (x.shape[0]), without subsampling: "
            "pydpmc draws the batches"
        )
    for name, site in sites.items():
        _refuse_site(model, name, site)
    if not any(is_observed(site) and model.inside(site) for site in sites.values()):
        raise InvalidArgument(
            f"the model observes nothing in its plate {model.plate!r}: pass obs= to a sample site there"
        )
    if not any(is_latent(site) for site in sites.values()):
        raise InvalidArgument("the model has no parameter: no sample site without obs= outside its plate")


def _refuse_site(model: Model, name: str, site: Mapping[str, Any]) -> None:
    if site["type"] in ("param", "mutable", "prng_key"):
        wanted = "a sample site with a prior" if site["type"] != "prng_key" else "no random numbers of its own"
        raise InvalidArgument(f"{name}: the model has a {site['type']} site, but needs {wanted} instead")
    if not is_latent(site):
        return
    if model.inside(site):
        raise InvalidArgument(
            f"{name}: a latent site in the plate {model.plate!r} belongs to one record and would be released for it; "
            "integrate it out (a mixture, a StudentT, a BetaBinomial, ...)"
        )
    if site["fn"].support.is_discrete and _ends(site["fn"].support) is None:
        raise InvalidArgument(
            f"{name}: discrete latent sites must be whole numbers from one number to another, or at least one; sum "
            "others out (MixtureSameFamily, logsumexp)"
        )


def _ends(support: Any) -> tuple[float, float] | None:
    """Return the least and the largest whole number of a discrete support, or None if it is no such range."""
    kind = type(support).__name__.lstrip("_")
    if kind == "Boolean":
        return 0.0, 1.0
    low = getattr(support, "lower_bound", None)
    high = getattr(support, "upper_bound", None)
    if kind not in ("IntegerInterval", "IntegerGreaterThan", "IntegerNonnegative", "IntegerPositive") or low is None:
        return None
    low, high = np.asarray(low, dtype=float), np.asarray(np.inf if high is None else high, dtype=float)
    one = bool((low == low.flat[0]).all() and (high == high.flat[0]).all())
    return (float(low.flat[0]), float(high.flat[0])) if one else None


def latent_sites(model: Model, fields: Fields) -> tuple[Site, ...]:
    """Return the parameters; those with a plain constant prior keep it, all others leave it to the model."""
    dist = require("numpyro.distributions", "numpyro", PURPOSE)
    first, second = (
        {name: site for name, site in model.trace(fields, seed=seed).items() if is_latent(site)} for seed in (0, 1)
    )
    sites = []
    for name, site in first.items():
        if site["fn"].support.is_discrete:
            sites.append(_whole_site(name, site, second[name]))
            continue
        transform = dist.transforms.biject_to(site["fn"].support)
        size = int(np.size(transform.inv(site["value"])))
        plain = _plain_prior(site, second[name])
        shape = tuple(int(n) for n in np.shape(site["value"]))
        if plain is not None:
            kind = "positive" if type(_base(site["fn"])).__name__.startswith("Half") else "real"
            sites.append(Site(name, shape, size, kind, plain))
        else:
            inner = tuple(int(n) for n in np.shape(transform.inv(site["value"])))
            sites.append(Site(name, shape, size, "real", Flat(), Natural(transform, inner)))
    return tuple(sites)


def _whole_site(name: str, site: Mapping[str, Any], again: Mapping[str, Any]) -> Site:
    ends = _ends(site["fn"].support)
    assert ends is not None  # _refuse_site
    if ends != _ends(again["fn"].support):
        raise InvalidArgument(f"{name}: the range of a discrete site must not depend on other sites")
    shape = tuple(int(n) for n in np.shape(site["value"]))
    return Site(name, shape, int(np.prod(shape, dtype=int)), "whole", Uniform(*ends))


class Natural:
    """From coordinates of one site to its value."""

    __slots__ = ("_transform", "shape")

    def __init__(self, transform: Any, shape: tuple[int, ...]) -> None:
        self._transform, self.shape = transform, shape

    def one(self, coordinates: Any) -> tuple[Any, Any]:
        """Return the value, and the logarithm of the Jacobian."""
        jnp = require("jax.numpy", "numpyro", PURPOSE)
        given = coordinates.reshape(self.shape)
        value = self._transform(given)
        return value, jnp.sum(self._transform.log_abs_det_jacobian(given, value))

    def __call__(self, coordinates: Floats) -> Floats:
        """Return the values of coordinates (draws, size)."""
        jax = require("jax", "numpyro", PURPOSE)
        with jax.enable_x64(True):
            return np.asarray(jax.vmap(lambda one: self.one(one)[0])(coordinates), dtype=np.float64)


def _plain_prior(site: Mapping[str, Any], again: Mapping[str, Any]) -> Prior | None:
    """Return the prior if it is one of ours, with constants that depend on no other site."""
    if site.get("scale") is not None:
        return None
    here, there = _base(site["fn"]), _base(again["fn"])
    maker = PLAIN.get(type(here).__name__)
    if maker is None or type(here) is not type(there):
        return None
    shape = np.shape(site["value"])
    constants = [
        (np.broadcast_to(getattr(here, name), shape), np.broadcast_to(getattr(there, name), shape))
        for name in ("loc", "scale")
        if hasattr(here, name) and name in here.arg_constraints
    ]
    if any(not np.array_equal(a, b) for a, b in constants):
        return None
    made: Prior = maker(_Spread(here, shape))
    return made


class _Spread:
    def __init__(self, of: Any, shape: tuple[int, ...]) -> None:
        self.of, self.shape = of, shape


def _flat(spread: _Spread, name: str) -> float | tuple[float, ...]:
    values = np.broadcast_to(np.asarray(getattr(spread.of, name), dtype=np.float64), spread.shape).ravel()
    return float(values[0]) if np.ptp(values) == 0.0 else tuple(values.tolist())


def _base(distribution: Any) -> Any:
    while type(distribution).__name__ in ("Independent", "ExpandedDistribution"):
        distribution = distribution.base_dist
    return distribution
