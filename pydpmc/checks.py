"""Checks of public arguments, whose errors name the argument, and escaping of names that are shown."""

from __future__ import annotations

import html
import math
import os
import unicodedata
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from numbers import Integral, Real
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from .errors import InvalidArgument, MissingFile, UnusableFile, WrongType

LONGEST_TEXT = 60


def whole(value: Any, name: str, least: int = 1, most: int | None = None) -> int:
    """Return a whole number from `least` to `most`, or refuse it; a float such as 1e5 is accepted.

    Examples
    --------
    >>> whole(1e5, "steps")
    100000
    """
    is_whole = isinstance(value, (int, Integral)) or (isinstance(value, Real) and float(value).is_integer())
    if isinstance(value, bool) or not is_whole or value < least or (most is not None and value > most):
        raise InvalidArgument(f"{name} must be a {_described(least, most)}, not {given(value)}")
    return int(value)


def number(value: Any, name: str) -> float:
    """Return a real number as a float, or refuse it."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, Real):
        raise WrongType(f"{name} must be a number, not {given(value)}")
    return float(value)


def positive(value: Any, name: str) -> float:
    """Return a positive finite number, or refuse it.

    Examples
    --------
    >>> positive(2, "clip")
    2.0
    """
    found = number(value, name)
    if not (math.isfinite(found) and found > 0):
        raise InvalidArgument(f"{name} must be a positive finite number, not {value!r}")
    return found


def all_positive(**values: Any) -> None:
    """Refuse any argument that is not a positive finite number."""
    for name, value in values.items():
        positive(value, name)


def share(value: Any, name: str) -> float:
    """Return a number in (0, 1], or refuse it."""
    found = number(value, name)
    if not 0 < found <= 1:
        raise InvalidArgument(f"{name} must lie in (0, 1], not {value!r}")
    return found


def inside(value: Any, name: str) -> float:
    """Return a number in (0, 1), or refuse it."""
    found = number(value, name)
    if not 0 < found < 1:
        raise InvalidArgument(f"{name} must lie in (0, 1), not {value!r}")
    return found


def small_delta(value: Any, name: str = "delta") -> float:
    """Return a delta that a budget may have, or refuse it."""
    found = number(value, name)
    if not 0 < found <= 1e-3:
        raise InvalidArgument(
            f"{name} must lie in (0, 0.001], not {value!r}: it is the probability that the protection fails entirely"
        )
    return found


def reals(value: Any, name: str) -> npt.NDArray[np.float64]:
    """Return a new array of real numbers, or refuse anything else."""
    try:
        array = np.asarray(value)
    except ValueError:  # rows of different lengths
        raise WrongType(f"{name} must hold numbers in rows of one length, not {given(value)}") from None
    if array.dtype.kind not in "fiub":
        raise WrongType(f"{name} must hold real numbers, not {given(value)}")
    return np.array(array, dtype=np.float64)


def one_of(value: Any, name: str, choices: Collection[str]) -> None:
    """Refuse a value that is not among the choices."""
    if not isinstance(value, str) or value not in choices:
        two = " or ".join(f'"{choice}"' for choice in choices)
        wanted = two if len(choices) == 2 else f"one of {', '.join(choices)}"
        raise InvalidArgument(f"{name} must be {wanted}, not {given(value)}")


def yes_or_no(value: Any, name: str) -> None:
    """Refuse a value that is neither True nor False."""
    if not isinstance(value, bool):
        raise WrongType(f"{name} must be True or False, not {given(value)}")


def names_of(parameters: Any) -> list[str]:
    """Return one name, or several, as a list."""
    if isinstance(parameters, str):
        return [parameters]
    if not isinstance(parameters, Iterable):
        raise WrongType(f"parameters must be a name or a list of names, not {given(parameters)}")
    return list(parameters)


def file_path(value: Any, name: str) -> Path:
    """Return a path, or refuse a value that is not one."""
    if not isinstance(value, (str, os.PathLike)):
        raise WrongType(f"{name} must be the path of a file, not {given(value)}")
    return Path(value)


@contextmanager
def usable(path: Path, name: str) -> Iterator[None]:
    """Turn errors of the operating system into ours, which name the file and the reason."""
    try:
        yield
    except FileNotFoundError as error:
        raise MissingFile(f"{name}: {path} cannot be used: there is no such file or folder") from error
    except OSError as error:
        raise UnusableFile(f"{name}: {path} cannot be used: {error.strerror or error}") from error


def given(value: Any) -> str:
    """Describe a value for an error message: a short value as it is, an array by its shape and type only.

    Examples
    --------
    >>> import numpy as np
    >>> given(np.zeros((3, 2))), given("two"), given([1, 2])
    ('an array of shape (3, 2) and dtype float64', "'two'", 'a list of length 2')
    """
    if hasattr(value, "shape") and hasattr(value, "dtype") and value.shape != ():
        return f"an array of shape {tuple(value.shape)} and dtype {value.dtype}"
    if isinstance(value, (list, tuple, dict, set, frozenset)):
        return f"a {type(value).__name__} of length {len(value)}"
    if value is None or isinstance(value, (str, bytes, bool, Real)):
        text = repr(value)
        return text if len(text) <= LONGEST_TEXT else f"{text[:LONGEST_TEXT]}..."
    return f"an object of type {type(value).__name__}"


def _described(least: int, most: int | None) -> str:
    if most is not None:
        return f"whole number from {least} to {most}"
    return "positive whole number" if least == 1 else f"whole number of at least {least}"


ESCAPED = ("Cc", "Cf", "Cs", "Zl", "Zp")  # control and format characters, surrogates, line separators
JOINERS = "\u200c\u200d"  # invisible, but Persian words and emoji need them


def visible(text: str) -> str:
    r"""Return the text with every invisible character escaped.

    Examples
    --------
    >>> print(visible("age\n\x1b[2J"), visible("größe"))
    age\n\x1b[2J größe
    """
    if text.isprintable():
        return text
    return "".join(_escape(c) if unicodedata.category(c) in ESCAPED and c not in JOINERS else c for c in text)


def visible_html(text: str) -> str:
    """Return the text escaped for HTML, with invisible characters escaped too.

    Examples
    --------
    >>> visible_html("<b>")
    '&lt;b&gt;'
    """
    return html.escape(visible(text))


def _escape(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")
