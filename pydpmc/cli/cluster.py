"""The ``[cluster]`` table of a study file: the scheduler, and the certificates that it wants to see."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from .._optional import require
from ..checks import given
from ..errors import InvalidArgument

CLUSTER = ("scheduler", "ca", "certificate", "key", "insecure", "timeout")


def cluster_options(section: Mapping[str, Any], path: Callable[[str], Path]) -> dict[str, Any]:
    """Return the arguments of ``Data.from_parquet`` for a cluster; nothing without one."""
    if not section:
        return {}
    scheduler = section.get("scheduler")
    if not isinstance(scheduler, str) or "://" not in scheduler:
        raise InvalidArgument(f'scheduler must be an address such as "tls://host:8786", not {given(scheduler)}')
    distributed = require("distributed", "dask", "a study on a cluster")
    files = {name: str(path(section[name])) for name in ("ca", "certificate", "key") if name in section}
    security = None
    if scheduler.startswith("tls://"):
        absent = [name for name in ("ca", "certificate", "key") if name not in files]
        if absent:
            raise InvalidArgument(f"{absent[0]} must be given: a scheduler with TLS wants ca, certificate and key")
        security = distributed.Security(
            tls_ca_file=files["ca"],
            tls_client_cert=files["certificate"],
            tls_client_key=files["key"],
            require_encryption=True,
        )
    try:
        client = distributed.Client(scheduler, security=security, timeout=10)
    except OSError:
        raise InvalidArgument(f"scheduler: {scheduler} does not answer") from None
    options = {name: section[name] for name in ("insecure", "timeout") if name in section}
    return {"client": client, **options}
