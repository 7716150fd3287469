"""Plots with matplotlib, computed from the draws and public facts only."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from .._optional import require
from ..checks import inside, names_of
from ..errors import InvalidArgument
from .facts import delta_of
from .summary import scalar_draws

if TYPE_CHECKING:
    from .posterior import Posterior

Floats = npt.NDArray[np.float64]
MOST_PARAMETERS = 20


def plot_trace(post: Posterior, parameters: Sequence[str] | None = None) -> Any:
    """Return a figure with the density and the trace of each parameter, a colour per chain."""
    chosen = chosen_draws(post, parameters)
    figure, axes = _subplots(len(chosen), 2, (9.0, 1.6 * len(chosen)))
    for (density, trace), (name, values) in zip(axes, chosen.items(), strict=True):
        for chain in values:
            grid, height = kernel_density(chain)
            density.plot(grid, height, lw=1)
            trace.plot(chain, lw=0.5)
        density.set_title(name, fontsize=9)
        density.set_yticks([])
        trace.set_xlabel("draw" if name == list(chosen)[-1] else "")
    _say_weights(figure, post)
    return figure


def plot_forest(post: Posterior, parameters: Sequence[str] | None = None, *, level: float = 0.9) -> Any:
    """Return a figure with the median, the central half and a credible interval of each parameter."""
    inside(level, "level")
    chosen = chosen_draws(post, parameters)
    figure, axes = _subplots(1, 1, (7.0, 1.0 + 0.3 * len(chosen)))
    axis = axes[0, 0]
    for place, values in enumerate(chosen.values()):
        low, left, middle, right, high = np.quantile(values, (0.5 - level / 2, 0.25, 0.5, 0.75, 0.5 + level / 2))
        axis.plot([low, high], [place, place], color="C0", lw=1)
        axis.plot([left, right], [place, place], color="C0", lw=4, solid_capstyle="butt")
        axis.plot([middle], [place], "o", color="white", markeredgecolor="C0", ms=4)
    axis.axvline(0.0, color="grey", lw=0.5)
    axis.set_yticks(range(len(chosen)), list(chosen), fontsize=9)
    axis.invert_yaxis()
    axis.set_title(f"{level:.0%} credible intervals", fontsize=10)
    _say_weights(figure, post)
    return figure


def plot_privacy(post: Posterior) -> Any:
    """Return a figure of epsilon against delta, and of epsilon against the number of releases."""
    from .privacy_curves import epsilon_over_delta, epsilon_over_uses

    delta = delta_of(post)
    curve = epsilon_over_delta(post.guarantee)
    uses = epsilon_over_uses(post.guarantee, delta)
    figure, axes = _subplots(1, 2, (9.0, 3.2))
    over_delta, over_uses = axes[0]
    over_delta.semilogx(*zip(*curve, strict=True))
    over_delta.plot([delta], [post.guarantee.epsilon(delta)], "o")
    over_delta.set(xlabel="delta", ylabel="epsilon", ylim=(0, None))
    over_uses.plot(*zip((0, 0.0), *uses, strict=True))
    over_uses.set(xlabel="releases charged", ylabel=f"epsilon at delta = {delta:g}", ylim=(0, None))
    return figure


def plot_looks(post: Posterior, parameters: Sequence[str] | None = None) -> Any:
    """Return a figure of the points at which Newton looked, and of the posterior that all looks together gave.

    The area of a point is the share of the budget that its look took.
    """
    if not post.looks:
        raise InvalidArgument("plot_looks: this posterior has no looks; only Newton releases them")
    chosen = chosen_draws(post, parameters)
    names = list(scalar_draws(post.draws, post.labels))
    spent = np.array([look.sigma**-2.0 for look in post.looks])
    wide = min(3, len(chosen))
    figure, axes = _subplots(-(-len(chosen) // wide), wide, (3.0 * wide, 2.2 * -(-len(chosen) // wide)))
    for axis in axes.flat[len(chosen) :]:
        axis.remove()
    for axis, (name, values) in zip(axes.flat, chosen.items(), strict=False):
        path = [look.theta[names.index(name)] for look in post.looks]
        low, middle, high = np.quantile(values, (0.05, 0.5, 0.95))
        axis.axhspan(low, high, color="C0", alpha=0.2, lw=0)
        axis.axhline(middle, color="C0", lw=1)
        axis.plot(range(1, len(path) + 1), path, color="grey", lw=0.5)
        axis.scatter(range(1, len(path) + 1), path, s=10.0 + 150.0 * spent / spent.sum(), color="C1", zorder=3)
        axis.set_title(name, fontsize=9)
        axis.set_xlabel("look", fontsize=8)
    return figure


def plot_prior_posterior(post: Posterior, parameters: Sequence[str] | None = None) -> Any:
    """Return a figure with the prior density and the posterior density of each parameter."""
    from .densities import prior_densities

    chosen = chosen_draws(post, parameters)
    priors = dict(zip(scalar_draws(post.draws, post.labels), prior_densities(post), strict=True))
    wide = min(3, len(chosen))
    figure, axes = _subplots(-(-len(chosen) // wide), wide, (3.0 * wide, 2.2 * -(-len(chosen) // wide)))
    for axis in axes.flat[len(chosen) :]:
        axis.remove()
    for axis, (name, values) in zip(axes.flat, chosen.items(), strict=False):
        grid, height = kernel_density(values.ravel())
        axis.plot(grid, height, label="posterior")
        prior = priors[name]
        if prior is not None:
            axis.plot(grid, prior(grid), color="grey", ls="--", label="prior")
        axis.set_title(name, fontsize=9)
        axis.set_yticks([])
    axes.flat[0].legend(fontsize=8)
    _say_weights(figure, post)
    return figure


def _say_weights(figure: Any, post: Posterior) -> None:
    """Put the tempering weight, the prior's share and a warning above a figure that they concern."""
    found = post.verdict
    texts = [found.weights() if found.w != 1.0 else "", str(found) if not found.usable else ""]
    if any(texts):
        figure.suptitle("\n".join(text for text in texts if text), fontsize=9)


