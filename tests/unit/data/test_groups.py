"""Groups as the unit of privacy: how labels become groups, what stays private, what is promised and what is refused."""

import dataclasses
import re

import numpy as np
import pytest

import pydpmc as dp
from pydpmc import accounting as acc
from pydpmc import samplers
from pydpmc.errors import UnsupportedEventError
from pydpmc.ledger.state import fingerprint
from pydpmc.posterior.report import words
from pydpmc.samplers import GradientSampler

IDS = np.array([7, 3, 7, 9, 3, 7])
X = np.arange(6.0)[:, None]
GRADIENT_SAMPLERS = (dp.SGLD, dp.SGHMC, dp.SGNHT)


def rows(data):
    return data._rows[:, 0].tolist()


def test_rows_are_stored_group_by_group_in_the_order_of_their_first_rows():
    data = dp.Data(X, groups=IDS)
    assert rows(data) == [0, 2, 5, 1, 4, 3]
    assert data._group_start.tolist() == [0, 3, 5, 6]
    assert len(data) == data.public.n == 3


def test_targets_move_with_their_rows():
    data = dp.Data(X, X[:, 0] * 10, groups=IDS)
    assert (data._rows[:, 1] == 10 * data._rows[:, 0]).all()


@pytest.mark.parametrize(("most", "kept"), [(1, [0, 1, 3]), (2, [0, 2, 1, 4, 3]), (3, [0, 2, 5, 1, 4, 3])])
def test_of_a_large_group_the_first_rows_are_kept(most, kept):
    data = dp.Data(X, groups=IDS, max_group_size=most)
    assert rows(data) == kept
    assert np.diff(data._group_start).max() == most == data.public.max_group_size


@pytest.mark.parametrize(
    "labels",
    [
        IDS.tolist(),
        IDS.astype(float),
        IDS.astype(np.uint8),
        IDS.astype(str),
        IDS.astype(bytes),
        IDS.astype(object),
        [f"person {i}" for i in IDS],
        np.array([("a", int(i)) for i in IDS], dtype="U1,i8").tolist(),
        IDS.astype("datetime64[D]"),
    ],
    ids=lambda labels: str(getattr(labels, "dtype", type(labels[0]).__name__)),
)
def test_any_labels_give_the_same_groups(labels):
    data = dp.Data(X, groups=labels)
    assert rows(data) == [0, 2, 5, 1, 4, 3]
    assert data._group_start.tolist() == [0, 3, 5, 6]


SECRET = 88123


class NotAvailable:
    """Like pandas.NA: a comparison with it is neither true nor false."""

    def __ne__(self, other):
        return self

    def __bool__(self):
        raise TypeError("boolean value of NA is ambiguous")

    __hash__ = object.__hash__


@pytest.mark.parametrize(
    "labels",
    [
        [SECRET, None, 1, 1, 1, 1],
        ["a", float("nan"), "b", "b", "b", SECRET],
        np.array([SECRET, np.nan, 1, 1, 1, 1]),
        np.array([SECRET, None, 1, 1, 1, 1], dtype=object),
        np.array(["NaT", "2020-01-01", *["2021-01-01"] * 4], dtype="datetime64[D]"),
        [SECRET, NotAvailable(), 1, 1, 1, 1],
    ],
)
def test_rows_without_a_label_are_one_group(labels):
    data = dp.Data(X, groups=labels)
    assert data._group_start.tolist() in ([0, 1, 2, 6], [0, 1, 2, 5, 6])


def test_labels_are_told_apart_one_by_one():
    ids = [2**53, 2**53 + 1, float("nan"), 2**53 + 1, "9007199254740992", None]
    assert dp.Data(X, groups=ids)._group_start.tolist() == [0, 2, 4, 6]
    assert dp.Data(X, groups=[True, 1.0, "1", np.int8(1), b"1", "01"])._group_start.tolist() == [0, 5, 6]
    assert dp.Data(X, groups=[[1]] * 6)._group_start.tolist() == [0, 6]  # no label at all: one group


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"groups": [1, 2]}, ValueError, "6 rows but groups has shape \\(2,\\)"),
        ({"groups": np.zeros((6, 2))}, ValueError, "groups has shape \\(6, 2\\)"),
        ({"groups": np.ma.masked_array(IDS, IDS == 3)}, TypeError, "masked array"),
        ({"max_group_size": 3}, ValueError, "max_group_size was given but groups was not"),
        ({"groups": IDS, "max_group_size": 0}, ValueError, "max_group_size must be"),
        ({"groups": IDS, "max_group_size": 1.5}, ValueError, "max_group_size must be"),
    ],
)
def test_impossible_groups_are_refused(options, error, message):
    with pytest.raises(error, match=message):
        dp.Data(X, **options)


