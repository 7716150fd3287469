"""Every error of ours derives from one class, and stays what Python calls such an error."""

import ast
from pathlib import Path

import pytest

import pydpmc
from pydpmc import errors

# Not among them: NotImplementedError, which marks what a subclass must define, and KeyboardInterrupt.
BARE = {
    *("ValueError", "TypeError", "RuntimeError", "ImportError", "KeyError", "IndexError", "AttributeError"),
    *("OSError", "FileNotFoundError", "ArithmeticError", "OverflowError", "AssertionError", "Exception"),
}


def bare_raises(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Raise) and node.exc is not None:
            raised = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
            if isinstance(raised, ast.Name) and raised.id in BARE:
                yield raised.id


def test_no_file_raises_an_error_without_the_common_base():
    root = Path(pydpmc.__file__).parent
    found = {str(path.relative_to(root)): list(bare_raises(path)) for path in root.rglob("*.py")}
    assert len(found) > 100
    assert found.pop("_files.py") == ["OSError", "OSError"]  # which whoever opens a file words for its reader
    assert {file: kinds for file, kinds in found.items() if kinds} == {}


@pytest.mark.parametrize("kind", [kind for kind in vars(errors).values() if isinstance(kind, type)])
def test_every_error_has_the_common_base_and_a_sentence(kind):
    assert issubclass(kind, errors.PydpmcError | Warning)
    assert len(kind.__doc__) > 30
    builtin = (ValueError, TypeError, RuntimeError, ImportError, OSError)
    assert kind is errors.PydpmcError or issubclass(kind, (*builtin, Warning))  # whoever caught these still does
