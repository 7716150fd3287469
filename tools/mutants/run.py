"""Put one fault after the other into a copy of the tree and run the tests that must fail.

``python tools/mutants/run.py --python``, ``--cpp`` (one build that holds all), ``--only P36 C43``. Ends with 1 if a
mutant survives that is not proved equivalent, or if the tests fail without any. Outcomes are kept beside the lists:
``--resume`` leaves out mutants that were killed and have not changed since, ``--table`` prints what is known.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue

sys.path.insert(0, str(Path(__file__).resolve().parent))

from mutants import ROOT, Mutant, mutants
from results import BROKEN, EQUIVALENT, KILLED, PASSED, Results
from tree import build, copy_core, copy_tree, put_all_in

LISTS = {"P": "python", "C": "cpp"}
PATIENCE = 1200  # seconds: a mutant that hangs is killed
Verdict = tuple[str, str]


def tested(tree: Path, tests: Iterable[str], **environment: str) -> Verdict:
    """Run tests of a tree until one fails; return the verdict and the test that failed."""
    command = [sys.executable, "-m", "pytest", "-n0", "-x", "-q", "-p", "no:cacheprovider", "--tb=no", *tests]
    own = {"PYTHONPATH": str(tree), "PYTHONDONTWRITEBYTECODE": "1", "OMP_NUM_THREADS": "2"}
    try:
        done = subprocess.run(
            command, cwd=tree, env=os.environ | own | environment, capture_output=True, text=True, timeout=PATIENCE
        )
    except subprocess.TimeoutExpired:
        return KILLED, "no end"
    if done.returncode == 0:
        return PASSED, ""
    failed = [line.split(" ")[1] for line in done.stdout.splitlines() if line.startswith("FAILED ")]
    if done.returncode == 1 and failed:
        return KILLED, failed[0]
    if done.returncode < 0:
        return KILLED, f"signal {-done.returncode}"
    return BROKEN, (done.stdout + done.stderr)[-600:]


def report(listed: list[Mutant], verdict: Callable[[Mutant], Verdict], jobs: int) -> list[Mutant]:
    """Print a line for each mutant and keep its outcome; return those that should be dead and are not."""
    results = Results(LISTS[listed[0].id[0]])

    def judged(mutant: Mutant) -> bool:
        started = time.perf_counter()
        outcome, by = verdict(mutant)
        if outcome == PASSED and mutant.equivalent:
            outcome = EQUIVALENT
        took = time.perf_counter() - started
        results.add(mutant, outcome, by, took)
        print(
            f"{mutant.id} {outcome:10} {took:5.0f} s  {mutant.breaks}  [{by or ' '.join(mutant.killed_by)}]", flush=True
        )
        return outcome in (KILLED, EQUIVALENT)

    with ThreadPoolExecutor(jobs) as pool:
        dead = list(pool.map(judged, listed))
    return [mutant for mutant, is_dead in zip(listed, dead, strict=True) if not is_dead]


def require_green(tree: Path, listed: list[Mutant]) -> None:
    """Stop if a test fails without any mutant: then it kills nothing."""
    tests = sorted({test for mutant in listed for test in mutant.killed_by})
    outcome, by = tested(tree, tests)
    if outcome != PASSED:
        raise SystemExit(f"the tests fail without a mutant: {by}")


def python_survivors(listed: list[Mutant], trust: bool, jobs: int) -> list[Mutant]:
    """Run the Python mutants, each alone in a copy; there are as many copies as jobs."""
    with tempfile.TemporaryDirectory() as place:
        free: SimpleQueue[Path] = SimpleQueue()
        for job in range(jobs):
            tree = copy_tree(Path(place) / str(job))
            copy_core(tree)
            free.put(tree)
        if not trust:
            require_green(tree, listed)

        def verdict(mutant: Mutant) -> Verdict:
            tree = free.get()
            file = tree / mutant.file
            text = file.read_text(encoding="utf-8")
            try:
                file.write_text(mutant.applied(text), encoding="utf-8")
                return tested(tree, mutant.killed_by)
            finally:
                file.write_text(text, encoding="utf-8")
                free.put(tree)

        return report(listed, verdict, jobs)


def cpp_survivors(listed: list[Mutant], trust: bool, jobs: int) -> list[Mutant]:
    """Build once with all C++ mutants of the list, and switch on one at a time."""
    tree = copy_tree(ROOT / "build/mutants/tree")
    put_all_in(mutants("cpp"), tree)
    build(tree, ROOT / "build/mutants/cmake", "-DCMAKE_BUILD_TYPE=Release")
    if not trust:
        require_green(tree, listed)
    return report(listed, lambda mutant: tested(tree, mutant.killed_by, PYDPMC_MUTANT=str(mutant.number)), jobs)


def main() -> int:
    """Run the lists that are asked for, or both."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--python", action="store_true", help="the Python mutants")
    parser.add_argument("--cpp", action="store_true", help="the C++ mutants")
    parser.add_argument("--only", nargs="+", metavar="ID", help="these mutants alone")
    parser.add_argument("--trust", action="store_true", help="do not run the tests without a mutant first")
    parser.add_argument("--resume", action="store_true", help="leave out those that were killed and have not changed")
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="run so many mutants side by side")
    parser.add_argument("--table", action="store_true", help="run nothing: print what is known")
    chosen = parser.parse_args()
    everything = not (chosen.python or chosen.cpp or chosen.only)
    alive: list[Mutant] = []
    for name, wanted, survivors in (
        ("python", chosen.python, python_survivors),
        ("cpp", chosen.cpp, cpp_survivors),
    ):
        listed, known = mutants(name), Results(name)
        if chosen.only:
            listed = [mutant for mutant in listed if mutant.id in chosen.only]
        if not (wanted or everything or chosen.only):
            continue
        if chosen.table:
            print(known.table(listed))
            continue
        if chosen.resume:
            listed = [mutant for mutant in listed if not known.holds(mutant)]
        if listed:
            alive += survivors(listed, chosen.trust, chosen.jobs)
    if chosen.table:
        return 0
    print(f"alive: {' '.join(mutant.id for mutant in alive) or 'none'}")
    return 1 if alive else 0


if __name__ == "__main__":
    sys.exit(main())
