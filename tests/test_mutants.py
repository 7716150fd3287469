"""The list of mutants still fits the source: each fault can be put in, and names tests that exist."""

import importlib.util
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def lists():
    spec = importlib.util.spec_from_file_location("mutants", ROOT / "tools/mutants/mutants.py")
    module = sys.modules["mutants"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    yield module
    del sys.modules["mutants"]


@pytest.mark.parametrize("name", ["python", "cpp"])
def test_every_mutant_fits_its_file_exactly_once(lists, name):
    wrong = []
    for mutant in lists.mutants(name):
        found = (ROOT / mutant.file).read_text(encoding="utf-8").count(mutant.old)
        if found != 1 or mutant.new == mutant.old:
            wrong.append(f"{mutant.id}: its text stands {found} times in {mutant.file}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("name", ["python", "cpp"])
def test_every_mutant_names_tests_that_exist(lists, name):
    for mutant in lists.mutants(name):
        assert mutant.killed_by, mutant.id
        for test in mutant.killed_by:
            file, *names = test.split("::")
            assert (ROOT / file).exists(), (mutant.id, test)
            if names:
                assert f"def {names[0].split('[')[0]}(" in (ROOT / file).read_text(encoding="utf-8"), (mutant.id, test)


def test_there_are_a_hundred_with_ids_of_their_own(lists):
    ids = [mutant.id for name in ("python", "cpp") for mutant in lists.mutants(name)]
    assert len(ids) >= 100
    assert len(set(ids)) == len(ids)


def test_one_build_can_hold_all_cpp_mutants(lists):
    assert lists.overlapping(lists.mutants("cpp")) == []
    assert all("MUTANT" in mutant.new for mutant in lists.mutants("cpp"))


def test_no_mutant_is_in_the_source(lists):
    for path in (ROOT / "csrc").rglob("*.[hc]pp"):
        assert "MUTANT" not in path.read_text(encoding="utf-8"), path


def test_the_sanitizers_run_tests_that_exist(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "tools/mutants"))
    spec = importlib.util.spec_from_file_location("sanitize", ROOT / "tools/sanitize/run.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    sys.modules.pop("tree", None)
    listed = module.listed()
    assert len(listed) > 20
    assert [file for file in listed if not (ROOT / file).exists()] == []
