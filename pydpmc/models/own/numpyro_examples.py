"""Made-up records for NumPyro models, and targets that they draw themselves: for traces and rehearsals."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..._optional import require
from ...errors import InvalidArgument
from .numpyro_sites import PURPOSE, Fields, Model
from .records import TARGET, Layout


def example(layout: Layout, count: int, seed: int) -> Fields:
    """Return made-up records, valid for most laws: 0 or 1 for whole numbers, else shares."""
    jnp = require("jax.numpy", "numpyro", PURPOSE)
    random = np.random.default_rng(seed)
    fields = {}
    for field in layout.fields:
        shape = (count, *field.shape)
        values = random.integers(0, 2, shape) if field.whole else random.uniform(0.1, 0.9, shape)
        fields[field.name] = jnp.asarray(values)
    return fields


class Simulator:
    """Targets drawn from the model at given parameters."""

    __slots__ = ("_layout", "_model")

    def __init__(self, model: Model, layout: Layout) -> None:
        self._model, self._layout = model, layout

    def __call__(self, parameters: Mapping[str, Any], x: Any, random: np.random.Generator) -> Any:
        """Return a target for each row of x."""
        jax = require("jax", "numpyro", PURPOSE)
        jnp = jax.numpy
        with jax.enable_x64(True):
            fields = self._layout.of(jnp.asarray(x), jnp.zeros(len(x)), lambda value: value.astype(jnp.int64))
            fields = {name: None if name == TARGET else value for name, value in fields.items()}
            values = {name: jnp.asarray(value) for name, value in parameters.items()}
            sites = self._model.trace(fields, values, seed=int(random.integers(2**31)))
            made = [site["value"] for site in sites.values() if site["type"] == "sample" and self._model.inside(site)]
            if len(made) != 1:
                raise InvalidArgument(
                    "rehearse: the model has several observed sites, so its targets cannot be made up"
                )
            return np.asarray(made[0], dtype=np.float64)
