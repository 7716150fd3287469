"""The default call on real tables and on twins of users' tables: default, without privacy, and the best by hand.

    python bench/default_call.py                            # the twins at epsilon 1 and 3
    python bench/default_call.py --adult --runs 10          # Adult, both adjacencies, epsilon 0.1, 0.3, 1, delta 1e-5
    python bench/default_call.py --abalone --runs 20        # Abalone, prior Normal(scale=10), delta 1e-5
    python bench/default_call.py --only rare --json FILE

The default is ``dp.sample(model, data, epsilon=, delta=)`` and nothing else. "by hand" tries samplers and settings on
the same data and keeps the best by the test records, outside the budget: what an expert who may look could reach.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import twins

import pydpmc as dp
from pydpmc.errors import PydpmcError

Floats = npt.NDArray[np.float64]
KNOWN_SIGMA = 0.5  # of the twin: by hand it is known
BY_HAND: dict[str, dict[str, Any]] = {
    "Newton": {"sampler": lambda: dp.Newton()},
    "Newton, 3 looks": {"sampler": lambda: dp.Newton(looks=3)},
    "Newton, more for curvature": {"sampler": lambda: dp.Newton(curvature_share=0.25)},
    "Newton, narrow prior": {"sampler": lambda: dp.Newton(), "scale": 0.5},
    "ConjugateSample": {"sampler": lambda: dp.ConjugateSample()},
    "SGLD, w 0.01": {"sampler": lambda: dp.SGLD(w=0.01)},
    "SGLD, w 0.1": {"sampler": lambda: dp.SGLD(w=0.1)},
    "Langevin, one draw": {"sampler": lambda: dp.Langevin(draws=1)},
}


def measured(kind: str, post: Any, x: Floats, y: Floats, mean: float) -> float:
    """Return the measure of the posterior's mean prediction on test records."""
    if kind == "accuracy":
        return float((np.argmax(post.predict_proba(x, draws=100).mean, axis=1) == y).mean())
    means = np.asarray(post.predict(x, draws=200).mean)
    if kind == "AUC":
        order = np.argsort(np.argsort(means)) + 1.0
        positive = y == 1.0
        count = positive.sum()
        return float((order[positive].sum() - count * (count + 1) / 2) / (count * (len(y) - count)))
    if kind == "R2":
        return float(1.0 - ((y - means) ** 2).sum() / ((y - mean) ** 2).sum())

    def deviance(fitted: Any) -> float:
        ratio = np.where(y > 0, y * np.log(np.maximum(y, 1e-300) / fitted), 0.0)
        return float(2.0 * (ratio - y + fitted).sum())

    return 1.0 - deviance(means) / deviance(mean)


