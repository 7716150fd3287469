"""The report's charts: intervals, densities, traces, privacy."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ..densities import prior_densities
from ..facts import delta_of
from ..plots import chosen_draws, kernel_density
from ..privacy_curves import epsilon_over_delta, epsilon_over_uses, profile
from ..summary import scalar_draws
from .svg import Chart, padded

if TYPE_CHECKING:
    from ..inference import Intervals
    from ..posterior import Posterior

Floats = npt.NDArray[np.float64]
TRACE_POINTS = 300
ROW = 22.0
MOST_DENSITIES = 12
MOST_DOTS = 400
MOST_INTERVALS = 20
FEWEST_FOR_DENSITY = 50
LONGEST_LABEL = 27
SMALLEST_DELTA, LARGEST_DELTA, FEWEST_POINTS = 0.9e-9, 1e-2, 5


def forest(post: Posterior, intervals: Intervals | None) -> str:
    """Return the confidence interval of each parameter or, if there are none, quantiles of its draws."""
    chosen = dict(list(chosen_draws(post, None).items())[:MOST_INTERVALS])
    places = {name: np.quantile(values, (0.05, 0.25, 0.5, 0.75, 0.95)) for name, values in chosen.items()}
    if intervals is not None:
        rows = {name: intervals.rows[name] for name in chosen if name in intervals.rows}
        if rows:
            places = {name: np.array([row[c] for c in ("low", "estimate", "high")]) for name, row in rows.items()}
    edges = [float(found[k]) for found in places.values() for k in (0, -1)]
    labels = {name: _short(_inner(name), LONGEST_LABEL) for name in places}
    left = 14.0 + 5.9 * max(len(label) for label in labels.values())
    title = "90 % confidence intervals" if intervals is not None else "5 % to 95 % of the draws"
    count = len(places)
    chart = Chart(title, padded([*edges, 0.0]), (0.0, count), 46.0 + ROW * count, left)
    chart.x_axis("value")
    chart.segment((0.0, 0.0), (0.0, count), "zero")
    for place, (name, found) in enumerate(places.items()):
        y = count - place - 0.5
        chart.segment((found[0], y), (found[-1], y), "thin")
        if len(found) == 5:
            chart.segment((found[1], y), (found[3], y), "thick")
        chart.dot((found[len(found) // 2], y))
        chart.text(left - 6, chart.y(y) + 3.5, labels[name], "tick end")
    return chart.render()


def rehearsal(truths: Floats, estimates: Floats) -> str:
    """Return true against private values of made-up records, with the line on which both agree."""
    pairs = np.column_stack([np.ravel(truths), np.ravel(estimates)])
    pairs = pairs[np.isfinite(pairs).all(axis=1)]
    pairs = pairs[:: -(-len(pairs) // MOST_DOTS)] if len(pairs) else np.zeros((1, 2))
    chart = Chart("true against private values", padded(pairs[:, 0].tolist()), padded(pairs[:, 1].tolist()))
    chart.x_axis("true value")
    chart.y_axis("private estimate")
    low, high = max(chart.x_range[0], chart.y_range[0]), min(chart.x_range[1], chart.y_range[1])
    chart.segment((low, low), (high, high), "zero")
    for truth, estimate in pairs.tolist():
        chart.dot((truth, estimate))
    return chart.render()


def densities(post: Posterior) -> list[str]:
    """Return prior and posterior density of each parameter, at most a dozen; few draws are shown one by one."""
    chosen = dict(list(chosen_draws(post, None).items())[:MOST_DENSITIES])
    priors = dict(zip(scalar_draws(post.draws, post.labels), prior_densities(post), strict=True))
    charts = []
    for name, values in chosen.items():
        grid, height = kernel_density(values.ravel(), points=80)
        prior = priors[name]
        prior_height = None if prior is None else prior(grid)
        if values.size < FEWEST_FOR_DENSITY and prior_height is not None:
            height = np.zeros(1)  # no density is drawn: the prior's decides the scale
        top = max(float(height.max()), 0.0 if prior_height is None else float(prior_height.max())) * 1.08
        chart = Chart(f"prior and posterior of {name}", (grid[0], grid[-1]), (0.0, top), 150.0, 12.0, top=22.0)
        chart.x_axis("")
        if values.size < FEWEST_FOR_DENSITY:
            for draw in values.ravel().tolist():
                chart.segment((draw, 0.0), (draw, 0.12 * top), "posterior")
        else:
            chart.area(list(zip(grid, height, strict=True)), "area")
            chart.line(list(zip(grid, height, strict=True)), "posterior")
        if prior_height is not None:
            chart.line(list(zip(grid, prior_height, strict=True)), "prior")
        chart.text(12, 12, _short(name, 44), "heading")
        charts.append(chart.render())
    return charts


def traces(post: Posterior) -> list[str]:
    """Return the trace of each parameter, a line per chain, at most a dozen."""
    charts = []
    for name, values in list(chosen_draws(post, None).items())[:MOST_DENSITIES]:
        shown = values[:, :: max(1, values.shape[1] // TRACE_POINTS)]
        bounds = padded([float(shown.min()), float(shown.max())])
        chart = Chart(
            f"trace of {name}", (0.0, float(max(1, shown.shape[1] - 1))), bounds, 120.0, top=22.0, bottom=10.0
        )
        chart.y_axis("")
        for number, chain in enumerate(shown):
            chart.line([(float(i), float(v)) for i, v in enumerate(chain)], f"chain{number % 4}")
        chart.text(chart.left, 12, _short(name, 44), "heading")
        charts.append(chart.render())
    return charts


def privacy(post: Posterior) -> list[str]:
    """Return epsilon over delta, and epsilon over the releases charged."""
    delta = delta_of(post)
    spent = post.guarantee.epsilon(delta)
    curve = _epsilon_over_delta(post, delta, spent)
    top = 1.08 * max(epsilon for _, epsilon in [*curve, (delta, spent)])
    least = min(SMALLEST_DELTA, delta, *(d for d, _ in curve))
    over_delta = Chart("epsilon over delta", (least, LARGEST_DELTA), (0.0, top), left=40.0, top=18.0, log_x=True)
    over_delta.x_axis("delta")
    over_delta.y_axis("epsilon")
    over_delta.line(curve, "posterior")
    if delta <= LARGEST_DELTA:
        over_delta.dot((delta, spent))
    uses = [(0.0, 0.0), *((float(n), epsilon) for n, epsilon in epsilon_over_uses(post.guarantee, delta))]
    over_uses = Chart("epsilon over releases", (0.0, uses[-1][0]), (0.0, 1.08 * uses[-1][1]), left=40.0, top=18.0)
    over_uses.x_axis("releases charged")
    over_uses.y_axis(f"epsilon at delta = {delta:g}")
    over_uses.line(uses, "posterior")
    over_uses.dot(uses[-1])
    return [over_delta.render(), over_uses.render()]


def _epsilon_over_delta(post: Posterior, delta: float, spent: float) -> list[tuple[float, float]]:
    """Return (delta, epsilon) pairs, of the profile that the attacks were computed from if it has enough of them."""
    pairs = [(d, e) for e, d in profile(post.guarantee) if SMALLEST_DELTA <= d <= LARGEST_DELTA]
    if len(pairs) < FEWEST_POINTS:
        return epsilon_over_delta(post.guarantee)
    return sorted([*pairs, (delta, spent)] if delta <= LARGEST_DELTA else pairs)


def _inner(name: str) -> str:
    """Return the name of a coefficient without that of its block, which a plot need not repeat."""
    return name.removeprefix("beta[").removesuffix("]") if name.startswith("beta[") else name


def _short(name: str, most: int) -> str:
    return name if len(name) <= most else name[: most - 1] + "…"
