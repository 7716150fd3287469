"""Results, ledgers and checkpoints that an older pydpmc wrote still load, and mean what they meant."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

import pydpmc as dp

OLD = Path(__file__).parent / "fixtures" / "before_rooms"
FIGURES = json.loads((OLD / "figures.json").read_text())


def old_data():
    rng = np.random.default_rng(5)
    return dp.Data(rng.normal(size=(300, 2)), rng.integers(0, 2, 300), row_norm=1.0)


def old_plan(data):
    return dp.plan(dp.LogisticRegression(), data.public, dp.SGNHT(steps=60, step_size=1e-4, clip=2.0), chains=2)


@pytest.mark.parametrize("suffix", ["npz", "nc"])
@pytest.mark.parametrize("name", FIGURES)
def test_saved_posteriors_load(name, suffix):
    post = dp.Posterior.load(OLD / f"{name}.{suffix}")
    assert post.guarantee.epsilon(1e-6) == pytest.approx(FIGURES[name]["epsilon"], rel=1e-9)
    assert {key: float(draws.mean()) for key, draws in post.draws.items()} == FIGURES[name]["mean"]


@pytest.mark.parametrize("name", ["finished", "unfinished", "charged"])
def test_checkpoints_resume(name, tmp_path):
    data = old_data()
    path = shutil.copy(OLD / f"{name}.checkpoint", tmp_path / "run.ckpt")
    options = {}
    if name == "charged":
        options["ledger"] = dp.Ledger(shutil.copy(OLD / "second.ledger.db", tmp_path / "second.ledger"))
    post = old_plan(data).run(data, checkpoint=path, progress=False, **options)
    assert post.draws["beta"].shape[:2] == (2, 48)
    for ledger in options.values():
        (entry,) = ledger.history()
        assert (entry.finished, entry.resumed) == (True, 1)


def test_a_ledger_is_read_verified_and_charged_further(tmp_path):
    data = old_data()
    ledger = dp.Ledger(shutil.copy(OLD / "study.ledger.db", tmp_path / "study.ledger"))
    ledger.verify()
    (entry,) = ledger.history()
    assert entry.finished
    cheap = dp.plan(dp.LogisticRegression(), data.public, dp.Barker(steps=10, scale=0.01), chains=1)
    cheap.run(data, ledger=ledger, progress=False)
    assert len(ledger.history()) == 2
