"""Draws from the prior, as starts of chains."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from .. import _core
from ..data.public import Public
from ..models import Model


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