def chosen_draws(post: Posterior, parameters: Sequence[str] | None) -> dict[str, Floats]:
    """Return the draws of the chosen scalar parameters; of the first twenty by default."""
    known = scalar_draws(post.draws, post.labels)
    if min(values.size for values in known.values()) == 0:
        raise InvalidArgument("the posterior has no draws to plot: its run was stopped too early")
    if parameters is None:
        return dict(list(known.items())[:MOST_PARAMETERS])
    wanted = names_of(parameters)
    unknown = [name for name in wanted if name not in known]
    if unknown or not wanted:
        raise InvalidArgument(f"parameters must be some of {list(known)}, not {unknown[0] if unknown else wanted!r}")
    return {name: known[name] for name in wanted}


def kernel_density(values: Floats, points: int = 200) -> tuple[Floats, Floats]:
    """Return a grid and a Gaussian kernel density estimate on it."""
    low, high = float(values.min()), float(values.max())
    width = 0.9 * float(values.std()) * len(values) ** -0.2
    if width == 0.0:
        width = max(abs(low), 1.0) * 1e-3
    grid = np.linspace(low - 3 * width, high + 3 * width, points)
    counts, edges = np.histogram(values, bins=4 * points, range=(low - width, high + width))
    centres = (edges[:-1] + edges[1:]) / 2
    kernel = np.exp(-0.5 * ((grid[:, None] - centres) / width) ** 2)
    return grid, kernel @ counts / (len(values) * width * np.sqrt(2 * np.pi))


def _subplots(rows: int, columns: int, size: tuple[float, float]) -> tuple[Any, Any]:
    pyplot = require("matplotlib.pyplot", "plots", "plotting")
    figure, axes = pyplot.subplots(rows, columns, figsize=size, squeeze=False, layout="constrained")
    return figure, axes
