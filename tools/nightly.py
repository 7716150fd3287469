"""All that is too slow for every change: ``python tools/nightly.py``, or some of its stages by name.

Every stage runs, whatever became of those before it; a summary comes last, and the exit code is 1 if any failed.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PYTEST = (sys.executable, "-P", "-m", "pytest")  # the installed package, not the folder
STAGES: dict[str, tuple[tuple[str, ...], ...]] = {
    "slow": ((*PYTEST, "-m", "slow"),),
    "fuzz": ((*PYTEST, "-m", "", "tests/fuzz"),),
    "mutants": (
        (sys.executable, "tools/mutants/run.py", "--python"),
        (sys.executable, "tools/mutants/run.py", "--cpp"),
    ),
    "sanitizers": ((sys.executable, "tools/sanitize/run.py"),),
    "site": (
        (sys.executable, "-P", "-m", "mkdocs", "build", "--strict"),
        (sys.executable, "tools/site/browse.py"),
    ),
    "wheel": (
        (sys.executable, "tools/check_wheel.py"),
        (sys.executable, "tools/check_versions.py"),
        (sys.executable, "tools/check_peers.py"),
    ),
    "platforms": ((sys.executable, "tools/check_platforms.py"),),
}


def outcome(stage: str) -> str:
    """Run one stage; return ``passed``, ``failed``, or why it did not run."""
    if stage == "fuzz" and not (ROOT / "tests/fuzz").is_dir():
        return "not run: there is no tests/fuzz"
    codes = [subprocess.run(command, cwd=ROOT, check=False).returncode for command in STAGES[stage]]
    return "failed" if any(codes) else "passed"


def cpu_seconds() -> float:
    """Return the processor time of all child processes that have ended."""
    times = os.times()
    return times.children_user + times.children_system


def main(wanted: list[str]) -> int:
    """Run the stages that are named, or all."""
    unknown = [name for name in wanted if name not in STAGES]
    if unknown:
        print(f"unknown: {', '.join(unknown)}; stages are {', '.join(STAGES)}", file=sys.stderr)
        return 2
    lines = []
    for stage in wanted or STAGES:
        print(f"--- {stage}", flush=True)
        started, spent = time.perf_counter(), cpu_seconds()
        found = outcome(stage)
        took, used = time.perf_counter() - started, cpu_seconds() - spent
        lines.append(f"{stage:12} {found} ({took / 60:.0f} min, {used / 60:.0f} CPU minutes)")
    print("\n".join(["--- summary", *lines]), flush=True)
    return 1 if any(" failed (" in line for line in lines) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
