"""Saved posteriors: bit-identical back, no pickle, and one clear error for anything else."""

import json
import pickle
import zipfile

import numpy as np
import pytest

import pydpmc as dp
from pydpmc.posterior.fields import description

SUFFIXES = ("npz", "nc")


@pytest.fixture
def post(rng):
    x = rng.normal(size=(60, 3))
    data = dp.Data(x, x[:, 0], row_norm=1.0, columns=["age", "größe", "c"])
    sampler = dp.Barker(steps=100, scale=(0.1, 0.2, 0.3, 0.1), clip=0.01)
    plan = dp.plan(dp.LinearRegression(), data.public, sampler, chains=2)
    return plan.run(data, progress=False)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_round_trip_is_bit_identical(post, suffix, tmp_path):
    post.save(tmp_path / f"post.{suffix}")
    back = dp.Posterior.load(str(tmp_path / f"post.{suffix}"))
    assert list(back.draws) == list(post.draws) == ["beta", "sigma"]
    for name in post.draws:
        assert back.draws[name].dtype == np.float64
        assert back.draws[name].dtype.isnative
        assert back.draws[name].tobytes() == post.draws[name].tobytes()
    assert back.guarantee == post.guarantee
    assert back.guarantee.epsilon(1e-6) == post.guarantee.epsilon(1e-6)
    for name in ("labels", "plan", "acceptance", "interrupted", "unsafe", "private"):
        assert getattr(back, name) == getattr(post, name)
    assert str(back) == str(post)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_void_guarantee_stays_void(rng, suffix, tmp_path):
    data = dp.Data(rng.integers(0, 2, 30))
    sampler = dp.Barker(steps=20, scale=0.1)
    post = dp.sample(dp.BernoulliLogit(), data, sampler, unsafe_diagnostics=True, progress=False)
    post.save(tmp_path / f"post.{suffix}")
    back = dp.Posterior.load(tmp_path / f"post.{suffix}")
    assert not back.private
    assert back.unsafe == post.unsafe


@pytest.mark.parametrize("name", ["post.pkl", "post", "post.h5"])
def test_other_formats_are_refused(post, name, tmp_path):
    with pytest.raises(ValueError, match=r'path must end in "\.npz" or "\.nc"'):
        post.save(tmp_path / name)
    with pytest.raises(ValueError, match=r'path must end in "\.npz" or "\.nc"'):
        dp.Posterior.load(tmp_path / name)


def test_a_missing_file_is_called_missing(tmp_path):
    with pytest.raises(FileNotFoundError):
        dp.Posterior.load(tmp_path / "none.npz")


class Bomb:
    def __reduce__(self):
        return (exec, ("raise SystemExit('a pickle was opened')",))


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_pickles_are_never_opened(suffix, tmp_path):
    path = tmp_path / f"bomb.{suffix}"
    path.write_bytes(pickle.dumps(Bomb()))
    with pytest.raises(ValueError, match="is not a posterior that pydpmc saved"):
        dp.Posterior.load(path)


def test_object_arrays_inside_an_archive_are_never_opened(post, tmp_path):
    path = tmp_path / "bomb.npz"
    np.savez(path, beta=np.array([Bomb()], dtype=object), pydpmc_json=np.array(description(post)))
    with pytest.raises(ValueError, match="is not a posterior that pydpmc saved"):
        dp.Posterior.load(path)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_damaged_files_give_one_clear_error_or_a_posterior(post, suffix, tmp_path, rng):
    post.save(tmp_path / f"post.{suffix}")
    good = (tmp_path / f"post.{suffix}").read_bytes()
    path = tmp_path / f"bad.{suffix}"
    refused = 0
    for trial in range(300):
        bad = bytearray(good)
        if trial % 3 == 0:
            bad = bad[: rng.integers(len(bad))]
        else:
            for _ in range(rng.integers(1, 20)):
                bad[rng.integers(len(bad) if trial % 3 == 1 else 400)] = rng.integers(256)
        path.write_bytes(bytes(bad))
        message = ""
        try:
            assert isinstance(dp.Posterior.load(path), dp.Posterior)
        except ValueError as error:
            message = str(error)
        assert not message or "is not a posterior that pydpmc saved, or it is damaged" in message
        refused += bool(message)
    assert refused > 150


def rewritten(post, path, **changes):
    np.savez(path, **post.draws, pydpmc_json=np.array(json.dumps(json.loads(description(post)) | changes)))


@pytest.mark.parametrize(
    "changes",
    [{"format": 2}, {"guarantee": {}}, {"guarantee": None}, {"labels": 3}, {"acceptance": None}],
    ids=repr,
)
def test_a_description_that_is_not_ours_is_refused(post, changes, tmp_path):
    path = tmp_path / "post.npz"
    rewritten(post, path)
    assert dp.Posterior.load(path).guarantee == post.guarantee
    rewritten(post, path, **changes)
    with pytest.raises(ValueError, match="is not a posterior that pydpmc saved"):
        dp.Posterior.load(path)


def test_an_unknown_event_is_refused_rather_than_priced_at_nothing(post, tmp_path):
    path = tmp_path / "post.npz"
    saved = post.guarantee.to_dict()
    saved["events"][0][0] = {key: "Unknown" if isinstance(v, str) else v for key, v in saved["events"][0][0].items()}
    rewritten(post, path, guarantee=saved)
    with pytest.raises(ValueError, match="is not a posterior that pydpmc saved"):
        dp.Posterior.load(path)


def test_the_archive_holds_draws_and_one_description(post, tmp_path):
    path = tmp_path / "post.npz"
    post.save(path)
    assert sorted(zipfile.ZipFile(path).namelist()) == ["beta.npy", "pydpmc_json.npy", "sigma.npy"]
