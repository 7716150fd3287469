"""The command line: a whole study without Python, exit codes, and mistakes named with their line."""

import datetime
import re
import shutil
import subprocess
import sys

import pytest

import pydpmc as dp
from pydpmc.cli import ALL
from pydpmc.cli.cost import parsed
from pydpmc.cli.main import main
from pydpmc.cli.study import read_study
from pydpmc.errors import StudyError

STUDY = """\
[data]
path = "table.csv"
n = 400

[schema]
target = "rich"
missing = "drop"
missing_values = ["", "?"]

[schema.columns]
age = {kind = "number", low = 17, high = 90}
"the sex" = {kind = "binary", positive = "M"}
rich = {kind = "binary", positive = ">50K"}

[model]
type = "LogisticRegression"
intercept = true
prior = {type = "Normal", scale = 2.0}

[sampler]
type = "Barker"
steps = 200
scale = 0.05

[budget]
adjacency = "replace"
chains = 2

[run]
draws = 100

[output]
posterior = "post.npz"
report = "post.html"
table = "post.md"
title = "A study"
"""


@pytest.fixture
def study(tmp_path, rng):
    rows = [f"{rng.integers(15, 95)},{rng.choice(['M', 'F', '?'])},{rng.choice(['>50K', '<'])}" for _ in range(400)]
    (tmp_path / "table.csv").write_text("age,the sex,rich\n" + "\n".join(rows) + "\n")
    path = tmp_path / "study.toml"
    path.write_text(STUDY)
    return path


def edited(study, old, new):
    assert old in STUDY
    study.write_text(STUDY.replace(old, new))
    return study


def test_a_study_runs_and_writes_its_outputs(study, capsys):
    assert main(["run", str(study)]) == 0
    out = capsys.readouterr().out
    post = dp.Posterior.load(study.parent / "post.npz")
    assert post.draws["beta"].shape[0] == 2
    assert post.draws["beta"].shape[1] <= 100
    assert post.labels["beta"] == ("age", "the sex=M")
    assert post.plan["model_spec"]["prior"]["scale"] == 2.0
    assert "A study" in (study.parent / "post.html").read_text()
    assert "| beta[age] |" in (study.parent / "post.md").read_text()
    assert "differentially private" in out
    assert "Plan: LogisticRegression by Barker" in out


def test_a_plan_touches_no_data(study, capsys):
    (study.parent / "table.csv").unlink()
    assert main(["plan", str(study)]) == 0
    out = capsys.readouterr().out
    assert "number in [17, 90]" in out
    assert re.search(r"records +400", out)


def test_outputs_are_not_overwritten_and_nothing_is_spent_first(study, capsys, monkeypatch):
    (study.parent / "post.html").write_text("mine")
    monkeypatch.setattr("pydpmc.cli.study.Study.data", lambda self: pytest.fail("the data were read"))
    assert main(["run", str(study)]) == 1
    assert re.search(r"study\.toml:34: report: .* exists", capsys.readouterr().err)
    assert (study.parent / "post.html").read_text() == "mine"


def test_a_report_can_be_made_later(study, capsys):
    assert main(["run", str(study), "--quiet"]) == 0
    assert "Plan" not in capsys.readouterr().out
    made = study.parent / "again.html"
    assert main(["report", str(study.parent / "post.npz"), "-o", str(made), "--study", str(study)]) == 0
    assert "number in [17, 90]" in made.read_text()


MISTAKES = [
    ('path = "table.csv"', "", 1, "path must be given"),
    ('path = "table.csv"', 'path = "none.csv"', 2, "no file"),
    ("n = 400", "n = 401", 3, "n is 401 but the table has 400"),
    ("low = 17", "low = 99", 11, "low must be below high"),
    ('type = "LogisticRegression"', 'type = "Logistic"', 16, "type must be one of BernoulliLogit"),
    ("intercept = true", "intersept = true", 17, "intersept is not a parameter"),
    ('"Normal", scale = 2.0', '"Norm", scale = 2.0', 18, "prior type must be one of"),
    ('"Normal", scale = 2.0', '"Normal", scale = -2.0', 18, "prior scale must be positive"),
    ('type = "Barker"', 'type = "Baker"', 21, "type must be one of auto, Barker"),
    ("scale = 0.05", "scales = 0.05", 23, "did you mean 'scale'"),
    ("steps = 200", "steps = -1", 22, "steps must be a positive whole number"),
    ('adjacency = "replace"', 'adjacency = "swap"', 26, "adjacency must be"),
    ("chains = 2", "chain = 2", 27, "did you mean 'chains'"),
    ("chains = 2", "epsilon = -1", 27, "epsilon must be"),
    ("chains = 2", "epsilon = 1.0", 25, "delta must be given with epsilon"),
    ("draws = 100", "drawers = 100", 30, "did you mean 'draws'"),
    ('posterior = "post.npz"', "", 32, "posterior must be given"),
    ('posterior = "post.npz"', 'posterior = "post.pkl"', 33, "must end in .npz or .nc"),
    ('report = "post.html"', 'report = "no/where/post.html"', 34, "does not exist"),
    ("[output]", "[outputs]", 32, "did you mean 'output'"),
    ("[budget]", "[budget", 25, "not valid TOML"),
]