def default(model: Any, data: dp.Data, **budget: Any) -> tuple[Any, str]:
    """Return the result of the default call and what ran, or None and the refusal."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            post = dp.sample(model, data, progress=False, **budget)
        except PydpmcError as error:
            return None, f"{type(error).__name__}: {str(error).splitlines()[0]}"
    return post, str(post.plan["sampler"])


def by_hand(model: Any, data: dp.Data, score: Callable[[Any], float], runs: int, **budget: Any) -> tuple[float, str]:
    """Return the best mean score of the listed settings, and its name."""
    best = (-np.inf, "none")
    for name, options in BY_HAND.items():
        known = {"sigma": KNOWN_SIGMA} if isinstance(model, dp.LinearRegression) else {}
        own = type(model)(**{**vars(model), "prior": dp.Normal(scale=options.get("scale", 1.0)), **known})
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                plan = dp.plan(own, data.public, options["sampler"](), **budget)
                if plan.outlook.seconds is not None and plan.outlook.seconds > 60.0:
                    continue
                found = np.mean([score(plan.run(data, progress=False, anyway=True)) for _ in range(runs)])
        except PydpmcError:
            continue
        best = max(best, (float(found), name))
    return best


def twin_rows(name: str, epsilons: list[float], runs: int) -> list[dict[str, Any]]:
    """Return a row for each epsilon."""
    twin = twins.TWINS[name](np.random.default_rng(17))
    data, held_out = twin.schema.data(twin.train), twin.schema.data(twin.test)
    x = twin.schema.encode(twin.test)
    y = np.asarray(held_out._rows[:, data.public.width], dtype=float)
    mean = float(np.mean(data._rows[:, data.public.width]))

    def score(post: Any) -> float:
        return measured(twin.measure, post, x, y, mean)

    reference = dp.ConjugateSample(draws=2000) if twin.measure == "R2" else dp.Newton()
    open_ = score(dp.sample(twin.model, data, reference, private=False, progress=False))
    rows = []
    for epsilon in epsilons:
        budget = {"epsilon": epsilon, "delta": 1e-6}
        started = time.perf_counter()
        found, said = [], ""
        for _ in range(runs):
            post, said = default(twin.model, data, **budget)
            if post is not None:
                found.append(score(post))
        seconds = (time.perf_counter() - started) / runs
        hand, which = by_hand(twin.model, data, score, max(1, runs // 2), **budget)
        value = float(np.mean(found)) if found else None
        rows.append(
            {
                "table": f"{name} ({data.public.n:,} x {data.public.width}), {twin.measure}",
                "epsilon": epsilon,
                "open": open_,
                "default": value,
                "ran": said,
                "seconds": seconds,
                "by_hand": hand,
                "which": which,
                "share": None if value is None else value / hand,
            }
        )
    return rows


def real_rows(name: str, runs: int) -> list[dict[str, Any]]:
    """Return rows of a real table under both adjacencies; only the budget and the adjacency are given."""
    sys.path.insert(0, str(Path(__file__).parent / "papers"))
    from wang2015 import split_of

    scale, epsilons = (1.0, (0.1, 0.3, 1.0)) if name == "adult" else (10.0, (0.1, 0.3, 1.0, 3.0, 10.0))
    rows = []
    for adjacency in ("add_remove", "replace") if name == "adult" else ("replace",):
        for epsilon in epsilons:
            found, said, started = [], "", time.perf_counter()
            for k in range(runs):
                split = split_of(name, k)
                data = dp.Data(split.x, split.y, row_norm=1.0, public_n=len(split.y))
                model = dp.LogisticRegression(prior=dp.Normal(scale=scale))
                post, said = default(model, data, epsilon=epsilon, delta=1e-5, adjacency=adjacency)
                if post is not None:
                    theta = post.draws["beta"].mean(axis=(0, 1))
                    found.append(float(((split.held_out @ theta > 0) == split.truth).mean()))
            rows.append(
                {
                    "table": f"{name}, {adjacency}",
                    "epsilon": epsilon,
                    "default": float(np.mean(found)) if found else None,
                    "error": float(np.std(found, ddof=1) / len(found) ** 0.5) if len(found) > 1 else None,
                    "ran": said,
                    "seconds": (time.perf_counter() - started) / runs,
                }
            )
    return rows


def line(row: dict[str, Any]) -> str:
    """Return a row of the table."""

    def number(key: str) -> str:
        return "-" if row.get(key) is None else f"{row[key]:.4f}"

    cells = [row["table"], f"{row['epsilon']:g}", number("open"), number("default"), number("error"), row["ran"]]
    cells += [number("by_hand"), row.get("which", ""), number("share"), f"{row['seconds']:.1f}"]
    return "| " + " | ".join(cells) + " |"


HEAD = "| table | epsilon | without privacy | default | error | ran | by hand | which | share | seconds |"


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=4)
    parser.add_argument("--only", nargs="+", default=list(twins.TWINS), choices=list(twins.TWINS))
    parser.add_argument("--epsilons", nargs="+", type=float, default=[1.0, 3.0])
    parser.add_argument("--adult", action="store_true")
    parser.add_argument("--abalone", action="store_true")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    print(HEAD + "\n" + "|---" * 10 + "|", flush=True)
    rows = []
    real = [name for name in ("adult", "abalone") if getattr(options, name)]
    for name in real or options.only:
        for row in real_rows(name, options.runs) if real else twin_rows(name, options.epsilons, options.runs):
            rows.append(row)
            print(line(row), flush=True)
    if options.json is not None:
        options.json.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
