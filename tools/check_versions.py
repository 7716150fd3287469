"""Run the tests at both ends of the versions that pyproject.toml allows: ``python tools/check_versions.py``.

For each end a fresh environment gets the wheel that ``tools/check_wheel.py`` left in ``wheelhouse/`` (one is built if
there is none) with the lowest, or the newest, numpy, scipy and rich, and runs the tests that depend on them most. Name
an end to run it alone; what follows ``--`` goes to pytest.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TESTS = ("tests/test_minimal.py", "tests/unit/accounting", "tests/unit/models", "tests/unit/posterior")
RUNNER = ("pytest>=8", "pytest-xdist>=3.5", "hypothesis>=6", "mpmath>=1.3")
PEERS = ("dp_accounting", "sklearn", "pandas", "polars", "arviz", "formulaic")  # they ask for other versions themselves


def needed(end: str) -> list[str]:
    """Return the dependencies, pinned to their lowest version or free to be the newest."""
    listed = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
    return [re.sub(r">=([\d.]+)$", r"==\1.*", name) for name in listed] if end == "lowest" else listed


def without_peers() -> list[str]:
    """Return options that leave out the files whose imports begin with a package that is not installed here."""
    top = re.compile(rf"^(?:import|from) (?:{'|'.join(PEERS)})\b", re.MULTILINE)
    paths = sorted(path for path in (ROOT / "tests").rglob("test_*.py") if top.search(path.read_text()))
    return [f"--ignore={path.relative_to(ROOT)}" for path in paths]


def wheel(folder: Path) -> Path:
    """Return the wheel for this Python, building one if none was left."""
    tag = f"cp{sys.version_info[0]}{sys.version_info[1]}"
    found = sorted((ROOT / "wheelhouse").glob(f"pydpmc-*-{tag}-{tag}-*.whl"), key=lambda path: path.stat().st_mtime)
    if not found:
        command = (sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(folder), str(ROOT))
        subprocess.run(command, check=True)
        found = list(folder.glob("pydpmc-*.whl"))
    return found[-1]


def run(end: str, built: Path, options: list[str]) -> int:
    """Test in a fresh environment; return pytest's exit code."""
    with tempfile.TemporaryDirectory() as place:
        subprocess.run((sys.executable, "-m", "venv", place), check=True)
        python = str(Path(place) / ("Scripts" if sys.platform == "win32" else "bin") / "python")
        pip = (python, "-m", "pip", "--quiet", "--disable-pip-version-check")
        upgrade = () if end == "lowest" else ("--upgrade",)
        subprocess.run((*pip, "install", *upgrade, *needed(end), str(built), *RUNNER), check=True)
        frozen = subprocess.run((*pip, "freeze"), check=True, capture_output=True, text=True).stdout
        names = [re.match(r"[\w-]+", name)[0] for name in needed("newest")]
        print(f"{end}:", *(line for line in frozen.splitlines() if line.split("==")[0].lower() in names), flush=True)
        command = (python, "-P", "-m", "pytest", "-q", *without_peers(), *(options or TESTS))
        return subprocess.run(command, cwd=ROOT).returncode


def main() -> int:
    """Run one end or both; return 1 if any test failed."""
    parser = argparse.ArgumentParser(description="Test with the lowest and the newest numpy, scipy and rich.")
    parser.add_argument("end", nargs="?", choices=("lowest", "newest"), help="one end alone")
    parser.epilog = "What follows -- goes to pytest."
    cut = sys.argv.index("--") if "--" in sys.argv else len(sys.argv)
    arguments = parser.parse_args(sys.argv[1:cut])
    with tempfile.TemporaryDirectory() as folder:
        built = wheel(Path(folder))
        ends = [arguments.end] if arguments.end else ["lowest", "newest"]
        codes = [run(end, built, sys.argv[cut + 1 :]) for end in ends]
    return int(any(codes))


if __name__ == "__main__":
    sys.exit(main())
