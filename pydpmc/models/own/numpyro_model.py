"""from_numpyro: an unmodified NumPyro model, traced on made-up records."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ..._optional import require
from ...checks import given, whole
from ...errors import InvalidArgument, PydpmcError, WrongType
from .jax_model import JaxCode, jax_prior
from .model import Handle, OwnModel
from .numpyro_examples import Simulator, example
from .numpyro_sites import PURPOSE, Fields, Model, Natural, latent_sites, refuse
from .parameters import Site
from .records import Layout, layout_of

CLOSE = 1e-8


def from_numpyro(
    function: Callable[..., Any],
    *,
    plate: str = "records",
    record: Mapping[str, Any],
    options: Mapping[str, Any] | None = None,
    microbatch: int | None = None,
    lipschitz: float | None = None,
    smoothness: float | None = None,
    information: float | None = None,
) -> OwnModel:
    """Return a NumPyro model, as it is, for a private run.

    Sample sites outside the plate are parameters; they are sampled on unconstrained scales and come back on their
    natural ones. Observed sites in the plate are the likelihood of the records, all else is the prior.

    Parameters
    ----------
    function
        The model, called with the fields of `record` as keywords, records on the first axis.
    plate
        The name of its plate over records.
    record
        An example of one record, for names, shapes and whole numbers: ``dict(x=np.zeros(10), y=0)``. Fields take the
        columns of Data in their order, and ``y`` is the target.
    options
        Further keywords of the model: public constants such as a number of regions.
    microbatch
        Records of a call; chosen from the batch size by default.
    lipschitz, smoothness, information
        See ``OwnModel``.

    Examples
    --------
    >>> import numpy as np, numpyro, numpyro.distributions as dist, pydpmc as dp
    >>> def logistic(x, y=None):
    ...     beta = numpyro.sample("beta", dist.Normal(0.0, 1.0).expand([2]).to_event(1))
    ...     with numpyro.plate("records", x.shape[0]):
    ...         numpyro.sample("obs", dist.Bernoulli(logits=x @ beta), obs=y)
    >>> model = dp.models.from_numpyro(logistic, record=dict(x=np.zeros(2), y=0))
    >>> model.priors()
    {'beta': Normal(scale=1.0, loc=0.0)}
    """
    require("numpyro", "numpyro", PURPOSE)
    jax = require("jax", "numpyro", PURPOSE)
    if not callable(function):
        raise WrongType(f"function must be a NumPyro model, not {given(function)}")
    layout = layout_of(record)
    if layout is None:
        raise WrongType("record must be given: an example of one record, such as dict(x=np.zeros(10), y=0)")
    model = Model(function, plate, dict(options or {}))
    with jax.enable_x64(True), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of made-up records that the model's law excludes
        sites = _traced(model, layout)
        code, prior = _functions(model, sites, layout, microbatch)
    return OwnModel(
        name=f"from_numpyro({getattr(function, '__name__', 'model')})",
        code=code,
        sites=sites,
        layout=layout,
        public_prior=prior,
        stated_lipschitz=lipschitz,
        stated_smoothness=smoothness,
        stated_information=information,
        simulator=Handle(Simulator(model, layout)),
    )


def _traced(model: Model, layout: Layout) -> tuple[Site, ...]:
    """Return the parameters, or refuse the model; made-up records are traced by one, two and three."""
    try:
        one, two, three = (example(layout, count, count) for count in (1, 2, 3))
        refuse(model, one, 1)
        sites = latent_sites(model, one)
        _refuse_shapes(sites, latent_sites(model, three))
        refuse(model, three, 3)
        _refuse_dependence(model, one, two)
    except PydpmcError:
        raise
    except Exception as error:
        text = (str(error).strip().splitlines() or [""])[0][:300]
        raise InvalidArgument(
            f"the model cannot be traced on made-up records: {type(error).__name__}: {text}"
        ) from error
    return sites


def _refuse_shapes(sites: Sequence[Site], of_three: Sequence[Site]) -> None:
    if [site.name for site in sites] != [site.name for site in of_three]:
        raise InvalidArgument("the parameters of the model depend on its records: their names differ by their number")
    for site, other in zip(sites, of_three, strict=True):
        if site.shape != other.shape:
            raise InvalidArgument(
                f"{site.name}: the shape of a parameter must not depend on the records, but it is {site.shape} for one "
                f"record and {other.shape} for three; a latent of each record must be integrated out"
            )


def _refuse_dependence(model: Model, one: Fields, two: Fields) -> None:
    """Compare two records with each alone, and the prior across records."""
    values = {
        name: site["value"]
        for name, site in model.trace(one).items()
        if site["type"] == "sample" and not site["is_observed"]
    }
    singles = [{name: value[k : k + 1] for name, value in two.items()} for k in (0, 1)]
    apart = sum(float(model.likelihood(single, values)) for single in singles)
    turned = {name: value[::-1] for name, value in two.items()}
    for pair in (two, turned):
        if not _close(float(model.likelihood(pair, values)), apart):
            raise InvalidArgument(
                "the records of the model interact: the log-likelihood of two is not the sum of theirs (a mean over "
                "records, a time series, ...); standardise by public constants beforehand"
            )
    if not _close(float(model.likelihood(two, values, seed=1)), apart):
        raise InvalidArgument("the likelihood of the model is random: it must have no random numbers of its own")
    priors = [float(model.rest(fields, values)) for fields in (*singles, two, one)]
    if not all(_close(priors[0], other) for other in priors):
        raise InvalidArgument(
            "the prior of the model depends on its records (a scale computed from x, a factor outside the plate): use "
            "public constants, or move it into the plate"
        )


def _close(a: float, b: float) -> bool:
    return bool(np.isclose(a, b, rtol=CLOSE, atol=CLOSE, equal_nan=True))


def _functions(
    model: Model, sites: tuple[Site, ...], layout: Layout, microbatch: int | None
) -> tuple[JaxCode, Handle | None]:
    jnp = require("jax.numpy", "numpyro", PURPOSE)
    plain = frozenset(site.name for site in sites if site.to_natural is None and site.support != "whole")

    def named(theta: Any) -> tuple[dict[str, Any], Any]:
        values, start, jacobian = {}, 0, 0.0
        for site in sites:
            part = theta[start : start + site.size]
            start += site.size
            if isinstance(site.to_natural, Natural):
                values[site.name], more = site.to_natural.one(part)
                jacobian = jacobian + more
            else:
                shaped = part.reshape(site.shape)
                if site.support == "whole":
                    values[site.name] = jnp.rint(shaped).astype(jnp.int64)
                else:
                    values[site.name] = jnp.exp(shaped) if site.support == "positive" else shaped
        return values, jacobian

    def loglik(theta: Any, record: Mapping[str, Any]) -> Any:
        return model.likelihood({name: value[None] for name, value in record.items()}, named(theta)[0])

    def prior(theta: Any) -> Any:
        values, jacobian = named(theta)
        return model.rest(example(layout, 1, 1), values, plain) + jacobian

    most = None if microbatch is None else whole(microbatch, "microbatch", most=65536)
    known = len(plain) == len(sites) and not _has_more(model, layout)
    return JaxCode(loglik, layout, most, "JAX"), None if known else jax_prior(prior)


def _has_more(model: Model, layout: Layout) -> bool:
    """Return whether observed sites or factors outside the plate are part of the prior."""
    sites = model.trace(example(layout, 1, 1)).values()
    return any(site["type"] == "sample" and site["is_observed"] and not model.inside(site) for site in sites)
