"""Adult and Abalone as records of norm at most 1 with a constant, from public bounds and categories alone."""

from __future__ import annotations

import csv
import gzip
import sys
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests" / "helpers"))
from shared_files import absence, shared_path

Floats = npt.NDArray[np.float64]

ADULT = {
    "age": (17.0, 90.0),
    "fnlwgt": (0.0, 1_500_000.0),
    "education-num": (1.0, 16.0),
    "capital-gain": (0.0, 100_000.0),
    "capital-loss": (0.0, 4_500.0),
    "hours-per-week": (1.0, 99.0),
}
ABALONE = {
    "Length": 1.0,
    "Diameter": 0.8,
    "Height": 0.4,
    "Whole_weight": 3.0,
    "Shucked_weight": 1.5,
    "Viscera_weight": 0.8,
    "Shell_weight": 1.2,
}
SEX = {"I": 0.0, "F": 0.5, "M": 1.0}
OLD = 10  # rings: about half of the animals have as many


class Split(NamedTuple):
    x: Floats
    y: Floats
    held_out: Floats
    truth: Floats


def table(name: str) -> tuple[list[str], list[list[str]]]:
    path = shared_path("data", f"{name}.csv.gz")
    if path is None:
        raise SystemExit(absence("data", f"{name}.csv.gz"))
    with gzip.open(path, "rt") as file:
        header, *rows = csv.reader(file)
    return header, rows


@lru_cache(maxsize=1)
def adult() -> Split:
    """Return the training and test records: 14 columns and a constant, each of norm at most 1, over sqrt 15."""
    header, train = table("adult_train")
    _, test = table("adult_test")
    # The names of the categories are public: they are in the census's code book.
    categories = {
        name: sorted({row[j] for row in (*train, *test)}) for j, name in enumerate(header[:-1]) if name not in ADULT
    }
    x, held_out = (_adult_features(header, rows, categories) for rows in (train, test))
    y, truth = (np.array([row[-1] == ">50K" for row in rows], dtype=float) for rows in (train, test))
    return Split(x, y, held_out, truth)


def _adult_features(header: list[str], rows: list[list[str]], categories: dict[str, list[str]]) -> Floats:
    blocks = [np.ones((len(rows), 1))]
    for name, column in zip(header[:-1], zip(*rows, strict=True), strict=False):
        if name in ADULT:
            low, high = ADULT[name]
            value = np.clip(np.array(column, dtype=float), low, high)
            logged = name.startswith("capital")
            blocks.append((np.log1p(value) / np.log1p(high) if logged else (value - low) / (high - low))[:, None])
        else:
            blocks.append((np.array(column)[:, None] == np.array(categories[name])).astype(float))
    return np.hstack(blocks) / 15**0.5


def abalone(rng: np.random.Generator) -> Split:
    """Return a random fifth as test records; whether an animal has at least 10 rings from 8 columns and a constant."""
    header, rows = table("abalone")
    columns = dict(zip(header, zip(*rows, strict=True), strict=True))
    blocks = [np.ones(len(rows)), np.array([SEX[s] for s in columns["Sex"]])]
    blocks += [np.clip(np.array(columns[name], dtype=float) / high, 0.0, 1.0) for name, high in ABALONE.items()]
    x = np.stack(blocks, axis=1) / len(blocks) ** 0.5
    y = (np.array(columns["Rings"], dtype=float) >= OLD).astype(float)
    order = rng.permutation(len(x))
    test, train = order[: len(x) // 5], order[len(x) // 5 :]
    return Split(x[train], y[train], x[test], y[test])
