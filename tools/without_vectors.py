"""Run tests without the vector instructions that numpy chose for this CPU: ``python tools/without_vectors.py``.

A tolerance that follows from the number of roundings holds with them and without. Arguments go to pytest.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from numpy._core import _multiarray_umath as numpy_core

ROOT = Path(__file__).resolve().parents[1]
TESTS = ("tests/unit/accounting", "tests/unit/posterior/test_inference.py", "tests/unit/models")


def main(arguments: list[str]) -> int:
    """Switch off what numpy chose, say what that was, and return pytest's exit code."""
    chosen = [name for name in numpy_core.__cpu_dispatch__ if numpy_core.__cpu_features__[name]]
    print("numpy without:", *(chosen or ["nothing, it chose none"]), flush=True)
    environment = os.environ | {"NPY_DISABLE_CPU_FEATURES": " ".join(chosen)}
    command = (sys.executable, "-P", "-m", "pytest", "-q", *TESTS, *arguments)
    return subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
