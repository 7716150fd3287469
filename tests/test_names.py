"""What the repository names is in it: files, citations, no labels of documents that a reader does not have."""

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
TEXT = {".py", ".hpp", ".cpp", ".md", ".txt", ".toml", ".pyi"}
FILE = re.compile(r"(?<![\w/.<{*-])((?:[\w-]+/)*[\w-]+\.(?:py|hpp|cpp|md))\b(?!\()")
# Files that examples write, attributes that look like files, and names in the shared folder.
MADE_ELSEWHERE = {
    "my_models_of_a_study.py",
    "long.py",
    "table.md",
    "post.md",
    "limit.cpp",
    "w1.cpp",
    "w1.py",
    "common.py",
    "chosen.cpp",
    "mutant.hpp",
    "tasks.md",
    "changelog.md",
    "security.md",
    "conduct.md",
}
LABELS = re.compile(
    r"[Pp]apers/00\d|math\.md|house\.md|newton_prototype|shared/(?:design|papers|tools)|\b[Bb]ars? [A-Z]\d\b|/work/"
)


def tracked():
    try:
        listed = subprocess.run(
            ["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True
        )
    except FileNotFoundError:
        pytest.skip("git is not installed: the list of files is not known")
    if listed.returncode:
        pytest.skip("this is not a git checkout: the list of files is not known")
    return [ROOT / name for name in listed.stdout.splitlines() if (ROOT / name).is_file()]


def lines(paths):
    for path in paths:
        if path.suffix in TEXT and path != Path(__file__) and "fixtures" not in path.parts:
            for number, line in enumerate(path.read_text().splitlines(), 1):
                yield f"{path.relative_to(ROOT)}:{number}", line


def test_every_file_that_is_named_exists():
    paths = tracked()
    names = {path.name for path in paths} | MADE_ELSEWHERE
    dangling = [
        f"{place}: {match}"
        for place, line in lines(paths)
        for match in FILE.findall(line)
        if Path(match).name not in names
    ]
    assert dangling == []


def test_nothing_is_named_that_a_reader_does_not_have():
    assert [f"{place}: {line.strip()}" for place, line in lines(tracked()) if LABELS.search(line)] == []


def test_every_citation_is_in_the_references():
    references = (ROOT / "docs" / "references.md").read_text()
    entries = re.findall(r"^- \*\*([^(]+) \((\d{4})\)", references, re.M)
    listed = {(names.split(",")[0], year) for names, year in entries}
    cited = set()
    for path in (*(ROOT / "docs").rglob("*.md"), *(ROOT / "pydpmc").rglob("*.py"), *(ROOT / "csrc").rglob("*.hpp")):
        for first, year in re.findall(r"([A-Z][\wäöü]+) et al\.,? \(?(\d{4})", path.read_text()):
            cited.add((first, year))
    assert len(cited) > 4
    assert cited - listed == set()


def test_every_alternative_in_braces_exists():
    braces = re.compile(r"((?:[\w-]+/)+[\w-]*)\{([\w,.]+)\}([\w.]*)")
    absent = [
        f"{place}: {before}{one}{after}"
        for place, line in lines(path for path in tracked() if path.suffix in (".md", ".hpp"))
        for before, inside, after in braces.findall(line)
        for one in inside.split(",")
        if not (ROOT / f"{before}{one}{after}").exists()
    ]
    assert absent == []
