"""Both places of a ledger: a file, and a PostgreSQL server that is started for the tests."""

import secrets

import postgres_server
import pytest

import pydpmc as dp


@pytest.fixture(scope="session")
def server():
    if postgres_server.absence() is not None:
        pytest.skip(postgres_server.absence())
    running = postgres_server.Server()
    yield running
    running.remove()


@pytest.fixture
def url(server):
    """The address of a ledger that does not exist yet."""
    return server.url(f"study-{secrets.token_hex(4)}")


@pytest.fixture(params=["file", "PostgreSQL"])
def place(request, tmp_path):
    """Where a ledger can be made, in a file and in a database."""
    return tmp_path / "study.ledger" if request.param == "file" else request.getfixturevalue("url")


@pytest.fixture
def ledger(place):
    return dp.Ledger(place, epsilon=1.0, delta=1e-6)


@pytest.fixture
def file_ledger(tmp_path):
    return dp.Ledger(tmp_path / "study.ledger", epsilon=1.0, delta=1e-6)
