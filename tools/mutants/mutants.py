"""The lists of mutants, and how one is put into a copy of the tree."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]


@dataclass(frozen=True)
class Mutant:
    """One fault: `new` in place of `old`, which stands exactly once in `file`."""

    id: str
    breaks: str
    file: str
    old: str
    new: str
    killed_by: tuple[str, ...]
    equivalent: str | None = None

    @property
    def number(self) -> int:
        """What switches a C++ mutant on; zero switches none on."""
        return int(self.id[1:])

    def applied(self, text: str) -> str:
        """Return the text of the file with the fault in it."""
        if text.count(self.old) != 1:
            raise ValueError(f"{self.id}: its text stands {text.count(self.old)} times in {self.file}, not once")
        return text.replace(self.old, self.new)


def mutants(name: str) -> list[Mutant]:
    """Return the list ``python`` or ``cpp``."""
    entries = tomllib.loads((HERE / f"{name}.toml").read_text(encoding="utf-8"))["mutant"]
    return [Mutant(**entry | {"killed_by": tuple(entry["killed_by"])}) for entry in entries]


def overlapping(listed: list[Mutant]) -> list[tuple[str, str]]:
    """Return pairs of mutants of the same text: one build cannot hold both."""
    places: dict[str, list[tuple[int, int, str]]] = {}
    for mutant in listed:
        start = (ROOT / mutant.file).read_text(encoding="utf-8").index(mutant.old)
        places.setdefault(mutant.file, []).append((start, start + len(mutant.old), mutant.id))
    pairs = []
    for spans in places.values():
        spans.sort()
        pairs += [(a[2], b[2]) for a, b in pairwise(spans) if b[0] < a[1]]
    return pairs
