"""Every example is short and runs."""

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from shared_files import absence, shared_path

SOURCE = Path(__file__).parent.parent
EXAMPLES = sorted((SOURCE / "examples").glob("*.py"))


@pytest.mark.skipif(not EXAMPLES, reason="there is no examples/*.py in this tree yet")
def test_there_are_examples():
    assert EXAMPLES


def provide(needed, folder):
    """Put the files that an example names into its folder; skip if they or a package are not there."""
    for name in needed:
        if "." not in name and importlib.util.find_spec(name) is None:
            pytest.skip(f"{name} is not installed")
        if "." in name:
            table = shared_path("data", name)
            if table is None:
                pytest.skip(absence("data", name))
            (folder / name).symlink_to(table)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_an_example_is_short_and_runs(path, tmp_path):
    text = path.read_text()
    assert len(text.splitlines()) < 40
    needs = re.search(r"^# needs: ([^(\n]*)", text, re.MULTILINE)
    needed = [] if needs is None else [name.strip() for name in needs[1].split(",")]
    provide(needed, tmp_path)
    strict = [] if needed else ["-W", "error"]  # other packages may warn of each other
    done = subprocess.run(
        [sys.executable, *strict, str(path)],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        timeout=240,
        check=False,
        env=os.environ | {"MPLBACKEND": "Agg"},
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()


def test_the_notebook_example_is_as_short_as_promised():
    assert len((SOURCE / "examples" / "adult_pandas.py").read_text().splitlines()) < 25
