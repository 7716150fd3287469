"""Data: the private records, checked and copied once, and the public facts declared with them."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterable, Sequence, Sized
from typing import Any, Literal, NoReturn

import numpy as np
import numpy.typing as npt

from ..checks import given, one_of, positive, whole
from ..errors import InvalidArgument, WrongType
from . import storage as table
from .frames import frame_columns, is_frame
from .groups import layout
from .large_tables import LargeTables
from .matrix import number_array, target_array
from .one_hot import Blocks, Coded, coded_rows, declared_blocks, not_one_hot, without_targets
from .public import Bounds, Public, column_bounds, column_names, moment_matrix, target_bounds
from .storage import STORAGES, Storage
from .weights import declared_weights, stored_weights

_CHUNK_VALUES = 2**19


class Data(LargeTables):
    """Private records with declared public bounds.

    Bounds are declared, never learned: values outside ``x_bounds`` and ``y_bounds`` are clamped and rows longer
    than ``row_norm`` are scaled down to it.

    Parameters
    ----------
    x
        Records, shape (n, d), or (n,) for one column. Of an array with more dimensions, such as images, the first
        counts records and the others are flattened; its shape is public. A table without records can be used under
        ``add_remove`` alone, where their number is private.
    y
        Targets, shape (n,), for regression and classification.
    row_norm
        Public bound on the Euclidean norm of a row of `x`.
    x_bounds
        Public (low, high) of the columns of `x`: two numbers, or two arrays of length d.
    y_bounds
        Public (low, high) of `y`.
    target_levels
        Public names of the classes 0, 1, ... of `y`.
    columns
        Names of the columns of `x`; they become the names of the coefficients. Those of a table (pandas, polars,
        pyarrow) by default: the names of a table's columns are taken to be public.
    public_n
        A public number of records (of groups, with `groups`), used for planning under ``adjacency="add_remove"``.
    groups
        One label per row, a whole number or a string: rows with the same label belong to one person (household,
        hospital), and the group is what is protected. The number of groups takes the place of n; how many rows a
        group has, and how many there are in all, is private. Rows without a label are one group together.
    max_group_size
        Public bound on the rows of a group; of a larger group only its first rows are used. With it a group's clip
        can be chosen so that it never acts.
    base_rate, typical_norm, second_moments
        For forecasts alone, and only if publicly known: the share of records with y = 1 (or the mean count), the norm
        of a typical row, and the matrix E x x' of rows. Never compute them from the records; ``pilot`` buys them.
    sample_weight
        One weight per row, for a sample in which records stand for different numbers of people: a record counts as
        often as its weight says. Weights above `max_weight` are lowered to it; a record whose weight is negative, not
        finite or no number contributes nothing. ``Newton`` and the gradient samplers take
        weights; all others refuse them.
    max_weight
        Public bound on a weight. What a record can contribute, and so the noise, grows with it.
    on_invalid
        ``"drop"``, the only choice: a record with NaN, infinity or a value that is no number contributes nothing. It
        still counts in n, so that the size of the data set does not depend on it. No record is refused: an error
        that one record decides would be a release that nobody paid for.
    storage
        ``"float32"`` halves the memory and speeds up large runs: each value is rounded once, towards zero, by at
        most 1.2e-7 of itself. ``"fixed16"`` quarters it: features are rounded to multiples of 2^-14, for which bounds
        within [-2, 2] must be declared. Values stay within their bounds; no guarantee changes.
    one_hot
        Blocks of columns that encode a category: at most one column of a block is 1, the others are 0. Where that
        makes rows short, the gradient samplers then look categories up instead of multiplying them out. ``Schema``
        declares them by itself. A record with several ones in a block is invalid (see `on_invalid`).

    Examples
    --------
    >>> import numpy as np, pydpmc as dp
    >>> data = dp.Data(np.array([[0.3, 4.0], [0.6, 0.8]]), np.array([0, 1]), row_norm=1.0)
    >>> data.public.n, data.public.width, data.public.row_norm
    (2, 2, 1.0)
    """

    _cells = 1  # docs/privacy/sharding.md
    _mapping: Any = None  # the file that the rows are in, if they are in one
    _changed: bool = False  # whether rows differ from those of the file
    _cluster: Any = None  # the workers that hold the rows, if workers do

    def __init__(
        self,
        x: npt.ArrayLike,
        y: npt.ArrayLike | None = None,
        *,
        row_norm: float | None = None,
        x_bounds: Bounds | None = None,
        y_bounds: Bounds | None = None,
        target_levels: Sequence[str] | None = None,
        columns: Sequence[str] | None = None,
        public_n: int | None = None,
        groups: npt.ArrayLike | None = None,
        max_group_size: int | None = None,
        base_rate: float | None = None,
        typical_norm: float | None = None,
        second_moments: npt.ArrayLike | None = None,
        sample_weight: npt.ArrayLike | None = None,
        max_weight: float | None = None,
        on_invalid: Literal["drop"] = "drop",
        storage: Storage = "float64",
        one_hot: Sequence[Sequence[int]] | None = None,
    ) -> None:
        _require_drop(on_invalid)
        one_of(storage, "storage", STORAGES)
        features = number_array(x, "x", _declared_width(columns, x_bounds))
        if columns is None and is_frame(x) and features.ndim == 2:
            columns = [str(name) for name in frame_columns(x)]
        if features.ndim == 1:
            features = features[:, None]
        if features.ndim > 2:  # images, for example; their shape is public
            features = features.reshape(len(features), math.prod(features.shape[1:]))
        if features.ndim != 2:
            raise InvalidArgument(f"x must have one or two dimensions, but it has {features.ndim}")
        n, width = features.shape
        if width < 1:
            raise InvalidArgument(f"x must have at least one column, but its shape is {features.shape}")
        if n >= 2**31:
            raise InvalidArgument(f"x has {n} rows; at most 2^31 - 1 are supported")
        target = None if y is None else target_array(y, "y")
        if target is not None and target.shape != (n,):
            raise InvalidArgument(f"x has {n} rows but y has shape {target.shape}; y needs one value per row of x")
        if target is None and y_bounds is not None:
            raise InvalidArgument("y_bounds was given but y was not")
        blocks = declared_blocks(one_hot, width)
        stored = layout(groups, n, max_group_size)
        weights, most_weight = declared_weights(sample_weight, max_weight, n)
        units = stored.units
        if units == 0:  # under add_remove n is private: no records are stored as one that contributes nothing
            features, target = np.full((1, width), np.nan), None if target is None else np.full(1, np.nan)
            stored = layout(None if groups is None else [0], 1, max_group_size)
            weights = None if weights is None else np.ones(1)
        self._group_start = stored.start
        self._public = Public(
            n=units,
            columns=column_names(columns, width),
            has_target=target is not None,
            row_norm=None if row_norm is None else positive(row_norm, "row_norm"),
            x_bounds=column_bounds(x_bounds, width),
            y_bounds=None if y_bounds is None else target_bounds(y_bounds),
            target_levels=None if target_levels is None else tuple(map(str, target_levels)),
            public_n=None if public_n is None else whole(public_n, "public_n"),
            grouped=groups is not None,
            max_group_size=stored.most,
            base_rate=None if base_rate is None else positive(base_rate, "base_rate"),
            typical_norm=None if typical_norm is None else positive(typical_norm, "typical_norm"),
            max_weight=most_weight,
            second_moments=moment_matrix(second_moments, width),
        )
        table.require_range(self._public, storage)
        self._storage = storage
        self._squares: npt.NDArray[np.float64] | None = None
        self._rows = table.empty_rows(stored.rows, width, target is not None, storage)
        with np.errstate(all="ignore"):  # a warning would depend on the records
            self._fill(features, target, stored.order, blocks)
        self._weights = stored_weights(weights, stored.order, self._rows, self._public)
        if table.holds_squares(width, storage):
            self._squares = table.squares_within(self._rows)
            self._squares[:] = table.squares(self._rows, self._public)
        self._rows.flags.writeable = False  # row_squares() and the bounds hold for these numbers
        self.schema: Any = None  # the Schema that encoded the records, if one did
        self._blocks = blocks if target is not None and groups is None else ()
        self._coded: Coded | None = self._code()

    @property
    def public(self) -> Public:
        """The public facts: all that a plan may see."""
        return self._public

    def knowing(
        self,
        *,
        base_rate: float | None = None,
        typical_norm: float | None = None,
        second_moments: npt.ArrayLike | None = None,
    ) -> Data:
        """Return the same records with other public knowledge for forecasts, such as what a pilot released."""
        facts = {"base_rate": base_rate, "typical_norm": typical_norm}
        known: dict[str, Any] = {name: value for name, value in facts.items() if value is not None}
        if second_moments is not None:
            known["second_moments"] = moment_matrix(second_moments, self._public.width)
        other = object.__new__(type(self))
        other.__dict__.update(self.__dict__)
        other._public = dataclasses.replace(self._public, **known)
        return other

    def row_squares(self) -> npt.NDArray[np.float64]:
        """Return |x|^2 of every stored row, as private as the rows; computed once and kept."""
        if self._squares is None:
            self._squares = table.squares(self._rows, self._public)
        self._squares.flags.writeable = False
        return self._squares

    def of_labels(self, count: int) -> Data:
        """Return the data for a model with the labels 0, 1, ..., count - 1: records with another contribute nothing."""
        public = self._public

        def unknown(rows: table.Rows) -> npt.NDArray[np.bool_]:
            values = table.labels(rows, public.width, public.has_target)
            known = (values >= 0) & (values < count) & (values == np.floor(values))
            return np.asarray(~known & ~np.isnan(values))

        which = self._where(unknown)
        if not len(which):
            return self
        rows = self._copied()
        table.void(rows, which, public.width, public.has_target)
        return self._with_rows(rows, which)

    def with_void_at(self, point: npt.NDArray[np.float64]) -> Data:
        """Return the data with a public point in place of each record that is void; for tables without a target."""
        which = self._where(lambda rows: np.isnan(rows[:, 0]))
        if not len(which):
            return self
        rows = self._copied()
        bounds = None if self._public.x_bounds is None else tuple(np.array(self._public.x_bounds).T)
        stand_in = Data(point[None, :], row_norm=self._public.row_norm, x_bounds=bounds, storage=self._storage)
        rows[which] = stand_in._rows
        return self._with_rows(rows, which)

    def _where(self, is_so: Callable[[table.Rows], npt.NDArray[np.bool_]]) -> npt.NDArray[np.intp]:
        """Return the rows of which this is so; the table may be larger than memory."""
        chunk = max(1, _CHUNK_VALUES // self._rows.shape[1])
        parts = (np.flatnonzero(is_so(self._rows[k : k + chunk])) + k for k in range(0, len(self._rows), chunk))
        return np.concatenate(list(parts))

    def _copied(self) -> table.Rows:
        """Return rows that can be changed: of a mapped file, only changed pages are copied."""
        if self._mapping is None or self._changed:
            return table.copied(self._rows)
        private: table.Rows = self._mapping.array("rows", private=True)[: len(self._rows)]
        return private

    def first(self, count: int) -> Data:
        """Return the data of the first `count` records; for tables without groups."""
        if count >= len(self._rows):
            return self
        other = object.__new__(type(self))
        other.__dict__.update(self.__dict__)
        other._rows = self._rows[:count]
        other._squares = None if self._squares is None else self._squares[:count]
        other._coded = None if self._coded is None else self._coded._replace(rows=self._coded.rows[:count])
        return other

    def _with_rows(self, rows: table.Rows, changed: npt.NDArray[np.intp]) -> Data:
        other = object.__new__(type(self))
        other.__dict__.update(self.__dict__)
        other._rows = rows
        other._changed = True
        if table.holds_squares(self._public.width, self._storage):
            other._squares = table.squares_within(rows)
        elif not self._public.has_target:
            other._squares = None
            if self._mapping is not None:
                other._squares = self._mapping.array("squares", private=True)[: len(rows)]
                other._squares[changed] = table.squares(np.ascontiguousarray(rows[changed]), self._public)
        rows.flags.writeable = False
        if self._coded is not None:  # codes belong to tables with a target, of which only targets change
            private = None if self._mapping is None else self._mapping.array("coded", private=True)[: len(rows)]
            other._coded = without_targets(self._coded, changed, private)
        return other

    def in_cells(self, cells: int) -> Data:
        """Return the same records cut into so many cells, each with a sampling key of its own in every run."""
        if cells == self._cells:
            return self
        if self._cluster is not None:
            raise InvalidArgument("cells: those of a cluster are cut when it loads the records")
        other = object.__new__(type(self))
        other.__dict__.update(self.__dict__)
        other._cells = cells
        return other

    def advise(self, all_in_order: bool) -> None:
        """Tell how a run will read the rows, if they are those of a file."""
        if self._mapping is not None:
            self._mapping.advise(all_in_order)

    def _code(self) -> Coded | None:
        if not self._blocks:
            return None
        return coded_rows(self._rows, self.row_squares(), self._public, self._blocks)

    def __len__(self) -> int:
        return self._public.n

    def __copy__(self) -> Data:
        return self  # it does not change

    def __deepcopy__(self, memo: Any) -> Data:
        return self

    def __reduce_ex__(self, protocol: Any) -> NoReturn:
        raise WrongType(
            "Data cannot be pickled: the copy could be changed, beyond the bounds that the guarantee rests on, and the "
            "pickle would hold the records. Make the Data where it is used, from the table"
        )

    def __repr__(self) -> str:
        return f"Data({self._public})"

    def _fill(
        self,
        features: npt.NDArray[Any],
        target: npt.NDArray[Any] | None,
        order: npt.NDArray[np.intp] | None,
        blocks: Blocks,
    ) -> None:
        """Write the bounded records, in this order; a record that is invalid is marked as void."""
        public, width = self._public, self._public.width
        for_target = table.target_storage(self._storage)
        y_bounds = None if public.y_bounds is None else table.inward(public.y_bounds, for_target, "y_bounds")
        chunk = max(1, _CHUNK_VALUES // width)
        for start in range(0, len(self._rows), chunk):
            rows = self._rows[start : start + chunk]
            here = slice(start, start + chunk) if order is None else order[start : start + chunk]
            x = np.array(features[here], dtype=np.float64)
            broken = ~np.isfinite(x).all(axis=1)
            x[broken] = 0.0
            table.bound_features(x, public, self._storage)
            x = table.towards_zero(x, self._storage)
            if blocks:
                broken |= not_one_hot(x, blocks)
                x[broken] = 0.0
            if target is None:
                x[broken, 0] = np.nan  # the kernels count a NaN log-likelihood ratio as zero
            else:
                y = np.array(target[here], dtype=np.float64)
                broken |= ~np.isfinite(y)
                y = table.towards_zero(y if y_bounds is None else np.clip(y, *y_bounds), for_target)
                y[broken] = np.nan
                table.write_targets(rows, width, y)
            table.write_features(rows, x)


def require_data(data: Any) -> None:
    """Refuse anything but a Data."""
    if not isinstance(data, Data):
        raise WrongType(f"data must be a pydpmc.Data, which declares the bounds, not {given(data)}")


def _require_drop(on_invalid: Any) -> None:
    if on_invalid != "drop":
        raise InvalidArgument(
            f'on_invalid must be "drop", not {given(on_invalid)}: a record that cannot be used contributes nothing. A '
            "refusal would tell of one record; look for such records in the table itself, before it comes here"
        )


def _declared_width(columns: Any, x_bounds: Any) -> int | None:
    """Return the declared number of columns, None if there is none; what is wrong is refused later."""
    if isinstance(columns, Sized) and not isinstance(columns, str):
        return len(columns)
    ends = list(x_bounds) if isinstance(x_bounds, Iterable) else []
    return next((np.size(end) for end in ends if np.ndim(end) == 1), None)
