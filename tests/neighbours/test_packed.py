"""Streamed tables: one hostile record leaves every other packed row, all public facts and all messages as they were."""

import importlib.util
import warnings
from pathlib import Path

import numpy as np
import pytest

import pydpmc as dp

pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
pandas = pytest.importorskip("pandas", reason="pandas is not installed")
pq = pytest.importorskip("pyarrow.parquet", reason="pyarrow is not installed")
spec = importlib.util.spec_from_file_location("neighbours_hostile", Path(__file__).parent / "hostile.py")
hostile = importlib.util.module_from_spec(spec)
spec.loader.exec_module(hostile)

OTHERS = np.arange(hostile.N) != hostile.CHANGED


def frames(table):
    """Batches of three records, each value as it stands."""

    def part(values, k):
        column = pandas.Series([None] * len(values[k : k + 3]), dtype=object)
        for i, value in enumerate(values[k : k + 3]):
            column.iat[i] = value
        return column

    starts = range(0, hostile.N, 3)
    return [pandas.DataFrame({name: part(values, k) for name, values in table.items()}) for k in starts]


def parquet(table, folder):
    texts = {
        name: pa.array([None if value is None else str(value) for value in values]).dictionary_encode()
        for name, values in table.items()
    }
    pq.write_table(pa.table(texts), folder / "t.parquet", row_group_size=4)
    return folder / "t.parquet"


def read(way, table, folder):
    options = {"progress": "shares"}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        if way == "frames":
            return dp.Data.from_batches(frames(table), hostile.schema(), **options)
        if way == "csv":
            return dp.Data.from_csv(hostile.csv_file(table, folder), hostile.schema(), **options)
        return dp.Data.from_parquet(parquet(table, folder), hostile.schema(), **options)


@pytest.mark.parametrize("way", ["frames", "csv", "parquet"])
def test_a_hostile_record_in_a_stream(way, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("pydpmc.data.packed.sources.MOST_ROWS", 5)
    plain, said = read(way, hostile.PLAIN, tmp_path), capsys.readouterr().err
    texts = (None, 1, 0.5, float("inf"), "1.0", "01", "many", "a,b", "True", "9" * 5000)
    names = list(hostile.COLUMNS)
    for i, value in enumerate(hostile.ALL if way == "frames" else texts):
        changed = read(way, hostile.with_record(names[i % len(names)], value), tmp_path)
        assert capsys.readouterr().err == said
        assert plain.public == changed.public
        for a, b in ((plain._rows, changed._rows), (plain.row_squares(), changed.row_squares())):
            np.testing.assert_array_equal(np.asarray(a)[OTHERS], np.asarray(b)[OTHERS])


def test_the_packed_file_is_as_long_for_every_record(tmp_path):
    sizes = set()
    for k, value in enumerate((None, "many", 1e308, "a" * 5000)):
        path = tmp_path / f"{k}.dpmc"
        table = frames(hostile.with_record("word", value))
        dp.Data.from_batches(table, hostile.schema(), cache=path, progress=False)
        sizes.add(path.stat().st_size)
    assert len(sizes) == 1
