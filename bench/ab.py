"""Compare two builds on the workloads of docs/benchmarks.md, in turn: python ab.py BEFORE AFTER [--rounds 7].

BEFORE and AFTER are the Python interpreters of two virtual environments, or commits, which are built into a folder
(--folder) first. Each workload runs in both by turns; a time is the shortest, in processor time of one thread.
"""

import argparse
import subprocess
import sys
import time
import warnings
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))


def workloads():
    """Return {name: function that returns what to time}."""
    import numpy as np
    from benchmarks import batches, common, gradients, noise

    import pydpmc as dp
    from pydpmc import _core

    warnings.simplefilter("ignore")

    def w1(storage):
        data = common.mixture_data(storage=storage)
        plan = common.w1_plan(data.public, 50_000)
        return lambda: plan.run(data, threads=1, progress=False, anyway=True)

    def full(storage, n):
        data = common.logistic_data(n=n, storage=storage)
        plan = common.w1_full_plan(data.public, max(20, 20_000_000 // n))
        return lambda: plan.run(data, threads=1, progress=False, anyway=True)

    def sgld(workload, storage):
        n, columns, batch, steps = gradients.Sgld.workloads[workload]
        data = gradients.logistic_data(n, columns, storage)
        sampler = dp.SGLD(steps=steps, step_size=1e-5, batch_size=batch)
        plan = dp.plan(dp.LogisticRegression(), data.public, sampler)
        return lambda: plan.run(data, draws=10, threads=1, progress=False, anyway=True)

    def categories(workload, rows):
        bench = gradients.Categories()
        bench.setup(workload, rows)
        return lambda: bench.plan.run(bench.data, draws=10, threads=1, progress=False, anyway=True)

    def normals():
        stream = noise.secure_stream()
        return lambda: [_core.random.fill_rounded_normal(stream, 1 << 16) for _ in range(800)]

    def indices(shape):
        bench = batches.Indices()
        bench.setup(shape, "poisson")
        return lambda: bench.samples.count_of_steps(1, 400 * batches.BATCHES)

    def of(sampler, n, columns, storage="float64", model=None, **options):
        data = gradients.logistic_data(n, columns, storage)
        plan = dp.plan(model or dp.LogisticRegression(), data.public, sampler, **options)
        return lambda: plan.run(data, threads=1, progress=False, anyway=True)

    def density(n, columns):
        data, model = gradients.logistic_data(n, columns), dp.LogisticRegression()
        given = {"rows": data._rows, "columns": columns, "has_target": True, "model": model.core_name}
        given |= {"intercept": False, "constants": model.constants, "prior": model.prior_table(data.public)}
        given |= {"theta": [0.1] * columns, "weight": 1.0, "prior_weight": 1.0, "loglik_range": (-np.inf, np.inf)}
        return lambda: [_core.log_density(**given) for _ in range(40)]

    free = {"private": False}
    return {
        **{f"W1, {s}": lambda s=s: w1(s) for s in common.STORAGES},
        **{f"W2, {s}": lambda s=s: sgld("W2", s) for s in common.STORAGES_OF_REGRESSIONS},
        **{f"W3, {s}": lambda s=s: sgld("W3", s) for s in common.STORAGES_OF_REGRESSIONS},
        **{f"categories of {w}, {r}": lambda w=w, r=r: categories(w, r) for w in ("W2", "W3") for r in ("codes",)},
        "W4: normals": normals,
        **{f"indices, n = {s[0]:,}": lambda s=s: indices(s) for s in batches.Indices.params[0][:3]},
        **{f"W1-full, {s}": lambda s=s: full(s, common.N) for s in common.STORAGES_OF_REGRESSIONS},
        **{f"W1-full on 20,000 records, {s}": lambda s=s: full(s, 20_000) for s in common.STORAGES_OF_REGRESSIONS},
        "Langevin, 20,000 x 10": lambda: of(dp.Langevin(steps=2000, w=0.1), 20_000, 10, **free),
        "Langevin, 20,000 x 100": lambda: of(dp.Langevin(steps=500, w=0.1), 20_000, 100, **free),
        "SGLD on all records, 20,000 x 10": lambda: of(
            dp.SGLD(steps=1000, step_size=1e-6, clip=0.5, sampling="full"), 20_000, 10, **free
        ),
        "NUTS, 20,000 x 10": lambda: of(dp.NUTS(draws=500, warmup=500), 20_000, 10, **free),
        "NUTS, 20,000 x 50": lambda: of(dp.NUTS(draws=150, warmup=150), 20_000, 50, **free),
        "density of NUTS, 100,000 x 50": lambda: density(100_000, 50),  # too many records for a copy by columns
    }


def serve():
    """Time the workloads that are named on stdin: their names, an empty line, then one line per request."""
    known = workloads()
    print("\n".join(known), end="\n\n", flush=True)
    name, run = None, None
    for line in sys.stdin:
        wanted = line.rstrip("\n")
        if wanted != name:
            name, run = wanted, None
            try:
                run = known[name]()
                run()
            except Exception as error:  # an older version may lack a workload
                print(f"{type(error).__name__}: {error}", file=sys.stderr, flush=True)
        started = time.process_time()
        if run is not None:
            run()
        print(time.process_time() - started if run is not None else -1.0, flush=True)


class Build:
    """A process of one build that times workloads."""

    def __init__(self, python, isa):
        command = [python, "-P", str(HERE / "ab.py"), "--serve"]
        environment = {"PYDPMC_ISA": isa} if isa else {}
        self.process = subprocess.Popen(
            ["env", *(f"{k}={v}" for k, v in environment.items()), *command],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.names = list(iter(self._line, ""))

    def _line(self):
        return self.process.stdout.readline().rstrip("\n")

    def seconds(self, name):
        print(name, file=self.process.stdin, flush=True)
        return float(self._line())


def built(what, folder):
    """Return the interpreter of `what`, an interpreter or a commit, which is built into the folder."""
    if Path(what).exists():
        return what
    tree, python = folder / what / "tree", folder / what / "venv" / "bin" / "python"
    if not python.exists():
        tree.mkdir(parents=True)
        archive = subprocess.Popen(["git", "archive", what], cwd=HERE.parent, stdout=subprocess.PIPE)
        subprocess.check_call(["tar", "-x", "-C", str(tree)], stdin=archive.stdout)
        subprocess.check_call([sys.executable, "-m", "venv", "--system-site-packages", str(python.parents[1])])
        subprocess.check_call([str(python), "-m", "pip", "install", "-q", "--no-deps", str(tree)])
    return str(python)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("before", nargs="?")
    parser.add_argument("after", nargs="?")
    parser.add_argument("--folder", type=Path, default=Path("ab_builds"), help="where commits are built")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--isa", help="PYDPMC_ISA of both")
    parser.add_argument("--only", nargs="*", default=[""], help="workloads whose names begin so")
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    return parser.parse_args()


def main(options):
    builds = [Build(built(what, options.folder), options.isa) for what in (options.before, options.after)]
    print("| workload | seconds before | after | after / before |\n|---|---:|---:|---:|")
    for name in builds[1].names:
        if not name.startswith(tuple(options.only)):
            continue
        times = [[build.seconds(name) for build in builds] for _ in range(options.rounds)]
        before, after = (min(column) for column in zip(*times, strict=True))
        ratio = f"{after / before:.3f}" if min(before, after) > 0.0 else "not in both"
        print(f"| {name} | {before:.3f} | {after:.3f} | {ratio} |", flush=True)


if __name__ == "__main__":
    given = arguments()
    serve() if given.serve else main(given)
