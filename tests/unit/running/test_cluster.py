"""Records at the workers of a Dask cluster: the draws of one machine, whatever happens to workers."""

import threading

import clusters
import numpy as np
import pyarrow.parquet as pq
import pytest

import pydpmc as dp
from pydpmc.errors import ClusterError, InvalidArgument, PydpmcError, WrongType

distributed = pytest.importorskip("distributed", reason="distributed is not installed")
pytestmark = pytest.mark.filterwarnings("ignore")  # Dask's own
ROWS, CELLS = 1200, 5


@pytest.fixture(scope="module")
def client():
    with clusters.workers_client(2) as found:
        yield found


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    found = tmp_path_factory.mktemp("parquet")
    clusters.files(found, ROWS)
    return found


@pytest.fixture(scope="module")
def data(client, folder):
    return dp.Data.from_parquet(folder, clusters.schema(), client=client, cells=CELLS, timeout=30.0)


@pytest.fixture(scope="module")
def memory():
    return clusters.schema().data(clusters.table(ROWS)).in_cells(CELLS)


def plan_of(data, sampler):
    return dp.plan(dp.LogisticRegression(), data.public, sampler, epsilon=1.0, delta=1e-6)


@pytest.mark.parametrize(
    "sampler", ["SGLD, samples", "SGHMC", "SGFS", "DPVI", "Barker", "Langevin", "Newton", "Hybrid", "NUTS"]
)
def test_draws_are_those_of_one_machine(data, memory, sampler):
    assert data.public == memory.public
    plan = clusters.plan_of(data, sampler)
    np.testing.assert_array_equal(clusters.draws(plan, data), clusters.draws(plan, memory))


def test_a_linear_regression_in_closed_form(client, folder):
    scheme = dp.Schema({"x0": dp.Number(-2, 2), "x1": dp.Number(-2, 2)}, target="x1", missing="drop")
    found = dp.Data.from_parquet(folder, scheme, client=client, cells=2)
    plan = dp.plan(dp.LinearRegression(sigma=1.0), found.public, dp.ConjugateSample(), epsilon=1.0, delta=1e-6)
    wanted = clusters.draws(plan, scheme.data(clusters.table(ROWS)))
    np.testing.assert_array_equal(clusters.draws(plan, found), wanted)


def test_a_dask_frame(client, memory):
    frames = pytest.importorskip("dask.dataframe", reason="dask.dataframe is not installed")
    frame = frames.from_pandas(clusters.table(ROWS).to_pandas(), npartitions=3, sort=False)
    found = dp.Data.from_dask(frame, clusters.schema(), client=client)
    plan = plan_of(found, dp.Newton())
    np.testing.assert_array_equal(clusters.draws(plan, found), clusters.draws(plan, memory))


@pytest.mark.parametrize("cells", [2, 7])
def test_groups_are_those_of_one_machine(client, folder, cells):
    scheme = clusters.schema(group="who", max_group_size=5)
    memory = scheme.data(clusters.table(ROWS)).in_cells(cells)
    data = dp.Data.from_parquet(folder, scheme, client=client, cells=cells)
    assert data.public == memory.public
    for sampler in ("SGLD", "SGLD, samples", "Newton"):
        plan = clusters.plan_of(memory, sampler)
        np.testing.assert_array_equal(clusters.draws(plan, data), clusters.draws(plan, memory))


def test_groups_of_a_dask_frame_are_refused(client):
    frames = pytest.importorskip("dask.dataframe", reason="dask.dataframe is not installed")
    frame = frames.from_pandas(clusters.table(60).to_pandas(), npartitions=2, sort=False)
    with pytest.raises(InvalidArgument, match="several partitions"):
        dp.Data.from_dask(frame, clusters.schema(group="who"), client=client)


def test_a_run_is_charged_once_and_a_ledger_knows_the_table(data, tmp_path):
    ledger = dp.Ledger(tmp_path / "study.ledger", epsilon=3.0, delta=1e-6)
    plan = plan_of(data, dp.Newton())
    for _ in range(2):
        plan.run(data, ledger=ledger, progress=False, anyway=True)
    assert len(ledger.history()) == 2
    assert len({entry.table for entry in ledger.history()} if hasattr(ledger.history()[0], "table") else {1}) == 1