@pytest.mark.parametrize(("old", "new", "line", "words"), MISTAKES, ids=[f"{m[2]}-{m[3][:20]}" for m in MISTAKES])
def test_a_mistake_is_refused_with_its_line_before_anything_is_spent(study, capsys, monkeypatch, old, new, line, words):
    monkeypatch.setattr(dp.Plan, "run", lambda *a, **k: pytest.fail("a run was started"))
    assert main(["run", str(edited(study, old, new))]) == 1
    error = capsys.readouterr().err
    assert re.search(words, error), error
    assert f"study.toml:{line}: " in error, error


def test_a_budget_that_does_not_pay_has_its_own_exit_code(study, capsys):
    edited(study, "chains = 2", "epsilon = 1e-9\ndelta = 1e-6")
    assert main(["run", str(study)]) == 3
    assert "budget" in capsys.readouterr().err


def test_planning_needs_the_public_number_of_records(study, capsys):
    edited(study, "n = 400\n", "")
    assert main(["plan", str(study)]) == 1
    assert "study.toml:1: n must be given" in capsys.readouterr().err


CHOSEN = STUDY.replace('type = "Barker"\nsteps = 200\nscale = 0.05', 'type = "auto"').replace("n = 400", "n = 40000")
CHOSEN = CHOSEN.replace('adjacency = "replace"\nchains = 2', "epsilon = 1.0\ndelta = 1e-6")


def test_a_study_without_a_sampler_leaves_the_choice_to_the_planner(study, capsys):
    study.write_text(CHOSEN)
    assert read_study(study).sampler is None
    assert main(["plan", str(study)]) == 0
    assert "Newton was taken" in capsys.readouterr().out
    assert main(["plan", str(study), "--compare"]) == 0
    out = capsys.readouterr().out
    assert "SGLD" in out
    assert "Refused:" in out


def test_a_purpose_is_one_that_is_known(study, capsys):
    study.write_text(CHOSEN.replace('type = "auto"', 'type = "auto"\npurpose = "fun"'))
    assert main(["plan", str(study)]) == 1
    assert "purpose must be one of posterior, prediction, point" in capsys.readouterr().err


def test_a_rehearsal_opens_no_table(study, capsys):
    study.write_text(CHOSEN)
    (study.parent / "table.csv").unlink()
    assert main(["rehearse", str(study), "--runs", "2", "--html", str(study.parent / "rehearsal.html")]) == 0
    assert "coverage of 90 % intervals" in capsys.readouterr().out
    assert "<table>" in (study.parent / "rehearsal.html").read_text()


def test_a_run_can_be_rehearsed_first_and_its_report_shows_it(study, capsys):
    study.write_text(CHOSEN.replace("n = 40000", "n = 400").replace("[run]\ndraws = 100\n", ""))
    assert main(["run", str(study), "--rehearse", "2", "--anyway"]) == 0
    assert "Rehearsal of 2 runs on made-up records" in capsys.readouterr().out
    assert "ran 2 times on made-up records" in (study.parent / "post.html").read_text()


@pytest.mark.refuses
def test_a_hopeless_study_is_refused_unless_it_is_wanted_anyway(study, capsys):
    assert main(["run", str(study), "--quiet"]) == 1
    assert "would waste its budget" in capsys.readouterr().err
    assert not (study.parent / "post.npz").exists()
    assert main(["run", str(study), "--quiet", "--anyway"]) == 0
    assert (study.parent / "post.npz").exists()


def test_schedules_and_priors_by_block(study):
    text = STUDY.replace('type = "Barker"', 'type = "SGLD"').replace(
        "scale = 0.05", 'clip = 2.0\nstep_size = {type = "Polynomial", a = 1e-4, gamma = 0.5}'
    )
    text = text.replace(
        'prior = {type = "Normal", scale = 2.0}', 'prior = {beta = {type = "Laplace"}, intercept = {type = "Flat"}}'
    )
    study.write_text(text)
    read = read_study(study)
    assert read.sampler.step_size == dp.Polynomial(a=1e-4, gamma=0.5)
    assert read.model.prior == {"beta": dp.Laplace(), "intercept": dp.Flat()}


