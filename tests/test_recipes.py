"""The recipes of CONTRIBUTING.md work: following them to the letter in a copy of the tree gives code that passes."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

SOURCE = Path(__file__).parent.parent
TEMPLATES = SOURCE / "docs" / "contributing"
RECIPES = {
    "Add a model": {
        "toy_regression.hpp": "csrc/models",
        "toy_regression.py": "pydpmc/models",
    },
    "Add a gradient sampler": {
        "toy_sampler.hpp": "csrc/samplers",
        "toy_sampler.py": "pydpmc/samplers/gradient",
    },
}
LEFT_OUT = shutil.ignore_patterns(".git", "build", "*.so", "__pycache__", ".*_cache", "bench", ".asv")
SYNTAX = ["-std=c++20", "-fsyntax-only", "-Wno-psabi", "-fconcepts-diagnostics-depth=2"]  # as in CMakeLists.txt


def section(title):
    text = (SOURCE / "CONTRIBUTING.md").read_text()
    return re.search(rf"^## {re.escape(title)}\n(.*?)(?=^## )", text, re.DOTALL | re.MULTILINE)[1]


def follow(title, tree):
    """Copy the templates and add the lines of the section's diff; return the files that have them."""
    for name, folder in RECIPES[title].items():
        shutil.copy(TEMPLATES / name, tree / folder / name)
    (diff,) = re.findall(r"^```diff\n(.*?)^```", section(title), re.DOTALL | re.MULTILINE)
    lists = re.split(r"^\+\+\+ (.*)\n", diff, flags=re.MULTILINE)
    for path, lines in zip(lists[1::2], lists[2::2], strict=True):
        text = (tree / path).read_text()
        for context, added in re.findall(r"^ (.*\n)\+(.*\n)", lines, re.MULTILINE):
            assert text.count(f"\n{context}") == 1, (path, context)
            text = text.replace(f"\n{context}", f"\n{context}{added}")
            assert added in text
        (tree / path).write_text(text)
    return lists[1::2]


@pytest.fixture
def tree(tmp_path):
    copy = tmp_path / "tree"
    shutil.copytree(SOURCE, copy, ignore=LEFT_OUT)
    return copy


def compiler():
    found = shutil.which("g++")
    if found is None:
        pytest.skip("g++ is not here to compile the lists")
    return found


def messages(tree, name):
    """Return what the compiler says of a list."""
    program = f'#include "{name}"\n'
    arguments = [compiler(), *SYNTAX, f"-I{tree / 'csrc'}", "-x", "c++", "-"]
    return subprocess.run(arguments, input=program, text=True, capture_output=True, check=False).stderr


@pytest.mark.parametrize("title", RECIPES)
def test_a_recipe_touches_two_new_files_and_two_lists(title, tree):
    assert len(RECIPES[title]) == 2
    assert len(follow(title, tree)) == 2
    for name in RECIPES[title]:
        assert f"docs/contributing/{name}" in section(title)


def slow(*case):
    return pytest.param(*case, marks=pytest.mark.slow)


@pytest.mark.parametrize(
    ("title", "name", "old", "new", "missing"),
    [
        ("Add a model", "models/all.hpp", " score(", " slope(", "score"),
        slow("Add a model", "models/all.hpp", "bool has_target", "bool target", "has_target"),
        slow("Add a model", "models/all.hpp", "F8 loglik(F8 eta", "double loglik(double eta", "loglik"),
        ("Add a gradient sampler", "samplers/all.hpp", "void start(", "void begin(", "start"),
        slow("Add a gradient sampler", "samplers/all.hpp", "auto state(", "auto saved(", "state"),
        slow("Add a gradient sampler", "samplers/all.hpp", ", Stream&)", ")", "step"),
    ],
)
def test_a_mistake_is_a_compile_error_that_names_what_is_missing(title, name, old, new, missing, tree):
    follow(title, tree)
    (template,) = (tree / folder / file for file, folder in RECIPES[title].items() if file.endswith(".hpp"))
    text = template.read_text()
    assert messages(tree, name) == ""
    assert old in text
    template.write_text(text.replace(old, new))
    said = messages(tree, name)
    assert f"listed in {name} is no" in said
    assert re.search(r"Toy\w+", said)
    assert f"::{missing}" in said or f".{missing}" in said


def build(tree):
    """Build the core of a tree and put it beside its Python sources."""
    pybind11 = pytest.importorskip("pybind11", reason="pybind11 is not here to configure the build")
    if shutil.which("cmake") is None:
        pytest.skip("cmake is not here to build the core")
    made = tree / "build"
    options = ["-DCMAKE_BUILD_TYPE=Release", f"-Dpybind11_DIR={pybind11.get_cmake_dir()}"]
    # One instruction set, not linked as a whole: a recipe has no text that depends on either.
    options += [f"-DPython_EXECUTABLE={sys.executable}", "-DPYDPMC_BASELINE_ONLY=ON"]
    options += ["-DCMAKE_INTERPROCEDURAL_OPTIMIZATION=OFF"]
    if shutil.which("ccache") is not None:
        options.append("-DCMAKE_CXX_COMPILER_LAUNCHER=ccache")
    environment = os.environ | {"CCACHE_BASEDIR": str(tree), "CCACHE_NOHASHDIR": "1"}
    for command in (["cmake", "-S", tree, "-B", made, *options], ["cmake", "--build", made, "--parallel", "2"]):
        subprocess.run(command, check=True, capture_output=True, env=environment)
    (core,) = made.glob("_core*.so")
    shutil.copy(core, tree / "pydpmc")


@pytest.mark.slow
def test_the_recipes_give_a_model_and_a_sampler_that_pass_the_contract_tests(tree):
    for title in RECIPES:
        follow(title, tree)
    build(tree)
    program = [sys.executable, "-m", "pytest", "-n0", "-q", "-p", "no:cacheprovider", "tests/test_contracts.py"]
    docs = ["tests/test_docstrings.py", "-k", "toy or contracts"]
    done = subprocess.run(
        [*program, *docs, "-rA"],
        cwd=tree,
        env=os.environ | {"PYTHONPATH": str(tree)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-4000:]
    passed = set(re.findall(r"^PASSED (.*)$", done.stdout, re.MULTILINE))
    for kind in ("ToyRegression", "ToySampler", "toy_regression", "toy_sampler"):
        assert any(kind in name for name in passed), kind
    assert any("every_listed_model_runs_with_every_listed_sampler[ToyRegression]" in name for name in passed)
