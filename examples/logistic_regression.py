"""Fit a logistic regression by the sampler that the planner takes; the guarantee needs no assumption."""

import numpy as np

import pydpmc as dp

random = np.random.default_rng(1)
x = random.normal(size=(20_000, 2)) * [0.4, 0.4]
y = random.random(20_000) < 1 / (1 + np.exp(-x @ [1.5, -1.0]))

data = dp.Data(x, y, row_norm=1.0, columns=["dose", "age"])
model = dp.LogisticRegression(prior=dp.Normal(scale=2.0))

plan = dp.plan(model, data.public, epsilon=1.0, delta=1e-6)
print(plan, "\n")

post = plan.run(data, progress=False)
print(post)
assert post.guarantee.epsilon(1e-6) <= 1.0
