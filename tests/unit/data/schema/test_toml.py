"""Schemas from TOML: the same as in Python, and every mistake with its line."""

import re

import pytest

import pydpmc as dp
from pydpmc.data.schema.toml_file import key_lines
from pydpmc.errors import StudyError

GOOD = """\
[schema]
target = "rich"
missing = "drop"
missing_values = [
  "",  # [ a bracket in a comment
  "?",
]
interactions = [["age", "sex"]]

[schema.columns]
age = {kind = "number", low = 17, high = 90}
sex = {kind = "binary", positive = "M"}

[schema.columns.school]
kind = "category"
levels = ["HS", "BA"]
missing = "level"

[schema.columns.rich]
kind = "binary"
positive = ">50K"
"""


def load(tmp_path, text):
    (tmp_path / "schema.toml").write_text(text)
    return dp.Schema.from_toml(tmp_path / "schema.toml")


def test_the_same_schema_as_in_python(tmp_path):
    columns = {
        "age": dp.Number(17, 90),
        "sex": dp.Binary(positive="M"),
        "school": dp.Category(["HS", "BA"], missing="level"),
        "rich": dp.Binary(positive=">50K"),
    }
    same = dp.Schema(columns, "rich", missing="drop", missing_values=["", "?"], interactions=[["age", "sex"]])
    assert load(tmp_path, GOOD) == same


@pytest.mark.parametrize(
    ("old", "new", "line", "words"),
    [
        ("low = 17", "low = 97", 11, "low must be below high"),
        ("low = 17, ", "", 11, "column 'age': low must be given"),
        ("low = 17", "lo = 17", 11, "unknown key 'lo'.*did you mean 'low'"),
        ('kind = "category"', 'kind = "kategory"', 15, "column 'school': kind must be one of number, category, binary"),
        ('levels = ["HS", "BA"]', 'levels = ["HS", "HS"]', 16, "levels must be distinct"),
        ('missing = "level"', 'missing = "levels"', 17, "schema.columns.school: missing must be one of"),
        ('target = "rich"', 'target = "poor"', 2, "target must be one of"),
        ('target = "rich"', 'targets = "rich"', 2, "unknown key 'targets'"),
        ('[["age", "sex"]]', '[["age", "six"]]', 8, "interactions: 'six'"),
        ("[schema.columns]", "[schema.columns", 10, "not valid TOML"),
        ("[schema]", "[scheme]", 1, "unknown key 'scheme'.*did you mean 'schema'"),
    ],
)
def test_a_mistake_is_named_with_its_line(tmp_path, old, new, line, words):
    assert old in GOOD
    with pytest.raises(StudyError, match=words) as refusal:
        load(tmp_path, GOOD.replace(old, new))
    assert re.search(rf"schema\.toml:{line}: ", str(refusal.value)), str(refusal.value)


def test_lines_are_counted_through_strings_and_brackets():
    text = 'a = """\nb = 1\n"""\nc = \'\'\'x\'\'\'\n[t]\n"d.e" = {x = [1,\n2]}\nf.g = "]"\nh = 3\n'
    assert key_lines(text) == {("a",): 1, ("c",): 4, ("t",): 5, ("t", "d.e"): 6, ("t", "f", "g"): 8, ("t", "h"): 9}


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(StudyError, match="cannot be read"):
        dp.Schema.from_toml(tmp_path / "nothing.toml")
