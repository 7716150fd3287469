"""`Data.from_parquet` and its like: write a file of packed records, or use the one that is there."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any, BinaryIO, cast

from ..._files import replace_file
from ...checks import file_path, given, one_of, positive, whole
from ...errors import CacheError, InvalidArgument, PydpmcError, UnusableFile, WrongType
from ..data import Data
from ..schema import Schema
from ..storage import STORAGES
from .opening import Mapping, data_of, open_packed
from .packing import Packed, pack
from .showing import RowsShown
from .sources import Source, of_batches, of_csv, of_parquet

MOST_CELLS = 1024
PUBLIC = ("public_n", "storage", "base_rate", "typical_norm")


def from_parquet(paths: Any, schema: Schema, *, client: Any = None, insecure: bool = False, **options: Any) -> Data:
    """Return the records of Parquet files: see ``Data.from_parquet``."""
    _require_schema(schema)
    if client is not None:
        from ..cluster.loading import parquet_on_cluster

        return parquet_on_cluster(client, insecure, of_parquet(paths, schema), schema, **options)
    if insecure:
        raise InvalidArgument("insecure was given but client was not")
    return _packed(of_parquet(paths, schema), schema, **options)


def from_csv(paths: Any, schema: Schema, **options: Any) -> Data:
    """Return the records of CSV files: see ``Data.from_csv``."""
    _require_schema(schema)
    return _packed(of_csv(paths, schema), schema, **options)


def from_batches(batches: Any, schema: Schema, **options: Any) -> Data:
    """Return the records of batches: see ``Data.from_batches``."""
    _require_schema(schema)
    return _packed(of_batches(batches, schema), schema, **options)


def from_cache(path: Any) -> Data:
    """Return the records of a file: see ``Data.from_cache``."""
    return open_packed(file_path(path, "cache"))


def public_options(given_options: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments of ``Data`` among the options, checked; refuse others."""
    for name in given_options:
        if name not in PUBLIC:
            raise WrongType(f"{name} is no argument here; these are known: cache, progress, cells, {', '.join(PUBLIC)}")
    options = {name: value for name, value in given_options.items() if value is not None}
    one_of(options.get("storage", "float64"), "storage", STORAGES)
    if "public_n" in options:
        options["public_n"] = whole(options["public_n"], "public_n")
    for name in ("base_rate", "typical_norm"):
        if name in options:
            options[name] = positive(options[name], name)
    return options


def _packed(
    source: Source, schema: Schema, *, cache: Any = None, progress: Any = True, cells: int = 1, **given_options: Any
) -> Data:
    options = public_options(given_options)
    parts = whole(cells, "cells", most=MOST_CELLS)
    if cache is None:
        data = _unnamed(source, schema, options, progress)
    else:
        path = file_path(cache, "cache")
        if path.exists():
            data = open_packed(path)
            _require_same(data, path, source, schema, options)
        else:
            data = written(path, source, schema, options, progress)
    return data.in_cells(parts)


def written(path: Path, source: Source, schema: Schema, options: dict[str, Any], progress: Any) -> Data:
    """Write the file atomically, and return its records."""
    made: list[Packed] = []

    def write(file: BinaryIO) -> None:
        with RowsShown(source.rows, _shown(progress, schema, options)) as shown:
            made.append(pack(file, schema, source, options, path.parent, shown.add))

    try:
        replace_file(path, write, mode=0o600)
        with path.open("rb") as file:
            return data_of(Mapping(file, made[0].header, made[0].digest))
    except PydpmcError:
        raise
    except OSError as error:
        raise UnusableFile(f"cache: {str(path)!r} cannot be written: {error.strerror}") from None


def _unnamed(source: Source, schema: Schema, options: dict[str, Any], progress: Any) -> Data:
    shown = RowsShown(source.rows, _shown(progress, schema, options))
    with tempfile.TemporaryFile() as unnamed, shown:
        file = cast("BinaryIO", unnamed)
        made = pack(file, schema, source, options, Path(tempfile.gettempdir()), shown.add)
        return data_of(Mapping(file, made.header, made.digest))


def _shown(progress: Any, schema: Schema, options: dict[str, Any]) -> str:
    """Return how much of the progress may be shown: "rows", "shares" or "nothing"."""
    if not (isinstance(progress, bool) or progress in ("rows", "shares")):
        raise InvalidArgument(f'progress must be True, False, "rows" or "shares", not {given(progress)}')
    if progress == "rows" and (schema.group is not None or "public_n" in options):
        raise InvalidArgument('progress="rows" would show how many records there are, which is private here; use True')
    return "rows" if progress == "rows" else "shares" if progress else "nothing"


def _require_same(data: Data, path: Path, source: Source, schema: Schema, options: dict[str, Any]) -> None:
    """Refuse a file that was made of other files or by other declarations."""
    header = data._mapping.header
    asked = {"schema": schema.to_dict(), "options": options, "source": source.stamp}
    differing = [name for name, value in asked.items() if header[name] != value]
    if source.stamp is None:
        raise CacheError(
            f"cache: {str(path)!r} exists, and nothing tells whether it holds the records of these batches; open it by "
            "Data.from_cache, or remove it"
        )
    if differing:
        what = " and ".join({"options": "public facts", "source": "files"}.get(name, name) for name in differing)
        raise CacheError(
            f"cache: {str(path)!r} was written for another {what}; remove it to write it anew, or name another file"
        )


def _require_schema(schema: Any) -> None:
    if not isinstance(schema, Schema):
        raise WrongType(f"schema must be a pydpmc.Schema, which declares the columns, not {given(schema)}")
