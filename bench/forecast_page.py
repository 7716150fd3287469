"""The page that shows forecasts against rehearsals: ``python bench/forecast_grid.py --page``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

DOCS = Path(__file__).resolve().parents[1] / "docs"
HEAD = """# Forecasts against rehearsals

Every plan forecasts its error, the width of its intervals and, for a chain, its effective draws from public facts
alone ([howto/plan_and_rehearse.md](howto/plan_and_rehearse.md)). This page compares forecasts with what happened in
rehearsals of the same plans: the plan runs on records that are made up within the declared bounds, with true
parameters drawn from the prior. Errors and widths are in units of the posterior without privacy.

    python bench/forecast_grid.py            # runs what is missing of the grid and of bench/forecast_grid.json
    python bench/forecast_grid.py --page     # writes this page

The grid has {bases} settings (model, records, columns, epsilon; delta = 1e-6, one record replaced); {done} of them
have been rehearsed, by samplers whose run is forecast to take at most a few seconds: {rehearsals} rehearsals of at
least three runs each. The sampler that the planner takes is printed in bold.

{summary}

![Forecasts against rehearsals](images/forecasts.svg)

The diagonal is a forecast that came true; dashed lines are a factor 1.5 off. Errors of a softmax are those of
coefficients less their mean over classes. `linear` has a prior of sigma away from zero: under the default prior the
expected error in units of the posterior without privacy is infinite for noise that does not follow sigma.

{far}The planner decides by the error if the truth is twice as far from the prior's centre as the
prior expects, and truths here are drawn from the prior: where a choice is not the best of its setting, it may
be `DPVI` in place of a `Newton` that leans on the prior ([choosing_a_sampler.md](choosing_a_sampler.md)).

"""


def write(found: dict[str, Any]) -> None:
    """Write the page and its plot."""
    from forecast_grid import BASES, summary, table

    rows = table(found)
    done = sum(any("error" in one for one in entry["samplers"].values()) for entry in found.values())
    text = HEAD.format(
        bases=len(BASES),
        done=done,
        rehearsals=len(rows) - 2,
        summary="\n".join(f"- {line}" for line in summary(found)),
        far=far_off(found),
    )
    (DOCS / "forecasts.md").write_text(text + "\n".join(rows) + "\n")
    plot(found, DOCS / "images" / "forecasts.svg")


def far_off(found: dict[str, Any]) -> str:
    """Return a sentence on the forecasts that are off by more than a factor 3."""
    from forecast_grid import off, pairs

    far = [(base, name) for base, name, told, seen in pairs(found, "error") if off(told, seen) > 3.0]
    if not far:
        return "No error is off by more than a factor 3. "
    return "Off by more than a factor 3: " + ", ".join(f"{name} at {base}" for base, name in far) + ". "


def plot(found: dict[str, Any], path: Path) -> None:
    """Draw error and effective draws, forecast against found."""
    import matplotlib as mpl

    mpl.use("Agg")
    mpl.rcParams["svg.hashsalt"] = "pydpmc"  # the same picture from the same figures
    import matplotlib.pyplot as plt
    import matplotlib.ticker
    from forecast_grid import pairs

    figure, axes = plt.subplots(1, 2, figsize=(9.0, 4.4))
    for ax, what, label in zip(axes, ("error", "draws"), ("error", "effective draws"), strict=True):
        points = pairs(found, what)
        for name in sorted({point[1] for point in points}):
            own = [(told, seen) for _, sampler, told, seen in points if sampler == name]
            ax.scatter(*zip(*own, strict=True), s=16, label=name)
        values = [value for point in points for value in point[2:]] or [1.0]
        ends = [0.8 * min(values), 1.25 * max(values)]
        ax.plot(ends, ends, color="grey", linewidth=1.0)
        for factor in (1.5, 1.0 / 1.5):
            ax.plot(ends, [factor * end for end in ends], color="grey", linewidth=0.8, linestyle="--")
        ax.set(xscale="log", yscale="log")
        for axis in (ax.xaxis, ax.yaxis):
            axis.set_minor_formatter(mpl.ticker.NullFormatter())
            axis.set_major_formatter(mpl.ticker.StrMethodFormatter("{x:g}"))
        ax.set(xlabel=f"{label}, forecast", ylabel=f"{label}, rehearsed")
        ax.legend(fontsize=8)
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)
