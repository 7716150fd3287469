"""What the wrong calls are made on: small data, plans, a ledger, files."""

import contextlib
import io
import sys
from pathlib import Path

import numpy as np

import pydpmc as dp
from pydpmc import accounting as acc
from pydpmc.errors import PydpmcError

LOGISTIC, SECRET = dp.LogisticRegression(), 0.7391734
STUDY = """\
[data]
path = "{table}"
n = 40

[schema]
target = "y"
missing = "drop"
[schema.columns]
a = {{kind = "number", low = 0, high = 1}}
y = {{kind = "binary"}}

[model]
type = "{model}"
prior = {{type = "Normal", scale = {scale}}}

[sampler]
type = "{sampler}"

[budget]
epsilon = {epsilon}
delta = {delta}

[run]
ledger = "study.ledger"

[output]
posterior = "{posterior}"
"""


class Refused(PydpmcError):
    """What the command line printed before it returned an exit code other than 0."""


class World:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        rng = np.random.default_rng(1)
        x = rng.uniform(-0.6, 0.6, (400, 2))
        x[7, 0] = SECRET
        y = rng.integers(0, 2, 400)
        self.data = dp.Data(x, y, row_norm=1.0)
        self.unlabelled = dp.Data(x, row_norm=1.0)
        self.small = dp.Data(x[:50], y[:50], row_norm=1.0)
        self.planned = dp.plan(LOGISTIC, self.data.public, dp.Barker(steps=400, scale=0.3))
        long = dp.plan(LOGISTIC, self.data.public, dp.Barker(steps=20_000, scale=0.3), private=False)
        self.post = long.run(self.data, progress=False)
        mean = dp.plan(dp.GaussianMean(), self.unlabelled.public, dp.ConjugateSample(draws=3), epsilon=1, delta=1e-6)
        self.mean_post = mean.run(self.unlabelled, progress=False)
        self.ledger = dp.Ledger(folder / "study.ledger", epsilon=1, delta=1e-5)
        self.plan(epsilon=0.5).run(self.data, progress=False, ledger=self.ledger)
        self.guarantee = self.planned.guarantee
        self.fixed = acc.Gaussian(1.0).without_replacement(5, 50)
        self.mystery = self.guarantee.to_dict() | {"events": [[{"type": "Mystery"}, 1]]}
        self.file("absentminded.csv", "a,y\n" + "0.5,1\n" * 40)

    def path(self, name):
        return self.folder / name

    def file(self, name, text):
        self.path(name).write_text(text)
        return self.path(name)

    def plan(self, model=LOGISTIC, sampler=None, **options):
        budget = {"epsilon": 1.0, "delta": 1e-6}
        return dp.plan(model, self.data.public, sampler, **budget | options)

    def add_remove(self, sampler):
        return self.plan(sampler=sampler, adjacency="add_remove")

    def halved_prior(self):
        return dp.LogisticRegression(intercept=True, prior={"beta": dp.Normal()})

    def run(self, data=None, **options):
        options = {"ledger": self.ledger, "progress": False} | options
        return self.planned.run(self.data if data is None else data, **options)

    def extreme(self, sampler):
        return dp.plan(LOGISTIC, self.data.public, sampler).run(self.data, ledger=self.ledger, progress=False)

    def lost(self):
        plan = dp.plan(LOGISTIC, self.data.public, dp.NUTS(jitter=0.0), private=False, init=[1e200, 1e200])
        return plan.run(self.data, progress=False)

    def hidden(self, **options):
        plan = dp.plan(LOGISTIC, self.data.public, dp.Langevin(w=0.01, steps=5))
        return plan.run(self.data, **{"ledger": self.ledger, "progress": False} | options)

    def sample(self, **options):
        return dp.sample(LOGISTIC, self.data, dp.Barker(steps=4, scale=0.1), ledger=self.ledger, **options)

    def step_size(self, **options):
        given = {"epsilon": 1.0, "delta": 1e-5, "n": 1000, "steps": 10, "clip": 1.0, "batch_size": 10}
        return dp.max_step_size(**given | options)

    def bits(self, steps):
        return [(acc.AcceptBit(shift=0.1), steps)]

    def much(self, steps):
        return [(acc.AcceptBit(shift=5.0), steps)]

    def quantiles(self, **options):
        given = {"values": np.full(6, SECRET), "quantiles": [0.5], "grid": [0.0, 1.0], "epsilon": 0.1}
        return dp.private_quantiles(**given | {"ledger": self.ledger} | options)

    def bounds(self, **options):
        given = {"table": {"a": np.full(6, SECRET)}, "columns": ["a"], "epsilon": 0.1}
        return dp.private_bounds(**given | {"ledger": self.ledger} | options)

    def overspend(self):
        return self.plan(epsilon=0.9, delta=1e-5).run(self.data, ledger=self.ledger, progress=False)

    def another_table(self):
        plan = dp.plan(LOGISTIC, self.small.public, epsilon=0.1, delta=1e-6)
        return plan.run(self.small, ledger=self.ledger, progress=False)

    def another_adjacency(self):
        return self.plan(epsilon=0.1, adjacency="add_remove", sampler=dp.Barker(steps=5, scale=0.01)).run(
            self.data, ledger=self.ledger, progress=False
        )

    def study(self, **options):
        given = {"table": "absentminded.csv", "model": "LogisticRegression", "scale": 1.0, "sampler": "Barker"}
        given |= {"epsilon": 0.1, "delta": 1e-6, "posterior": "draws.npz"}
        return self.file("study.toml", STUDY.format(**given | options))

    def cli(self, *arguments):
        from pydpmc.cli.main import main

        said = io.StringIO()
        with contextlib.redirect_stderr(said), contextlib.redirect_stdout(io.StringIO()):
            try:
                code = main([str(argument) for argument in arguments])
            except SystemExit as stopped:
                code = stopped.code
        assert code in (1, 2, 3)
        raise Refused(said.getvalue())

    def frame(self):
        class Frame:
            columns = ("a", "y")

        return dp.Schema({"a": dp.Number(0, 1), "y": dp.Binary()}, target="y", missing="drop").data(Frame())

    def import_estimators(self):
        imported = {name: sys.modules.pop(name) for name in list(sys.modules) if name.startswith("pydpmc.sklearn")}
        try:
            import pydpmc.sklearn  # noqa: F401
        finally:
            sys.modules.update(imported)

    def to_dp(self):
        return self.guarantee.to_dp_accounting()

    def without(self, module, call):
        """Make the call as if the module were not installed."""
        kept = {name: sys.modules.pop(name) for name in list(sys.modules) if name.split(".")[0] == module}
        sys.modules[module] = None
        try:
            return call()
        finally:
            del sys.modules[module]
            sys.modules.update(kept)

    def plan_with_y_bounds(self, low, high):
        data = dp.Data(np.zeros((4, 1)), [1, 2, 1, 2], row_norm=1.0, y_bounds=(low, high))
        return dp.plan(LOGISTIC, data.public, epsilon=1.0, delta=1e-6)

    def lazy_frame(self):
        class LazyFrame:
            def collect(self):
                raise AssertionError("collected")

        return LazyFrame()

    def fit(self, X=None, y=None, **options):
        from pydpmc.sklearn import DPLogisticRegression

        X = self.data._rows[:6, :2] if X is None else X
        y = [0, 1] * 3 if y is None else y
        return DPLogisticRegression(**{"ledger": self.ledger} | options).fit(X, y)

    def fit_linear(self, **options):
        from pydpmc.sklearn import DPLinearRegression

        return DPLinearRegression(row_norm=1.0, ledger=self.ledger, **options).fit(np.zeros((6, 2)), np.zeros(6))

    def scaler(self, **options):
        from pydpmc.sklearn import BoundsScaler

        return BoundsScaler(**options).fit(np.zeros((6, 2)))
