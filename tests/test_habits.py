"""What is said in one place is said there only: the version, the public address, the linters."""

import importlib.util
import re
import subprocess
import tomllib
from pathlib import Path

import pytest

import pydpmc
from pydpmc.errors import MissingExtraError

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
LINTERS = ("ruff check", "ruff format", "mypy", "clang-format")


def source(name):
    """Return the text of a file; an sdist has not all of them."""
    if not (ROOT / name).exists():
        pytest.skip(f"{name} is not part of this tree")
    return (ROOT / name).read_text()


def other_texts():
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode:
        pytest.skip("this is not a git checkout: the list of files is not known")
    for name in listed.stdout.splitlines():
        if Path(name).suffix in (".md", ".yml", ".yaml", ".cff", ".toml", ".py") and name != "pyproject.toml":
            yield name, (ROOT / name).read_text()


def test_the_version_has_one_place():
    assert "version" in PROJECT["project"]["dynamic"]
    assert PROJECT["tool"]["scikit-build"]["metadata"]["version"]["input"] == "pydpmc/_version.py"
    number = f"(?<![\\d.]){re.escape(pydpmc.__version__)}(?![\\d.])"
    assert re.findall(number, (ROOT / "pyproject.toml").read_text()) == []
    assert re.findall(number, source("CITATION.cff")) == []


def test_the_public_address_has_one_place():
    home = PROJECT["project"]["urls"]["Homepage"].removeprefix("https://")
    assert [name for name, text in other_texts() if home in text] == []


def test_every_python_of_the_support_window_is_declared_and_built():
    lowest = PROJECT["project"]["requires-python"].removeprefix(">=3.")
    declared = set(re.findall(r":: 3\.(\d+)'", str(PROJECT["project"]["classifiers"])))
    assert min(declared, key=int) == lowest
    assert set(re.findall(r"\bcp3(\d+)-", PROJECT["tool"]["cibuildwheel"]["build"])) == declared
    assert set(re.findall(r'"3\.(\d+)"', source("noxfile.py"))) == declared


def test_linters_are_the_same_in_every_place():
    lint, review = (set(PROJECT["dependency-groups"][group]) for group in ("lint", "review"))
    assert lint <= set(PROJECT["project"]["optional-dependencies"]["dev"])
    script = source(".ci/run")
    assert [tool for tool in lint | review if f'"{tool}"' not in script] == []
    session = source("noxfile.py").replace('", "', " ")
    assert [tool for tool in LINTERS if tool not in session] == []
    hooks = re.findall(r"- id: (\S+)", source(".pre-commit-config.yaml"))
    assert {"ruff-check", "ruff-format", "mypy", "clang-format"} <= set(hooks)


def test_sessions_mirror_the_stages_of_ci():
    script, sessions = source(".ci/run"), source("noxfile.py")
    run_by_ci = set(re.findall(r"tools/[\w/]+\.py|tests/[\w/]+(?:\.py)?", script))
    assert {name for name in run_by_ci if f'"{name}"' not in sessions} == set()
    assert {"tools/without_vectors.py", "tools/check_wheel.py", "tools/site/browse.py"} <= run_by_ci
    assert sessions.count('tags=["ci"]') == 8


def test_nightly_runs_the_same_stages_at_the_forge():
    stages = re.findall(r'^    "(\w+)": \(', source("tools/nightly.py"), re.M)
    listed = re.search(r"stage: \[([\w, ]+)\]", source(".github/workflows/nightly.yml"))
    assert sorted(listed[1].split(", ")) == sorted(stages)
    assert len(stages) > 4


def test_every_page_can_be_found_in_the_site():
    site = source("mkdocs.yml")
    pages = {path.relative_to(ROOT / "docs").as_posix() for path in (ROOT / "docs").rglob("*.md")}
    own = {page for page in pages if not page.startswith(("changes/", "paper/"))}
    assert {page for page in own if f" {page}\n" not in site} == set()
    assert len(own) > 40


def test_every_public_name_has_a_place_in_the_reference():
    source("tools/site/api_pages.py")
    spec = importlib.util.spec_from_file_location("api_pages", ROOT / "tools/site/api_pages.py")
    api_pages = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(api_pages)
    try:
        names = api_pages.public_names()
    except MissingExtraError as absent:
        pytest.skip(str(absent))
    found = {public for page in names.values() for public, _ in page}
    assert {f"pydpmc.{name}" for name in pydpmc.__all__} - found == {"pydpmc.accounting", "pydpmc.nn"}
    assert {f"pydpmc.accounting.{name}" for name in pydpmc.accounting.__all__} <= found
    assert "pydpmc.errors.BudgetError" in found
