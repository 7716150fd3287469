"""Which rows of a grouped table a worker keeps, and that it notices labels which changed between two readings."""

import clusters
import numpy as np
import pyarrow.parquet as pq
import pytest

from pydpmc.data.cells import cuts, part_of
from pydpmc.data.cluster.cluster import Cluster
from pydpmc.data.cluster.grouping import GroupedFiles
from pydpmc.data.cluster.host import CellHost
from pydpmc.data.packed.sources import of_parquet
from pydpmc.errors import ClusterError

KEY = b"k" * 32
SCHEME = clusters.schema(group="who", max_group_size=4)


def rewrite(folder, change):
    """Write b.parquet anew, with other labels."""
    table = pq.read_table(folder / "b.parquet").to_pandas()
    changed = change(table)
    pq.write_table(type(clusters.table(1)).from_pandas(changed, preserve_index=False), folder / "b.parquet")


@pytest.fixture
def files(tmp_path):
    clusters.files(tmp_path, 900)
    return of_parquet(tmp_path, SCHEME).files


@pytest.mark.parametrize("cells", [1, 3, 30])
def test_cells_hold_the_groups_that_one_machine_gives_them(files, cells):
    whole = SCHEME.data(clusters.table(900))
    host, marks = CellHost(), set()
    for cell, units in enumerate(cuts(len(whole), cells)):
        count, _, mark = host.load_groups(cell, cells, files, SCHEME, {}, KEY)
        marks.add(mark)
        wanted = part_of(whole, units)
        assert count == (0 if wanted is None else len(wanted))
        if wanted is not None:
            np.testing.assert_array_equal(host._cells[cell]._rows, wanted._rows)
            np.testing.assert_array_equal(host._cells[cell]._group_start, wanted._group_start)
    assert len(marks) == 1


@pytest.mark.parametrize(
    "change",
    [
        lambda table: table.assign(who=table["who"].to_numpy()[::-1]),
        lambda table: table.assign(who=table["who"].where(table.index != 17, 10**6)),
        lambda table: table[100:],
        lambda table: table.iloc[[*range(len(table)), 0]],
    ],
    ids=["order", "one label", "fewer rows", "another row"],
)
def test_labels_that_changed_between_two_readings_are_refused(files, tmp_path, change):
    grouped = GroupedFiles(files, SCHEME, 2, KEY)
    rewrite(tmp_path, change)
    with pytest.raises(ClusterError, match="changed while they were read"):
        list(grouped.batches(0)(100))
    assert GroupedFiles(files, SCHEME, 2, KEY).mark != grouped.mark


def test_a_table_without_rows_is_one_void_group(tmp_path):
    pq.write_table(clusters.table(5).slice(0, 0), tmp_path / "a.parquet")
    files = of_parquet(tmp_path, SCHEME).files
    host = CellHost()
    assert host.load_groups(1, 2, files, SCHEME, {}, KEY)[0] == 0
    assert np.isnan(host._cells[1]._rows).any()


def test_cells_of_workers_that_read_other_labels_are_refused():
    cluster = object.__new__(Cluster)
    cluster._facts, cluster._at = {}, {}
    cluster._note(0, "one", (3, "digest", "labels"))
    cluster._note(1, "other", (4, "digest", "labels"))
    with pytest.raises(ClusterError, match="changed while they were read"):
        cluster._note(2, "other", (4, "digest", "other labels"))
