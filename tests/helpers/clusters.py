"""A small table in Parquet, and what tests of clusters do with it."""

import contextlib
import logging
import os
import signal
import threading
import time

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import pydpmc as dp

COLUMNS = 3
STORAGES = ("float64", "float32", "fixed16")
ALL_RECORDS = {  # what reads all records, whose draws are the same for every number of cells
    "SGLD": dp.SGLD(steps=6, sampling="full"),
    "SGHMC": dp.SGHMC(steps=6, sampling="full"),
    "SGNHT": dp.SGNHT(steps=6, sampling="full"),
    "SGFS": dp.SGFS(steps=6),
    "DPVI": dp.DPVI(steps=6, sampling="full"),
    "Barker": dp.Barker(steps=6),
    "Langevin": dp.Langevin(draws=2, steps=6),
    "Newton": dp.Newton(),
    "Hybrid": dp.Hybrid(dp.Newton(), dp.SGLD(steps=5, sampling="full")),
    "ConjugateSample": dp.ConjugateSample(draws=3),
    "NUTS": dp.NUTS(draws=4, warmup=20),
}
OF_CELLS = {  # what depends on the cells, by their samples
    "SGLD, samples": dp.SGLD(steps=12, sampling="poisson", batch_size=90),
    "SGHMC, samples": dp.SGHMC(steps=12, sampling="poisson", batch_size=90),
    "SGNHT, samples": dp.SGNHT(steps=12, sampling="poisson", batch_size=90),
    "DPVI, samples": dp.DPVI(steps=12, sampling="poisson", batch_size=90),
}
EVERY = ALL_RECORDS | OF_CELLS
SLOWEST = {"PosteriorSample": dp.PosteriorSample(draws=1)}  # thousands of steps of NUTS


def schema(**options):
    columns = {f"x{j}": dp.Number(-2, 2) for j in range(COLUMNS)}
    return dp.Schema({**columns, "y": dp.Binary()}, target="y", missing="drop", row_norm=1.0, **options)


def table(rows=1200, seed=7):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(rows, COLUMNS))
    y = (rng.random(rows) < 1.0 / (1.0 + np.exp(-x[:, 0]))).astype(int)
    return pa.table({**{f"x{j}": x[:, j] for j in range(COLUMNS)}, "y": y, "who": rng.integers(0, 200, rows)})


def files(folder, rows=1200):
    whole = table(rows)
    pq.write_table(whole.slice(0, rows // 3), folder / "a.parquet", row_group_size=150)
    pq.write_table(whole.slice(rows // 3), folder / "b.parquet")
    return whole


@contextlib.contextmanager
def local_client(**options):
    """A client of a cluster on this machine with a certificate of its own."""
    import distributed

    security = distributed.Security.temporary()
    with (
        distributed.LocalCluster(security=security, silence_logs=logging.CRITICAL, **options) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


def workers_client(workers):
    """A client of so many workers of one thread, without a dashboard."""
    return local_client(n_workers=workers, threads_per_worker=1, dashboard_address=None)


def plan_of(data, name, **options):
    """Return the plan of one of the samplers above; those of linear regression take the labels for numbers."""
    linear = name == "ConjugateSample"
    model = dp.LinearRegression(sigma=1.0) if linear else dp.LogisticRegression()
    options = {"chains": 2, **({"private": False} if name == "NUTS" else {"epsilon": 3.0, "delta": 1e-6}), **options}
    if name in ("Newton", "ConjugateSample", "PosteriorSample", "Langevin", "Hybrid"):
        del options["chains"]
    return dp.plan(model, data.public, (EVERY | SLOWEST)[name], **options)


def draws(plan, data, **options):
    post = plan.run(data, progress=False, anyway=True, **({"seed": 11} | options))
    return np.concatenate([values.ravel() for values in post.draws.values()])


def kill_now_and_then(client, kills, stop, pause=0.3):
    """Kill a worker with SIGKILL, wait, and again, in a thread; return it and the list of who was killed."""
    killed = []

    def work():
        while len(killed) < kills and not stop.is_set():
            time.sleep(pause)
            pids = {a: w["pid"] for a, w in _workers(client).items()}
            if not pids:
                continue
            address = sorted(pids)[len(killed) % len(pids)]
            try:
                os.kill(pids[address], signal.SIGKILL)
                killed.append(address)
            except ProcessLookupError:
                pass

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    return thread, killed


def _workers(client):
    return {a: {"pid": pid} for a, pid in client.run(os.getpid, on_error="ignore").items()}
