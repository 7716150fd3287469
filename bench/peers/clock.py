"""Interleaved timing: every round times every case once, and ratios are taken inside a round."""

import os
import statistics
import sys
import time
from contextlib import contextmanager


@contextmanager
def one_core():
    """Keep this process and the threads it starts from now on to one core, so that every case has the same."""
    allowed = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {max(allowed)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, allowed)


def available(makers):
    """Return {name: (run, work)} of the cases that can be made and run here; name the others."""
    cases = {}
    for name, (make, work) in makers.items():
        try:
            run = make()
            run()
        except (ImportError, OSError) as error:
            print(f"left out: {name} ({error})", file=sys.stderr, flush=True)
        else:
            cases[name] = (run, work)
    return cases


def rates(cases, rounds, clock=time.process_time):
    """Return {name: work per second in each round}."""
    taken = {name: [] for name in cases}
    for _ in range(rounds):
        for name, (run, work) in cases.items():
            started = clock()
            run()
            taken[name].append(work / (clock() - started))
    return taken


def ratio(ours, theirs):
    """Return the median over rounds of one rate over another."""
    return statistics.median(a / b for a, b in zip(ours, theirs, strict=True))
