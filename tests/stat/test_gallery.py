"""The private posteriors of the gallery's own models agree with the same models without privacy."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import pydpmc as dp

GALLERY = Path(__file__).resolve().parents[2] / "docs/gallery"
PYTHON = re.compile(r"^```python\n(.*?)^```", re.DOTALL | re.MULTILINE)
BY_NUTS = ("counts", "dose", "hierarchical", "mixture", "ordered", "robust", "survival")
# Of eight pages with up to six numbers each. A chain has an error of its own besides the noise of privacy.
FURTHEST = 4.5


def names_of(page: str, monkeypatch: pytest.MonkeyPatch, folder: Path) -> dict[str, object]:
    """Run the page and return its names."""
    pytest.importorskip("numpyro")
    pytest.importorskip("matplotlib").use("Agg")
    monkeypatch.chdir(folder)
    names: dict[str, object] = {}
    for block in PYTHON.findall((GALLERY / f"own_{page}.md").read_text()):
        exec(compile(block, page, "exec"), names)
    return names


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("page", BY_NUTS)
def test_a_page_of_the_gallery_agrees_with_nuts(page, monkeypatch, tmp_path):
    names = names_of(page, monkeypatch, tmp_path)
    model, data, post = names["model"], names["data"], names["post"]
    records = dp.Data(  # as the reference takes them: one by one
        data._rows[:, : data.public.width],
        data._rows[:, data.public.width] if data.public.has_target else None,
        x_bounds=data.public.x_bounds,
        y_bounds=data.public.y_bounds,
    )
    reference = dp.sample(model, records, dp.NUTS(draws=300, warmup=200), private=False, progress=False, seed=1)
    for name, draws in post.draws.items():
        here, there = (np.reshape(d, (d.shape[0] * d.shape[1], -1)) for d in (draws, reference.draws[name]))
        spread = np.hypot(here.std(axis=0), there.std(axis=0))
        distance = (here.mean(axis=0) - there.mean(axis=0)) / spread
        print(page, name, np.round(distance, 2), "width", np.round(here.std(axis=0) / there.std(axis=0), 2))
        assert np.abs(distance).max() < FURTHEST, name
        assert (here.std(axis=0) > 0.6 * there.std(axis=0)).all(), name


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_the_change_point_agrees_with_the_exact_posterior(monkeypatch, tmp_path):
    names = names_of("change_point", monkeypatch, tmp_path)
    post, weight, grid = names["post"], names["weight"], names["grid"]
    days = post.draws["change"].ravel()
    exact = weight.sum((1, 2))
    mean = float(exact @ np.arange(1, len(exact) + 1))
    sd = float(np.sqrt(exact @ (np.arange(1, len(exact) + 1) - mean) ** 2))
    print("day", days.mean(), mean, sd)
    assert abs(days.mean() - mean) < 2.0 * max(sd, 1.0)
    for name, axes in (("before", (0, 2)), ("after", (0, 1))):
        law = weight.sum(axes)
        centre = float(law @ grid)
        spread = float(np.sqrt(law @ (grid - centre) ** 2))
        print(name, post.draws[name].mean(), centre, spread)
        assert abs(post.draws[name].mean() - centre) < FURTHEST * spread
