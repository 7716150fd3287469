"""Damaged and forged files: an error of ours or the same meaning, never another exception or another guarantee."""

import contextlib
import hashlib
import importlib.util
import json
import resource
from pathlib import Path

import numpy as np
import pytest
from hypothesis import strategies as st

import pydpmc as dp
from pydpmc.cli.study import read_study
from pydpmc.errors import LedgerError, PydpmcError, SchemaError, StudyError
from pydpmc.ledger.file import LedgerFile
from pydpmc.posterior import storage
from pydpmc.posterior.fields import description
from pydpmc.running import checkpoint_file

spec = importlib.util.spec_from_file_location("mutations", Path(__file__).with_name("mutations.py"))
mutations = importlib.util.module_from_spec(spec)
spec.loader.exec_module(mutations)
CHANGES, EDITS, changed, edited, fuzz = (
    getattr(mutations, n) for n in ("CHANGES", "EDITS", "changed", "edited", "fuzz")
)

SOME = pytest.mark.parametrize("examples", [15, pytest.param(500, marks=pytest.mark.slow)])
MOST_MEMORY = 2**28


@pytest.fixture(autouse=True)
def bounded_memory():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    yield
    assert 1024 * (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) < MOST_MEMORY


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(8)
    return dp.Data(rng.normal(size=(60, 2)), rng.integers(0, 2, 60), row_norm=1.0)


@pytest.fixture(scope="module")
def plan(data):
    return dp.plan(dp.LogisticRegression(), data.public, dp.SGLD(steps=10, step_size=1e-4, clip=2.0))


@pytest.fixture(scope="module")
def post(plan, data):
    return plan.run(data, threads=1, progress=False)


def shown(post):
    """Everything that is made of a posterior without pricing it."""
    return str(post.summary()) + post.summary()._repr_html_() + repr(post)


@SOME
@pytest.mark.parametrize("suffix", ["npz", "nc"])
def test_damaged_results_are_refused_or_mean_the_same(post, suffix, examples, tmp_path):
    path = tmp_path / f"post.{suffix}"
    post.save(path)
    good = path.read_bytes()

    def check(edits):
        path.write_bytes(edited(good, edits))
        try:
            back = dp.Posterior.load(path)
        except PydpmcError:
            return
        assert back.guarantee.events == post.guarantee.events
        assert back.guarantee.to_dict() | {"assumptions": []} == post.guarantee.to_dict() | {"assumptions": []}
        assert back.draws["beta"].tobytes() == post.draws["beta"].tobytes()
        shown(back)

    fuzz(check, EDITS, examples)


@SOME
@pytest.mark.parametrize("suffix", ["npz", "nc"])
def test_results_with_a_forged_description_are_refused_or_can_be_shown(post, suffix, examples, tmp_path):
    path, good = tmp_path / f"post.{suffix}", json.loads(description(post))
    write = storage._write_npz if suffix == "npz" else storage._write_netcdf
    loaded = []

    def check(changes):
        with path.open("w+b") as file:
            write(file, dict(post.draws), json.dumps(changed(good, changes)))
        try:
            back = dp.Posterior.load(path)
        except PydpmcError:
            return
        loaded.append(back)
        shown(back)
        assert back.guarantee.total_variation >= 0.0
        assert suffix == "npz" or storage.UNSEALED in back.guarantee.assumptions

    check([])
    fuzz(check, CHANGES, examples)
    assert loaded


@SOME
def test_damaged_and_forged_checkpoints_are_refused_or_cost_what_they_cost(plan, data, examples, tmp_path):
    path = tmp_path / "run.ckpt"
    plan.run(data, checkpoint=path, threads=1, progress=False)
    good = path.read_bytes()
    header, arrays = checkpoint_file.read(path)

    def check(damage):
        edits, changes, hashed = damage
        text = json.dumps(changed(header, changes)).encode() if changes else json.dumps(header).encode()
        length = len(text).to_bytes(8, "big")
        body = b"".join([checkpoint_file.MAGIC, length, text, *(array.tobytes() for array in arrays)])
        body = edited(body, edits) if edits else body
        path.write_bytes(body + hashlib.sha256(body).digest() if hashed else edited(good, edits))
        try:
            back = plan.run(data, checkpoint=path, threads=1, progress=False)
        except PydpmcError:
            return
        assert back.guarantee == plan.guarantee

    fuzz(check, st.tuples(EDITS | st.just([]), CHANGES | st.just([]), st.booleans()), examples)


@pytest.fixture(scope="module")
def records(data, plan, tmp_path_factory):
    ledger = dp.Ledger(tmp_path_factory.mktemp("ledger") / "study.ledger", epsilon=20, delta=1e-6)
    options = {"ledger": ledger, "checkpoint": ledger.path.with_suffix(".ckpt"), "threads": 1, "progress": False}
    plan.run(data, **options)
    ledger.admit(dp.Data(np.zeros((3, 2)), np.zeros(3), row_norm=1.0))
    moves = [{"kind": "resume", "ticket": "a", "times": 1, "token": "b"}, {"kind": "stop", "ticket": "a", "token": "c"}]
    return ledger.path.read_bytes(), [*LedgerFile(ledger.path).read()[1], *moves], ledger.history()


@SOME
def test_damaged_ledgers_are_refused_or_say_the_same(records, examples, tmp_path):
    path, (good, _, history) = tmp_path / "study.ledger", records

    def check(edits):
        path.write_bytes(edited(good, edits))
        with contextlib.suppress(LedgerError):
            assert dp.Ledger(path).history() == history

    fuzz(check, EDITS, examples)


