"""Run the bindings and the loops of the core under sanitizers: ``python tools/sanitize/run.py [address] [thread]``.

``address`` builds the core with the address and undefined-behaviour sanitizers and runs the tests below. ``thread``
compiles the team of threads alone, with threads of the standard library: the thread sanitizer does not know OpenMP's.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(ROOT / "tools/mutants"))

from tree import build, copy_tree  # noqa: E402

TESTS = (
    "tests/unit/csrc",
    "tests/unit/samplers/newton/test_newton.py",
    "tests/unit/samplers/langevin/test_run.py",
    "tests/unit/samplers/nuts",
    "tests/unit/running",
    "tests/unit/data/test_fixed16.py",
    "tests/unit/data/test_groups.py",
    "tests/unit/data/test_one_hot.py",
    "tests/audit/test_streams.py",
    "tests/audit/test_record_and_replay.py",
)


def library(name: str) -> str:
    """Return where the compiler keeps a library."""
    found = subprocess.run(["g++", f"-print-file-name={name}"], capture_output=True, text=True, check=True)
    return os.path.realpath(found.stdout.strip())


def address(tests: list[str]) -> int:
    """Build with both sanitizers, and run the tests with their library loaded first."""
    tree = copy_tree(ROOT / "build/sanitize/tree")
    build(tree, ROOT / "build/sanitize/cmake", "-DCMAKE_BUILD_TYPE=None", "-DPYDPMC_SANITIZE=address,undefined")
    environment = os.environ | {
        "LD_PRELOAD": f"{library('libasan.so')} {library('libubsan.so')} {library('libstdc++.so.6')}",
        # GCC's stand-in for the stack, on which use after return is found, does not keep an alignment of 64 bytes.
        "ASAN_OPTIONS": "detect_leaks=0:allocator_may_return_null=1:detect_stack_use_after_return=0",
        "UBSAN_OPTIONS": "print_stacktrace=1",
        "PYTHONMALLOC": "malloc",
        "PYTHONPATH": str(tree),
    }
    command = [sys.executable, "-m", "pytest", "-n0", "-q", "-p", "no:cacheprovider", *tests]
    return subprocess.run(command, cwd=tree, env=environment, check=False).returncode


def thread() -> int:
    """Compile and run the team of threads under the thread sanitizer."""
    program = ROOT / "build/sanitize/team_threads"
    program.parent.mkdir(parents=True, exist_ok=True)
    flags = ["-std=c++20", "-O1", "-g", "-fsanitize=thread", "-pthread", f"-I{ROOT / 'csrc'}"]
    subprocess.run(["g++", *flags, str(HERE / "team_threads.cpp"), "-o", str(program)], check=True)
    return subprocess.run([str(program)], env=os.environ | {"TSAN_OPTIONS": "halt_on_error=1"}, check=False).returncode


def main(arguments: list[str]) -> int:
    """Run the sanitizers that are named, or all; tests that are named, or the list."""
    kinds = [name for name in arguments if name in ("address", "thread")] or ["address", "thread"]
    tests = [name for name in arguments if name not in kinds] or list(TESTS)
    codes = {kind: thread() if kind == "thread" else address(tests) for kind in kinds}
    for kind, code in codes.items():
        print(f"{kind}: {'clean' if code == 0 else f'failed ({code})'}")
    return max(codes.values(), key=abs)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
