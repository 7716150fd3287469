"""How a record of a model is laid out in the columns of a table, and made-up records within public bounds."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ...checks import given
from ...data.public import Public
from ...errors import InvalidArgument, WrongType

Floats = npt.NDArray[np.float64]
TARGET = "y"
SEED = 20261118


@dataclass(frozen=True)
class Field:
    """A named part of a record: some columns in a row, or the target."""

    name: str
    shape: tuple[int, ...]
    whole: bool  # whether the model wants whole numbers

    @property
    def size(self) -> int:
        """The number of columns."""
        return math.prod(self.shape)


@dataclass(frozen=True)
class Layout:
    """The fields of a record in the order of the columns; the target, if there is one, is the field ``y``."""

    fields: tuple[Field, ...]

    def of(self, x: Any, y: Any, as_whole: Any) -> dict[str, Any]:
        """Return the fields of one record, or of several on the first axis; slicing is the backend's."""
        record, start = {}, 0
        for field in self.fields:
            if field.name == TARGET and y is not None:
                value = y
            else:
                value = x[..., start : start + field.size].reshape((*x.shape[:-1], *field.shape))
                start += field.size
            record[field.name] = as_whole(value) if field.whole else value
        return record

    def check(self, public: Public) -> None:
        """Refuse a table whose columns are not those of a record."""
        named = [field.name for field in self.fields]
        if public.has_target and TARGET not in named:
            raise InvalidArgument(f"record has no field 'y' for the target of Data; its fields are {named}")
        columns = sum(field.size for field in self.fields if not (public.has_target and field.name == TARGET))
        if columns != public.width:
            raise InvalidArgument(
                f"record takes {columns} columns of x ({', '.join(named)}), but Data has {public.width}; fields take "
                "their columns in the order of record, and the target is the field 'y'"
            )
        for field in self.fields:
            if public.has_target and field.name == TARGET and field.shape != ():
                raise InvalidArgument(f"record: the target 'y' must be one number, but its shape is {field.shape}")


def layout_of(record: Any) -> Layout | None:
    """Return the layout of an example of a record: numbers and arrays by name, which are looked at for their shapes."""
    if record is None:
        return None
    if not isinstance(record, Mapping) or not record:
        raise WrongType(
            f"record must map names to an example, such as dict(x=np.zeros(10), y=0.0), not {given(record)}"
        )
    fields = []
    for name, example in record.items():
        array = np.asarray(example)
        if array.dtype.kind not in "fiub":
            raise WrongType(f"record: {name} must be an example of numbers, not {given(example)}")
        fields.append(Field(str(name), array.shape, array.dtype.kind in "iub"))
    return Layout(tuple(fields))


def default_layout(public: Public) -> Layout:
    """Return the layout of a table: its features ``x`` and its target ``y``."""
    x = Field("x", (public.width,), False)
    return Layout((x, Field(TARGET, (), False)) if public.has_target else (x,))


def made_up(public: Public, layout: Layout, count: int) -> tuple[Floats, Floats | None]:
    """Return records within the declared bounds, no two alike: nothing of them is private.

    Examples
    --------
    >>> public = Public(n=9, columns=("a",), has_target=True, y_bounds=(0.0, 1.0))
    >>> x, y = made_up(public, default_layout(public), 3)
    >>> x.shape, bool(((0 <= y) & (y <= 1)).all())
    ((3, 1), True)
    """
    random = np.random.default_rng(SEED)
    x = random.normal(size=(count, public.width))
    if public.x_bounds is not None:
        low, high = np.array(public.x_bounds).T
        x = low + (high - low) * random.random((count, public.width))
    if public.row_norm is not None:
        norms = np.linalg.norm(x, axis=1, keepdims=True)
        x = x * np.minimum(1.0, 0.9 * public.row_norm / np.maximum(norms, 1e-300))
    start = 0
    for field in layout.fields:
        if public.has_target and field.name == TARGET:
            continue
        if field.whole:
            x[:, start : start + field.size] = np.round(x[:, start : start + field.size])
        start += field.size
    return x, _targets(public, layout, count, random) if public.has_target else None


def _targets(public: Public, layout: Layout, count: int, random: np.random.Generator) -> Floats:
    whole = any(field.whole for field in layout.fields if field.name == TARGET)
    if public.y_bounds is None:
        return random.integers(0, 2, count).astype(float)
    low, high = public.y_bounds
    y = low + (high - low) * random.random(count)
    counts = float(low).is_integer() and float(high).is_integer() and low >= 0.0
    return np.round(y) if whole or counts else y