def test_init_writes_a_study_that_names_what_is_to_be_filled_in(study, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["init", "table.csv", "-o", "new.toml"]) == 0
    text = (tmp_path / "new.toml").read_text()
    assert 'path = "table.csv"' in text
    assert '"the sex" = {kind = "?"}' in text
    assert main(["plan", "new.toml"]) == 1
    line = text.splitlines().index('age = {kind = "?"}') + 1
    assert f"new.toml:{line}: column 'age': kind must be one of" in capsys.readouterr().err
    assert main(["init", "table.csv", "-o", "new.toml"]) == 1
    assert "exists" in capsys.readouterr().err
    filled = text.replace('age = {kind = "?"}', 'age = {kind = "number", low = 17, high = 90}')
    filled = filled.replace('"the sex" = {kind = "?"}', "").replace('rich = {kind = "?"}', 'rich = {kind = "binary"}')
    filled = filled.replace('target = "?"', 'target = "rich"').replace("# n = 30000", "n = 30000")
    filled = filled.replace('type = "Barker" ', 'type = "Barker"\nsteps = 100\nscale = 0.001\n#')
    (tmp_path / "filled.toml").write_text(filled)
    assert main(["plan", "filled.toml"]) == 0


def test_init_reads_types_but_no_record_of_a_parquet_file(tmp_path, capsys, monkeypatch):
    pyarrow = pytest.importorskip("pyarrow", reason="pyarrow is not installed (extra pydpmc[dataframes])")
    import pyarrow.parquet as parquet

    table = pyarrow.table({"a": [1.5], "b": [3], "c": ["x"], "d": [True], "e": [datetime.date(2020, 1, 1)]})
    parquet.write_table(table, tmp_path / "t.parquet")
    monkeypatch.setattr(parquet.ParquetFile, "read", lambda *a, **k: pytest.fail("records were read"))
    assert main(["init", str(tmp_path / "t.parquet"), "-o", str(tmp_path / "s.toml")]) == 0
    text = (tmp_path / "s.toml").read_text()
    for line in (
        *('a = {kind = "number", low = "?", high = "?"}', 'b = {kind = "number", low = "?", high = "?"}'),
        *('c = {kind = "category", levels = "?"}', 'd = {kind = "binary", positive = true}', 'e = {kind = "?"}'),
    ):
        assert line in text


