"""A study file may name a function that returns the model."""

import numpy as np
import pytest

import pydpmc as dp
from pydpmc.cli.study import read_study

MODULE = """
import numpy as np
import pydpmc as dp

def log_lik(theta, record):
    return -0.5 * (record["y"] - record["x"] @ theta["beta"]) ** 2

def model():
    return dp.models.from_numpy(log_lik, parameters={"beta": 1})

def no_model():
    return 3
"""
STUDY = """
model = "MODULE:FUNCTION"

[data]
path = "people.csv"
n = 50

[schema]
target = "income"
missing = "drop"

[schema.columns]
age = {kind = "number", low = 18, high = 80}
income = {kind = "number", low = 0, high = 10}

[sampler]
type = "Barker"
scale = 0.05
clip = 0.1
steps = 20

[budget]
delta = 1e-6
"""


def written(folder, name):
    (folder / "my_models_of_a_study.py").write_text(MODULE)
    (folder / "study.toml").write_text(STUDY.replace("MODULE:FUNCTION", name))
    rows = "\n".join(f"{age},{age / 10}" for age in np.linspace(20, 70, 50))
    (folder / "people.csv").write_text(f"age,income\n{rows}\n")
    return folder / "study.toml"


def test_a_study_runs_a_model_of_ones_own(tmp_path):
    study = read_study(written(tmp_path, "my_models_of_a_study:model"))
    assert isinstance(study.model, dp.models.OwnModel)
    data = study.data()
    post = study.plan(data.public).run(data, progress=False)
    assert post.draws["beta"].shape[2] == 1
    assert post.guarantee.assumptions


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("my_models_of_a_study:no_model", "must return a model"),
        ("my_models_of_a_study:absent", "cannot be imported"),
        ("a_module_that_is_not_there:model", "cannot be imported"),
        ("model", "package.module:function"),
    ],
)
def test_what_is_no_model_is_refused_with_its_line(tmp_path, name, why):
    with pytest.raises(dp.errors.PydpmcError, match=why):
        read_study(written(tmp_path, name))
