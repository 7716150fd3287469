"""A TOML file with the line of every key, so that errors can name it."""

from __future__ import annotations

import difflib
import re
import tomllib
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...errors import BudgetError, PydpmcError, StudyError

_SEGMENT = r"""(?:[A-Za-z0-9_-]+|"(?:[^"\\]|\\.)*"|'[^']*')"""
_KEY = re.compile(rf"\s*({_SEGMENT}(?:\s*\.\s*{_SEGMENT})*)\s*=(.*)", re.DOTALL)
_TABLE = re.compile(rf"\s*\[\[?\s*({_SEGMENT}(?:\s*\.\s*{_SEGMENT})*)\s*\]")
_STRING_OR_BRACKET = re.compile(r"""\"{3}|'{3}|"(?:[^"\\\n]|\\.)*"|'[^'\n]*'|#[^\n]*|[\[\]{}]""")

Keys = tuple[str, ...]
MOST_BYTES, DEEPEST = 2**23, 20
SECTIONS = ("data", "cluster", "schema", "model", "sampler", "budget", "run", "output")


@dataclass(frozen=True)
class TomlFile:
    """The values of a TOML file, and where they stand."""

    path: Path
    values: Mapping[str, Any]
    lines: Mapping[Keys, int]

    def line(self, *keys: str) -> int:
        """Return the line of a key, or of the nearest table around it."""
        while keys and keys not in self.lines:
            keys = keys[:-1]
        return self.lines.get(keys, 1)

    def error(self, message: str, *keys: str) -> StudyError:
        """Return an error that names the file and the line of a key."""
        return StudyError(f"{self.path}:{self.line(*keys)}: {message}")

    @contextmanager
    def errors_at(self, *keys: str) -> Iterator[None]:
        """Give errors about the table `keys` its line, or that of the key their message starts with."""
        try:
            yield
        except StudyError:
            raise
        except (PydpmcError, ValueError, TypeError) as error:
            first = re.match(r"[\w-]+", str(error))
            named = self.error(f"{'.'.join(keys)}: {error}", *keys, *([first[0]] if first else []))
            raise (BudgetError(str(named)) if isinstance(error, BudgetError) else named) from error

    def table(self, *keys: str, required: bool = True) -> Mapping[str, Any]:
        """Return a table of the file."""
        found: Any = self.values
        for depth, key in enumerate(keys):
            if key not in found:
                if not required:
                    return {}
                raise self.error(f"there is no table [{'.'.join(keys)}]", *keys[:depth])
            found = found[key]
            if not isinstance(found, Mapping):
                raise self.error(f"{'.'.join(keys[: depth + 1])} must be a table", *keys[: depth + 1])
        return dict(found)

    def only(self, allowed: Collection[str], *keys: str) -> None:
        """Refuse keys of a table that are not known, with the nearest one that is."""
        for key in self.table(*keys, required=False):
            if key not in allowed:
                near = difflib.get_close_matches(key, allowed, n=1)
                hint = f"did you mean {near[0]!r}?" if near else f"these are known: {', '.join(sorted(allowed))}"
                where = f" in [{'.'.join(keys)}]" if keys else ""
                raise self.error(f"unknown key {key!r}{where}; {hint}", *keys, key)


def read_toml(path: Path) -> TomlFile:
    """Return a TOML file; a syntax error names its line."""
    try:
        size = path.stat().st_size
        text = path.read_text(encoding="utf-8") if size <= MOST_BYTES else ""
    except (OSError, UnicodeDecodeError) as error:
        raise StudyError(f"{path}: cannot be read: {error}") from error
    if size > MOST_BYTES:
        raise StudyError(f"{path}: cannot be read: it has {size:,} bytes, more than any study needs")
    try:
        values = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        where = re.search(r"at line (\d+)", str(error))
        line = where[1] if where else text.count("\n") + 1
        raise StudyError(f"{path}:{line}: not valid TOML: {error}") from None
    except (RecursionError, ValueError):  # the latter: a date or a number that Python has no place for
        raise StudyError(f"{path}: not valid TOML: it is nested too deeply, or a value in it is out of range") from None
    _require_shallow(path, values)
    return TomlFile(path, values, key_lines(text))


def _require_shallow(path: Path, values: Any) -> None:
    """Refuse what would exhaust the stack of whoever prints or walks it."""
    level = [values]
    for _ in range(DEEPEST):
        inner = (entry.values() if isinstance(entry, dict) else entry for entry in level)
        level = [value for entry in inner for value in entry if isinstance(value, (dict, list))]
    if level:
        raise StudyError(f"{path}: values are nested more than {DEEPEST} deep, which no study needs")


def key_lines(text: str) -> dict[Keys, int]:
    r"""Return the line of every table and key that starts a line.

    Examples
    --------
    >>> key_lines("[a.b]\nc = [\n  1]\n'd e' = 2")
    {('a', 'b'): 1, ('a', 'b', 'c'): 2, ('a', 'b', 'd e'): 4}
    """
    lines: dict[Keys, int] = {}
    table: Keys = ()
    number, start = 1, 0
    while start < len(text):
        end = _statement_end(text, start)
        statement, start = text[start:end], end
        if match := _TABLE.match(statement):
            table = _segments(match[1])
            lines.setdefault(table, number)
        elif match := _KEY.match(statement):
            lines[table + _segments(match[1])] = number
        number += statement.count("\n")
    return lines


def _statement_end(text: str, position: int) -> int:
    """Return where a line ends, together with the lines that its brackets and strings go on to."""
    depth = 0
    while True:
        end = text.find("\n", position)
        end = len(text) if end < 0 else end + 1
        match = _STRING_OR_BRACKET.search(text, position, end)
        if match is None:
            if depth <= 0 or end == len(text):
                return end
            position = end
            continue
        token, position = match[0], match.end()
        if token in ('"""', "'''"):
            closing = text.find(token, position)
            position = len(text) if closing < 0 else closing + 3
        else:
            depth += {"[": 1, "{": 1, "]": -1, "}": -1}.get(token, 0)


def _segments(key: str) -> Keys:
    return tuple(part.strip("\"'") for part in re.findall(_SEGMENT, key))
