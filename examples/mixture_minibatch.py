"""Sample the mixture of Heikkilä et al. (2019) with minibatches of 2,000 of 200,000 records."""

import warnings

import numpy as np

import pydpmc as dp
from pydpmc import accounting as acc

random = np.random.default_rng(3)
x = random.integers(0, 2, 200_000) + random.normal(scale=np.sqrt(2.0), size=200_000)
data = dp.Data(x, x_bounds=(-8.0, 9.0))

sampler = dp.Barker(steps=30_000, batch_size=2000, n0=100, proposal="gaussian", scale=0.15, v_max=0.5, c=1.0)
plan = dp.plan(dp.GaussianMixture(), data.public, sampler, init=[0.5, 0.5])
print(plan, "\n")

warnings.simplefilter("ignore", dp.errors.ConvergenceWarning)  # few effective draws, as in the paper
post = plan.run(data, progress=False, anyway=True)  # wide on purpose: the setting of the paper
print(post.summary(), "\n")

ours = post.guarantee.epsilon(1e-6)
published = acc.heikkila2019(b=2000, n=len(x), steps=30_000, delta=1e-6)
print(f"epsilon at delta = 1e-6: {ours:.4f} here, {published:.4f} by the accounting of Heikkilä et al. 2019")
assert ours < published
