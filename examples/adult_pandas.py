"""Analyse Adult from a CSV file to ArviZ plots and a report, as in a notebook."""

# needs: pandas, arviz, adult_train.csv.gz (UCI Adult, with a line of column names)
import arviz as az
import pandas as pd

import pydpmc as dp

numbers = {"age": dp.Number(17, 90), "education-num": dp.Number(1, 16), "hours-per-week": dp.Number(1, 99)}
columns = numbers | {"sex": dp.Binary("Male"), "income": dp.Binary(">50K")}  # public facts, not read off the records
schema = dp.Schema(columns, target="income", missing="drop", row_norm=1.5)
data = schema.data(pd.read_csv("adult_train.csv.gz"))

model = dp.LogisticRegression(intercept=True)
plan = dp.plan(model, data.public, dp.SGLD(n0=1000), epsilon=1.0, delta=1e-6, chains=2)
print(plan)  # what it will cost and what to expect; no record was used
post = plan.run(data)
print(post)
draws = post.to_arviz()
az.plot_trace(draws, var_names=["beta"])
az.plot_forest(draws, var_names=["beta"])
post.report("report.html", title="Adult", schema=schema)
