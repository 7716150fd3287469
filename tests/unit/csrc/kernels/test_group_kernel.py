"""What a group adds to the sums: a function of its own rows alone, within the clip in exact integers."""

import itertools
import math

import numpy as np
import pytest

import pydpmc as dp
from pydpmc import _core

ISAS = _core.available_isas()
MODELS = [
    dp.LogisticRegression(intercept=True),
    dp.LinearRegression(),
    dp.LinearRegression(sigma=0.5, intercept=True),
    dp.BernoulliLogit(),
    dp.GaussianMean(sigma=0.8),
    dp.GaussianMixture(),
    dp.PoissonRegression(),
    dp.HingeClassifier(),
    dp.HuberRegression(),
    dp.SoftmaxRegression(classes=4, intercept=True),
]
EXTREMES = [0.0, -0.0, 5e-324, 2.2e-308, 1e-162, -1e-155, 1.0, -1.0, 1e8, 1e125, -1e125, 1e150, -1e154, 1e308]
EXTREMES += [np.nan, np.inf, -np.inf]


def draw(model, rng, rows, columns=5):
    x = rng.normal(size=(rows, 1 if model.one_column else columns))
    if isinstance(model, dp.BernoulliLogit):
        x = rng.integers(0, 2, (rows, 1)).astype(float)
    return x, (rng.integers(0, model.label_count or 3, rows).astype(float) if model.needs_target else None)


def arguments(model, data, **changed):
    public = data.public
    return {
        "rows": data._rows,
        "columns": public.width,
        "has_target": public.has_target,
        "model": model.core_name,
        "intercept": model.has_intercept,
        "constants": model.constants,
        **({} if data._group_start is None else {"group_start": data._group_start}),
    } | changed


def gradient(model, data, theta, clip, per_unit, index=None, **changed):
    index = None if index is None else np.asarray(index, dtype=np.uint32)
    found = _core.gradient_sum(
        **arguments(model, data, **changed), theta=list(theta), clip=clip, per_unit=per_unit, index=index
    )
    return found.tolist()


def groups_of(model, data, theta, clip, per_unit):
    return [gradient(model, data, theta, clip, per_unit, [g]) for g in range(data.public.n)]


def theta_of(model, data, rng):
    return rng.normal(size=model.dim(data.public)) * 0.7


def several(rng, groups=23, largest=19):
    return np.repeat(np.arange(groups), rng.integers(1, largest, groups))


@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_a_group_adds_the_clipped_sum_of_its_records(model, rng):
    ids = rng.permutation(several(rng))
    x, y = draw(model, rng, len(ids))
    grouped, alone = dp.Data(x, y, groups=ids), dp.Data(x, y)
    theta, fine = theta_of(model, alone, rng), 2.0**30
    records = np.array(groups_of(model, alone, theta, 1e5, fine), dtype=np.longdouble) / fine
    first_seen = list(dict.fromkeys(ids.tolist()))
    exact = np.array([records[ids == g].sum(axis=0) for g in first_seen])
    norms = np.sqrt((exact**2).sum(axis=1))
    for clip in (1e5, float(np.median(norms))):
        per_unit = 2.0**20 / min(clip, 1.0)
        expected = exact * np.minimum(1, clip / np.maximum(norms, 1e-300))[:, None] * per_unit
        found = np.array(groups_of(model, grouped, theta, clip, per_unit))
        allowed = 0.5 + 0.5 * math.sqrt(len(theta)) + per_unit * (20 / fine + 3e-12 * clip)
        assert np.abs(found - expected).max() <= allowed
        assert (np.abs(found).max(axis=1) > 0).sum() > 15
        assert gradient(model, grouped, theta, clip, per_unit) == found.sum(axis=0).tolist()


