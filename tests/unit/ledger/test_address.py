"""The address of a shared ledger: what it may hold, and that no refusal repeats a password."""

import pytest

import pydpmc as dp
from pydpmc.errors import InvalidArgument, MissingExtraError
from pydpmc.ledger.address import address, is_url

SECRET = "hunter2"


@pytest.mark.parametrize(
    ("url", "ledger", "options"),
    [
        ("postgresql://ann@localhost/budgets?ledger=census", "census", {"user": "ann", "host": "localhost"}),
        ("postgresql:///budgets", "main", {"dbname": "budgets"}),
        ("postgres://[::1]:5433/b%20c", "main", {"host": "::1", "port": "5433", "dbname": "b c"}),
        ("postgresql:///b?host=/run/postgresql&ledger=a.b-c", "a.b-c", {"host": "/run/postgresql"}),
        ("postgresql://%2Frun%2Fpg/b", "main", {"host": "/run/pg"}),
        ("postgresql://a,b:5433/x?sslmode=require", "main", {"host": "a,b", "port": ",5433", "sslmode": "require"}),
    ],
)
def test_what_an_address_says(url, ledger, options):
    found = address(url)
    assert found.ledger == ledger
    assert options.items() <= found.options.items()


@pytest.mark.parametrize(
    ("url", "sslmode"),
    [
        ("postgresql://db.example/b", "verify-full"),
        ("postgresql://localhost,db.example/b", "verify-full"),
        ("postgresql:///b?host=db.example", "verify-full"),
        ("postgresql://db.example/b?sslmode=require", "require"),
        ("postgresql://127.0.0.1/b", None),
        ("postgresql:///b", None),
    ],
)
def test_the_certificate_of_another_machine_is_checked_unless_the_url_says_otherwise(url, sslmode, monkeypatch):
    monkeypatch.delenv("PGSSLMODE", raising=False)
    monkeypatch.delenv("PGHOST", raising=False)
    assert address(url).options.get("sslmode") == sslmode
    monkeypatch.setenv("PGHOST", "db.example")
    assert address("postgresql:///b").options["sslmode"] == "verify-full"


PASSWORDS = [
    f"postgresql://ann:{SECRET}@db/b",
    f"postgresql://ann:{SECRET}/x@db/b",
    f"postgresql://ann:{SECRET}?x=1@db/b",
    f"postgresql://ann:12?{SECRET}=1@db/b",
    f"postgresql://ann:{SECRET}#1@db/b",
    f"postgresql://ann@x:{SECRET}@db/b",
    f"postgresql://:{SECRET}@/b",
    f"postgresql://db/b?password={SECRET}",
    f"postgresql://db/b?ledger=a&PASSWORD={SECRET}",
    f"postgresql://db/b?sslpassword={SECRET}",
    f"postgresql://db/b?pass%77ord={SECRET}",
    f"postgresql://db/b?ledger={SECRET}%21",
    f"postgresql://db/b?ledger=a&ledger={SECRET}",
    f"postgresql://db/b?options=-c%20x={SECRET}",
    f"postgresql://db:{SECRET}/b",
    f"postgresql+psycopg://ann:{SECRET}@db/b",
    f"PostgreSQL://ann:{SECRET}@db/b",
    f"mysql://ann:{SECRET}@db/b",
    f"postgresql:ann:{SECRET}@db/b",
]


@pytest.mark.parametrize("url", PASSWORDS)
def test_a_url_with_a_password_is_refused_and_not_repeated(url):
    assert is_url(url)
    for call in (dp.Ledger, lambda place: dp.Ledger(place, epsilon=1, delta=1e-6)):
        with pytest.raises(InvalidArgument, match="password") as refusal:
            call(url)
        assert SECRET not in str(refusal.value)
        assert refusal.value.__suppress_context__ or refusal.value.__context__ is None


def test_a_file_is_no_url(tmp_path):
    assert not any(map(is_url, ("study.ledger", "/a/b.ledger", "C:/study.ledger", "C:\\a", tmp_path, 3)))


def test_the_extra_is_named_where_psycopg_is_absent(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "psycopg", None)
    with pytest.raises(MissingExtraError, match=r"pydpmc\[postgres\]"):
        dp.Ledger("postgresql:///budgets")
