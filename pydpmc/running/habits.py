"""Keywords that users of other libraries try, and what they are called here."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Mapping
from typing import Any

from ..errors import WrongType

HABITS = {
    "random_seed": "seed (for tests alone: it voids the guarantee)",
    "rng_key": "seed (for tests alone: it voids the guarantee)",
    "tune": "warmup, where draws are a chain",
    "num_warmup": "warmup, where draws are a chain",
    "num_samples": "draws",
    "num_chains": "chains",
    "cores": "threads",
    "n_jobs": "threads",
    "progressbar": "progress",
    "target_accept": "a parameter of the sampler, such as NUTS(target_accept=...)",
    "nuts_sampler": "sampler, the third argument",
    "step": "sampler, the third argument",
    "initvals": "init",
    "return_inferencedata": "post.to_arviz() afterwards",
    "idata_kwargs": "post.to_arviz() afterwards",
}


def refuse_habits(options: Mapping[str, Any], known: Collection[str]) -> None:
    """Refuse a keyword that is not known, with the name that it has here.

    Examples
    --------
    >>> refuse_habits({"threads": 2}, ["threads"])
    """
    for name in options:
        if name in known:
            continue
        near = difflib.get_close_matches(name, known, n=1)
        here = HABITS.get(name) or (near[0] if near else f"one of {', '.join(sorted(known))}")
        raise WrongType(f"sample has no argument {name!r}; use {here}. Nothing was spent")