def test_a_killed_worker_changes_nothing(data, memory, client, tmp_path):
    plan = plan_of(data, dp.SGLD(steps=150, sampling="poisson", batch_size=100))
    ended = threading.Event()
    thread, killed = clusters.kill_now_and_then(client, 1, ended, pause=0.2)
    found = clusters.draws(plan, data)
    ended.set()
    thread.join()
    assert len(killed) == 1
    np.testing.assert_array_equal(found, clusters.draws(plan, memory))


class Tampered:
    """A session whose workers' answers are changed on their way."""

    def __init__(self, monkeypatch, change):
        from pydpmc.data.cluster import cluster

        true = cluster.Cluster.wait

        def wait(self, address, future, patient=False):
            answer = true(self, address, future, patient)
            return change(answer) if isinstance(answer, tuple) and len(answer) == 4 else answer

        monkeypatch.setattr(cluster.Cluster, "wait", wait)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda a: (a[0], a[1], (*a[2], a[2][0]), a[3]), "each of its cells once"),
        (lambda a: (a[0], a[1], a[2][1:], a[3]), "each of its cells once"),
        (lambda a: (a[0], a[1] - 1, a[2], a[3]), "earlier question"),
        (lambda a: ("other", a[1], a[2], a[3]), "earlier question"),
        (lambda a: (a[0], a[1], a[2], a[3].astype(float)), "no sum"),
        (lambda a: (a[0], a[1], a[2], a[3][..., :-1]), "shape"),
        (lambda a: (a[0], a[1], a[2], np.repeat(a[3], 2, axis=0)), "shape"),
    ],
    ids=["twice", "missing", "stale", "foreign", "floats", "narrow", "repeated"],
)
def test_an_answer_that_is_not_the_answer_is_refused(data, monkeypatch, change, words):
    Tampered(monkeypatch, change)
    for sampler in ("Newton", "SGLD, samples", "Langevin", "Barker", "NUTS"):
        with pytest.raises(PydpmcError, match=words):
            clusters.draws(clusters.plan_of(data, sampler), data)


def test_a_cell_that_changed_is_refused_when_it_is_read_again(client, tmp_path):
    clusters.files(tmp_path, 600)
    data = dp.Data.from_parquet(tmp_path, clusters.schema(), client=client, cells=2)
    changed = clusters.table(600).to_pandas()
    changed.loc[3, "y"] = 1 - changed.loc[3, "y"]
    pq.write_table(type(clusters.table(1)).from_pandas(changed[:200]), tmp_path / "a.parquet", row_group_size=150)
    cluster = data._cluster
    cluster.lose(next(iter(cluster.by_host(set(cluster.sources)))))
    with pytest.raises(ClusterError, match="not what they were"):
        clusters.draws(plan_of(data, dp.Newton()), data)


def test_files_that_change_between_the_readings_of_two_cells_are_refused(client, tmp_path, monkeypatch):
    """In another order, rows that the first cell has are those of the second: their records would count twice."""
    from pydpmc.data.cluster import loading

    whole, true, asked = clusters.table(600), loading.ParquetCell.load, []
    pq.write_table(whole, tmp_path / "a.parquet")

    def load(self, cluster, cell, address, host):
        future = true(self, cluster, cell, address, host)
        if not asked:
            cluster.wait(address, future, patient=True)
            pq.write_table(whole.take(np.arange(600)[::-1]), tmp_path / "a.parquet")
        asked.append(cell)
        return future

    monkeypatch.setattr(loading.ParquetCell, "load", load)
    with pytest.raises(ClusterError, match="changed while they were read"):
        dp.Data.from_parquet(tmp_path, clusters.schema(), client=client, cells=2)
    assert asked == [0, 1]
    monkeypatch.undo()
    assert len(dp.Data.from_parquet(tmp_path, clusters.schema(), client=client, cells=2)) == 600


def test_errors_of_workers_hold_no_values(client, tmp_path):
    clusters.files(tmp_path, 600)
    (tmp_path / "b.parquet").write_bytes((tmp_path / "b.parquet").read_bytes()[:-900] + b"\0" * 900)
    with pytest.raises(dp.errors.PydpmcError) as caught:
        dp.Data.from_parquet(tmp_path, clusters.schema(), client=client, cells=2)
    assert "that can be read" in str(caught.value)