@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_groups_of_one_record_are_the_records_bit_for_bit(model, rng):
    x, y = draw(model, rng, 101)
    labels = rng.permutation(10**6)[:101]
    grouped, alone = dp.Data(x, y, groups=labels), dp.Data(x, y)
    np.testing.assert_array_equal(grouped._rows, alone._rows)
    theta, other = theta_of(model, alone, rng), theta_of(model, alone, rng)
    for isa in ISAS:
        assert _core.use_isa(isa)
        for clip in (0.3, 100.0):
            for index in (None, [3], [100, 0, 50]):
                assert gradient(model, grouped, theta, clip, 2.0**36, index) == gradient(
                    model, alone, theta, clip, 2.0**36, index
                )
        found, expected = (
            _core.ratio_sum(**arguments(model, d), current=list(theta), proposal=list(other), clip=0.2, bits=40)
            for d in (grouped, alone)
        )
        assert found == expected


def within(vectors, clip, per_unit):
    top, bottom = (float(clip).as_integer_ratio()[i] * float(per_unit).as_integer_ratio()[i] for i in (0, 1))
    return all(sum(v * v for v in vector) * bottom**2 <= top**2 for vector in vectors)


@pytest.mark.parametrize("isa", ISAS)
@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_no_group_exceeds_the_clip_in_exact_integers(model, isa, rng):
    assert _core.use_isa(isa)
    ids = several(rng, 60, 12)
    x, y = draw(model, rng, len(ids))
    data = dp.Data(x, y, groups=ids)
    wild = rng.random(data._rows.shape) < 0.3
    data._rows.flags.writeable = True
    data._rows[wild] = rng.choice(EXTREMES, wild.sum())
    for scale in (1.0, 0.0, 1e-150, 1e100):
        theta = scale * theta_of(model, data, rng)
        for clip, per_unit in ((1.0, 2.0**34), (0.37, 2.0**45), (1e-9, 3e19), (1e-30, 1e42), (1e50, 1e-40)):
            assert within(groups_of(model, data, theta, clip, per_unit), clip, per_unit), (scale, clip)


@pytest.mark.parametrize("isa", ISAS)
def test_a_clipped_group_has_nearly_the_norm_of_the_clip(isa, rng):
    assert _core.use_isa(isa)
    for columns in (1, 3, 9, 100):
        x = rng.normal(size=(40, columns))
        data = dp.Data(np.repeat(x, 3, axis=0), groups=np.repeat(np.arange(40), 3))
        model, clip, per_unit = dp.GaussianMean(), 1e-3, 2.0**40
        vectors = groups_of(model, data, np.zeros(columns), clip, per_unit)
        assert within(vectors, clip, per_unit)
        norms = [math.sqrt(sum(v * v for v in vector)) for vector in vectors]
        assert min(norms) >= clip * per_unit * (1 - 2e-12) - 1.5 * math.sqrt(columns)


@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_a_group_adds_the_same_wherever_it_stands(model, rng):
    """Order of the groups, company, batch or all, instruction set; the order of its own rows it keeps."""
    ids = several(rng)
    x, y = draw(model, rng, len(ids))
    data = dp.Data(x, y, groups=ids)
    theta, other = theta_of(model, data, rng), theta_of(model, data, rng)
    reference = np.array(groups_of(model, data, theta, 0.9, 2.0**36))
    shared = {"current": list(theta), "proposal": list(other), "clip": 0.2, "bits": 40}
    ratios = []
    for g in range(23):
        here = ids == g
        part = dp.Data(x[here], None if y is None else y[here], groups=ids[here])
        ratios.append(_core.ratio_sum(**arguments(model, part), **shared)[0])
    for isa in ISAS:
        assert _core.use_isa(isa)
        assert np.array_equal(groups_of(model, data, theta, 0.9, 2.0**36), reference)
        for count in (1, 2, 7, 8, 9, 16, 23):
            chosen = rng.permutation(23)[:count]
            rows = np.concatenate([np.flatnonzero(ids == g) for g in chosen])
            part = dp.Data(x[rows], None if y is None else y[rows], groups=ids[rows])
            assert gradient(model, part, theta, 0.9, 2.0**36) == reference[chosen].sum(axis=0).tolist()
            assert gradient(model, data, theta, 0.9, 2.0**36, chosen) == reference[chosen].sum(axis=0).tolist()
            found = {
                _core.ratio_sum(**arguments(model, part), **shared, threads=threads, block=block)[0]
                for threads, block in ((1, 4096), (2, 3))
            }
            assert found == {sum(ratios[g] for g in chosen)}


