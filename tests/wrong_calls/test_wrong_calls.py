"""Wrong calls over the whole public surface: one class of errors, the argument named, nothing spent, nothing leaked."""

import importlib.util
import re
from pathlib import Path

import pytest

from pydpmc.errors import PydpmcError

HERE = Path(__file__).parent
FEWEST = 150
FOREIGN = re.compile(r"pybind11|std::|incompatible (function|constructor) arguments|0\.739173|Zaphod|Traceback")


def load(stem):
    spec = importlib.util.spec_from_file_location(f"wrong_calls_{stem}", HERE / f"{stem}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


CASES = {
    f"{area}: {label}": (area, argument, says, call)
    for stem in ("tables", "plans", "results")
    for area, cases in load(stem).CASES.items()
    for label, argument, says, call in cases
}


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    return load("world").World(tmp_path_factory.mktemp("wrong"))


def test_there_are_enough_cases_and_none_twice():
    listed = [case for stem in ("tables", "plans", "results") for group in load(stem).CASES.values() for case in group]
    assert len(CASES) == len(listed)
    assert len(CASES) >= FEWEST


@pytest.mark.parametrize("name", CASES)
def test_a_wrong_call_is_refused_clearly_before_anything_is_spent(name, world, monkeypatch):
    area, argument, says, call = CASES[name]
    if area == "estimators":
        pytest.importorskip("sklearn", reason="scikit-learn is not installed (extra pydpmc[sklearn])")
    monkeypatch.chdir(world.folder)
    spent = world.ledger.path.read_bytes()
    with pytest.raises(PydpmcError) as caught:
        call(world)
    message = str(caught.value)
    assert re.search(rf"(?<!\w){re.escape(argument)}(?!\w)", message), message
    assert re.search(says, message), message
    assert not FOREIGN.search(message), message
    assert len(message) > 20
    assert world.ledger.path.read_bytes() == spent
