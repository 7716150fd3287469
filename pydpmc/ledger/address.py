"""The address of a ledger in PostgreSQL: a URL without a password."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl, unquote

from ..errors import InvalidArgument

FORM = "postgresql://user@host:port/database?ledger=NAME"
ANY_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:/{1,2}[^/]|postgres(?:ql)?:", re.IGNORECASE)
WITH_PASSWORD = re.compile(r"[^:]*://[^/?#]*:[^/?#]*@|.*[?&](?:ssl)?password=", re.IGNORECASE | re.DOTALL)
URL = re.compile(
    r"postgres(?:ql)?://(?:(?P<user>[^@/?#:]*)@)?(?P<hosts>[^@/?#]*)(?:/(?P<dbname>[^@/?#:]*))?(?:\?(?P<query>[^#@]*))?"
)
HOST = re.compile(r"(?P<host>\[[0-9A-Fa-f:.%]+\]|[A-Za-z0-9._%~-]*)(?::(?P<port>\d{1,5}))?")
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
OPTIONS = frozenset(  # of libpq; none of them is a secret, and none changes what a transaction does
    ("host", "hostaddr", "port", "dbname", "user", "passfile", "service", "connect_timeout", "application_name",
     "target_session_attrs", "load_balance_hosts", "keepalives", "keepalives_idle", "keepalives_interval",
     "keepalives_count", "tcp_user_timeout", "sslmode", "sslrootcert", "sslcert", "sslkey", "sslcrl", "sslcrldir",
     "sslnegotiation", "ssl_min_protocol_version", "ssl_max_protocol_version", "channel_binding", "require_auth",
     "gssencmode", "krbsrvname", "gsslib")
)  # fmt: skip
HERE = ("", "localhost", "127.0.0.1", "::1")
AT_ONCE = {"connect_timeout": "10", "keepalives_idle": "30", "keepalives_interval": "10", "keepalives_count": "3"}


@dataclass(frozen=True)
class Address:
    """Where a ledger is: what was written, the ledger's name, and the options of the connection."""

    url: str
    ledger: str
    options: Mapping[str, str]


def is_url(place: Any) -> bool:
    """Return whether this is meant to be a URL, not a file.

    Examples
    --------
    >>> is_url("postgresql://db/budgets"), is_url("study.ledger"), is_url("C:/study.ledger")
    (True, False, False)
    """
    return isinstance(place, (str, os.PathLike)) and ANY_URL.match(os.fspath(place)) is not None


def address(url: str) -> Address:
    """Read a URL. No refusal repeats it, because it may hold a password.

    Examples
    --------
    >>> address("postgresql://ann@localhost/budgets?ledger=census").ledger
    'census'
    """
    if WITH_PASSWORD.match(url):
        raise InvalidArgument(
            "ledger: the URL holds a password, which would end up in scripts, study files, printed estimators and "
            "saved files. Leave it out, and put it into ~/.pgpass, a service file or the variable PGPASSWORD"
        )
    parts = URL.fullmatch(url)
    hosts = [HOST.fullmatch(host) for host in parts["hosts"].split(",")] if parts else [None]
    if parts is None or not all(hosts):
        raise _unreadable()
    try:
        query = parse_qsl(parts["query"], strict_parsing=True) if parts["query"] else []
    except ValueError:
        raise _unreadable() from None
    named = [(host["host"].strip("[]"), host["port"] or "") for host in hosts if host]
    options = {name: unquote(parts[name]) for name in ("user", "dbname") if parts[name]}
    if any(host or port for host, port in named):
        options |= {"host": unquote(",".join(host for host, _ in named)), "port": ",".join(port for _, port in named)}
    given = {"ledger": "main"} | dict(query)
    ledger = given.pop("ledger")
    if len({name for name, _ in query}) < len(query) or not given.keys() <= OPTIONS or not NAME.fullmatch(ledger):
        raise _unreadable()
    return Address(url, ledger, _with_defaults(options | given))


def _with_defaults(options: dict[str, str]) -> dict[str, str]:
    """Add what bounds the waiting for a dead peer and, for another machine, that its certificate is checked."""
    host = options.get("host") or os.environ.get("PGHOST", "")
    local = all(name.startswith(("/", "@")) or name in HERE for name in host.split(","))
    defaults = dict(AT_ONCE)
    if not local and "PGSSLMODE" not in os.environ and "service" not in options:
        defaults["sslmode"] = "verify-full"
    return defaults | {name: value for name, value in options.items() if value}


def _unreadable() -> InvalidArgument:
    return InvalidArgument(
        f"ledger: this URL cannot be read. It must have the form {FORM} (a password stays out of it), and may end with "
        f"&option=value for the options {', '.join(sorted(OPTIONS))}. The URL is not repeated here, as it may hold a "
        "password"
    )
