"""Damage for files: changed, removed, inserted and repeated bytes; other values at any place of a JSON document."""

import copy
import signal
import time
from contextlib import contextmanager

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

ONE_EXAMPLE, ALL_EXAMPLES = 20.0, 240.0  # seconds of CPU

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
                place[key] = copy.deepcopy(value)  # a later change may go into it: it must not change the examples
                break
            place = place[key]
    return document


class TooLong(AssertionError):
    """A file that keeps its reader busy is as bad as one that crashes it."""


@contextmanager
def at_most(seconds):
    """Raise TooLong after so many seconds of this process's own time: a busy machine changes nothing."""

    def ring(*_):
        raise TooLong(f"still busy with one file after {seconds} s")

    before = signal.signal(signal.SIGPROF, ring)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        signal.signal(signal.SIGPROF, before)


def fuzz(check, strategy, examples):
    """Call `check` with so many examples: always the same few, or others every night.

    An example that takes too long fails. So that a night is bounded, no more are tried after `ALL_EXAMPLES` seconds,
    and what fails is made smaller but not explained, which takes far longer than finding it.
    """
    few = examples < 100
    end, failed = time.process_time() + ALL_EXAMPLES, []

    def bounded(example):
        if not failed and time.process_time() > end:
            return
        try:
            with at_most(ONE_EXAMPLE):
                check(example)
        except BaseException:
            failed.append(True)
            raise

    rules = settings(
        max_examples=examples,
        deadline=None,
        derandomize=few,
        database=None,
        suppress_health_check=list(HealthCheck),
        phases=[Phase.explicit, Phase.generate, *([] if few else [Phase.shrink])],
    )
    rules(given(strategy)(bounded))()
