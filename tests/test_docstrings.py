"""Every example in a docstring and every Python block of the documentation runs as printed."""

import doctest
import importlib
import importlib.util
import pkgutil
import re
from contextlib import contextmanager
from pathlib import Path

import postgres_server
import pytest

import pydpmc
from pydpmc.errors import MissingExtraError

pytestmark = pytest.mark.refuses  # what a reader tries is refused as it is for users
OPTIONAL = {"arviz", "matplotlib", "sklearn", "pandas", "polars", "pyarrow", "narwhals", "dp_accounting", "psycopg"}
OPTIONAL |= {"jax", "numpyro", "torch", "pymc"}
BACKENDS = {f"pydpmc.models.own.{name}_model": name for name in ("jax", "numpyro", "torch", "pymc")}
SOURCE = Path(__file__).parent.parent
MODULES = [
    "pydpmc",
    *(m.name for m in pkgutil.walk_packages(pydpmc.__path__, "pydpmc.") if not m.name.endswith("_core")),
]
PAGES = sorted([SOURCE / "README.md", *(SOURCE / "docs").rglob("*.md")])
BLOCK = re.compile(r"(?P<mark><!-- not run -->\s*\n)?^```python\n(?P<code>.*?)^```", re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize("name", MODULES)
def test_docstring_examples(name):
    if name in BACKENDS and importlib.util.find_spec(BACKENDS[name]) is None:
        pytest.skip(f"{BACKENDS[name]} is not installed")
    try:
        importlib.import_module(name)
    except MissingExtraError as absent:
        pytest.skip(str(absent))
    result = doctest.testmod(importlib.import_module(name), optionflags=doctest.ELLIPSIS)
    assert result.failed == 0


def test_some_docstring_has_an_example():
    finder = doctest.DocTestFinder(exclude_empty=True)
    modules = [importlib.import_module(name) for name in MODULES if not name.startswith("pydpmc.sklearn")]
    found = [t for module in modules for t in finder.find(module) if t.examples]
    assert len(found) > 10


def blocks(page):
    text = page.read_text()
    for match in BLOCK.finditer(text):
        if match["mark"] is None:
            yield text[: match.start("code")].count("\n"), match["code"]


@contextmanager
def optional_packages():
    """Skip a page, with the reason, from where it needs a package of an extra that is not installed."""
    try:
        yield
    except (MissingExtraError, ModuleNotFoundError) as absent:
        if isinstance(absent, ModuleNotFoundError) and absent.name.split(".")[0] not in OPTIONAL:
            raise
        pytest.skip(f"the rest of the page needs a package that is not installed: {absent}")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(SOURCE)))
def test_python_blocks_of_a_page_run_in_order(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with optional_packages(), postgres_for(page, monkeypatch):
        run_blocks(page)


@contextmanager
def postgres_for(page, monkeypatch):
    """Let a page that says ``postgresql:///`` find a server of its own, as if it were this machine's."""
    if not any("postgresql:///" in code for _, code in blocks(page)):
        yield
        return
    if postgres_server.absence() is not None:
        pytest.skip(postgres_server.absence())
    server = postgres_server.Server()
    monkeypatch.setenv("PGHOST", str(server.folder))
    monkeypatch.setenv("PGUSER", "postgres")
    try:
        yield
    finally:
        server.remove()


def run_blocks(page):
    namespace = {"__name__": "__main__"}
    for line, code in blocks(page):
        if code.lstrip().startswith(">>>"):
            test = doctest.DocTestParser().get_doctest(code, namespace, page.name, str(page), line)
            runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
            runner.run(test, clear_globs=False)
            namespace.update(test.globs)
            assert runner.summarize(verbose=False).failed == 0
        else:
            exec(compile("\n" * line + code, str(page), "exec"), namespace)
