"""Fit a logistic regression by SGLD: the noise of the Langevin dynamics is also the noise that gives privacy."""

import numpy as np

import pydpmc as dp

random = np.random.default_rng(1)
x = random.normal(size=(50_000, 4)) / 3
truth = np.array([1.0, -0.5, 0.25, 0.0])
y = random.random(len(x)) < 1 / (1 + np.exp(-x @ truth))

data = dp.Data(x, y, row_norm=1.0, columns=["dose", "age", "weight", "noise"])
model = dp.LogisticRegression(prior=dp.Normal(scale=1.0))

plan = dp.plan(model, data.public, dp.SGLD(w=0.05, batch_size=1000), epsilon=1.0, delta=1e-6)
print(plan, "\n")

post = plan.run(data, progress=False, anyway=True)  # tempered, so that the chain mixes: intervals are wide
print(post.summary(), "\n")
print(post.guarantee.statement())
assert post.guarantee.epsilon(1e-6) <= 1.0
