"""Put one fault after the other into a copy of the tree and run the tests that must fail.

``python tools/mutants/run.py --python``, ``--cpp`` (one build that holds all), ``--only P36 C43``. Ends with 1 if a
mutant survives that is not proved equivalent, or if the tests fail without any.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from mutants import ROOT, Mutant, mutants
from tree import build, copy_core, copy_tree, put_all_in

PATIENCE = 1200  # seconds: a mutant that hangs is killed
KILLED, PASSED, BROKEN = "killed", "survived", "broken"
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


def report(listed: list[Mutant], verdict: Callable[[Mutant], Verdict]) -> list[Mutant]:
    """Print a line for each mutant; return those that should be dead and are not."""
    alive = []
    for mutant in listed:
        started = time.perf_counter()
        outcome, by = verdict(mutant)
        if outcome == PASSED and mutant.equivalent:
            outcome = "equivalent"
        if outcome in (PASSED, BROKEN):
            alive.append(mutant)
        took = time.perf_counter() - started
        print(
            f"{mutant.id} {outcome:10} {took:5.0f} s  {mutant.breaks}  [{by or ' '.join(mutant.killed_by)}]", flush=True
        )
    return alive


def require_green(tree: Path, listed: list[Mutant]) -> None:
    """Stop if a test fails without any mutant: then it kills nothing."""
    tests = sorted({test for mutant in listed for test in mutant.killed_by})
    outcome, by = tested(tree, tests)
    if outcome != PASSED:
        raise SystemExit(f"the tests fail without a mutant: {by}")


def python_survivors(listed: list[Mutant], trust: bool) -> list[Mutant]:
    """Run the Python mutants, each alone in the copy."""
    with tempfile.TemporaryDirectory() as place:
        tree = copy_tree(Path(place))
        copy_core(tree)
        if not trust:
            require_green(tree, listed)

        def verdict(mutant: Mutant) -> Verdict:
            file = tree / mutant.file
            text = file.read_text(encoding="utf-8")
            try:
                file.write_text(mutant.applied(text), encoding="utf-8")
                return tested(tree, mutant.killed_by)
            finally:
                file.write_text(text, encoding="utf-8")

        return report(listed, verdict)


def cpp_survivors(listed: list[Mutant], trust: bool) -> list[Mutant]:
    """Build once with all C++ mutants of the list, and switch on one at a time."""
    tree = copy_tree(ROOT / "build/mutants/tree")
    put_all_in(mutants("cpp"), tree)
    build(tree, ROOT / "build/mutants/cmake", "-DCMAKE_BUILD_TYPE=Release")
    if not trust:
        require_green(tree, listed)
    return report(listed, lambda mutant: tested(tree, mutant.killed_by, PYDPMC_MUTANT=str(mutant.number)))


def main() -> int:
    """Run the lists that are asked for, or both."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--python", action="store_true", help="the Python mutants")
    parser.add_argument("--cpp", action="store_true", help="the C++ mutants")
    parser.add_argument("--only", nargs="+", metavar="ID", help="these mutants alone")
    parser.add_argument("--trust", action="store_true", help="do not run the tests without a mutant first")
    chosen = parser.parse_args()
    everything = not (chosen.python or chosen.cpp or chosen.only)
    alive: list[Mutant] = []
    for name, wanted, survivors in (
        ("python", chosen.python, python_survivors),
        ("cpp", chosen.cpp, cpp_survivors),
    ):
        listed = mutants(name)
        if chosen.only:
            listed = [mutant for mutant in listed if mutant.id in chosen.only]
        if listed and (wanted or everything or chosen.only):
            alive += survivors(listed, chosen.trust)
    print(f"alive: {' '.join(mutant.id for mutant in alive) or 'none'}")
    return 1 if alive else 0


if __name__ == "__main__":
    sys.exit(main())
