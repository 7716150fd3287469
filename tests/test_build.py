"""Facts of the build: arithmetic as written, and no generator but our own."""

import subprocess
import sys
from pathlib import Path

import numpy as np

import pydpmc as dp
from pydpmc import _core

SOURCE = Path(__file__).parent.parent


def test_the_build_has_no_flag_that_changes_arithmetic():
    flags = (SOURCE / "CMakeLists.txt").read_text()
    assert "-ffp-contract=off" in flags
    for forbidden in ("fast-math", "Ofast", "march=native", "mtune=native", "-mfma", "unsafe-math", "finite-math"):
        assert forbidden not in flags


def test_importing_leaves_subnormal_numbers_alone():
    probe = """
import pydpmc, numpy as np
tiny, least_normal = float("5e-324"), float("2.2250738585072014e-308")
print(tiny * 1.0, (np.full(9, tiny) * 1.0).min(), least_normal / 2)
"""
    done = subprocess.run(
        [sys.executable, "-c", probe], capture_output=True, text=True, cwd="/", check=True, timeout=60
    )
    assert done.stdout.split() == ["5e-324", "5e-324", "1.1125369292536007e-308"]


def test_a_run_leaves_subnormal_numbers_alone():
    plan = dp.plan(dp.BernoulliLogit(), dp.Data(np.zeros(9)).public, dp.Barker(steps=9, scale=0.1), chains=2)
    plan.run(dp.Data(np.zeros(9)), threads=2, progress=False)
    assert np.nextafter(0.0, 1.0) * 1.0 == 5e-324


def test_the_core_itself_counts_a_planted_nan_as_nothing():
    arguments = {
        "columns": 1,
        "has_target": False,
        "model": "gaussian_mean",
        "intercept": False,
        "constants": (1.0, 0.0),
    }
    for planted in (np.nan, -np.nan):
        found = _core.ratio_sum(
            rows=np.array([[planted]]), **arguments, current=[1.0], proposal=[2.0], clip=1.0, bits=40
        )
        assert found == (0, 0, 0)


NO_RECORD = {  # files that draw random numbers and never meet a record
    "cli/demo_run.py",
    "data/public.py",  # rows of a typical table
    "models/own/model.py",  # public points at which a statement is tried
    "models/own/numpyro_examples.py",
    "models/own/records.py",
    "models/own/trial.py",
    "models/simulation.py",
    "models/softmax_regression.py",  # a mean over made-up predictors
    "nn/network.py",  # a public start
    "posterior/confidence.py",
    "posterior/predictive.py",
    "posterior/synthetic_sets.py",
    "running/rehearsal.py",
    "running/synthetic.py",
    "samplers/barker/own_proposal.py",  # proposals are public, and their generator is keyed by ChaCha20
    "samplers/directions.py",
}


def test_no_insecure_generator_in_the_package():
    package = Path(dp.__file__).parent
    for path in package.rglob("*.py"):
        lines = path.read_text().splitlines()
        text = "\n".join(line for line in lines if not line.lstrip().startswith((">>>", "...")))  # examples make data
        if str(path.relative_to(package)) in NO_RECORD:
            continue
        text = text.replace("random: np.random.Generator", "")  # a function that is handed a generator makes none
        assert "np.random" not in text, path
        assert "import random" not in text, path
        assert "pickle.load" not in text, path
