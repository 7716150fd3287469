"""The arguments of ``plan``, checked, and where its chains start."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from .. import _core
from ..accounting import Guarantee
from ..checks import given, one_of, positive, reals, small_delta, whole, yes_or_no
from ..data.public import Public
from ..errors import InvalidArgument, WrongType
from ..models import Block, Model
from ..models.own.model import OwnModel
from ..posterior.posterior import Posterior
from ..samplers import Barker
from ..samplers.base import Sampler
from ..samplers.request import Request

if TYPE_CHECKING:
    from .plan import Plan

Floats = npt.NDArray[np.float64]
MOST_CHAINS = 1000


def check_kinds(model: Any, public: Any, sampler: Any, adjacency: str, private: Any) -> None:
    """Refuse what is not a model, public facts, a sampler, and so on."""
    if not isinstance(model, Model):
        raise WrongType(f"model must be a pydpmc model such as LogisticRegression(), not {given(model)}")
    if not isinstance(public, Public):
        raise WrongType(f"public must be data.public (no record is seen by plan), not {given(public)}")
    if not isinstance(sampler, Sampler):
        raise WrongType(f"sampler must be a pydpmc sampler such as Barker(), not {given(sampler)}")
    one_of(adjacency, "adjacency", ("replace", "add_remove"))
    yes_or_no(private, "private")


def requested(
    model: Any,
    public: Any,
    sampler: Any,
    *,
    epsilon: float | None,
    delta: float | None,
    adjacency: str,
    chains: int | None,
    private: bool,
    init: Any = None,
    earlier: Any = (),
) -> tuple[Request, Any]:
    """Return what was asked for, checked, and where chains start; without a sampler any proven one will do."""
    open_sampler = Barker() if sampler is None else sampler
    check_kinds(model, public, open_sampler, adjacency, private)
    chains = 1 if chains is None else whole(chains, "chains", most=MOST_CHAINS)
    check_budget(epsilon, delta, private)
    model.check_public(public)
    if adjacency == "replace" and public.n < 1:
        raise InvalidArgument("n is 0: under adjacency='replace' a plan needs a record; an empty table has none")
    if adjacency == "add_remove":  # before anything is chosen: settings keep what they were chosen from
        public = dataclasses.replace(public, n=public.public_n or 0)
    warm, init = warm_start(model, public, init)
    before = (*warm, *guarantees(earlier))
    return Request(model, public, open_sampler, adjacency, chains, private, epsilon, delta, before), init


def guarantees(earlier: Any) -> tuple[Guarantee, ...]:
    """Return the guarantees of earlier releases, or refuse what is none."""
    if not isinstance(earlier, Sequence) or not all(isinstance(one, Guarantee) for one in earlier):
        raise WrongType(f"earlier must be a list of Guarantee, such as [bounds.guarantee], not {given(earlier)}")
    return tuple(earlier)


def sentences(assumptions: Any) -> tuple[str, ...]:
    """Return the assumptions, or refuse what is not a list of texts."""
    if isinstance(assumptions, str) or not isinstance(assumptions, Sequence):
        raise WrongType(f"assumptions must be a list of sentences, not {given(assumptions)}")
    if not all(isinstance(one, str) and one.strip() for one in assumptions):
        raise WrongType("assumptions must be a list of sentences, but one of them is empty or no text")
    return tuple(assumptions)


def check_budget(epsilon: float | None, delta: float | None, private: bool) -> None:
    """Refuse a budget that cannot be one."""
    if not private:
        if epsilon is not None or delta is not None:
            raise InvalidArgument("private=False spends no budget: leave epsilon and delta out")
        return
    if epsilon is not None:
        positive(epsilon, "epsilon")
    if epsilon is not None and delta is None:
        raise InvalidArgument("delta must be given with epsilon; a usual choice is well below 1/n, such as 1e-6")
    if delta is not None:
        small_delta(delta)


def warm_start(
    model: Model, public: Public, init: npt.ArrayLike | Posterior | str | None
) -> tuple[tuple[Guarantee, ...], npt.ArrayLike | str | None]:
    """Return the guarantee that a posterior as start brings along, and its mean in the coordinates of theta."""
    if not isinstance(init, Posterior):
        return (), init
    parts = []
    for block in model.blocks(public):
        if block.name not in init.draws or init.draws[block.name].shape[2] != block.size:
            raise InvalidArgument(f"init: the posterior has no parameter {block.name!r} of size {block.size}")
        mean = init.draws[block.name].mean(axis=(0, 1))
        parts.append(model.coordinates(block.name, mean) if isinstance(model, OwnModel) else _start(block, mean))
    return (init.guarantee,), np.concatenate(parts)


def _start(block: Block, mean: Floats) -> Floats:
    return np.asarray(np.log(mean)) if block.positive else mean


def planned_starts(
    init: npt.ArrayLike | str | None, chains: int, dim: int, whole: Sequence[bool] = ()
) -> tuple[tuple[float, ...], ...] | Literal["prior"] | None:
    """Return a start for each chain as a plan keeps it."""
    if init is None:
        return None
    if isinstance(init, str):
        if init != "prior":
            raise InvalidArgument(f'init must be a point, one point per chain, or "prior", not {init!r}')
        return "prior"
    points = reals(init, "init")
    if points.shape not in ((dim,), (chains, dim)):
        raise InvalidArgument(f"init must have shape ({dim},) or ({chains}, {dim}), but its shape is {points.shape}")
    if not np.isfinite(points).all():
        raise InvalidArgument("init must be finite: a point at which the chains can start")
    if any(whole) and np.any(points[..., np.array(whole)] % 1.0):
        raise InvalidArgument("init must be whole numbers where parameters are whole numbers")
    return tuple(tuple(float(v) for v in row) for row in np.broadcast_to(points, (chains, dim)))


def start_points(plan: Plan, chains: int, seed: int | None) -> Floats:
    """Return the start of each chain, shape (chains, dim), as the core wants it."""
    shape = (chains, plan.settings.dim)
    if plan.init is None:
        return np.array(np.broadcast_to(plan.model.centre(plan.public), shape))
    if plan.init == "prior":
        return prior_draws(plan.model, plan.public, chains, seed)
    return np.array(np.broadcast_to(plan.init, shape))


def prior_draws(model: Model, public: Public, chains: int, seed: int | None) -> Floats:
    """Return one draw of theta per chain, from the operating system's entropy or from a seed."""
    random = _core.random
    key = random.key_from_os() if seed is None else random.key_from_seed(seed)
    starts = []
    for chain in range(chains):
        stream = random.Stream(key, random.purposes["initial"], chain, 0)
        parts = []
        for block in model.blocks(public):
            drawn = model.block_prior(block).draw(block.size, random.open_unit(stream, block.size))
            parts.append(np.log(np.abs(drawn)) if block.positive else np.rint(drawn) if block.whole else drawn)
        starts.append(np.concatenate(parts))
    return np.array(starts)
