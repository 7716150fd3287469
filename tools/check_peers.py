"""Test with packages that need an environment of their own: ``python tools/check_peers.py``, or name some.

Each gets a fresh environment on the newest Python at hand that it knows, with the wheel that ``check_wheel.py`` left
for it in ``wheelhouse/``. uv makes it (dependency group `wheels`): pip tries versions for many minutes over what Lomas
asks for. What cannot be tried is said; the exit code is 1 if a test fails.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from check_wheel import pythons

ROOT = Path(__file__).resolve().parents[1]
RUNNER = ("pytest>=8", "pytest-xdist>=3.5", "hypothesis>=6", "pandas>=2", "narwhals>=1.20", "pyarrow>=14")
UV = (sys.executable, "-m", "uv", "--quiet")


@dataclass(frozen=True)
class Peer:
    """What is installed beside the wheel, on which Pythons, and the tests that use it."""

    pythons: tuple[str, ...]
    packages: tuple[str, ...]
    tests: tuple[str, ...]
    without: str = ""  # a requirement of a requirement that is too large and that no test imports


PEERS = {
    # Lomas 0.4.1 imports pkg_resources, and diffprivlib imports what scikit-learn 1.7 took away.
    "lomas": Peer(
        ("3.12", "3.11"),
        ("lomas-server==0.4.1", "setuptools<81", "scikit-learn<1.7"),
        ("tests/unit/running/test_lomas.py",),
        without="torch",
    ),
    "arviz": Peer(
        ("3.14", "3.13", "3.12"),
        ("arviz>=1", "h5netcdf>=1", "h5py>=3.8", "matplotlib>=3.6", "polars>=1"),
        (
            "tests/unit/posterior/test_results.py",
            "tests/unit/posterior/test_netcdf4.py",
            "tests/unit/posterior/test_predictive.py",
        ),
    ),
}


def place_for(peer: Peer) -> tuple[str, Path] | None:
    """Return a Python that the peer knows, and our wheel for it."""
    here = dict(pythons())
    for version in peer.pythons:
        tag = f"cp{version.replace('.', '')}"
        wheels = sorted(
            (ROOT / "wheelhouse").glob(f"pydpmc-*-{tag}-{tag}-*.whl"), key=lambda path: path.stat().st_mtime
        )
        if version in here and wheels:
            return here[version], wheels[-1]
    return None


def tested(name: str) -> int:
    """Test with a peer in a fresh environment; return pytest's exit code."""
    peer = PEERS[name]
    found = place_for(peer)
    if found is None:
        print(f"{name}: not run, wheelhouse/ has no wheel for Python {' or '.join(peer.pythons)} that is at hand")
        return 0
    with tempfile.TemporaryDirectory() as folder:
        place, overrides = Path(folder) / "venv", Path(folder) / "overrides.txt"
        overrides.write_text(f"{peer.without}; python_version < '3'\n" if peer.without else "")
        subprocess.run((*UV, "venv", "--python", found[0], str(place)), check=True)
        python = str(place / ("Scripts" if sys.platform == "win32" else "bin") / "python")
        install = (*UV, "pip", "install", "--python", python, "--overrides", str(overrides))
        subprocess.run((*install, str(found[1]), *peer.packages, *RUNNER), check=True)
        listed = subprocess.run((*UV, "pip", "freeze", "--python", python), check=True, capture_output=True, text=True)
        print(
            f"{name}:",
            found[1].name,
            *(line for line in listed.stdout.splitlines() if line.startswith(name)),
            flush=True,
        )
        return subprocess.run((python, "-P", "-m", "pytest", "-q", "-n0", *peer.tests), cwd=ROOT).returncode


def main(wanted: list[str]) -> int:
    """Test with the peers that are named, or all; return 1 if any test failed."""
    unknown = [name for name in wanted if name not in PEERS]
    if unknown:
        print(f"unknown: {', '.join(unknown)}; peers are {', '.join(PEERS)}", file=sys.stderr)
        return 2
    codes = [tested(name) for name in wanted or PEERS]
    return int(any(codes))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
