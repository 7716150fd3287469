"""Several studies at a time, each in a process of its own; a ledger that they share decides who is too late."""

from __future__ import annotations

import subprocess
import sys
from argparse import Namespace
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from ..checks import whole
from ..errors import BudgetError, InvalidArgument, StudyError
from .study import read_study

BUDGET, REFUSED = 3, 1


def run_all(arguments: Namespace) -> None:
    """Run all studies, print what each one printed, and fail if one failed."""
    jobs = whole(arguments.jobs, "jobs")
    studies: list[Path] = arguments.study
    _refuse_clashes(studies)
    passed = [name for name in ("overwrite", "anyway", "quiet") if getattr(arguments, name)]
    options = [f"--{name}" for name in passed]
    if arguments.check_levels is not None:
        options += ["--check-levels", str(arguments.check_levels)]
    if arguments.rehearse is not None:
        options += ["--rehearse", str(arguments.rehearse)]

    def one(study: Path) -> int:
        command = [sys.executable, "-m", "pydpmc", "run", str(study), *options]
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
        said = (done.stdout + done.stderr).rstrip()
        print(f"== {study}: {'done' if done.returncode == 0 else 'failed'}\n{said}\n", flush=True)
        return done.returncode

    with ThreadPoolExecutor(jobs) as pool:
        codes = list(pool.map(one, studies))
    failed = [str(study) for study, code in zip(studies, codes, strict=True) if code]
    if failed:
        kind = BudgetError if BUDGET in codes else StudyError
        raise kind(f"{len(failed)} of {len(studies)} studies failed: {', '.join(failed)}")


def _refuse_clashes(studies: list[Path]) -> None:
    """Refuse studies that would write the same file, before any of them spends a budget."""
    taken: dict[Path, Path] = {}
    for name in studies:
        study = read_study(name)
        named = [study.output[key] for key in ("posterior", "report", "table") if key in study.output]
        named += [study.run_options["checkpoint"]] if "checkpoint" in study.run_options else []
        for path in {study.path(str(file)).resolve() for file in named}:
            if path in taken:
                raise InvalidArgument(f"study: {name} and {taken[path]} would both write {path.name}")
            taken[path] = name
