"""The base class of all models, which know public bounds and never a record."""

from __future__ import annotations

import math
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from ..checks import given, yes_or_no
from ..data.public import Public
from ..errors import InvalidArgument, WrongType
from .priors import Flat, Normal, Prior, Uniform

Floats = npt.NDArray[np.float64]
ROUNDING = 2.0**-53  # relative error of one operation in double precision


@dataclass(frozen=True)
class Block:
    """A named group of parameters; a `positive` block is sampled on the log scale."""

    name: str
    size: int
    positive: bool = False
    labels: tuple[str, ...] = ()
    whole: bool = False  # whether its entries are whole numbers, which have no gradient


@dataclass(frozen=True)
class Model:
    """A likelihood with a prior: a frozen object that never sees a record.

    The Lipschitz constant L satisfies ``|log p(x|theta') - log p(x|theta)| <= L |theta' - theta|`` for every record
    within the declared bounds. If L is known, a clip of L rho never acts on a proposal of radius rho. Otherwise
    ``clip`` bounds each record's log-likelihood ratio, and it biases the posterior whenever it acts.
    """

    core_name: ClassVar[str]
    needs_target: ClassVar[bool] = True
    binary_target: ClassVar[bool] = False
    one_column: ClassVar[bool] = False
    has_second_moments: ClassVar[bool] = False  # whether the core can sum g g^T, which SGFS needs
    steepness_at_zero: ClassVar[float] = 1.0  # share of `lipschitz` that no gradient exceeds at theta = 0
    convex: ClassVar[bool] = False  # whether the negative log-likelihood is convex in theta
    takes_uniform: ClassVar[bool] = False  # whether priors may end: Barker alone samples those
    cold: ClassVar[bool] = False  # whether weights w above 1 are allowed: a cold posterior
    takes_weights: ClassVar[bool] = True  # whether the core's loops read the weights of records

    def __post_init__(self) -> None:
        priors = self.priors()
        listed = priors if isinstance(priors, Mapping) else {"all coefficients": priors}
        for block, prior in listed.items():
            if isinstance(prior, Uniform) and not self.takes_uniform:
                raise InvalidArgument(
                    f"prior of {block}: Uniform has no slope at its ends; it is for models of your own"
                )
            if not isinstance(prior, Prior):
                raise WrongType(f"prior of {block} must be a prior such as Normal(scale=1), not {given(prior)}")
        if hasattr(self, "intercept"):
            yes_or_no(self.intercept, "intercept")

    def blocks(self, public: Public) -> tuple[Block, ...]:
        """Return the parameter blocks in the order of theta."""
        raise NotImplementedError

    def priors(self) -> Prior | Mapping[str, Prior]:
        """Return the prior, or one prior per block name."""
        raise NotImplementedError

    def lipschitz(self, public: Public) -> float | None:
        """Return L, or None if no global constant follows from the public bounds."""
        return None

    def typical_lipschitz(self, public: Public) -> float | None:
        """Return a slope that the log-likelihood seldom exceeds, to suggest a clip if L is None."""
        return self.lipschitz(public)

    def smoothness(self, public: Public) -> float | None:
        """Return the largest curvature of one record's negative log-likelihood, or None."""
        return None

    def strong_convexity(self, public: Public) -> float:
        """Return the least curvature of one record's negative log-likelihood in any direction; 0 if unknown."""
        return 0.0

    def self_concordance(self, public: Public) -> float | None:
        """Return c such that |D^3 l[u, v, v]| <= c |u| |D^2 l[v, v]| for one record's log-likelihood l, or None.

        Only parameters with a Normal or Flat prior count; 0 means that l is quadratic in them.
        """
        return None

    def gradient_change(self, public: Public, adjacency: str) -> float | None:
        """Return the largest change of the summed gradient between neighbours over all theta; None if unbounded."""
        lipschitz = self.lipschitz(public)
        return None if lipschitz is None else (2.0 if adjacency == "replace" else 1.0) * lipschitz

    def gradient_error(self, public: Public, reach: float) -> float | None:
        """Return a bound on the error of the core's gradient of one record while |theta| <= reach, or None."""
        return None

    def largest_factor(self, public: Public, reach: float) -> float | None:
        """Return a bound on all intermediate results of one record's gradient while |theta| <= reach, or None.

        The core drops a record whose intermediate results exceed 2^250, and whether it does may depend on theta:
        docs/privacy/langevin.md, lemma 5.
        """
        return None

    def theta_reach(self, public: Public) -> float | None:
        """Return a bound on every coordinate of the maximum-likelihood estimate, or None."""
        return None

    def loglik_ceiling(self) -> float:
        """Return an upper bound of a record's log-likelihood, up to terms without theta; infinite if unknown."""
        return float("inf")

    def information(self, public: Public) -> float | None:
        """Return a forecast of the Fisher information of one record about one coordinate."""
        return None

    def typical_curvature(self, public: Public, spread: float) -> float | None:
        """Return a forecast of a record's mean curvature in its predictor, which has this spread; or None."""
        return self.information(public)

    def mean(self, parameters: Mapping[str, Floats], x: Floats) -> Floats:
        """Return the mean of y given x, shape (draws, records), from parameters of shape (draws, size)."""
        raise InvalidArgument(f"{type(self).__name__} has no mean given features; read its draws instead")

    def probabilities(self, parameters: Mapping[str, Floats], x: Floats) -> Floats:
        """Return the probabilities of the classes given x, shape (draws, records, classes)."""
        raise InvalidArgument(f"{type(self).__name__} has no probabilities of classes; see predict")

    @property
    def constants(self) -> tuple[float, float]:
        """Public constants of the likelihood, in the core's format."""
        return (0.0, 0.0)

    @property
    def label_count(self) -> int | None:
        """Number of classes k if targets (or the only column) are whole numbers from 0 to k - 1, else None."""
        return 2 if self.binary_target else None

    @property
    def has_intercept(self) -> bool:
        """Whether theta starts with an intercept."""
        return bool(getattr(self, "intercept", False))

    def dim(self, public: Public) -> int:
        """Return the length of theta."""
        return sum(block.size for block in self.blocks(public))

    def block_prior(self, block: Block) -> Prior:
        """Return the prior of one block."""
        priors = self.priors()
        if isinstance(priors, Prior):
            return priors
        if block.name not in priors:
            raise InvalidArgument(f"prior has no entry for the block {block.name!r}; it has {sorted(priors)}")
        return priors[block.name]

    def whole_numbers(self, public: Public) -> tuple[bool, ...]:
        """Return, for each coordinate of theta, whether it is a whole number."""
        return tuple(block.whole for block in self.blocks(public) for _ in range(block.size))

    @property
    def has_gradient(self) -> bool:
        """Whether gradients of the log-likelihood can be computed."""
        return True

    @property
    def without_gradient(self) -> str:
        """What to do about a model that has none, for messages."""
        return "give grad, or use Barker"

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What a guarantee assumes of the model; nothing, where the core computes it."""
        return ()

    def core_model(self, public: Public, batch: int, sampling: str) -> dict[str, Any]:
        """Return the arguments of the core's ``Target`` that a model decides."""
        return {
            "model": self.core_name,
            "intercept": self.has_intercept,
            "constants": self.constants,
            "prior": self.prior_table(public),
        }

    def natural(self, theta: Floats, public: Public) -> tuple[dict[str, Floats], dict[str, tuple[str, ...]]]:
        """Return the parameters of draws (chain, draw, dim) by name, and the labels of their entries."""
        draws, labels, start = {}, {}, 0
        for block in self.blocks(public):
            values = np.array(theta[:, :, start : start + block.size])
            draws[block.name] = np.exp(values) if block.positive else values
            labels[block.name] = block.labels
            start += block.size
        return draws, labels

    def silence(self) -> AbstractContextManager[None]:
        """Return the context of a run: for code that could warn of a record, one without warnings."""
        return nullcontext()

    def described(self) -> dict[str, Any]:
        """Return what a result says of the model beyond its parameters."""
        return {}

    def prior_table(self, public: Public) -> Floats:
        """Return the prior in the core's format: one row per coordinate of theta."""
        return np.concatenate([self.block_prior(b).table(b.size, b.positive) for b in self.blocks(public)])

    def prior_precision(self, public: Public) -> Floats:
        """Return the prior's information about each coordinate (0 for coordinates on the log scale)."""
        return np.concatenate(
            [np.zeros(b.size) if b.positive else self.block_prior(b).precision(b.size) for b in self.blocks(public)]
        )

    def normal_prior(self, public: Public) -> dict[str, list[float] | list[float | None]]:
        """Return mean and precision of each coordinate's prior; the precision is None unless it is Normal or Flat."""
        mean: list[float] = []
        precision: list[float | None] = []
        for b in self.blocks(public):
            prior = self.block_prior(b)
            known = isinstance(prior, Normal | Flat) and not b.positive
            mean += prior.centre(b.size).tolist()
            precision += prior.precision(b.size).tolist() if known else [None] * b.size
        return {"prior_mean": mean, "prior_precision": precision}

    def centre(self, public: Public) -> Floats:
        """Return the prior's centre, the default start of a chain (sigma starts at 1)."""
        return np.concatenate(
            [np.zeros(b.size) if b.positive else self.block_prior(b).centre(b.size) for b in self.blocks(public)]
        )

    def check_public(self, public: Public) -> None:
        """Refuse a table that this model cannot be fitted to."""
        name = type(self).__name__
        if self.needs_target and not public.has_target:
            raise InvalidArgument(f"{name} needs targets: pass y to Data")
        if not self.needs_target and public.has_target:
            raise InvalidArgument(f"{name} has no target: do not pass y to Data")
        if self.one_column and public.width != 1:
            raise InvalidArgument(f"{name} takes one column, but x has {public.width}")
        self._check_labels(public)
        names = {b.name for b in self.blocks(public)}
        priors = self.priors()
        if not isinstance(priors, Prior) and set(priors) - names:
            raise InvalidArgument(
                f"prior names unknown blocks {sorted(set(priors) - names)}; the blocks are {sorted(names)}"
            )
        self.prior_table(public)

    def check_sampler(self, sampler: object) -> None:
        """Refuse a sampler that cannot sample this model; None stands for the planner's choice."""

    def core_arguments(self, public: Public) -> dict[str, object]:
        """Return what the core's ``Target`` needs of a model that is not in its list."""
        return {}

    def _check_labels(self, public: Public) -> None:
        """Refuse declared bounds that admit fewer than two labels."""
        if self.label_count is None or public.y_bounds is None:
            return
        low, high = public.y_bounds
        if sum(low <= label <= high for label in range(self.label_count)) < 2:
            raise InvalidArgument(
                f"y_bounds are {public.y_bounds}, but the labels of {type(self).__name__} are "
                f"{'0 and 1' if self.label_count == 2 else f'0 to {self.label_count - 1}'}; recode the labels first"
            )


def linear_blocks(public: Public, intercept: bool) -> tuple[Block, ...]:
    """Return the blocks of a linear predictor."""
    beta = Block("beta", public.width, labels=public.columns)
    return (Block("intercept", 1), beta) if intercept else (beta,)


def predictor_norm(public: Public, intercept: bool) -> float | None:
    """Return R, the bound on the norm of a record's features (and the constant 1 of an intercept)."""
    norm = public.feature_norm
    if norm is None:
        return None
    return float(np.hypot(norm, 1.0)) if intercept else norm


def mean_of_p_q(base_rate: float | None, spread: float) -> float:
    """Return the mean of p (1 - p) over log-odds of this spread around those of a base rate; 1/2 if none is declared.

    Examples
    --------
    >>> round(mean_of_p_q(0.5, 0.0), 3), round(mean_of_p_q(0.05, 0.0), 3)
    (0.25, 0.048)
    """
    rate = 0.5 if base_rate is None else min(base_rate, 1.0 - 1e-6)
    nodes, weights = np.polynomial.hermite_e.hermegauss(21)
    odds = np.exp(math.log(rate / (1.0 - rate)) + spread * nodes)
    return float(weights @ (odds / (1.0 + odds) ** 2) / weights.sum())
