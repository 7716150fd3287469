"""Synthetic tables drawn from released draws, and the rules that combine analyses of several of them.

A set is drawn with one draw of the parameters, so the sets are draws from the posterior predictive law: post-processing
of what was released.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from .._optional import require, special
from ..checks import given, inside, reals, whole
from ..data.data import Data
from ..data.frames import frame_columns, is_frame
from ..data.public import typical_rows
from ..errors import InvalidArgument, WrongType
from ..models.simulation import simulate
from .facts import model_of, public_of
from .prediction import new_rows

if TYPE_CHECKING:
    from .posterior import Posterior

Floats = npt.NDArray[np.float64]
Analysis = Callable[[Floats, Floats], tuple[npt.ArrayLike, npt.ArrayLike]]
MOST_CELLS = 200_000_000
FEWEST_SETS = 2
DECLARED_ROWS = 20_000  # made up once from a schema; the sets draw from them


@dataclass(frozen=True, eq=False)
class SyntheticSets:
    """Synthetic tables; iterate over pairs (x, y), or ask for one as a data frame.

    Attributes
    ----------
    x
        Features as the model sees them, shape (set, row, column); empty columns for models without features.
    y
        Targets, shape (set, row); for models without a target the records, shape (set, row, column).
    columns
        Names of the features.
    table, places
        With a schema: the columns in their own units that the rows were taken from, and where, shape (set, row).
    """

    x: Floats
    y: Floats
    columns: tuple[str, ...]
    table: Mapping[str, npt.NDArray[Any]] | None = None
    places: npt.NDArray[np.int64] | None = None

    def __len__(self) -> int:
        return len(self.y)

    def __iter__(self) -> Iterator[tuple[Floats, Floats]]:
        return iter(zip(self.x, self.y, strict=True))

    def to_pandas(self, index: int, target: str = "y") -> Any:
        """Return set number `index` as a pandas data frame; with a schema, features are in their own units."""
        frame = require("pandas", "dataframes", "to_pandas")
        if self.y.ndim == 3:
            return frame.DataFrame(self.y[index], columns=list(self.columns))
        if self.table is not None and self.places is not None:
            made = frame.DataFrame({name: values[self.places[index]] for name, values in self.table.items()})
        else:
            made = frame.DataFrame(self.x[index], columns=list(self.columns))
        made[target] = self.y[index]
        return made

    def combine(self, analysis: Analysis, level: float = 0.9) -> Combined:
        """Run `analysis(x, y)`, which returns estimates and their variances, on every set; see `combine_synthetic`."""
        found = [analysis(x, y) for x, y in self]
        return combine_synthetic([one[0] for one in found], [one[1] for one in found], level=level)


@dataclass(frozen=True, eq=False)
class Combined:
    """The combined analysis of several synthetic sets.

    Attributes
    ----------
    estimate, sd
        Mean of the estimates, and its standard error.
    low, high
        Ends of the interval.
    level
        Its probability.
    """

    estimate: Floats
    sd: Floats
    low: Floats
    high: Floats
    level: float


def synthesize(post: Posterior, n: int, features: Any, sets: int, seed: int | None) -> SyntheticSets:
    """Return synthetic tables of the model's kind."""
    n, sets = whole(n, "n"), whole(sets, "sets")
    model, public = model_of(post), public_of(post)
    if n * sets * (public.width + 1) > MOST_CELLS:
        raise InvalidArgument(f"n x sets x columns must be at most {MOST_CELLS:,}; lower n or sets")
    chains, count = next(iter(post.draws.values())).shape[:2]
    if sets > chains * count:
        raise InvalidArgument(f"sets must be at most the number of draws, {chains * count}, not {sets}")
    random = np.random.default_rng(None if seed is None else whole(seed, "seed", least=0))
    source = _source(post, features, random) if model.needs_target else Source(np.zeros((1, 0)), None)
    flat = {name: values.reshape(chains * count, -1) for name, values in post.draws.items()}
    x = np.zeros((sets, n, public.width if model.needs_target else 0))
    places = np.zeros((sets, n), dtype=np.int64)
    made = []
    for place, draw in enumerate(np.linspace(0, chains * count - 1, sets).astype(np.int64)):
        if source is None:
            x[place] = typical_rows(public, n, random)
        else:
            places[place] = random.integers(len(source.rows), size=n)
            x[place] = source.rows[places[place]]
        rows = x[place] if model.needs_target else np.zeros((n, public.width))
        made.append(simulate(model, {name: values[draw] for name, values in flat.items()}, rows, random))
    names = tuple(str(name) for name in public.columns)
    return SyntheticSets(x, np.array(made), names, source and source.table, places)


