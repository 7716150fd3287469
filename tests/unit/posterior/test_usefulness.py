"""The verdict on usefulness follows from figures alone."""

import pytest

from pydpmc.posterior.usefulness import usefulness

GOOD = {"width": 1.3, "error": 1.25, "prior_error": 40.0, "records_share": 0.98, "effective_draws": 4000.0}


@pytest.mark.parametrize(
    ("changed", "kind"),
    [
        ({}, "useful"),
        ({"width": 1.0, "error": 1.0}, "useful"),
        ({"width": 5.0}, "wide"),
        ({"error": 5.0}, "wide"),
        ({"width": None}, "wide"),
        ({"records_share": 0.2}, "pulled"),
        ({"error": 39.9}, "do not use"),
        ({"is_chain": True, "effective_draws": 3.0}, "do not use"),
        ({"error": None}, "unknown"),
    ],
)
def test_the_kind_of_a_plan(changed, kind):
    assert usefulness(GOOD | changed).kind == kind


@pytest.mark.parametrize(
    ("rhat", "ess", "kind"),
    [
        (1.01, 500.0, "useful"),
        (1.1, 500.0, "caution"),
        (1.01, 60.0, "caution"),
        (2.0, 500.0, "do not use"),
        (1.0, 5.0, "do not use"),
    ],
)
def test_the_kind_of_a_run(rhat, ess, kind):
    """What happened takes the place of what was expected."""
    chain = GOOD | {"is_chain": True, "effective_draws": 3.0}
    assert usefulness(chain, rhat=rhat, ess=ess).kind == kind
