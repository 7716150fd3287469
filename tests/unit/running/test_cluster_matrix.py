"""Every sampler that is offered on a cluster, in every storage: as many cells, the same draws, whoever holds them."""

import clusters
import numpy as np
import pytest

import pydpmc as dp

distributed = pytest.importorskip("distributed", reason="distributed is not installed")
pytestmark = [pytest.mark.filterwarnings("ignore"), pytest.mark.slow]  # the warnings are Dask's own
ROWS, CELLS = 1200, (1, 2, 5, 1024)


@pytest.fixture(scope="module", params=[1, 2, 3], ids=lambda workers: f"workers{workers}")
def client(request):
    with clusters.workers_client(request.param) as found:
        yield found


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    found = tmp_path_factory.mktemp("parquet")
    clusters.files(found, ROWS)
    return found


@pytest.mark.parametrize("grouped", [False, True], ids=["records", "groups"])
@pytest.mark.parametrize("storage", clusters.STORAGES)
@pytest.mark.parametrize("cells", CELLS)
def test_draws_are_those_of_as_many_cells_on_one_machine(client, folder, cells, storage, grouped):
    if grouped and cells == 1024:
        cells = 200  # as many as there are groups; each cell of a grouped table reads the whole of it
    scheme = clusters.schema(**({"group": "who", "max_group_size": 9} if grouped else {}))
    memory = scheme.data(clusters.table(ROWS), storage=storage)
    data = dp.Data.from_parquet(folder, scheme, client=client, cells=cells, storage=storage, timeout=300.0)
    assert data.public == memory.public
    for sampler in ("SGLD", "SGLD, samples", "Newton") if grouped else clusters.EVERY:
        plan = clusters.plan_of(memory, sampler)
        found = clusters.draws(plan, data)
        np.testing.assert_array_equal(found, clusters.draws(plan, memory.in_cells(cells)), err_msg=sampler)
        if sampler in clusters.ALL_RECORDS:
            np.testing.assert_array_equal(found, clusters.draws(plan, memory), err_msg=sampler)
