"""The Adult census, prepared by public bounds and categories.

Numbers are scaled by declared bounds, categories are one-hot, and all is divided by sqrt(15), so that the norm of every
row is at most 1.
"""

from __future__ import annotations

import csv
import gzip
from functools import lru_cache

import numpy as np
import numpy.typing as npt
import pytest
from shared_files import absence, shared_path

import pydpmc as dp

Floats = npt.NDArray[np.float64]
PARTS = 15  # features of a record, each at most 1: 14 columns and a constant
NUMBERS = {
    "age": (17.0, 90.0),
    "fnlwgt": (0.0, 1_500_000.0),
    "education-num": (1.0, 16.0),
    "capital-gain": (0.0, 100_000.0),
    "capital-loss": (0.0, 4_500.0),
    "hours-per-week": (1.0, 99.0),
}


def table(name: str) -> tuple[list[str], list[list[str]]]:
    path = shared_path("data", f"adult_{name}.csv.gz")
    if path is None:
        pytest.skip(absence("data", f"adult_{name}.csv.gz"))
    with gzip.open(path, "rt") as file:
        header, *rows = csv.reader(file)
    return header, rows


def number(values: list[str], name: str) -> Floats:
    low, high = NUMBERS[name]
    x = np.clip(np.array(values, dtype=float), low, high)
    return np.log1p(x) / np.log1p(high) if name.startswith("capital") else (x - low) / (high - low)


def features(header: list[str], rows: list[list[str]], categories: dict[str, list[str]]) -> Floats:
    blocks = [np.ones((len(rows), 1))]
    for name, column in zip(header[:-1], zip(*rows, strict=True), strict=False):
        if name in NUMBERS:
            blocks.append(number(list(column), name)[:, None])
        else:
            blocks.append((np.array(column)[:, None] == np.array(categories[name])).astype(float))
    return np.hstack(blocks) / PARTS**0.5


@lru_cache(maxsize=1)
def adult(storage: str = "float64") -> tuple[dp.Data, Floats, Floats]:
    """Return the training records, and features and labels of the test records."""
    header, train = table("train")
    _, test = table("test")
    # The names of the categories are public: they are in the census's code book.
    categories = {
        name: sorted({row[j] for row in (*train, *test)}) for j, name in enumerate(header[:-1]) if name not in NUMBERS
    }
    x, held_out = (features(header, rows, categories) for rows in (train, test))
    y, truth = (np.array([row[-1] == ">50K" for row in rows], dtype=float) for rows in (train, test))
    assert np.linalg.norm(x, axis=1).max() <= 1.0 + 1e-12
    return dp.Data(x, y, row_norm=1.0, public_n=len(x), storage=storage), held_out, truth
