#!/usr/bin/env -S uv run --script
# /// script
# dependencies = ["nox>=2024.10"]
# ///
"""The stages of .ci/run as nox sessions, one by one: ``nox`` runs what a change needs, ``nox -l`` lists all.

``nox -t ci`` runs the stages of ``.ci/run``, each in an environment of its own; ``.ci/run`` shares them, and is faster.
"""

from __future__ import annotations

import nox

nox.needs_version = ">=2024.10"
nox.options.default_venv_backend = "uv|virtualenv"
PYTHONS = ["3.11", "3.12", "3.13", "3.14", "3.14t"]


@nox.session(python=PYTHONS, tags=["all"], default=False)
def every_python(session: nox.Session) -> None:
    """Run the tests on each Python of the support window that is at hand."""
    session.install(".[test]")
    session.run("pytest", *session.posargs)


@nox.session(tags=["ci"])
def tests(session: nox.Session) -> None:
    """Run the tests on this Python."""
    session.install(".[test]")
    session.run("pytest", *session.posargs)


@nox.session(tags=["ci"], default=False)
def without_vectors(session: nox.Session) -> None:
    """Run the tests with the finest tolerances without the vector instructions that numpy chose for this CPU."""
    session.install(".[test]")
    session.run("python", "tools/without_vectors.py", *session.posargs)


@nox.session(tags=["ci"], default=False)
def models(session: nox.Session) -> None:
    """Test models in numba, PyMC and PyTorch, whose packages are too large for the extra test."""
    session.install(".[numpyro,pymc]", "numba", "pytest>=8", "pytest-xdist>=3.5", "hypothesis>=6")
    session.install("torch==2.13.0+cpu", "--extra-index-url", "https://download.pytorch.org/whl/cpu")
    tests = (
        "tests/unit/models/own",
        "tests/neighbours/test_own_models.py",
        "tests/unit/running/test_python_threads.py",
    )
    session.run("pytest", *tests, "-k", "numba or pymc or torch")


@nox.session(default=False)
def versions(session: nox.Session) -> None:
    """Test with the lowest and the newest numpy, scipy and rich that pyproject.toml allows."""
    session.run("python", "tools/check_versions.py", *session.posargs)


@nox.session(default=False)
def peers(session: nox.Session) -> None:
    """Test with Lomas and ArviZ 1, each in an environment of its own, and the wheels of ``nox -s nightly -- wheel``."""
    session.install("uv>=0.5")
    session.run("python", "tools/check_peers.py", *session.posargs)


@nox.session(tags=["ci"], default=False)
def platforms(session: nox.Session) -> None:
    """Check with clang that the C++ of other platforms compiles."""
    session.run("python", "tools/check_platforms.py")


@nox.session
def demo(session: nox.Session) -> None:
    """Run the demo with no more than the package needs."""
    session.install(".")
    session.chdir(session.create_tmp())
    session.run("python", "-m", "pydpmc", "demo")


@nox.session(tags=["ci"])
def docs(session: nox.Session) -> None:
    """Build the site, warnings are errors, and browse it. ``nox -s docs -- serve`` shows it while you write."""
    session.install(".[docs]")
    session.run("mkdocs", *(session.posargs or ("build", "--strict")))
    if not session.posargs:
        session.run("python", "tools/site/browse.py")


@nox.session(tags=["ci"])
def lint(session: nox.Session) -> None:
    """Check style, types and format."""
    session.install(*nox.project.dependency_groups(nox.project.load_toml("pyproject.toml"), "lint"), "numpy", "rich")
    session.run("ruff", "check", ".")
    session.run("ruff", "format", "--check", ".")
    session.run("mypy")
    sources = session.run("git", "ls-files", "csrc/*.hpp", "csrc/*.cpp", external=True, silent=True)
    session.run("clang-format", "--dry-run", "--Werror", *str(sources).split(), log=False)


@nox.session(tags=["ci"])
def review(session: nox.Session) -> None:
    """Check the habits of the repository, its spelling and its workflows."""
    session.install(*nox.project.dependency_groups(nox.project.load_toml("pyproject.toml"), "review"))
    session.run("repo-review", ".")
    listed = session.run("git", "ls-files", external=True, silent=True)
    session.run("codespell", *str(listed).split(), log=False)
    session.run("zizmor", "--offline", ".github/workflows")


@nox.session(tags=["ci"], default=False)
def wheel(session: nox.Session) -> None:
    """Build sdist and wheel, and use the wheel where there is no compiler; ``nox -s nightly -- wheel`` does more."""
    session.install(*nox.project.dependency_groups(nox.project.load_toml("pyproject.toml"), "wheels"))
    session.run("python", "tools/check_wheel.py", *(session.posargs or ("--once",)))


@nox.session(default=False)
def nightly(session: nox.Session) -> None:
    """Run all that is too slow for every change."""
    session.install(".[dev,docs]", *nox.project.dependency_groups(nox.project.load_toml("pyproject.toml"), "wheels"))
    session.run("python", "tools/nightly.py", *session.posargs)


if __name__ == "__main__":
    nox.main()