def test_cost_prices_events_like_the_accountant(capsys):
    assert (
        main(["cost", "AcceptBit(shift=0.063) x 250", "PureDP(epsilon=0.1)", "--delta", "1e-6", "--epsilon", "2"]) == 0
    )
    acc = dp.accounting
    guarantee = acc.compose([(acc.AcceptBit(shift=0.063), 250), (acc.PureDP(epsilon=0.1), 1)])
    first, second = capsys.readouterr().out.splitlines()
    epsilon = float(re.match(r"epsilon = (\S+) at", first)[1])
    assert guarantee.epsilon(1e-6) <= epsilon <= guarantee.epsilon(1e-6) * 1.00001
    assert float(re.match(r"delta = (\S+) at", second)[1]) >= guarantee.delta(2.0)
    assert main(["cost", "--list"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == len(acc.EVENT_TYPES)


@pytest.mark.parametrize(
    "text",
    ["AcceptBit", "Nothing(x=1)", "AcceptBit(size=1)", "AcceptBit()", "AcceptBit(shift=__import__)", "PureDP(1)"],
)
def test_cost_refuses_what_it_cannot_read(text):
    with pytest.raises(StudyError, match="event"):
        parsed(text)


def test_every_command_has_help(capsys):
    for module in ALL:
        name = module.__name__.rpartition(".")[2]
        with pytest.raises(SystemExit) as stop:
            main([name, "--help"])
        assert stop.value.code == 0
        assert f"pydpmc {name}" in capsys.readouterr().out
    with pytest.raises(SystemExit) as stop:
        main(["nothing"])
    assert stop.value.code == 2


def test_stopping_by_hand_is_exit_code_130(monkeypatch):
    def stopped(_):
        raise KeyboardInterrupt

    monkeypatch.setattr("pydpmc.cli.main.parser", lambda: fake_parser(stopped))
    assert main([]) == 130


def fake_parser(action):
    import argparse

    parser = argparse.ArgumentParser()
    parser.set_defaults(run=action)
    return parser


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash on this machine")
def test_bash_completes_commands_and_options(capsys):
    assert main(["completion", "bash"]) == 0
    script = capsys.readouterr().out
    ask = 'COMP_WORDS=({words}); COMP_CWORD={n}; _pydpmc; echo "${{COMPREPLY[@]}}"'
    for words, n, expected in (("pydpmc rep", 1, "report"), ("pydpmc run --o", 2, "--overwrite")):
        done = subprocess.run(
            ["bash", "-c", script + ask.format(words=words, n=n)], capture_output=True, text=True, check=True
        )
        assert done.stdout.split() == [expected]


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells_get_every_command(shell, capsys):
    assert main(["completion", shell]) == 0
    script = capsys.readouterr().out
    assert all(module.__name__.rpartition(".")[2] in script for module in ALL)


def test_the_command_is_installed_and_quick():
    done = subprocess.run(
        [sys.executable, "-m", "pydpmc", "--version"], capture_output=True, text=True, check=True, cwd="/"
    )
    assert done.stdout.strip() == f"pydpmc {dp.__version__}"


def test_a_study_is_charged_resumed_and_refused(study, capsys):
    folder = study.parent
    assert main(["ledger", "create", str(folder / "s.ledger"), "--epsilon", "0.22", "--delta", "1e-6"]) == 0
    budget = 'epsilon = 0.2\ndelta = 1e-6\nadjacency = "replace"\nchains = 2\n\n[run]\n'
    options = budget + 'ledger = "s.ledger"\ncheckpoint = "run.ckpt"'
    edited(study, "steps = 200\nscale = 0.05\n\n[budget]\nadjacency = \"replace\"\nchains = 2\n\n[run]\ndraws = 100",
           f"steps = 200\n\n[budget]\n{options}")  # fmt: skip
    assert main(["run", str(study)]) == 0
    assert re.search(r"s\.ledger: this was run 1; epsilon = 0\.\d+ is left for one more run", capsys.readouterr().out)
    assert (folder / "run.ckpt").exists()
    assert main(["run", str(study)]) == 1
    assert "its draws come from run.ckpt" in capsys.readouterr().err
    assert main(["run", str(study), "--overwrite"]) == 0
    assert "resuming from" in capsys.readouterr().err
    assert len(dp.Ledger(folder / "s.ledger").history()) == 1
    (folder / "run.ckpt").unlink()
    assert main(["run", str(study), "--overwrite"]) == 3
    assert re.search(r"there remains epsilon = 0\.\d+", capsys.readouterr().err)


def test_a_misspelt_level_of_the_target_stops_a_study_before_its_run(study, capsys):
    edited(study, 'positive = ">50K"', 'positive = ">50k"')
    assert main(["run", str(study), "--check-levels", "0.5"]) == 1
    out = capsys.readouterr()
    assert "no record seems to have '>50k'" in out.err
    assert "released at epsilon = 0.5" in out.out
    assert not (study.parent / "post.npz").exists()
    edited(study, 'positive = ">50K"', 'positive = ">50K"')
    assert main(["run", str(study), "--check-levels", "0.5"]) == 0


@pytest.mark.parametrize("sampler", ["NUTS", "PosteriorSample", "Langevin"])
def test_a_study_takes_every_sampler_of_a_model(sampler, study):
    edited(study, 'type = "Barker"\nsteps = 200\nscale = 0.05', f'type = "{sampler}"')
    assert type(read_study(study).sampler).__name__ == sampler


def test_a_study_with_a_cache_writes_what_one_without_writes(study, monkeypatch):
    monkeypatch.chdir(study.parent)
    text = study.read_text().replace('path = "table.csv"', 'path = "table.csv"\ncache = "rows.dpmc"\ncells = 3')
    study.write_text(text)
    assert main(["run", str(study), "--quiet", "--anyway"]) == 0
    assert len(dp.Data.from_cache(study.parent / "rows.dpmc")) == 400
    assert main(["run", str(study), "--quiet", "--anyway", "--overwrite"]) == 0
    (study.parent / "rows.dpmc").write_bytes(b"other")
    assert main(["run", str(study), "--quiet", "--anyway", "--overwrite"]) == 1


def test_a_cluster_needs_an_address_and_certificates(study, capsys):
    text = study.read_text()
    for section, words in (
        ("scheduler = 7", "scheduler must be an address"),
        ('scheduler = "tls://127.0.0.1:1"', "ca must be given"),
        ('scheduler = "tls://127.0.0.1:1"\nport = 3', "unknown key 'port'"),
    ):
        study.write_text(f"{text}\n[cluster]\n{section}\n")
        assert main(["run", str(study), "--quiet"]) == 1
        assert words in capsys.readouterr().err


def test_several_studies_must_not_write_the_same_file(study, capsys):
    other = study.with_name("other.toml")
    other.write_text(study.read_text())
    assert main(["run", str(study), str(other), "--jobs", "2"]) == 1
    assert "would both write" in capsys.readouterr().err
