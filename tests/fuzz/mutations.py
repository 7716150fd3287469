"""Damage for files: changed, removed, inserted and repeated bytes; other values at any place of a JSON document."""

import copy

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

EDITS = st.lists(
    st.tuples(
        st.sampled_from(["flip", "set", "remove", "insert", "repeat", "cut"]),
        st.integers(0, 2**20),
        st.integers(0, 255),
        st.binary(max_size=6),
    ),
    min_size=1,
    max_size=6,
)
ODD = [None, True, False, 0, -1, 2**64, -(2**70), 0.5, -0.0, 1e308, float("nan"), float("inf"), "", "x", "\x00\x1b\n"]
PLAIN = st.sampled_from([*ODD, [], {}, [[]], {"type": {}}, [None], ["a", 1]]) | st.text(max_size=3) | st.floats()
JSON = st.recursive(PLAIN, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner))
CHANGES = st.lists(st.tuples(st.lists(st.integers(0, 60), min_size=1, max_size=7), JSON), min_size=1, max_size=3)


def edited(content: bytes, edits: list[tuple[str, int, int, bytes]]) -> bytes:
    """Return the content after some edits."""
    for kind, place, value, new in edits:
        at = place % (len(content) + 1)
        rest = content[at + 1 :]
        if kind == "flip":
            content = content[:at] + bytes(b ^ 1 << value % 8 for b in content[at : at + 1]) + rest
        elif kind == "set":
            content = content[:at] + bytes([value]) + rest
        elif kind == "remove":
            content = content[:at] + content[at + value :]
        elif kind == "insert":
            content = content[:at] + new + content[at:]
        elif kind == "repeat":
            content = content[:at] + content[at : at + value] * 2 + content[at + value :]
        elif value < 40:  # rarely: most of a file is then gone
            content = content[:at]
    return content


def changed(document, changes):
    """Return a copy of a JSON document with other values at some places, found by counting down its branches."""
    document = copy.deepcopy(document)
    for path, value in changes:
        place = document
        for step, last in zip(path, [*[False] * (len(path) - 1), True], strict=True):
            if not isinstance(place, (dict, list)) or not place:
                break
            key = list(place)[step % len(place)] if isinstance(place, dict) else step % len(place)
            if last or not isinstance(place[key], (dict, list)):
                place[key] = value
                break
            place = place[key]
    return document


def fuzz(check, strategy, examples):
    """Call `check` with so many examples: always the same few, or others every night."""
    few = examples < 100
    phases = [Phase.explicit, Phase.generate] if few else None
    options = {} if phases is None else {"phases": phases}
    rules = settings(
        max_examples=examples,
        deadline=None,
        derandomize=few,
        database=None,
        suppress_health_check=list(HealthCheck),
        **options,
    )
    rules(given(strategy)(check))()
