"""A function between the steps of a chain: what it sees, what it changes, and where it is refused."""

import numpy as np
import pytest

import pydpmc as dp
from pydpmc.errors import InvalidArgument, LedgerError, WrongType
from pydpmc.running.between import READS_NOTHING

STEPS = 7


@pytest.fixture
def data():
    random = np.random.default_rng(0)
    x = random.normal(size=(60, 2))
    return dp.Data(x, (x[:, 0] > 0).astype(int), row_norm=3.0, public_n=60)


def planned(data, sampler=dp.SGHMC, assumptions=(READS_NOTHING,), **options):
    spec = sampler(steps=STEPS, step_size=1e-3, clip=1.0, batch_size=20, **options)
    return dp.plan(dp.LogisticRegression(), data.public, spec, assumptions=assumptions, chains=2)


def run(plan, data, **options):
    return plan.run(data, warmup=0, seed=3, progress=False, threads=1, anyway=True, **options)


@pytest.mark.parametrize("sampler", [dp.SGLD, dp.SGHMC])
def test_a_function_that_does_nothing_changes_nothing_and_sees_every_iterate(data, sampler):
    seen = []
    plan = planned(data, sampler)
    plain = run(plan, data)
    watched = run(plan, data, between=lambda theta, velocity: seen.append((theta.copy(), velocity)))
    assert len(seen) == STEPS
    assert all((velocity is None) == (sampler is dp.SGLD) for _, velocity in seen)
    draws = np.concatenate([plain.draws[name].reshape(2, STEPS, -1) for name in plain.draws], axis=2)
    for name, values in plain.draws.items():
        np.testing.assert_array_equal(watched.draws[name], values)
    np.testing.assert_array_equal(np.sort(np.stack([theta for theta, _ in seen], axis=1)), np.sort(draws))


def test_what_it_changes_is_where_the_next_step_starts(data):
    def back(theta, velocity):
        theta[:], velocity[:] = 0.0, 0.0

    plan = planned(data)
    moved = run(plan, data, between=back)
    first = run(plan, data)
    for name in moved.draws:
        np.testing.assert_array_equal(moved.draws[name][:, 0], first.draws[name][:, 0])
        assert (moved.draws[name][:, 1] != first.draws[name][:, 1]).any()
        assert np.abs(moved.draws[name]).max() < 0.2  # one step from zero each time


def test_the_assumption_must_be_stated_and_is_kept(data):
    with pytest.raises(InvalidArgument, match=READS_NOTHING):
        run(planned(data, assumptions=()), data, between=lambda theta, velocity: None)
    post = run(planned(data), data, between=lambda theta, velocity: None)
    assert READS_NOTHING in post.guarantee.assumptions


@pytest.mark.parametrize(
    ("sampler", "options", "error"),
    [
        (dp.SGNHT, {"between": lambda theta, velocity: None}, InvalidArgument),
        (dp.SGHMC, {"between": 3}, WrongType),
        (dp.SGHMC, {"between": lambda theta, velocity: None, "checkpoint": "a.ckpt"}, InvalidArgument),
    ],
)
def test_what_cannot_be_moved_is_refused_before_a_charge(data, sampler, options, error, tmp_path):
    ledger = dp.Ledger(tmp_path / "a.ledger", epsilon=10.0, delta=1e-5)
    with pytest.raises(error):
        planned(data, sampler).run(data, progress=False, anyway=True, ledger=ledger, **options)
    assert not ledger.history()


def test_an_error_in_the_function_ends_a_run_that_stays_charged(data, tmp_path):
    ledger = dp.Ledger(tmp_path / "a.ledger", epsilon=10.0, delta=1e-5)

    def fail(theta, velocity):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        planned(data).run(data, progress=False, anyway=True, ledger=ledger, between=fail)
    assert len(ledger.history()) == 1


def test_a_seed_is_not_charged(data, tmp_path):
    ledger = dp.Ledger(tmp_path / "a.ledger", epsilon=10.0, delta=1e-5)
    with pytest.raises(LedgerError):
        run(planned(data), data, ledger=ledger, between=lambda theta, velocity: None)
