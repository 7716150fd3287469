"""Tables on a cluster: Parquet files that all workers can read, and Dask data frames."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from ..._optional import require
from ...checks import given, positive, whole
from ...errors import ClusterError, InvalidArgument, SchemaError, WrongType
from ..cells import cuts
from ..columns import of_values
from ..data import Data
from ..packed.reading import MOST_CELLS, public_options
from ..packed.sources import File, Source, stamp_of
from ..schema import Schema
from .cluster import Cluster
from .grouping import CHANGED
from .host import Piece, pack_partition

LOCAL = ("127.0.0.1", "::1", "localhost")
SECONDS = 60.0


@dataclass(frozen=True)
class ParquetCell:
    """Consecutive rows of Parquet files."""

    pieces: Sequence[Piece]
    schema: Schema
    options: dict[str, Any]

    def load(self, cluster: Cluster, cell: int, address: str, host: Any) -> Any:
        """Let a worker read its rows."""
        return host.load(cell, self.pieces, self.schema, self.options, cluster.key)


@dataclass(frozen=True)
class GroupedCell:
    """Groups of Parquet files."""

    files: Sequence[File]
    cells: int
    schema: Schema
    options: dict[str, Any]

    def load(self, cluster: Cluster, cell: int, address: str, host: Any) -> Any:
        """Let a worker find its groups."""
        return host.load_groups(cell, self.cells, self.files, self.schema, self.options, cluster.key)


@dataclass(frozen=True)
class PartitionCell:
    """A partition of a Dask data frame, which is computed again each time that it is needed."""

    partition: Any
    schema: Schema
    options: dict[str, Any]

    def load(self, cluster: Cluster, cell: int, address: str, host: Any) -> Any:
        """Compute the partition at a worker, whose actor then takes it up."""
        delayed = require("dask", "dask", "a Dask data frame").delayed
        task = delayed(pack_partition, pure=False)(self.partition, self.schema, self.options)
        future = cluster.client.compute(task, workers=[address], allow_other_workers=False)
        found, path = cluster.wait(address, future, patient=True)
        if found != address:
            raise ClusterError("a partition was computed at another worker than the one that was asked")
        return host.open(cell, path, cluster.key)


def parquet_on_cluster(
    client: Any,
    insecure: bool,
    source: Source,
    schema: Schema,
    *,
    cells: int | None = None,
    timeout: float = SECONDS,
    progress: Any = True,
    cache: Any = None,
    **given_options: Any,
) -> Data:
    """Return the records of Parquet files at the workers of a cluster."""
    if cache is not None:
        raise InvalidArgument("cache: the workers of a cluster keep their records in unnamed files; leave it out")
    _require_client(client, insecure)
    options, rows = public_options(given_options), source.rows or 0
    count = len(client.nthreads()) if cells is None else whole(cells, "cells", most=MOST_CELLS)
    if schema.group is not None:
        grouped = GroupedCell(source.files, count, schema, options)
        return _unchanged(
            source, _on_cluster(client, dict.fromkeys(range(count), grouped), schema, options, timeout, count)
        )
    sizes = [file.facts()[1] for file in source.files]
    made = {
        cell: ParquetCell(_pieces(source, sizes, units), schema, options)
        for cell, units in enumerate(cuts(rows, count))
        if units[0] < units[1]
    }
    parts = made or {0: ParquetCell((), schema, options)}
    return _unchanged(source, _on_cluster(client, parts, schema, options, timeout, count))


def _unchanged(source: Source, data: Data) -> Data:
    """Refuse files that changed while workers read them: a record that moved could be in two cells."""
    try:
        same = stamp_of(source.files) == source.stamp
    except OSError:
        same = False
    if not same:
        raise ClusterError(CHANGED)
    return data


def from_dask(
    frame: Any,
    schema: Schema,
    *,
    client: Any = None,
    insecure: bool = False,
    timeout: float = SECONDS,
    **given_options: Any,
) -> Data:
    """Return the records of a Dask data frame: see ``Data.from_dask``."""
    if not isinstance(schema, Schema):
        raise WrongType(f"schema must be a pydpmc.Schema, which declares the columns, not {given(schema)}")
    if not hasattr(frame, "to_delayed") or not hasattr(frame, "npartitions"):
        raise WrongType(f"frame must be a Dask data frame, not {given(frame)}")
    client = require("distributed", "dask", "a cluster").get_client() if client is None else client
    _require_client(client, insecure)
    if frame.npartitions > MOST_CELLS:
        raise InvalidArgument(
            f"frame has {frame.npartitions:,} partitions, and at most {MOST_CELLS:,} become cells; repartition it first"
        )
    absent = [name for name in schema.wanted if name not in list(frame.columns)]
    if absent:
        raise SchemaError(f"column {absent[0]!r} is not in the table, which has {list(map(str, frame.columns))}")
    if schema.group is not None:
        raise InvalidArgument(
            "group: the records of a group may be in several partitions of a Dask frame; write it with to_parquet, and "
            "read that with Data.from_parquet(..., client=client), which brings groups together"
        )
    options = public_options(given_options)
    delayed = enumerate(frame[schema.wanted].to_delayed())
    parts = {cell: PartitionCell(part, schema, options) for cell, part in delayed}
    return _on_cluster(client, parts, schema, options, timeout, len(parts))


def _on_cluster(
    client: Any, sources: Mapping[int, Any], schema: Schema, options: dict[str, Any], timeout: float, cells: int
) -> Data:
    data = schema.of_columns({name: of_values([]) for name in schema.wanted}, **options)
    cluster = Cluster(client, sources, cells, positive(timeout, "timeout"))
    data._public = dataclasses.replace(data.public, n=cluster.units)
    data._cluster, data._cells = cluster, cells
    return data


def _pieces(source: Source, sizes: Sequence[int], units: tuple[int, int]) -> list[Piece]:
    """Return the parts of files that hold these rows."""
    pieces: list[Piece] = []
    start = 0
    for file, count in zip(source.files, sizes, strict=True):
        low, high = max(units[0] - start, 0), min(units[1] - start, count)
        if low < high:
            pieces.append((file, (low, high)))
        start += count
    return pieces


def _require_client(client: Any, insecure: bool) -> None:
    """Refuse what is no client, and a connection that others can read."""
    distributed = require("distributed", "dask", "a cluster")
    if not isinstance(client, distributed.Client):
        raise WrongType(f"client must be a distributed.Client, not {given(client)}")
    address = urlsplit(client.scheduler.address)
    if address.scheme in ("tls", "inproc") or address.hostname in LOCAL or insecure:
        return
    raise InvalidArgument(
        f"client: the connection to {client.scheduler.address} is not encrypted, and records, theta and unnoised sums "
        "would cross the network for all to read. Use TLS (distributed.Security), or pass insecure=True if the network "
        "is as trusted as the machines"
    )
