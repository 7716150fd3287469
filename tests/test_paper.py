"""Figures of the paper are those of the page of benchmarks, which a script writes."""

import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[1] / "docs"


def read(name):
    path = DOCS / name
    if not path.exists():
        pytest.skip("docs is not here: an installed package is tested without its repository")
    return path.read_text(encoding="utf-8")


def cells(line):
    return [cell.strip() for cell in line.strip("|").split("|")]


def test_rates_and_ratios_are_those_of_the_benchmarks():
    benchmarks = read("benchmarks.md")
    measured = [cells(line) for line in benchmarks.splitlines() if line.startswith("| ")]
    rows = re.findall(r"^\| (?!what).*\d.*\|$", read("paper/paper.md"), flags=re.MULTILINE)
    assert len(rows) == 3
    for row in rows:
        _, own, other, ratio = cells(row)
        peer, rate = other.rsplit(" ", 1)
        assert any(line[0].startswith("pydpmc") and line[1] == own for line in measured), own
        found = [line for line in measured if line[0].startswith(peer) and line[1] == rate]
        assert [line[-1] for line in found] == [ratio], row


def test_the_commit_is_the_one_that_was_measured():
    (commit,) = re.findall(r"at commit (\w+)", read("paper/paper.md"))
    assert f"commit {commit}," in read("benchmarks.md")
