"""Packed files hold what `Data` would hold in memory, bit by bit; one that is not as it was written is refused."""

import subprocess
import sys
from pathlib import Path

import clusters
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

import pydpmc as dp
from pydpmc.errors import CacheError, MissingFile, SchemaError, WrongType

STORAGES = ("float64", "float32", "fixed16")
HELPERS = Path(__file__).parents[3] / "helpers"


def words(rows=3000):
    rng = np.random.default_rng(4)
    return pa.table(
        {
            "age": rng.integers(10, 99, rows),
            "school": pa.array(rng.choice(["HS", "BA", "none", "l7"], rows)).dictionary_encode(),
            "who": rng.integers(0, 400, rows),
            "owns": rng.integers(0, 2, rows),
        }
    )


def schema_of_words(**options):
    levels = ["HS", "BA", *(f"l{k}" for k in range(30))]
    columns = {"age": dp.Number(17, 90), "school": dp.Category(levels), "owns": dp.Binary()}
    return dp.Schema(columns, target="owns", missing="drop", row_norm=1.4, **options)


def assert_same(one, other):
    assert one.public == other.public
    for a, b in ((one._rows, other._rows), (one.row_squares(), other.row_squares())):
        assert (a.dtype, a.shape) == (b.dtype, b.shape)
        assert np.ascontiguousarray(a).tobytes() == np.ascontiguousarray(b).tobytes()
    assert (one._coded is None) == (other._coded is None)
    if one._coded is not None:
        assert one._coded.rows.tobytes() == other._coded.rows.tobytes()
        assert one._coded.number_columns.tolist() == other._coded.number_columns.tolist()
    assert (one._group_start is None) == (other._group_start is None)
    if one._group_start is not None:
        np.testing.assert_array_equal(one._group_start, other._group_start)


@pytest.mark.parametrize("group", [None, "who"])
@pytest.mark.parametrize("storage", STORAGES)
def test_every_way_in_gives_the_rows_of_memory(storage, group, tmp_path):
    whole = words()
    pq.write_table(whole.slice(0, 1000), tmp_path / "a.parquet", row_group_size=333)
    pq.write_table(whole.slice(1000), tmp_path / "b.parquet")
    whole.to_pandas().to_csv(tmp_path / "t.csv", index=False)
    scheme = schema_of_words(group=group, max_group_size=None if group is None else 5)
    wanted = scheme.data(whole, storage=storage)
    options = {"storage": storage, "progress": False}
    parts = [tmp_path / "a.parquet", tmp_path / "b.parquet"]
    assert_same(dp.Data.from_parquet(parts, scheme, **options), wanted)
    assert_same(dp.Data.from_parquet(ds.dataset([str(p) for p in parts]), scheme, **options), wanted)
    assert_same(dp.Data.from_batches(whole.to_batches(700), scheme, **options), wanted)
    assert_same(dp.Data.from_csv(tmp_path / "t.csv", scheme, **options), wanted)
    first = dp.Data.from_parquet(parts, scheme, cache=tmp_path / "rows.dpmc", **options)
    again = dp.Data.from_parquet(parts, scheme, cache=tmp_path / "rows.dpmc", **options)
    for found in (first, again, dp.Data.from_cache(tmp_path / "rows.dpmc")):
        assert_same(found, wanted)
        assert found.schema == scheme


def test_frames_and_lazy_queries():
    polars = pytest.importorskip("polars", reason="polars is not installed")
    whole, scheme = words(500), schema_of_words()
    wanted, frame = scheme.data(whole), whole.to_pandas()
    assert_same(dp.Data.from_batches((frame[k : k + 90] for k in range(0, 500, 90)), scheme, progress=False), wanted)
    lazy = polars.from_arrow(whole).lazy().filter(polars.col("age") >= 0)
    assert_same(dp.Data.from_batches(lazy, scheme, progress=False), wanted)