@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_a_ratio_of_a_group_is_the_clipped_sum_of_its_records(model, rng):
    ids = several(rng, 40, 9)
    x, y = draw(model, rng, len(ids))
    data = dp.Data(x, y, groups=ids)
    wild = rng.random(data._rows.shape) < 0.05
    data._rows.flags.writeable = True
    data._rows[wild] = rng.choice(EXTREMES, wild.sum())
    theta, other = theta_of(model, data, rng), theta_of(model, data, rng)
    plain = arguments(model, data)
    start = plain.pop("group_start")
    with np.errstate(all="ignore"):
        ratio = np.subtract(*(_core.log_likelihoods(**plain, theta=list(t)) for t in (other, theta)))
        ratio[np.isnan(ratio)] = 0.0
        totals = [sum(ratio[a:b].tolist(), 0.0) for a, b in itertools.pairwise(start)]
    clip, bits = float(np.nanmedian(np.abs(totals))) or 0.1, 40
    expected = [0 if math.isnan(t) else round(min(max(t, -clip), clip) * (2.0**bits / clip)) for t in totals]
    found = _core.ratio_sum(**arguments(model, data), current=list(theta), proposal=list(other), clip=clip, bits=bits)
    assert max(map(abs, expected)) == 2**bits
    assert found[0] == sum(expected)
    assert found[2] == sum(abs(t) > clip for t in totals)


@pytest.mark.parametrize("bad", [np.nan, np.inf, 1e308])
@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_a_broken_record_leaves_the_rest_of_its_group(model, bad, rng):
    x, y = draw(model, rng, 12)
    data = dp.Data(x, y, groups=np.repeat([0, 1], [7, 5]))
    fewer = np.delete(np.arange(12), [2, 9])
    rest = dp.Data(x[fewer], None if y is None else y[fewer], groups=np.repeat([0, 1], [6, 4]))
    marker = data.public.width if data.public.has_target else 0
    data._rows.flags.writeable = True
    data._rows[[2, 9], 0] = bad
    data._rows[[2, 9], marker] = bad
    theta = theta_of(model, data, rng) * (1e10 if bad == 1e308 and not isinstance(model, dp.GaussianMean) else 1.0)
    expected = gradient(model, rest, theta, 0.6, 2.0**33)
    found = gradient(model, data, theta, 0.6, 2.0**33)
    if isinstance(model, dp.BernoulliLogit | dp.GaussianMixture) and bad == 1e308:
        return  # a number like any other there: covered by the bound on the norm
    assert found == expected


@pytest.mark.parametrize(
    ("start", "message"),
    [([0, 3], "from 0 to the number"), ([1, 4], "from 0"), ([0], "from 0"), ([0, 2, 2, 4], "must increase")],
)
def test_impossible_groups_are_refused_by_the_core(start, message):
    data = dp.Data(np.zeros((4, 1)))
    with pytest.raises(ValueError, match=message):
        gradient(dp.GaussianMean(), data, [0.0], 1.0, 1e6, group_start=np.array(start))


def test_the_core_has_no_minibatch_test_for_groups():
    data = dp.Data(np.zeros((4, 1)), groups=[0, 0, 1, 1])
    with pytest.raises(ValueError, match="no minibatch test"):
        _core.ratio_sum(
            **arguments(dp.GaussianMean(), data),
            current=[0.0],
            proposal=[1.0],
            clip=1.0,
            bits=9,
            index=np.array([0], np.uint32),
        )
