"""OwnModel: what all models from elsewhere have in common."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np

from ... import _core
from ...checks import positive
from ...data.public import Public
from ...errors import InvalidArgument
from ..base import Block, Floats, Model
from ..priors import Flat, Normal, Prior, Uniform
from .code import Code
from .parameters import Site, labels_of
from .records import Layout, default_layout
from .trial import touched, try_convex, try_out, try_roots

ACCURACY = 1e-10
CONVEX = (
    "the log-likelihood of every record within the declared bounds is concave in theta, its gradient is at most {0:g} "
    "long and changes by at most {1:g} per unit of theta, and what the code computes is a number within {2:g} of that "
    "length from it, or no number at any theta"
)
AXES = ("chain", "draw")
SPREAD = 0.3  # of the trial's thetas around the start
POINTS_SEED = 3
PublicPrior = Callable[[Floats, Floats | None], float]  # log density at theta; writes its gradient


class Handle:
    """An object that plans know by its identity."""

    __slots__ = ("of",)

    def __init__(self, of: Any) -> None:
        self.of = of


@dataclass(frozen=True, repr=False)
class OwnModel(Model):
    """A likelihood that was not written for pydpmc. ``from_numpyro`` and its siblings make it.

    The core clips what the code says of a record, whatever it is, so that no guarantee depends on what is stated here.

    Parameters
    ----------
    lipschitz
        The clip to use if the sampler has none: a public guess of the largest norm of a record's gradient.
    smoothness
        The largest curvature of a record's log-likelihood, from which the planner chooses a step size.
    information
        Fisher information of one record about one coordinate, for forecasts.
    """

    core_name: ClassVar[str] = "own"
    has_second_moments: ClassVar[bool] = True
    takes_uniform: ClassVar[bool] = True

    name: str
    code: Code
    sites: tuple[Site, ...]
    layout: Layout | None = None
    public_prior: Handle | None = None  # of a PublicPrior, or of an OwnPrior of the core
    stated_lipschitz: float | None = None
    stated_smoothness: float | None = None
    stated_information: float | None = None
    stated_convex: bool = False
    simulator: Handle | None = None
    tried: Handle = field(default_factory=lambda: Handle(set()), compare=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        for site in self.sites:
            if site.name in AXES:
                raise InvalidArgument(
                    f"a parameter cannot be called {site.name!r}: the axes of all draws are called so"
                )
        for name in ("lipschitz", "smoothness", "information"):
            if getattr(self, f"stated_{name}") is not None:
                positive(getattr(self, f"stated_{name}"), name)

    def __repr__(self) -> str:
        return self.name

    @property
    def has_gradient(self) -> bool:
        """Whether the code has a gradient, and all parameters are real numbers without ends."""
        return self.code.has_gradient and not any(
            site.support == "whole" or isinstance(site.prior, Uniform) for site in self.sites
        )

    @property
    def without_gradient(self) -> str:
        """What to do about it, for messages."""
        for site in self.sites:
            if site.support == "whole":
                return f"{site.name} is a whole number: use Barker, or sum it out"
            if isinstance(site.prior, Uniform):
                return f"the prior of {site.name} is Uniform, which has no slope at its ends: use Barker"
        return super().without_gradient

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What a guarantee assumes of the code."""
        return self.code.assumptions

    def blocks(self, public: Public) -> tuple[Block, ...]:
        """Return the parameters in the order of theta."""
        return tuple(site.block for site in self.sites)

    def priors(self) -> Prior | Mapping[str, Prior]:
        """Return the priors by name; Flat where the model's own prior has all of it."""
        return {site.name: site.prior for site in self.sites}

    def lipschitz(self, public: Public) -> float | None:
        """Return the stated bound; the core clips to it in any case."""
        return None if any(site.support == "whole" for site in self.sites) else self.stated_lipschitz

    def centre(self, public: Public) -> Floats:
        """Return the default start of a chain: the prior's centre, a whole number where parameters are whole."""
        found = super().centre(public)
        return np.where(self.whole_numbers(public), np.floor(found), found)

    def smoothness(self, public: Public) -> float | None:
        """Return the stated curvature."""
        return self.stated_smoothness

    def information(self, public: Public) -> float | None:
        """Return the stated information."""
        return self.stated_information

    def stated_convex_and_smooth(self, *, lipschitz: float, smoothness: float) -> OwnModel:
        """Return the model with what Langevin's guarantee then rests on; it stands in ``guarantee.assumptions``.

        Parameters
        ----------
        lipschitz
            L: no record's log-likelihood has a gradient longer than this, at any theta.
        smoothness
            M: the gradient changes by at most M |a - b| from theta a to theta b, and the log-likelihood is concave.
        """
        return replace(self, stated_lipschitz=lipschitz, stated_smoothness=smoothness, stated_convex=True)

    @property
    def convexity(self) -> str:
        """What the user stated, as a sentence."""
        return CONVEX.format(self.stated_lipschitz, self.stated_smoothness, ACCURACY)

    def check_convex(self, public: Public) -> None:
        """Refuse a statement that made-up records contradict."""
        assert self.stated_lipschitz is not None
        assert self.stated_smoothness is not None
        points = self._points(public, np.random.default_rng(POINTS_SEED))
        stated = self.stated_lipschitz, self.stated_smoothness
        try_convex(self.code, points, public, self.layout_in(public), *stated)

    def gradient_error(self, public: Public, reach: float) -> float | None:
        """Return what is stated of the code's roundings."""
        return ACCURACY * self.stated_lipschitz if self.stated_convex and self.stated_lipschitz is not None else None

    def largest_factor(self, public: Public, reach: float) -> float | None:
        """Return a bound on the gradient, which is stated to be a number at every theta."""
        return max(1.0, self.stated_lipschitz or 1.0) if self.stated_convex else None

    def natural(self, theta: Floats, public: Public) -> tuple[dict[str, Floats], dict[str, tuple[str, ...]]]:
        """Return the parameters of draws (chain, draw, dim) by name, and the labels of their entries."""
        draws, labels, start = {}, {}, 0
        for site in self.sites:
            draws[site.name] = site.natural(theta[:, :, start : start + site.size])
            labels[site.name] = labels_of(site.shape)
            start += site.size
        return draws, labels

    def normal_prior(self, public: Public) -> dict[str, list[float] | list[float | None]]:
        """Return mean and precision of each parameter's prior; the precision is None unless it is Normal or Flat."""
        mean: list[float] = []
        precision: list[float | None] = []
        for site in self.sites:
            size, prior = math.prod(site.shape), self.block_prior(site.block)
            plain = site.to_natural is None and isinstance(prior, Normal | Flat) and not isinstance(prior, _Joint)
            known = plain and site.support == "real"
            mean += prior.centre(size).tolist() if known else [0.0] * size
            precision += prior.precision(size).tolist() if known else [None] * size
        return {"prior_mean": mean, "prior_precision": precision}

    def coordinates(self, name: str, mean: Floats) -> Floats:
        """Return where in theta a chain starts whose parameter is `mean`."""
        site = next(one for one in self.sites if one.name == name)
        if site.to_natural is not None:
            raise InvalidArgument(f"init: {name} is sampled on another scale; give init as a point of theta")
        return np.log(mean) if site.support == "positive" else mean

    @contextmanager
    def silence(self) -> Iterator[None]:
        """Show no warning while a run calls Python: it would be a release that nobody paid for."""
        with warnings.catch_warnings():
            if self.code.calls_python:
                warnings.simplefilter("ignore")
            yield

    def described(self) -> dict[str, Any]:
        """Return what a result says of the model: the shapes of its parameters."""
        return {"shapes": {site.name: list(site.shape) for site in self.sites}}

    def layout_in(self, public: Public) -> Layout:
        """Return how a record lies in the columns."""
        return default_layout(public) if self.layout is None else self.layout

    def check_public(self, public: Public) -> None:
        """Refuse a table of another shape, and a model that is none: it is tried on made-up records first."""
        self.layout_in(public).check(public)
        self.prior_table(public)
        facts = (public.columns, public.has_target, public.x_bounds, public.y_bounds, public.row_norm)
        if facts not in self.tried.of:
            points = self._points(public, np.random.default_rng(POINTS_SEED))
            try_out(self.code, points, public, self.layout_in(public), self.public_prior, self.has_gradient)
            self.tried.of.add(facts)

    def _points(self, public: Public, random: np.random.Generator) -> list[Floats]:
        """Return two thetas for the trial: around the start, or anywhere between the ends of a prior that has some."""
        found = []
        for _ in range(2):
            parts = []
            for site, start in zip(self.sites, self._split(self.centre(public)), strict=True):
                ended = isinstance(site.prior, Uniform) and np.isfinite([site.prior.low, site.prior.high]).all()
                part = start + SPREAD * (4.0 if site.support == "whole" else 1.0) * random.normal(size=site.size)
                part = site.prior.draw(site.size, random.random(site.size)) if ended else part
                part = np.maximum(part, site.prior.low) if isinstance(site.prior, Uniform) else part
                parts.append(np.rint(part) if site.support == "whole" else part)
            found.append(np.concatenate(parts))
        return found

    def check_roots(self, public: Public) -> None:
        """Refuse a model whose Hessians are no numbers for made-up records: a look at them would show nothing."""
        try_roots(
            self.code, self._points(public, np.random.default_rng(POINTS_SEED))[0], public, self.layout_in(public)
        )

    def touched(self, public: Public) -> Any:
        """Return which coordinates the likelihood depends on; the others, such as scales of effects, have a prior."""
        points = self._points(public, np.random.default_rng(POINTS_SEED))
        return touched(self.code, points[0], public, self.layout_in(public))

    def _split(self, theta: Floats) -> list[Floats]:
        return np.split(theta, np.cumsum([site.size for site in self.sites])[:-1])

    def core_model(self, public: Public, batch: int, sampling: str) -> dict[str, Any]:
        """Return the arguments of the core's ``Target`` that a model decides."""
        block = self.code.block(batch, sampling, public.width, self.dim(public))
        prior = self.public_prior.of if self.public_prior is not None else None
        if prior is not None and not isinstance(prior, _core.OwnPrior):
            prior = _core.OwnPrior.of_python(prior)
        return super().core_model(public, batch, sampling) | {
            "own": self.code.core(public, block),
            "own_prior": prior,
        }

    def simulate(self, parameters: Mapping[str, Floats], x: Floats, random: Any) -> Floats:
        """Return made-up targets, for rehearsals."""
        if self.simulator is None:
            raise InvalidArgument(f"{self.name} cannot be rehearsed: pass simulate, a function that makes up targets")
        shaped = {site.name: parameters[site.name].reshape(site.shape) for site in self.sites}
        return np.asarray(self.simulator.of(shaped, x, random), dtype=np.float64)

    def block_prior(self, block: Block) -> Prior:
        """Return the prior of one block."""
        prior = super().block_prior(block)
        if isinstance(prior, Flat) and self.public_prior is not None:
            return _Joint()
        return prior


@dataclass(frozen=True)
class _Joint(Flat):
    """The coordinates whose prior is the model's own, which the core adds."""

    def draw(self, size: int, uniforms: Floats) -> Floats:
        """Refuse: the density is known, not how to draw from it."""
        raise InvalidArgument('init="prior": the prior of this model is a density of your own; give a point instead')
