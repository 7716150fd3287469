"""A page with sliders shows what plans of every setting would give, and works in a browser by mouse and keyboard."""

import json
import re

import pytest
from browser import ABSENT, BROWSER, Page

import pydpmc as dp
from pydpmc.cli.main import main
from pydpmc.errors import InvalidArgument, WrongType
from pydpmc.posterior.privacy_curves import best_guess

BUDGET = {"epsilon": 1.0, "delta": 1e-6}
SLIDERS = {"epsilons": [0.3, 3.0], "deltas": [1e-8], "records": [1_000, 200_000]}
STUDY = """
data = {path = "absent.csv", n = 20000}
budget = {epsilon = 1.0, delta = 1e-6}
model = {type = "LogisticRegression", intercept = true}
output = {posterior = "post.npz", title = "Claims"}
[schema]
target = "claim"
missing = "drop"
[schema.columns]
age = {kind = "number", low = 18, high = 90}
claim = {kind = "binary", positive = "yes"}
"""
MODEL = dp.LogisticRegression(intercept=True)


def public(n=20_000, **facts):
    return dp.Public(n=n, columns=("age", "</script><b>dose"), has_target=True, row_norm=1.0, **facts)


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("explore") / "explore.html"
    dp.compare(MODEL, public(), **BUDGET).explore(path, **SLIDERS, title="Who <pays>?")
    return path


@pytest.fixture(scope="module")
def grid(file):
    found = re.search(r'id="grid">(.*?)</script>', file.read_text(encoding="utf-8"))
    return json.loads(found[1])


def cell(grid, epsilon, delta, n):
    e, d, k = grid["epsilon"].index(epsilon), grid["delta"].index(delta), grid["records"].index(n)
    return grid["cells"][(e * len(grid["delta"]) + d) * len(grid["records"]) + k]


def test_the_own_budget_is_among_the_sliders_and_is_where_they_start(grid):
    assert grid["epsilon"] == [0.3, 1.0, 3.0]
    assert grid["delta"] == [1e-8, 1e-6]
    assert grid["records"] == [1_000, 20_000, 200_000]
    assert grid["start"] == [1, 1, 1]
    assert len(grid["cells"]) == 3 * 2 * 3


@pytest.mark.parametrize(("epsilon", "delta", "n"), [(1.0, 1e-6, 20_000), (3.0, 1e-8, 1_000), (0.3, 1e-6, 200_000)])
def test_a_cell_is_what_the_plan_of_its_setting_says(grid, epsilon, delta, n):
    plan = dp.plan(MODEL, public(n), epsilon=epsilon, delta=delta)
    found = cell(grid, epsilon, delta, n)
    assert found["samplers"][0]["sampler"] == plan.settings.describe()["sampler"]
    assert found["guess"] == pytest.approx(best_guess(plan.guarantee), rel=1e-9)
    assert found["samplers"][0]["width"] == pytest.approx(plan.outlook.width, rel=0.02)
    assert found["samplers"][0]["kind"] == plan.verdict.kind


def test_more_budget_protects_less_and_buys_more(grid):
    few, many = (cell(grid, epsilon, 1e-6, 20_000) for epsilon in (0.3, 3.0))
    assert few["guess"] < many["guess"]
    assert few["caught"] < many["caught"]
    assert few["samplers"][0]["width"] > many["samplers"][0]["width"]


def test_the_page_loads_nothing_and_shows_names_as_text(file):
    text = file.read_text(encoding="utf-8")
    assert "default-src 'none'" in text
    assert "Who &lt;pays&gt;?" in text
    assert "<pays>" not in text
    assert not re.search(r'(src|href)="', text)
    assert "http://" not in text.replace("http://www.w3.org/2000/svg", "")


def test_without_a_public_number_of_records_it_is_refused():
    table = dp.compare(MODEL, public(), adjacency="add_remove", **BUDGET)
    with pytest.raises(InvalidArgument, match="public_n must be declared to explore"):
        table.explore("never.html")


@pytest.mark.parametrize(
    ("wrong", "error"),
    [
        ({"epsilons": "1"}, WrongType),
        ({"deltas": []}, WrongType),
        ({"epsilons": [-1.0]}, InvalidArgument),
        ({"deltas": [2.0]}, InvalidArgument),
        ({"records": [0]}, InvalidArgument),
        ({"title": 3}, WrongType),
        ({"records": list(range(1, 1000))}, InvalidArgument),
    ],
)
def test_wrong_arguments_are_named(wrong, error, tmp_path):
    with pytest.raises(error, match=next(iter(wrong))):
        dp.compare(MODEL, public(), **BUDGET).explore(tmp_path / "never.html", **wrong)


def test_the_command_writes_the_page_without_opening_the_table(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("pydpmc.planning.explore.grid.FACTORS", (1.0,))
    monkeypatch.setattr("pydpmc.planning.explore.grid.EPSILONS", (3.0,))
    monkeypatch.setattr("pydpmc.planning.explore.grid.DELTAS", (1e-6,))
    (tmp_path / "study.toml").write_text(STUDY)
    assert main(["explore", "study.toml"]) == 0
    assert (tmp_path / "explore.html").stat().st_size > 5000
    assert main(["explore", "study.toml"]) == 1
    assert "explore.html exists" in capsys.readouterr().err


@pytest.mark.skipif(BROWSER is None, reason=ABSENT)
@pytest.mark.parametrize("width", [380, 1200])
def test_sliders_work_by_keyboard_and_mouse_without_a_console_message(file, grid, width):
    shown = (
        "['epsilon-value', 'delta-value', 'records-value', 'guess'].map(id => document.getElementById(id).textContent)"
    )
    with Page(file.as_uri(), width) as page:
        assert page.run(shown)[:3] == ["1", "1e-6", "20,000"]
        page.press("Tab")
        assert page.run("document.activeElement.id") == "epsilon"
        page.press("ArrowRight")
        epsilon, _, _, guess = page.run(shown)
        assert epsilon == "3"
        assert float(guess.split()[0]) == pytest.approx(100 * cell(grid, 3.0, 1e-6, 20_000)["guess"], abs=0.1)
        assert float(guess.split()[0]) >= 100 * cell(grid, 3.0, 1e-6, 20_000)["guess"]
        page.press("Tab")
        page.press("Tab")
        page.press("End")
        assert page.run(shown)[2] == "200,000"
        assert page.run("document.getElementById('records').getAttribute('aria-valuetext')") == "200,000"
        left, top = page.run("(r => [r.left + 3, r.top + r.height / 2])(epsilon.getBoundingClientRect())")
        page.click(left, top)
        assert page.run(shown)[0] == "0.3"
        assert page.run("document.querySelectorAll('.here').length") == 2
        assert page.run("document.querySelectorAll('#samplers tr').length") == len(
            cell(grid, 0.3, 1e-6, 200_000)["samplers"]
        )
        root = page.run("[document.documentElement.scrollWidth, document.documentElement.clientWidth]")
        assert root == [width, width]
        wide = (
            "[...document.querySelectorAll('main *')].filter(e => e.getBoundingClientRect().right > innerWidth).length"
        )
        assert page.run(wide) == 0
        assert page.said == []