def test_an_estimator_takes_the_place_of_plan_and_run(data, memory, tmp_path):
    from pydpmc.sklearn import DPLogisticRegression

    ledger = dp.Ledger(tmp_path / "study.ledger", epsilon=3.0, delta=1e-6)
    options = {"classes": [0, 1], "sampler": dp.Newton(), "random_state": 3, "anyway": True}
    found = DPLogisticRegression(**options).fit(data)
    wanted = DPLogisticRegression(**options).fit(memory)
    np.testing.assert_array_equal(found.coef_, wanted.coef_)
    assert found.n_features_in_ == data.public.width
    private = DPLogisticRegression(classes=[0, 1], sampler=dp.Newton(), ledger=ledger, anyway=True).fit(data)
    assert (
        private.guarantee_.assumptions
        == dp.plan(  # a schema encodes record by record, and the classes are declared
            dp.LogisticRegression(), data.public, dp.Newton(), epsilon=1.0, delta=1e-6
        ).guarantee.assumptions
    )
    assert [entry.finished for entry in ledger.history()] == [True]


def test_shares_of_a_table_on_a_cluster_are_refused_before_a_charge(data, tmp_path):
    ledger = dp.Ledger(tmp_path / "study.ledger", epsilon=3.0, delta=1e-6)
    with pytest.raises(InvalidArgument, match="workers of a cluster"):
        dp.private_shares(data, [0, 1], epsilon=0.1, ledger=ledger)
    assert not ledger.history()


STUDY = """
[data]
path = "{folder}"
cells = 5
[cluster]
scheduler = "{scheduler}"
ca = "ca.pem"
certificate = "cert.pem"
key = "key.pem"
[schema]
target = "y"
missing = "drop"
row_norm = 1.0
[schema.columns]
x0 = {{kind = "number", low = -2, high = 2}}
x1 = {{kind = "number", low = -2, high = 2}}
x2 = {{kind = "number", low = -2, high = 2}}
y = {{kind = "binary", positive = 1}}
[model]
type = "LogisticRegression"
[sampler]
type = "Newton"
[budget]
epsilon = 1.0
delta = 1e-6
[run]
ledger = "study.ledger"
anyway = true
[output]
posterior = "post.npz"
report = "post.html"
"""


def test_a_study_file_names_the_cluster(client, folder, tmp_path):
    from pydpmc.cli.main import main

    security = client.security
    for name, text in (("ca", "tls_ca_file"), ("cert", "tls_client_cert"), ("key", "tls_client_key")):
        (tmp_path / f"{name}.pem").write_text(getattr(security, text))
    text = STUDY.format(folder=folder, scheduler=client.scheduler.address)
    (tmp_path / "study.toml").write_text(text)
    dp.Ledger(tmp_path / "study.ledger", epsilon=3.0, delta=1e-5)
    assert main(["run", str(tmp_path / "study.toml"), "--quiet"]) == 0
    (entry,) = dp.Ledger(tmp_path / "study.ledger").history()
    assert entry.finished
    assert dp.Posterior.load(tmp_path / "post.npz").guarantee.epsilon(1e-6) <= 1.0
    assert (tmp_path / "post.html").stat().st_size > 1000


def test_what_clusters_refuse(client, folder, data):
    with pytest.raises(WrongType, match="client must be"):
        dp.Data.from_parquet(folder, clusters.schema(), client="tls://host:1")
    with pytest.raises(InvalidArgument, match="cache"):
        dp.Data.from_parquet(folder, clusters.schema(), client=client, cache="rows.dpmc")
    with pytest.raises(InvalidArgument, match="cells"):
        data.in_cells(3)
    plan = plan_of(data, dp.SGLD(steps=5, sampling="without_replacement", batch_size=20))
    with pytest.raises(InvalidArgument, match="fixed size"):
        plan.run(data, progress=False, anyway=True)


def test_a_remote_scheduler_without_tls_is_refused(client, monkeypatch):
    from pydpmc.data.cluster.loading import _require_client

    monkeypatch.setattr(type(client.scheduler), "address", "tcp://192.0.2.1:8786", raising=False)
    monkeypatch.setattr(client.scheduler, "address", "tcp://192.0.2.1:8786", raising=False)
    with pytest.raises(InvalidArgument, match="not encrypted"):
        _require_client(client, insecure=False)
    _require_client(client, insecure=True)
