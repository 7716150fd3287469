"""Four public tables for `regressions.py`, as records of norm at most 1 with a constant, from public bounds alone."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping

import numpy as np
import numpy.typing as npt
import uci

Floats = npt.NDArray[np.float64]
Table = tuple[Floats, Floats]
ADULT = ("age", "education-num", "capital-gain", "capital-loss", "hours-per-week")
RAND = {
    "lncoins": (0.0, 4.62),
    "idp": (0.0, 1.0),
    "lpi": (0.0, 7.2),
    "fmde": (0.0, 8.3),
    "physlm": (0.0, 1.0),
    "disea": (0.0, 60.0),
    "hlthg": (0.0, 1.0),
    "hlthf": (0.0, 1.0),
    "hlthp": (0.0, 1.0),
}
FAIR = {
    "rate_marriage": (1.0, 5.0),
    "age": (17.0, 45.0),
    "yrs_married": (0.0, 25.0),
    "children": (0.0, 6.0),
    "religious": (1.0, 4.0),
    "educ": (9.0, 20.0),
    "occupation": (1.0, 6.0),
    "occupation_husb": (1.0, 6.0),
}


def adult() -> Table:
    """Return whether a person earns above 50,000 from five numbers, sex and marriage: 32,561 records."""
    header, rows = uci.table("adult_train")
    columns = dict(zip(header, zip(*rows, strict=True), strict=True))
    blocks = []
    for name in ADULT:
        low, high = uci.ADULT[name]
        value = np.clip(np.array(columns[name], dtype=float), low, high)
        logged = name.startswith("capital")
        blocks.append(np.log1p(value) / np.log1p(high) if logged else (value - low) / (high - low))
    blocks.append(np.array([s == "Male" for s in columns["sex"]], dtype=float))
    blocks.append(np.array([s.startswith("Married-") for s in columns["marital-status"]], dtype=float))
    return scaled(blocks), np.array([row[-1] == ">50K" for row in rows], dtype=float)


def abalone() -> Table:
    """Return whether an animal has at least 10 rings: 4,177 records, 8 columns that are nearly collinear."""
    header, rows = uci.table("abalone")
    columns = dict(zip(header, zip(*rows, strict=True), strict=True))
    blocks = [np.array([uci.SEX[s] for s in columns["Sex"]])]
    blocks += [np.clip(np.array(columns[name], dtype=float) / high, 0.0, 1.0) for name, high in uci.ABALONE.items()]
    return scaled(blocks), (np.array(columns["Rings"], dtype=float) >= uci.OLD).astype(float)


def rand() -> Table:
    """Return whether a person saw a doctor in a year of the RAND health insurance experiment: 20,190 records."""
    return _of_statsmodels("randhie", RAND, "mdvis")


def fair() -> Table:
    """Return whether a woman had an affair (Redbook, Fair 1978): 6,366 records."""
    return _of_statsmodels("fair", FAIR, "affairs")


def scaled(blocks: list[Floats]) -> Floats:
    """Return columns within [0, 1] and a constant as rows of norm at most 1."""
    columns = [np.ones(len(blocks[0])), *blocks]
    return np.stack(columns, axis=1) / len(columns) ** 0.5


def _of_statsmodels(name: str, bounds: Mapping[str, tuple[float, float]], outcome: str) -> Table:
    try:
        datasets = importlib.import_module("statsmodels.api").datasets
    except ImportError as error:
        raise SystemExit(f"{name} comes with statsmodels, which is not installed") from error
    frame = getattr(datasets, name).load_pandas().data
    blocks = [np.clip((frame[c].to_numpy(float) - low) / (high - low), 0.0, 1.0) for c, (low, high) in bounds.items()]
    return scaled(blocks), (frame[outcome].to_numpy(float) > 0.0).astype(float)


TABLES: dict[str, Callable[[], Table]] = {"adult": adult, "rand": rand, "fair": fair, "abalone": abalone}
