"""Where chains start: a point, points, draws from the prior, or the mean of an earlier posterior."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np
import numpy.typing as npt

from .. import _core
from .. import accounting as acc
from ..checks import reals
from ..data.public import Public
from ..errors import InvalidArgument
from ..models import Model
from ..posterior.posterior import Posterior

if TYPE_CHECKING:
    from .plan import Plan


Floats = npt.NDArray[np.float64]


def warm_start(
    model: Model, public: Public, init: npt.ArrayLike | Posterior | str | None
) -> tuple[tuple[acc.Guarantee, ...], npt.ArrayLike | str | None]:
    """Return the guarantee that a posterior as start brings along, and its mean in the coordinates of theta."""
    if not isinstance(init, Posterior):
        return (), init
    parts = []
    for block in model.blocks(public):
        if block.name not in init.draws or init.draws[block.name].shape[2] != block.size:
            raise InvalidArgument(f"init: the posterior has no parameter {block.name!r} of size {block.size}")
        mean = init.draws[block.name].mean(axis=(0, 1))
        parts.append(np.log(mean) if block.positive else mean)
    return (init.guarantee,), np.concatenate(parts)


def planned_starts(
    init: npt.ArrayLike | str | None, chains: int, dim: int
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
    return tuple(tuple(float(v) for v in row) for row in np.broadcast_to(points, (chains, dim)))


def start_points(plan: Plan, chains: int, seed: int | None) -> Floats:
    """Return the start of each chain, shape (chains, dim), as the core wants it."""
    shape = (chains, plan.settings.dim)
    if plan.init is None:
        return np.array(np.broadcast_to(plan.model.centre(plan.public), shape))
    if plan.init == "prior":
        return prior_draws(plan.model, plan.public, chains, seed)
    return np.array(np.broadcast_to(plan.init, shape))


def prior_draws(model: Model, public: Public, chains: int, seed: int | None) -> npt.NDArray[np.float64]:
    """Return one draw of theta per chain, from the operating system's entropy or from a seed."""
    random = _core.random
    key = random.key_from_os() if seed is None else random.key_from_seed(seed)
    starts = []
    for chain in range(chains):
        stream = random.Stream(key, random.purposes["initial"], chain, 0)
        parts = []
        for block in model.blocks(public):
            drawn = model.block_prior(block).draw(block.size, random.open_unit(stream, block.size))
            parts.append(np.log(np.abs(drawn)) if block.positive else drawn)
        starts.append(np.concatenate(parts))
    return np.array(starts)
