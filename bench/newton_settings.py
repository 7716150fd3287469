"""The settings of bench/newton_grid.py."""

from __future__ import annotations

from typing import Any

DEFAULTS: dict[str, Any] = {
    "model": "logistic",
    "epsilon": 1.0,
    "intercept": 0.0,
    "slope": 0.5,
    "truth": "fixed",  # intercept as given, slopes of sd `slope`; or "prior": all coefficients drawn from the prior
    "scale": 2.5,
    "adjacency": "replace",
    "correlation": 0.0,
    "structure": "common factor",
    "y_bounds": (0.0, 20.0),  # of counts, and of a line with an unknown sigma
}


def setting(n: float, d: int, **options: Any) -> dict[str, Any]:
    """Return a setting; d counts the intercept."""
    return {**DEFAULTS, "n": int(n), "d": d, **options}


GRID = [
    setting(2e3, 2),
    setting(2e3, 2, epsilon=0.3),
    setting(2e3, 2, truth="prior", scale=1.0, adjacency="add_remove"),
    setting(2e3, 5),
    setting(2e3, 5, epsilon=3.0),
    setting(2e3, 5, epsilon=0.3),
    setting(2e3, 5, truth="prior", scale=1.0),
    setting(2e3, 5, truth="prior"),
    setting(2e3, 12, slope=1.0),
    setting(5e3, 6, truth="prior"),
    setting(5e3, 6),
    setting(5e3, 6, adjacency="add_remove"),
    setting(2e4, 2, epsilon=0.3),
    setting(2e4, 5, epsilon=0.3),
    setting(2e4, 5, correlation=0.9),
    setting(2e4, 5, intercept=-4.6, slope=0.3, epsilon=3.0),
    setting(2e4, 5, truth="prior"),
    setting(2e4, 12),
    setting(2e4, 12, slope=1.0, adjacency="add_remove"),
    setting(2e4, 12, correlation=0.9, slope=0.3),
    setting(2e4, 12, truth="prior", scale=1.0),
    setting(2e4, 12, truth="prior", epsilon=3.0),
    setting(2.6e4, 12, intercept=-3.0),
    setting(2.6e4, 12, intercept=-3.0, epsilon=3.0),
    setting(2.6e4, 12, intercept=-4.8),
    setting(2e4, 30, slope=0.3, intercept=-1.0),
    setting(2e4, 30, slope=1.0, intercept=-1.0),
    setting(2e3, 5, model="linear", slope=1.0),
    setting(5e3, 6, model="linear"),
    setting(2e4, 12, model="linear", slope=1.0, epsilon=0.3),
    setting(2e4, 12, model="linear", slope=1.0, adjacency="add_remove"),
    setting(2e3, 12, model="linear", truth="prior", scale=1.0, correlation=0.9),
    setting(2e4, 5, model="poisson", slope=0.3),
    setting(2e4, 12, model="poisson", slope=0.3, adjacency="add_remove", epsilon=3.0),
    setting(2e3, 5, model="poisson", slope=0.5, y_bounds=(0.0, 100.0)),
    setting(2e4, 5, model="poisson", intercept=1.5, y_bounds=(0.0, 4.0)),
    setting(2e4, 5, model="poisson", intercept=4.0, slope=0.3, y_bounds=(0.0, 1000.0)),
    setting(2e4, 5, model="poisson", intercept=-3.0, epsilon=3.0),
    setting(2e4, 5, model="linear, unknown sigma", y_bounds=(-20.0, 20.0)),
    setting(2e4, 12, model="linear, unknown sigma", slope=1.0, adjacency="add_remove", y_bounds=(-10.0, 10.0)),
    setting(2e3, 5, model="linear, unknown sigma", epsilon=3.0, y_bounds=(-20.0, 20.0)),
    setting(2e4, 5, model="huber", slope=1.0),
    setting(2e4, 12, model="huber"),
    setting(2e3, 2, model="huber", adjacency="add_remove"),
    setting(2e4, 5, model="probit"),
    setting(2e4, 12, model="probit", slope=0.3, intercept=-1.5),
    setting(2e4, 5, model="negative binomial", slope=0.3),
    setting(
        2e4, 12, model="negative binomial", epsilon=3.0, intercept=1.0, adjacency="add_remove", y_bounds=(0.0, 60.0)
    ),
    setting(2e4, 5, model="softmax"),
    setting(2e4, 5, model="softmax", adjacency="add_remove", epsilon=3.0, truth="prior", scale=1.0),
    setting(2e3, 2, model="softmax", truth="prior", scale=1.0),
    setting(2e3, 1, model="coin", intercept=-2.0),
    setting(2e4, 1, model="coin", intercept=-4.6, epsilon=0.3, adjacency="add_remove"),
    setting(2e4, 12, correlation=0.9, structure="neighbours"),
    setting(2.6e4, 12),
    setting(5e3, 5),
    setting(2e3, 3),
    setting(2e4, 30, intercept=-1.0),
    setting(6e4, 20),
    setting(2.5e5, 6, intercept=-1.0),
    setting(6e4, 50),
    setting(6e4, 50, slope=1.0),
    setting(2e5, 12, epsilon=0.3, intercept=-3.0),
    setting(2e5, 30, slope=1.0),
    setting(2e5, 5, epsilon=0.3, intercept=-4.6),
    setting(2e5, 12, model="linear", slope=1.0),
    setting(2e5, 12, model="poisson", slope=0.3),
]

# Widths that were asked for, at most: a prototype's, and better ones in its first, third and fourth setting.
ASKED = [
    (setting(2.6e4, 12, intercept=-3.0), 1.70),
    (setting(2.6e4, 12, intercept=-3.0, epsilon=3.0), 1.14),
    (setting(2.6e4, 12), 1.25),
    (setting(2.5e5, 6, intercept=-1.0), 1.03),
    (setting(5e3, 5), 1.49),
    (setting(6e4, 20), 1.23),
    (setting(2e3, 3), 1.65),
    (setting(2e4, 30, intercept=-1.0), 2.12),
    (setting(2e4, 5, epsilon=0.3), 1.97),
]