def table(rng, sizes, **options):
    ids = np.repeat(np.arange(len(sizes)), sizes)
    x = rng.normal(size=(len(ids), 2))
    return dp.Data(x, rng.integers(0, 2, len(ids)), row_norm=1.0, groups=ids, **options)


def test_nothing_public_depends_on_the_number_of_rows(rng):
    one, other = table(rng, [1, 1, 1]), table(rng, [400, 1, 90])
    assert one.public == other.public
    assert repr(one) == repr(other)
    spec = dp.SGLD(steps=10, step_size=1e-3)
    plans = [dp.plan(dp.LogisticRegression(), d.public, spec) for d in (one, other)]
    assert plans[0] == plans[1]
    posts = [plans[0].run(d, progress=False) for d in (one, other)]
    for field in dataclasses.fields(posts[0]):
        if field.name not in ("draws", "guarantee"):
            assert getattr(posts[0], field.name) == getattr(posts[1], field.name)
    assert posts[0].guarantee == posts[1].guarantee
    assert posts[0].draws["beta"].shape == posts[1].draws["beta"].shape


@pytest.mark.parametrize("adjacency", ["replace", "add_remove"])
@pytest.mark.parametrize(
    "sampler", [dp.Barker(steps=200), *(s(steps=200) for s in GRADIENT_SAMPLERS)], ids=lambda s: type(s).__name__
)
def test_the_group_is_named_wherever_the_unit_is(sampler, adjacency, rng, tmp_path):
    data = table(rng, rng.integers(1, 4, 200), max_group_size=3, public_n=200)
    plan = dp.plan(dp.LogisticRegression(), data.public, sampler, epsilon=1.0, delta=1e-6, adjacency=adjacency)
    assert plan.guarantee.unit == "one group"
    assert plan.guarantee.epsilon(1e-6) <= 1.0
    page = str(plan)
    change = "replaced" if adjacency == "replace" else "added or removed"
    assert re.search(rf"neighbours +one group {change}", page)
    assert re.search(r"groups +200\n", page)
    assert "groups per step" in page
    assert "record" not in page.split("effective draws")[0]
    post = plan.run(data, progress=False)
    for path in (tmp_path / "post.npz", tmp_path / "post.nc"):
        post.save(path)
        saved = dp.Posterior.load(path)
        assert saved.guarantee == post.guarantee
        statement = saved.guarantee.statement()
        assert "Protected unit: one group." in statement
        assert f"differ by one group {change}" in statement
        assert "record" not in statement.split("Released:")[1].split("The guarantee is unconditional")[0]
        assert ("the number of groups is public" in statement) == (adjacency == "replace")
        assert "unit='one group'" in repr(saved.guarantee)


def test_records_and_groups_do_not_compose(rng):
    sizes = np.full(300, 2)
    grouped = table(rng, sizes)
    alone = dp.Data(grouped._rows[:, :2], grouped._rows[:, 2], row_norm=1.0)
    spec = dp.SGLD(steps=20, step_size=1e-4)
    of_group, of_record = (dp.sample(dp.LogisticRegression(), d, spec, progress=False) for d in (grouped, alone))
    with pytest.raises(ValueError, match=r"cannot combine a guarantee for one group .* with one for one record"):
        acc.combine([of_group.guarantee, of_record.guarantee])
    for data, start in ((grouped, of_record), (alone, of_group)):
        for sampler in (spec, dp.SGLD(step_size=1e-4), dp.Barker(steps=10, scale=0.01), dp.Barker(scale=0.01)):
            budget = {} if getattr(sampler, "steps", None) else {"epsilon": 5.0, "delta": 1e-6}
            with pytest.raises(ValueError, match="cannot combine"):
                dp.plan(dp.LogisticRegression(), data.public, sampler, init=start, **budget)
    warm = dp.plan(dp.LogisticRegression(), grouped.public, spec, init=of_group)
    assert warm.guarantee.unit == "one group"
    assert warm.guarantee.epsilon(1e-6) > of_group.guarantee.epsilon(1e-6)
    longest = dp.SGLD(step_size=1e-4)
    budget = 2 * of_group.guarantee.epsilon(1e-6)
    warm = dp.plan(dp.LogisticRegression(), grouped.public, longest, init=of_group, epsilon=budget, delta=1e-6)
    assert warm.guarantee.epsilon(1e-6) <= budget


def test_a_plan_cannot_be_given_the_guarantee_of_another_unit(rng):
    plan = dp.plan(dp.LogisticRegression(), table(rng, [2, 2]).public, dp.SGLD(steps=2, step_size=1e-3))
    with pytest.raises(ValueError, match="the guarantee is not that of this run"):
        dataclasses.replace(plan, guarantee=dataclasses.replace(plan.guarantee, unit="one record"))


