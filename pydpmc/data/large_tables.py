"""The ways in of tables that do not fit into memory, or are at the workers of a cluster: methods of `Data`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .data import Data


class LargeTables:
    """Gives `Data` the methods that read files, batches and frames of Dask; packed/ and cluster/ do the work."""

    @classmethod
    def from_parquet(cls, paths: Any, schema: Any, **options: Any) -> Data:
        """Return the records of Parquet files, however many, packed into a file and mapped into memory.

        One pass reads the files a batch at a time and encodes every record by itself. Memory does not grow with
        the number of records, neither here nor in a run.

        Parameters
        ----------
        paths
            A path, a folder, a list of paths, or a ``pyarrow.dataset`` of Parquet files.
        schema
            The ``Schema`` of the table.
        options
            ``cache``, the file to write (by convention ``.dpmc``); if it exists it is used, or refused if it was made
            from other files or declarations. Without it the file has no name and vanishes with the data.
            ``public_n``, ``storage``, ``base_rate``, ``typical_norm``: as in ``Data``. ``progress``: True shows
            quarters of the work, False nothing; ``"rows"`` shows rows and rows per second, for tables whose number of
            rows is public (under ``replace``, without groups or ``public_n``). ``cells``: into how many parts the
            records are cut, 1 by default. ``client``: a ``distributed.Client``; then its workers hold the records
            (docs/howto/cluster.md), and ``insecure=True`` accepts a connection without TLS.

        Returns
        -------
        Data
            Takes the place of any other ``Data``: in ``plan.run``, ``sample``, in estimators.

        Examples
        --------
        >>> import tempfile, pyarrow as pa, pyarrow.parquet as pq, pydpmc as dp
        >>> schema = dp.Schema({"age": dp.Number(17, 90), "owns": dp.Binary()}, target="owns", missing="drop")
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     pq.write_table(pa.table({"age": [20, 50, 80], "owns": [0, 1, 1]}), f"{folder}/people.parquet")
        ...     data = dp.Data.from_parquet(f"{folder}/people.parquet", schema, cache=f"{folder}/rows.dpmc")
        >>> len(data), data.public.columns
        (3, ('age',))
        """
        from .packed.reading import from_parquet

        return from_parquet(paths, schema, **options)

    @classmethod
    def from_csv(cls, paths: Any, schema: Any, **options: Any) -> Data:
        """Return the records of CSV files with a header, as `from_parquet` does; every cell is read as text."""
        from .packed.reading import from_csv

        return from_csv(paths, schema, **options)

    @classmethod
    def from_batches(cls, batches: Any, schema: Any, **options: Any) -> Data:
        """Return the records of batches, as `from_parquet` does.

        `batches` is an iterable of tables (Arrow record batches, a ``RecordBatchReader``, pandas or polars frames) or
        a polars ``LazyFrame``. A `cache` that exists is refused: nothing tells whether it holds the same records.
        """
        from .packed.reading import from_batches

        return from_batches(batches, schema, **options)

    @classmethod
    def from_dask(cls, frame: Any, schema: Any, **options: Any) -> Data:
        """Return the records of a Dask data frame, which the workers of its cluster hold.

        Each partition becomes a cell. `options` are those of `from_parquet` with a `client` (the current one by
        default), without `cells` and `cache`. A partition must give the same rows whenever it is computed: it is
        computed again if its worker dies, and refused if it changed.
        """
        from .cluster.loading import from_dask

        return from_dask(frame, schema, **options)

    @classmethod
    def from_cache(cls, path: Any) -> Data:
        """Return the records of a file that `from_parquet` and its like wrote; the schema is in the file.

        The file is read once, and refused if it is truncated, was changed, or holds rows beyond their bounds.
        """
        from .packed.reading import from_cache

        return from_cache(path)
