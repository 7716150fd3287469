"""Adult from CSV to report with the command line alone: init, an edited file, plan, run."""

from pathlib import Path

import numpy as np
import pytest
from shared_files import absence, shared_path

import pydpmc as dp
from pydpmc.cli.main import main

TABLE = ("data", "adult_train.csv.gz")
COLUMNS = {
    "age": '{kind = "number", low = 17, high = 90}',
    "education-num": '{kind = "number", low = 1, high = 16}',
    "marital-status": '{kind = "binary", positive = "Married-civ-spouse"}',
    "sex": '{kind = "binary", positive = "Male"}',
    "capital-gain": '{kind = "number", low = 0, high = 99999, transform = ["log1p", "standardise"]}',
    "hours-per-week": '{kind = "number", low = 1, high = 99}',
    "income": '{kind = "binary", positive = ">50K"}',
}


def filled_in(template):
    lines = []
    for line in template.splitlines():
        name, _, rest = line.partition(" = ")
        if rest == '{kind = "?"}':
            if name in COLUMNS:
                lines.append(f"{name} = {COLUMNS[name]}")
            continue
        lines.append(line)
    text = "\n".join(lines)
    for old, new in (
        ('target = "?"', 'target = "income"'),
        ('missing_values = [""]', 'missing_values = ["", "?"]'),
        ("# n = 30000", "n = 32561"),
    ):
        assert old in text
        text = text.replace(old, new)
    return text


@pytest.mark.skipif(shared_path(*TABLE) is None, reason=absence(*TABLE))
@pytest.mark.slow
def test_adult_from_csv_to_report_without_python(tmp_path, monkeypatch):
    table = shared_path(*TABLE)
    monkeypatch.chdir(tmp_path)
    assert main(["init", str(table)]) == 0
    Path("study.toml").write_text(filled_in(Path("study.toml").read_text()))
    assert main(["plan", "study.toml"]) == 0
    assert main(["run", "study.toml"]) == 0
    post = dp.Posterior.load("posterior.npz")
    assert post.guarantee.epsilon(1e-6) <= 1.0
    assert "income" not in post.labels["beta"]
    assert "epsilon" in Path("report.html").read_text()
    schema = dp.Schema.from_toml("study.toml")
    target = (schema.data(table)._rows[:, schema.public(1).width] == 1).astype(float)
    right = np.mean((post.predict(schema.encode(table), draws=20).mean > 0.5) == target)
    print(f"right in {right:.4f} of cases")
    assert right > 0.815  # 0.8300, 0.8295 and 0.8306 were measured; a model without features is right in 0.759 of cases
