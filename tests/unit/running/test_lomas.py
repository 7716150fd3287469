"""The querier for Lomas that docs/howto/other_libraries.md prints, with the real classes of lomas-server."""

import re
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("lomas_server", reason="lomas-server is not installed (Python 3.11 or 3.12): nox -s lomas")
pytestmark = pytest.mark.filterwarnings("ignore")  # Lomas imports what its dependencies are about to drop

PAGE = Path(__file__).parents[3] / "docs" / "howto" / "other_libraries.md"


class Admin:
    """The part of the server's database of budgets that a querier uses."""

    def __init__(self, epsilon, delta):
        self.left, self.saved = (epsilon, delta), []

    def get_and_set_may_user_query(self, user, may):
        return True

    def set_may_user_query(self, user, may):
        pass

    def get_remaining_budget(self, user, dataset):
        return self.left

    def update_budget(self, user, dataset, epsilon, delta):
        self.left = self.left[0] - epsilon, self.left[1] - delta

    def save_query(self, user, query, response):
        self.saved.append(response)


@pytest.fixture(scope="module")
def page():
    (code,) = re.findall(r"<!-- not run -->\n```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    names = {"__name__": "page"}
    exec(code, names)
    names["PydpmcQuery"].model_rebuild()
    return names


@pytest.fixture
def connector(rng):
    import pandas as pd
    from lomas_core.models.collections import Metadata
    from lomas_server.data_connector.in_memory_connector import InMemoryConnector

    x = rng.uniform(0, 100, 3000)
    table = pd.DataFrame({"age": x, "owns": np.where(x + rng.normal(0, 20, 3000) > 50, "yes", "no")})
    age = {"type": "float", "precision": 64, "lower": 0.0, "upper": 100.0}
    columns = {"age": age, "owns": {"type": "string", "cardinality": 2, "categories": ["no", "yes"]}}
    metadata = Metadata.model_validate({"max_ids": 1, "rows": 3000, "row_privacy": True, "columns": columns})
    return InMemoryConnector(metadata, table)


def test_a_cost_reads_no_record_and_a_query_spends_it(page, connector, monkeypatch):
    query = page["PydpmcQuery"](dataset_name="people", target="owns", positive="yes", epsilon=1.0, delta=1e-6)
    admin = Admin(1.5, 1e-5)
    querier = page["PydpmcQuerier"](connector, admin)
    with monkeypatch.context() as patched:
        patched.setattr(type(connector), "get_pandas_df", lambda self: pytest.fail("cost read the records"))
        epsilon, delta = querier.cost(query)
    assert 0.9 < epsilon <= 1.0
    assert delta == 1e-6
    response = querier.handle_query(query, "ann")
    assert (response.epsilon, response.delta) == (epsilon, delta)
    assert response.result.value[0] > 0  # who is older owns more
    assert admin.left == (1.5 - epsilon, 1e-5 - delta)
    with pytest.raises(Exception, match="Not enough budget"):
        querier.handle_query(query, "ann")
    assert len(admin.saved) == 1