def test_a_plan_for_groups_does_not_run_on_records_nor_the_other_way(rng):
    grouped = table(rng, np.ones(50, int))
    alone = dp.Data(grouped._rows[:, :2], grouped._rows[:, 2], row_norm=1.0)
    for here, there in ((grouped, alone), (alone, grouped)):
        plan = dp.plan(dp.LogisticRegression(), here.public, dp.SGLD(steps=5, step_size=1e-3))
        with pytest.raises(ValueError, match="differs from the plan in its public facts \\(grouped\\)"):
            plan.run(there, progress=False)


class Unproved(GradientSampler):
    core_name = "sgld"


PROVED = (dp.Newton, dp.Barker, dp.SGLD, dp.SGHMC, dp.SGNHT, dp.DPVI)
LISTED = (*samplers.ALL, *samplers.CONDITIONAL, *samplers.NOT_PRIVATE, dp.ConjugateSample)
OTHERS = [
    dp.Barker(batch_size=20),
    Unproved(),
    dp.Hybrid(dp.ConjugateSample(), dp.SGLD()),
    *(kind() for kind in LISTED if kind not in PROVED),
]


@pytest.mark.parametrize("sampler", OTHERS, ids=lambda sampler: type(sampler).__name__)
def test_samplers_without_a_proof_refuse_groups(sampler, rng):
    public = table(rng, np.full(100, 2)).public
    with pytest.raises(UnsupportedEventError, match=r"groups: .* has no proof for groups of records; use Newton"):
        dp.plan(dp.LogisticRegression(), public, sampler, epsilon=1.0, delta=1e-6)


def test_a_declared_size_gives_a_clip_that_never_acts(rng):
    bounded, unbounded = table(rng, [3, 1, 2], max_group_size=5).public, table(rng, [3, 1, 2]).public
    spec = dp.SGLD(steps=5, step_size=1e-3, sampling="full")
    plan = dp.plan(dp.LogisticRegression(), bounded, spec)
    assert plan.settings.clip == 5.0
    assert plan.forecast.clipped_at_most == 0.0
    assert "max_group_size" not in str(plan)
    biased = dp.plan(dp.LogisticRegression(), unbounded, spec)
    assert biased.settings.clip == 1.0
    assert biased.forecast.clipped_at_most == 1.0
    assert "may be clipped, which biases the posterior: declare max_group_size" in str(biased)
    walk = {"proposal": "ball", "scale": 0.1, "steps": 5}
    barker = dp.plan(dp.LogisticRegression(), bounded, dp.Barker(**walk))
    assert barker.settings.clip == pytest.approx(0.5)
    assert barker.forecast.clipped_at_most == 0.0
    assert dp.plan(dp.LogisticRegression(), unbounded, dp.Barker(**walk)).forecast.clipped_at_most == 1.0


def test_the_step_size_allows_for_the_largest_groups(rng):
    public = [table(rng, [1] * 50, max_group_size=m).public for m in (1, 4)]
    one, four = (dp.plan(dp.LogisticRegression(), p, dp.SGLD(), private=False).settings.step_sizes[0] for p in public)
    assert one == pytest.approx(4 * four, rel=0.2)
    with pytest.raises(ValueError, match=r"step_size: .* max_group_size with groups"):
        dp.plan(dp.LogisticRegression(), table(rng, [1] * 50).public, dp.SGLD(), private=False)


def test_other_groups_are_another_table_to_a_ledger():
    rows = np.zeros((4, 1))
    ids = ([0, 0, 1, 1], [0, 1, 1, 1], [0, 0, 1, 1], None)
    found = [fingerprint(b"key", dp.Data(rows, groups=g)) for g in ids]
    assert found[0] == found[2]
    assert len(set(found)) == 3


def test_the_report_speaks_of_groups(rng):
    data = table(rng, [2, 1, 3])
    post = dp.sample(dp.LogisticRegression(), data, dp.SGLD(steps=5, step_size=1e-3), progress=False)
    assert "had been any other group. That holds for every group" in words.promise(post)[0]
    assert "knows everything but one group" in words.one_record(post.guarantee)[0][0]


@pytest.mark.parametrize(
    ("options", "model", "says", "never_says"),
    [
        ({}, dp.LinearRegression(sigma=1.0), "a model with a Lipschitz constant is never clipped", "clip left open"),
        ({}, dp.LogisticRegression(), "clip left open nothing is clipped", "Lipschitz constant is never"),
        ({"groups": np.arange(50) // 5}, dp.LogisticRegression(), "declare max_group_size", "nothing is clipped"),
        ({"groups": np.arange(50) // 5}, dp.LinearRegression(sigma=1.0), "clips less.", "is never clipped"),
    ],
)
def test_advice_on_clipping_is_true_of_what_is_planned(options, model, says, never_says):
    data = dp.Data(np.zeros((50, 2)), np.zeros(50), row_norm=1.0, y_bounds=(-1, 1), **options)
    page = str(dp.plan(model, data.public, dp.Barker(steps=10, scale=0.1, clip=1e-3)))
    assert "may act" in page
    assert says in page
    assert never_says not in page