@SOME
def test_forged_ledgers_are_refused_or_can_be_read(records, examples, tmp_path):
    from pydpmc.ledger.page import history

    path = tmp_path / "study.ledger"

    def check(changes):
        path.unlink(missing_ok=True)
        header, *rest = changed(records[1], changes) or [{}]
        LedgerFile(path).create(header)
        with LedgerFile(path).appending() as (_, _, new):
            new += rest
        try:
            ledger = dp.Ledger(path)
            assert ledger.epsilon > 0.0
            assert all(taken >= 0.0 for charge in ledger._state().filter.charges for taken in vars(charge).values())
            if ledger.history() == records[2]:  # another guarantee may take for ever to price
                history(ledger)
        except LedgerError:
            pass

    fuzz(check, CHANGES, examples)


STUDY = """
[data]
path = "people.csv"
n = 1000
[schema]
target = "cured"
missing = "drop"
[schema.columns]
dose = {kind = "number", low = 0, high = 10}
sex = {kind = "category", levels = ["f", "m"], unknown = "f"}
cured = {kind = "binary", positive = 1}
[model]
type = "LogisticRegression"
prior = {type = "Normal", scale = 1.0}
[sampler]
type = "SGLD"
steps = 100
step_size = {type = "Constant", step_size = 0.1}
[budget]
epsilon = 1.0
delta = 1e-6
[output]
posterior = "post.npz"
"""
TOKENS = [
    b"[",
    b"]",
    b"{",
    b"}",
    b"=",
    b'"',
    b"\n",
    b".",
    b"1",
    b"true",
    b"[[a]]\n",
    b"{a={}}",
    b'"\\u0000"',
    b"1979-01-01",
]


@SOME
def test_damaged_studies_get_a_typed_error(examples, tmp_path):
    path, read = tmp_path / "study.toml", []
    edits = EDITS | st.lists(
        st.tuples(
            st.sampled_from(["insert", "remove"]), st.integers(0, 800), st.integers(0, 9), st.sampled_from(TOKENS)
        ),
        min_size=1,
        max_size=4,
    )

    def check(edits):
        path.write_bytes(edited(STUDY.encode(), edits))
        try:
            study = read_study(path)
            study.declared()
        except StudyError:
            return
        read.append(str(study.schema))

    check([])
    fuzz(check, edits, examples)
    assert read


TABLE = b"dose,sex,cured\n1.5,f,1\n2,m,0\n,f,1\nnan,x,\n9e9,,1\n"


def written(kind, path):
    if kind == "parquet":
        import pyarrow as pa
        import pyarrow.parquet as pq

        table = pa.table({"dose": [1.5, 2.0, None], "sex": ["f", "m", None], "cured": [1, 0, 1]})
        pq.write_table(table, path)
        return path.read_bytes()
    import gzip

    return TABLE if kind == "csv" else gzip.compress(TABLE, mtime=0)


@SOME
@pytest.mark.parametrize("kind", ["csv", "csv.gz", "parquet"])
def test_damaged_tables_are_read_or_refused(kind, examples, tmp_path):
    path = tmp_path / f"people.{kind}"
    columns = {"dose": dp.Number(0, 10), "sex": dp.Category(["f", "m"], unknown="f"), "cured": dp.Binary(positive=1)}
    schema, good, read = dp.Schema(columns, target="cured", missing="drop"), written(kind, path), []

    def check(edits):
        path.write_bytes(edited(good, edits))
        try:
            data = schema.data(path)
        except SchemaError:
            return
        read.append(data)
        rows = np.array(data._rows, dtype=np.float64)
        assert (np.isnan(rows) | (np.abs(rows) <= 10.0)).all()

    check([])
    fuzz(check, EDITS, examples)
    assert read


def test_text_that_is_no_utf8_in_a_parquet_file_is_another_level_and_no_error(tmp_path):
    """The error quoted a byte of the record, and one record raised it."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = tmp_path / "people.parquet"
    schema = dp.Schema({"sex": dp.Category(["f", "m"], unknown="f")}, missing="drop")
    raw = pa.array([b"m", b"\xed", None, b"f"])
    texts = raw.cast(pa.binary()).view(pa.string())
    pq.write_table(pa.table({"sex": texts}), path)
    stored = [np.array(schema.data(path)._rows, dtype=np.float64)]
    pq.write_table(pa.table({"sex": ["m", "x", None, "f"]}), path)
    stored.append(np.array(schema.data(path)._rows, dtype=np.float64))
    assert np.array_equal(*stored, equal_nan=True)


def test_an_example_that_takes_too_long_fails(monkeypatch):
    def busy(_):
        while True:
            pass

    monkeypatch.setattr(mutations, "ONE_EXAMPLE", 0.05)
    with pytest.raises(mutations.TooLong):
        fuzz(busy, st.just(None), 1)


def test_no_more_examples_are_tried_after_all_their_time(monkeypatch):
    tried = []
    monkeypatch.setattr(mutations, "ALL_EXAMPLES", -1.0)
    fuzz(tried.append, st.integers(), 20)
    assert tried == []


def test_the_mutations_do_change_things():
    assert edited(b"abc", [("flip", 0, 0, b"")]) == b"`bc"
    assert edited(b"abc", [("remove", 1, 1, b""), ("insert", 0, 0, b"x")]) == b"xac"
    assert changed({"a": [1, 2], "b": 3}, [([0, 1], "new")]) == {"a": [1, "new"], "b": 3}
    shared = {"type": {}}  # one object of all examples, which grew into itself: the nightly job never ended
    assert changed({"a": 1}, [([0], shared), ([0, 0], shared)]) == {"a": {"type": {"type": {}}}}
    assert shared == {"type": {}}
