"""The pages of docs/papers show what their scripts print: every figure in a table comes from a committed JSON."""

from __future__ import annotations

import importlib
import json
import sys

import pytest
from shared_files import CHECKOUT

SCRIPTS = CHECKOUT / "bench" / "papers"
PAGES = CHECKOUT / "docs" / "papers"
SHOWN = {  # which scripts print the tables of which page
    "wang2015": ("wang2015", "wang2015_figure1", "wang2015_matrix", "newton"),
    "minami2016": ("minami2016",),
    "heikkila2019": ("heikkila2019", "heikkila2019_discrete"),
    "dpvi": ("dpvi", "far_truths"),
    "regressions": ("regressions",),
    "li2019": ("li2019",),
}
OTHERS = {"li2019": ("li2019_networks", "li2019_gan", "gan_baseline")}  # without `tables`


def rows(lines: list[str]) -> list[str]:
    """Return the rows of markdown tables that hold a figure."""
    return [line for line in lines if line.startswith("|") and any(c.isdigit() for c in line)]


def printed(script: str, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    monkeypatch.syspath_prepend(str(SCRIPTS))
    for name in [name for name, module in sys.modules.items() if _is_script(module)]:
        monkeypatch.delitem(sys.modules, name)
    module = importlib.import_module(script)
    return list(module.tables(json.loads((SCRIPTS / f"{script}.json").read_text())))


def _is_script(module: object) -> bool:
    return str(getattr(module, "__file__", "") or "").startswith(str(SCRIPTS))


@pytest.mark.parametrize("page", SHOWN)
def test_every_table_of_a_page_is_printed_by_its_scripts_and_shown_whole(page, monkeypatch):
    text = (PAGES / f"{page}.md").read_text().splitlines()
    made = [line for script in SHOWN[page] for line in printed(script, monkeypatch)]
    missing = [row for row in rows(made) if row not in text]
    assert not missing, f"docs/papers/{page}.md lacks what --table prints: {missing[:3]}"
    if page not in OTHERS:
        unfounded = [row for row in rows(text) if row not in made]
        assert not unfounded, f"no script prints these rows of docs/papers/{page}.md: {unfounded[:3]}"


@pytest.mark.parametrize("page", SHOWN)
def test_a_page_names_the_command_of_every_table(page):
    text = (PAGES / f"{page}.md").read_text()
    for script in SHOWN[page]:
        assert f"{script}.py" in text


def test_every_script_with_figures_has_a_page():
    kept = {path.stem for path in SCRIPTS.glob("*.json")}
    assert kept <= {script for scripts in (*SHOWN.values(), *OTHERS.values()) for script in scripts}


def test_the_index_has_no_empty_cell():
    table = [line for line in (PAGES / "index.md").read_text().splitlines() if line.startswith("|")]
    assert len(table) > 40
    for line in table:
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        assert len(cells) == 3, line
        assert all(cells), line


@pytest.mark.parametrize("script", sorted({script for scripts in SHOWN.values() for script in scripts}))
def test_scripts_say_how_to_run_them_quickly(script):
    text = (SCRIPTS / f"{script}.py").read_text()
    assert "--quick" in text.split('"""')[1]
    assert "--table" in text.split('"""')[1]
