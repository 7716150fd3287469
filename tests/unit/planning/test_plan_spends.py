"""A plan that the budget limits spends it, and the search for it prices few runs in full."""

import pytest

import pydpmc as dp
from pydpmc.accounting import guarantee as pricing
from pydpmc.samplers.request import Request

ADULT = dp.Public(n=32_561, columns=tuple(f"x{i}" for i in range(108)), has_target=True, row_norm=1.0, public_n=32_561)
SMALL = dp.Public(n=100_000, columns=("a", "b"), has_target=True, row_norm=1.0, public_n=100_000)
SAMPLERS = {
    "Barker": (SMALL, dp.Barker(w=0.2)),
    "Barker, steps given": (SMALL, dp.Barker(w=0.2, steps=3000)),
    "minibatch Barker": (SMALL, dp.Barker(batch_size=1000, w=0.05)),
    "SGLD": (ADULT, dp.SGLD(w=0.25)),
    "SGLD, steps given": (ADULT, dp.SGLD(w=0.25, steps=10**6)),
    "SGLD, polynomial": (ADULT, dp.SGLD(w=0.25, step_size=dp.Polynomial(a=1e-3, b=10.0, gamma=0.55))),
    "SGLD, too much for the budget": (ADULT, dp.SGLD(w=0.25, step_size=5e-5, steps=10**5)),
    "SGHMC": (ADULT, dp.SGHMC(w=0.25)),
    "Langevin": (ADULT, dp.Langevin()),
    "PosteriorSample": (ADULT, dp.PosteriorSample()),
    "Hybrid": (ADULT, dp.Hybrid(dp.Langevin(bias=0.5), dp.SGNHT(w=0.2))),
}


@pytest.mark.parametrize("name", SAMPLERS)
def test_a_plan_spends_its_budget(name, monkeypatch):
    public, sampler = SAMPLERS[name]
    priced = set()  # in full: rough prices of a search do not come this way

    def counted(uses, adjacency, plain=pricing.bounds_of):
        if any(event.gaussian_mu(adjacency) is None for event, _ in uses):
            priced.add(uses)
        return plain(uses, adjacency)

    monkeypatch.setattr(pricing, "bounds_of", counted)
    pricing._epsilon.cache_clear()
    plan = dp.plan(dp.LogisticRegression(), public, sampler, epsilon=1.0, delta=1e-5)
    assert 0.999 < plan.guarantee.epsilon(1e-5) <= 1.0
    assert len(priced) <= (8 if name == "Hybrid" else 3)


def test_the_hybrid_compares_shares_as_well_roughly(monkeypatch):
    public, sampler = SAMPLERS["Hybrid"]
    rough = dp.plan(dp.LogisticRegression(), public, sampler, epsilon=1.0, delta=1e-5)
    monkeypatch.setattr(Request, "rough", property(lambda self: False, lambda self, value: None), raising=False)
    exact = dp.plan(dp.LogisticRegression(), public, sampler, epsilon=1.0, delta=1e-5)
    assert rough.settings == exact.settings
