"""Fit a linear regression with unknown sigma. Residuals have no bound, so a clip is given; it may bias the draws."""

import numpy as np

import pydpmc as dp

random = np.random.default_rng(2)
x = random.uniform(-1, 1, size=(20_000, 1))
y = 0.3 + 0.8 * x[:, 0] + random.normal(scale=0.5, size=20_000)

data = dp.Data(x, y, x_bounds=(-1, 1), y_bounds=(-3, 3), columns=["slope"])
prior = {"beta": dp.Normal(scale=2.0), "intercept": dp.Normal(scale=2.0), "sigma": dp.Normal(scale=2.0)}
model = dp.LinearRegression(prior=prior, intercept=True)

sampler = dp.Barker(steps=8000, n0=50, scale=0.2, clip=1.2)
plan = dp.plan(model, data.public, sampler, init=[0.0, 0.0, np.log(0.5)])
print(plan, "\n")

post = plan.run(data, progress=False, anyway=True)  # wide: n0 stands for 50 records
print(post)

looked = plan.run(data, progress=False, anyway=True, unsafe_diagnostics=True)  # only on data that may be looked at
print(f"\nclipped: {looked.unsafe.clipped_share:.2%} of the ratios. {looked.guarantee.statement()}")
assert post.private
assert not looked.private
