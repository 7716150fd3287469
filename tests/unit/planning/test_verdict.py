"""The verdict on usefulness follows from figures alone."""

import pytest

from pydpmc.planning.verdict import usefulness

GOOD = {"width": 1.3, "error": 1.25, "prior_error": 40.0, "records_share": 0.98, "effective_draws": 4000.0}


@pytest.mark.parametrize(
    ("changed", "kind"),
    [
        ({}, "useful"),
        ({"width": 1.0, "error": 1.0}, "useful"),
        ({"width": 5.0}, "wide"),
        ({"error": 5.0}, "wide"),
        ({"width": None}, "wide"),
        ({"records_share": 0.2}, "pulled to the prior"),
        ({"error": 39.9}, "do not use"),
        ({"is_chain": True, "effective_draws": 3.0}, "do not use"),
        ({"error": None}, "unknown"),
    ],
)
def test_the_kind_of_a_plan(changed, kind):
    assert usefulness(GOOD | changed).kind == kind


def test_a_verdict_reads_as_a_sentence():
    assert str(usefulness(GOOD)) == "useful: intervals about 1.3 times as wide as without privacy"


def test_intervals_that_ignore_correlations_are_said_to_be_too_narrow():
    found = usefulness(GOOD | {"approximate": True})
    assert found.kind == "useful"
    assert "too narrow where columns are correlated" in found.reason
    assert usefulness(GOOD | {"error": None, "approximate": True}) == usefulness(GOOD | {"error": None})