class Source(NamedTuple):
    """Public rows as the model sees them, and in their own units where there is a schema."""

    rows: Floats
    table: dict[str, npt.NDArray[Any]] | None


def _source(post: Posterior, features: Any, random: np.random.Generator) -> Source | None:
    """Return the public rows to draw from, bounded as the records were, or None for those of a typical table."""
    if isinstance(features, Data):
        raise WrongType("features must be public rows, not a Data, whose records are protected")
    if isinstance(features, str):
        if features != "declared":
            raise InvalidArgument(f'features must be "declared" or a public table, not {given(features)}')
        if post.schema is None:
            return None
        features = post.schema.sample(DECLARED_ROWS, random)
    rows, absent = new_rows(post, features)
    if absent.all():
        raise InvalidArgument("features: no row is complete")
    if post.schema is None or not (isinstance(features, Mapping) or is_frame(features)):
        return Source(rows[~absent], None)
    found = features if isinstance(features, Mapping) else frame_columns(features)
    return Source(rows[~absent], {name: np.asarray(found[name])[~absent] for name in post.schema.features})


def combine_synthetic(
    estimates: Sequence[npt.ArrayLike], variances: Sequence[npt.ArrayLike], *, level: float = 0.9
) -> Combined:
    """Combine analyses of synthetic sets by the rules for fully synthetic data (Raghunathan, Reiter, Rubin 2003).

    With m sets, between-set variance b and mean variance v the total is (1 + 1/m) b - v: v is the noise of drawing n
    rows, which b contains once too often. Where the total is below b/m, the sets are too small to tell the two apart,
    and (1 + 1/m) b takes its place: too wide rather than too narrow. For many large sets this agrees with the mixture
    of the analyses' posteriors (Räisä, Jälkö, Honkela 2025).

    Parameters
    ----------
    estimates, variances
        What the analysis of each set gave: a row per set, an entry per quantity.
    level
        Probability of the interval.

    Examples
    --------
    >>> import pydpmc as dp
    >>> found = dp.combine_synthetic([[1.0], [1.2], [0.9], [1.1]], [[1e-4]] * 4)
    >>> round(float(found.estimate[0]), 2), round(float(found.sd[0]), 3)
    (1.05, 0.144)
    """
    values, within = reals(estimates, "estimates"), reals(variances, "variances")
    inside(level, "level")
    if values.ndim != 2 or values.shape != within.shape or len(values) < FEWEST_SETS:
        raise InvalidArgument(
            f"estimates and variances need a row for each of at least {FEWEST_SETS} sets and the same shape, not "
            f"{values.shape} and {within.shape}"
        )
    m = len(values)
    between, mean_within = values.var(axis=0, ddof=1), within.mean(axis=0)
    total = (1.0 + 1.0 / m) * between - mean_within
    usable = total > between / m
    total = np.where(usable, total, (1.0 + 1.0 / m) * between)
    ratio = mean_within / np.maximum((1.0 + 1.0 / m) * between, 1e-300)
    degrees = np.where(usable, (m - 1) * (1.0 - np.minimum(ratio, 1.0)) ** 2, m - 1.0)
    half = special.stdtrit(np.maximum(degrees, 1.0), 0.5 + level / 2.0) * np.sqrt(total)
    centre = values.mean(axis=0)
    return Combined(centre, np.sqrt(total), centre - half, centre + half, float(level))
