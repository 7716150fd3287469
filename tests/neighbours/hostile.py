"""Unexpected values that a record may hold, and the kinds of tables that may contain them."""

import csv
import datetime
import decimal
import enum
import fractions
import math
import uuid

import numpy as np
import pytest
from hypothesis import strategies as st

import pydpmc as dp


class Evil:
    """An object none of whose methods works."""

    def _fail(self, *_, **__):
        raise RuntimeError("no")

    __float__ = __str__ = __repr__ = __eq__ = __len__ = __iter__ = __array__ = __bool__ = _fail
    __hash__ = object.__hash__


class EvilText(str):
    def strip(self, *_):
        raise RuntimeError("no")


class Level(enum.Enum):
    ONE = 1


MISSING = (
    None,
    math.nan,
    np.float32("nan"),
    np.datetime64("NaT"),
    np.ma.masked,
    decimal.Decimal("NaN"),
    "",
    "nan",
    "?",
)
NUMBERS = (
    True,
    0,
    1,
    -1,
    0.5,
    math.inf,
    -math.inf,
    1e308,
    5e-324,
    2**53 + 1,
    2**64,
    -(10**400),
    np.int8(1),
    np.bool_(1),
)
TEXTS = (
    "1",
    "1.0",
    "01",
    " a ",
    "b",
    "True",
    "1e999",
    "1_0",
    "a\x00",
    "\ud800",
    'a"b',
    "a,b",
    "a\nb",
    "\r",
    "9" * 5000,
)
ODD = (
    *(
        b"1",
        b"\xff",
        bytearray(b"a"),
        memoryview(b"1"),
        1j,
        1 + 0j,
        np.complex64(1),
        np.longdouble("1e400"),
        np.void(b"ab"),
    ),
    *(decimal.Decimal("0.1"), decimal.Decimal("sNaN"), decimal.Decimal("1E+999999"), fractions.Fraction(10**400, 3)),
    *(
        datetime.date(2020, 1, 1),
        datetime.datetime.max,
        datetime.time(1),
        datetime.timedelta(1),
        np.timedelta64(1, "D"),
    ),
    *(np.datetime64("2020-01-01"), uuid.UUID(int=1), (1, 2), [1], {}, {1}, np.array(1.0), np.array([1.0, 2.0])),
    *(object(), Evil(), EvilText("a"), Level.ONE, NotImplemented, ..., type),
)
try:
    import pandas as pd

    MISSING += (pd.NA, pd.NaT)
    ODD += (pd.Timestamp("2020-01-01", tz="UTC"), pd.Period("2020"), pd.Interval(0, 1))
except ImportError:
    pass
ALL = (*MISSING, *NUMBERS, *TEXTS, *ODD)

values = st.one_of(
    st.sampled_from(ALL),
    st.integers(),
    st.floats(),
    st.text(max_size=4),
    st.binary(max_size=3),
    st.decimals(),
    st.dates(),
)

N, CHANGED = 12, 5
PLAIN = {
    "flag": [k % 3 != 0 for k in range(N)],
    "size": [0.1 * k for k in range(N)],
    "zone": [2**53 + k % 3 for k in range(N)],
    "word": ["abcd"[k % 4] for k in range(N)],
    "when": [datetime.date(2020, 1, 1 + k % 3) for k in range(N)],
    "who": [2**53 + k // 2 for k in range(N)],
    "y": [k % 2 for k in range(N)],
}
COLUMNS = {
    "flag": dp.Binary(positive=True),
    "size": dp.Number(0, 3, transform=["log1p", "standardise"]),
    "zone": dp.Category([2**53, 2**53 + 1], missing="level"),
    "word": dp.Category(["a", "b", 1]),
    "when": dp.Category(["2020-01-01", "2020-01-02"], missing="constant", fill="2020-01-02"),
    "y": dp.Binary(),
}


def schema(**options):
    return dp.Schema(COLUMNS, **{"target": "y", "missing": "drop", "missing_values": ["", "?", "999"]} | options)


def with_record(name, value):
    """Return the plain table with one value of one record replaced."""
    changed = list(PLAIN[name])
    changed[CHANGED] = value
    return PLAIN | {name: changed}


def objects(column):
    return np.fromiter(column, dtype=object, count=len(column))


def matrix(table):
    columns = [objects(table[name]) for name in COLUMNS]
    made = np.empty((N, len(columns)), dtype=object)
    for j, column in enumerate(columns):
        made[:, j] = column
    return made


def structured(table):
    made = np.empty(N, dtype=[(name, object) for name in table])
    for name, column in table.items():
        made[name] = objects(column)
    return made


def csv_file(table, folder):
    path = folder / "table.csv"
    with path.open("w", newline="", encoding="utf-8", errors="replace") as file:
        writer = csv.writer(file)
        writer.writerow(table)
        writer.writerows(
            [["" if value is None else value for value in row] for row in zip(*table.values(), strict=True)]
        )
    return path


def pandas_objects(table):
    pandas = pytest.importorskip("pandas", reason="pandas is not installed (extra pydpmc[dataframes])")
    return pandas.DataFrame({name: pandas.Series(objects(column), dtype=object) for name, column in table.items()})


def polars_objects(table):
    polars = pytest.importorskip("polars", reason="polars is not installed (extra pydpmc[dataframes])")
    return polars.DataFrame({k: polars.Series(k, list(v), dtype=polars.Object) for k, v in table.items()})


# Readers that take any value as it is: whatever one record holds, the others must be stored as ever.
READERS = {
    "lists": lambda table: {name: list(column) for name, column in table.items()},
    "tuples": lambda table: {name: tuple(column) for name, column in table.items()},
    "object arrays": lambda table: {name: objects(column) for name, column in table.items()},
    "matrix": matrix,
    "structured array": structured,
    "pandas": pandas_objects,
    "polars": polars_objects,
}