def test_batches_much_smaller_and_larger_than_ours_change_nothing(monkeypatch):
    whole, scheme = words(150), schema_of_words(group="who", max_group_size=2)
    wanted = scheme.data(whole)
    for most in (1, 13, 10**6):
        monkeypatch.setattr("pydpmc.data.packed.sources.MOST_ROWS", most)
        monkeypatch.setattr("pydpmc.data.packed.ordering.CHUNK", max(most // 3, 1))
        monkeypatch.setattr("pydpmc.data.packed.ordering.MOST_IN_MEMORY", max(most // 2, 20))
        assert_same(dp.Data.from_batches([whole], scheme, progress=False), wanted)


def test_a_table_without_records_is_stored_as_in_memory(tmp_path):
    whole, scheme = words(5).slice(0, 0), schema_of_words()
    pq.write_table(whole, tmp_path / "none.parquet")
    found = dp.Data.from_parquet(tmp_path / "none.parquet", scheme, cache=tmp_path / "rows.dpmc", public_n=10)
    assert_same(found, scheme.data(whole, public_n=10))
    assert len(dp.Data.from_cache(tmp_path / "rows.dpmc")) == 0
    grouped = schema_of_words(group="who")
    assert_same(dp.Data.from_batches([whole], grouped, progress=False), grouped.data(whole))


def test_partition_folders_are_columns(tmp_path):
    whole = pa.table({"age": [20, 30, 40, 50], "owns": [0, 1, 0, 1], "school": ["BA", "BA", "HS", "HS"]})
    ds.write_dataset(
        whole,
        tmp_path,
        format="parquet",
        partitioning=ds.partitioning(flavor="hive", schema=pa.schema([("school", pa.string())])),
    )
    found = dp.Data.from_parquet(ds.dataset(tmp_path, partitioning="hive"), schema_of_words(), progress=False)
    assert_same(found, schema_of_words().data(whole))


@pytest.fixture
def packed(tmp_path):
    pq.write_table(words(300), tmp_path / "t.parquet")
    dp.Data.from_parquet(tmp_path / "t.parquet", schema_of_words(), cache=tmp_path / "rows.dpmc", progress=False)
    return tmp_path / "rows.dpmc"


def test_a_truncated_changed_or_foreign_file_is_refused(packed):
    good = packed.read_bytes()
    for place in (9, 13, 17, 33, 65, 97, 2000, 4095, 4096, 4096 + 8 * 200, len(good) - 300, len(good) - 1):
        packed.write_bytes(good[:place] + bytes([good[place] ^ 1]) + good[place + 1 :])
        with pytest.raises(CacheError, match=r"damaged|version|no file of packed"):
            dp.Data.from_cache(packed)
    for short in (good[:-1], good[:5000], good[:100], b"", good + b"\0"):
        packed.write_bytes(short)
        with pytest.raises(CacheError, match=r"damaged|no file of packed"):
            dp.Data.from_cache(packed)
    packed.write_bytes(b"PAR1" + good[4:])
    with pytest.raises(CacheError, match="no file of packed records"):
        dp.Data.from_cache(packed)
    packed.write_bytes(good)
    assert len(dp.Data.from_cache(packed)) == 300


def resealed(path, change):
    """Change the content of a file, and give it a digest that fits: what somebody may do who can write the file."""
    from pydpmc.data.packed.layout import _FIRST, DIGEST_BYTES, PAGE, digest_of

    content = bytearray(path.read_bytes())
    change(content)
    path.write_bytes(content)
    key = _FIRST.unpack_from(content)[5]
    with path.open("r+b") as file:
        found = digest_of(file, len(content), key)
        file.seek(_FIRST.size - DIGEST_BYTES)
        file.write(found)
    assert len(content) > PAGE


def test_rows_beyond_their_bounds_are_refused_even_with_a_digest_that_fits(packed):
    good = packed.read_bytes()

    def far(content):
        content[4096:4104] = np.array([50.0]).tobytes()

    resealed(packed, far)
    with pytest.raises(CacheError, match=r"norms|bounds"):
        dp.Data.from_cache(packed)
    packed.write_bytes(good)
    offset = dp.Data.from_cache(packed)._mapping.header["arrays"]["coded"][0]

    def code(content):
        content[offset + 8 * 4 : offset + 8 * 5] = b"\xff" * 8

    resealed(packed, code)
    with pytest.raises(CacheError, match="codes"):
        dp.Data.from_cache(packed)
    packed.write_bytes(good)
    resealed(packed, lambda content: content.__setitem__(slice(4096, 4104), content[4096:4104]))
    dp.Data.from_cache(packed)


def written(path, name, values):
    """Return a change of the first numbers of one of a file's arrays."""
    offset, dtype, _ = dp.Data.from_cache(path)._mapping.header["arrays"][name]
    new = np.asarray(values).astype(dtype).tobytes()
    return lambda content: content.__setitem__(slice(offset, offset + len(new)), new)


@pytest.mark.parametrize("place", [0, 1, 2, 3])  # the number beside the codes, the target, |x|^2, the value of the ones
def test_coded_rows_that_are_not_those_of_the_rows_are_refused(packed, place):
    """Sums are made of them: a number of 1000 beside the true |x|^2 would pass every clip."""
    coded = dp.Data.from_cache(packed)._coded.rows[0].copy()
    coded[place] = 1000.0
    resealed(packed, written(packed, "coded", coded))
    with pytest.raises(CacheError, match="codes are not those of the rows"):
        dp.Data.from_cache(packed)


def test_groups_larger_than_declared_are_refused_even_with_a_digest_that_fits(tmp_path):
    pq.write_table(words(300), tmp_path / "t.parquet")
    path, scheme = tmp_path / "rows.dpmc", schema_of_words(group="who", max_group_size=2)
    starts = dp.Data.from_parquet(tmp_path / "t.parquet", scheme, cache=path, progress=False)._group_start.copy()
    assert np.diff(starts).max() == 2
    starts[1:-1] = np.arange(1, len(starts) - 1)  # the last group has what all others lost
    assert np.diff(starts)[-1] > 2
    resealed(path, written(path, "group_start", starts))
    with pytest.raises(CacheError, match="groups are larger than declared"):
        dp.Data.from_cache(path)


def test_a_nan_that_marks_no_void_row_is_refused(tmp_path):
    """`Langevin` puts a public point in place of void records, which it finds by their first number."""
    pq.write_table(pa.table({"a": [0.1, 0.2, None], "b": [0.3, 0.4, 0.5]}), tmp_path / "t.parquet")
    path, scheme = tmp_path / "rows.dpmc", dp.Schema({"a": dp.Number(-1, 1), "b": dp.Number(-1, 1)}, missing="drop")
    rows = dp.Data.from_parquet(tmp_path / "t.parquet", scheme, cache=path, progress=False)._rows.copy()
    assert np.isnan(rows).sum() == 1
    rows[0, 1] = np.nan
    changes = [written(path, "rows", rows), written(path, "squares", [np.nan])]
    resealed(path, lambda content: [change(content) for change in changes])
    with pytest.raises(CacheError, match="rows leave the declared bounds"):
        dp.Data.from_cache(path)


def test_a_file_of_other_records_or_declarations_is_refused(packed):
    table = packed.with_name("t.parquet")
    with pytest.raises(CacheError, match="another schema"):
        dp.Data.from_parquet(table, schema_of_words(missing_values=["?"]), cache=packed)
    with pytest.raises(CacheError, match="another public facts"):
        dp.Data.from_parquet(table, schema_of_words(), cache=packed, storage="float32")
    pq.write_table(words(301), table)
    with pytest.raises(CacheError, match="another files"):
        dp.Data.from_parquet(table, schema_of_words(), cache=packed)
    with pytest.raises(CacheError, match=r"Data\.from_cache"):
        dp.Data.from_batches([words(300)], schema_of_words(), cache=packed)
    assert packed.stat().st_mode & 0o077 == 0


def test_a_damaged_file_charges_nothing(packed, tmp_path):
    ledger = dp.Ledger(tmp_path / "study.ledger.db", epsilon=1.0, delta=1e-6)
    packed.write_bytes(packed.read_bytes()[:-1])

    def study():
        data = dp.Data.from_parquet(packed.with_name("t.parquet"), schema_of_words(), cache=packed)
        dp.sample(dp.LogisticRegression(), data, epsilon=0.5, delta=1e-6, ledger=ledger)

    with pytest.raises(CacheError):
        study()
    assert ledger.history() == ()


def test_what_is_asked_wrongly(tmp_path):
    with pytest.raises(MissingFile, match="there is no file"):
        dp.Data.from_parquet(tmp_path / "no.parquet", schema_of_words())
    with pytest.raises(WrongType, match="schema must be"):
        dp.Data.from_parquet(tmp_path, None)
    pq.write_table(pa.table({"age": [1]}), tmp_path / "t.parquet")
    with pytest.raises(SchemaError, match="'school' is not in the table"):
        dp.Data.from_parquet(tmp_path / "t.parquet", schema_of_words(), cache=tmp_path / "rows.dpmc")
    with pytest.raises(WrongType, match="cash is no argument"):
        dp.Data.from_batches([words(3)], schema_of_words(), cash="rows.dpmc")
    with pytest.raises(WrongType, match="iterable of tables"):
        dp.Data.from_batches(words(3).to_pandas(), schema_of_words())
    assert sorted(p.name for p in tmp_path.iterdir()) == ["t.parquet"]


def test_labels_that_a_model_does_not_know_are_void_in_a_private_copy(tmp_path):
    rng = np.random.default_rng(0)
    whole = pa.table({"x": rng.normal(size=400), "y": rng.integers(0, 4, 400)})
    scheme = dp.Schema({"x": dp.Number(-1, 1), "y": dp.Number(0, 9)}, target="y", missing="drop")
    memory, mapped = scheme.data(whole), dp.Data.from_batches([whole], scheme, progress=False)
    np.testing.assert_array_equal(memory.of_labels(2)._rows, mapped.of_labels(2)._rows)
    assert np.isnan(mapped.of_labels(2)._rows[:, 1]).sum() > 100
    assert not np.isnan(mapped._rows[:, 1]).any()
    void = pa.table({"x": [0.5, None, -0.5]})
    scheme = dp.Schema({"x": dp.Number(-1, 1)}, missing="drop")
    memory, mapped = (
        d.with_void_at(np.array([0.25])) for d in (scheme.data(void), dp.Data.from_batches([void], scheme))
    )
    np.testing.assert_array_equal(memory._rows, mapped._rows)
    np.testing.assert_array_equal(memory.row_squares(), mapped.row_squares())


def test_progress_does_not_tell_an_empty_table_from_one_record(capsys, tmp_path):
    seen = []
    scheme = dp.Schema({"x": dp.Number(0, 1), "y": dp.Binary()}, target="y", missing="drop")
    for n in (0, 1, 5):
        made = pa.table({"x": pa.array([0.5] * n, pa.float64()), "y": pa.array([1] * n, pa.int64())})
        pq.write_table(made, tmp_path / f"{n}.parquet")
        dp.Data.from_parquet(tmp_path / f"{n}.parquet", scheme, public_n=10)
        seen.append(capsys.readouterr().err)
    assert seen[0] == seen[1] == seen[2] != ""


@pytest.mark.parametrize("storage", ["float64", "float32", "fixed16"])
def test_a_row_that_was_shortened_out_of_its_box_does_not_decide_whether_a_file_opens(storage, tmp_path):
    columns = {"a": dp.Number(1, 2, transform=[]), "b": dp.Number(0, 10, transform=[]), "y": dp.Binary()}
    scheme = dp.Schema(columns, target="y", missing="drop", row_norm=5.0 if storage != "fixed16" else 1.9)
    for place, b in enumerate((1.0, 10.0, 4.99)):
        batch = pd.DataFrame({"a": [1.0, 1.5, 2.0, 1.0], "b": [1, 1, 1, b], "y": [0, 1, 0, 1]})
        path = tmp_path / f"{place}.dpmc"
        dp.Data.from_batches([batch], scheme, cache=path, storage=storage, progress=False)
        assert_same(dp.Data.from_cache(path), scheme.data(batch, storage=storage))


def test_records_that_were_voided_stay_void_when_more_are():
    words = pd.DataFrame({"x": [0.1, 0.2, 0.3, 0.4], "y": ["a", "b", "c", "a"]})
    scheme = dp.Schema({"x": dp.Number(0, 1), "y": dp.Category(["a", "b", "c"])}, target="y", missing="drop")
    memory, mapped = scheme.data(words), dp.Data.from_batches([words], scheme, progress=False)
    twice = [data.of_labels(2).of_labels(1) for data in (memory, mapped)]
    np.testing.assert_array_equal(twice[0]._rows, twice[1]._rows)


def test_progress_shows_rows_only_where_their_number_is_public(capsys, monkeypatch):
    monkeypatch.setattr("pydpmc.data.packed.showing.PATIENCE", -1.0)
    whole, path = clusters.table(200), "rows"
    dp.Data.from_batches([whole], clusters.schema(), progress="rows")
    assert f"200 {path}, " in capsys.readouterr().err
    for options, scheme in (
        ({}, clusters.schema()),
        ({"public_n": 10}, clusters.schema()),
        ({}, clusters.schema(group="who")),
    ):
        seen = []
        for rows in (200, 300):
            dp.Data.from_batches([whole.slice(0, rows)], scheme, **options)
            seen.append(capsys.readouterr().err)
        assert seen[0] == seen[1]
        if options or scheme.group:
            with pytest.raises(dp.errors.InvalidArgument, match="private here"):
                dp.Data.from_batches([whole], scheme, progress="rows", **options)
    dp.Data.from_batches([whole], clusters.schema(), progress=False)
    assert capsys.readouterr().err == ""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells anonymous memory apart")
def test_memory_does_not_grow_with_the_table(tmp_path):
    packing, running, opening, text = peaks(tmp_path, 200_000, 40)
    assert max(packing, running, opening) < 300, text
    assert running - packing < 35, text  # the file has 40 MB


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells anonymous memory apart")
def test_memory_of_a_hundred_million_rows(tmp_path):
    packing, running, opening, text = peaks(tmp_path, 100_000_000, 10)
    assert max(packing, running, opening) < 300, text


def peaks(folder, rows, columns):
    script = Path(__file__).with_name("larger_than_memory.py")
    command = [sys.executable, "-P", script, str(rows), str(columns), str(folder)]
    done = subprocess.run(
        command, capture_output=True, text=True, env={"PYTHONPATH": str(HELPERS), "OMP_NUM_THREADS": "1"}
    )
    assert done.returncode == 0, done.stderr
    return (*map(float, done.stdout.split()), done.stderr)
