"""Study: a complete run read from a TOML file and checked before a record is read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from .. import samplers
from ..checks import given
from ..data.data import Data
from ..data.public import Public
from ..data.schema import Schema
from ..data.schema.toml import read_schema
from ..data.schema.toml_file import SECTIONS, TomlFile, read_toml
from ..errors import InvalidArgument
from ..models import Model
from ..models.own.named import named_model
from ..models.spec import from_spec
from ..planning.choice import PURPOSES
from ..planning.comparison import Comparison, compare
from ..planning.plan import Plan, plan
from ..samplers.base import Sampler
from ..samplers.gradient.base import Schedule
from .cluster import CLUSTER, cluster_options

DATA = ("path", "n", "public_n", "storage", "base_rate", "typical_norm", "cache", "cells")
BUDGET = ("epsilon", "delta", "adjacency", "chains", "private")
OF_DATA = ("public_n", "storage", "base_rate", "typical_norm")
RUN = ("draws", "warmup", "threads", "ledger", "checkpoint", "anyway")
AUTO = "auto"
OUTPUT = ("posterior", "report", "table", "title")
SAMPLERS: dict[str, type] = {
    kind.__name__: kind
    for kind in (*samplers.ALL, *samplers.CONDITIONAL, *samplers.OF_SOME_MODELS, *samplers.NOT_PRIVATE)
}
SCHEDULES = {kind.__name__: kind for kind in Schedule.__subclasses__()}


@dataclass(frozen=True)
class Study:
    """Data, schema, model, sampler, budget and outputs of a run."""

    file: TomlFile
    schema: Schema
    model: Model
    sampler: Sampler | None
    purpose: str
    data_options: Mapping[str, Any]
    budget: Mapping[str, Any]
    run_options: Mapping[str, Any]
    output: Mapping[str, Any]
    cluster: Mapping[str, Any] = field(default_factory=dict)

    def plan(self, public: Public | None = None) -> Plan:
        """Return the plan; without `public` it uses the declared number of records. No record is read."""
        facts = self.declared() if public is None else public
        with self.file.errors_at("model"):
            self.model.check_public(facts)
        with self.file.errors_at("budget"):
            return plan(self.model, facts, self.sampler, purpose=self.purpose, **self.budget)

    def compare(self) -> Comparison:
        """Return all samplers that are proven for the model, from what the file declares."""
        with self.file.errors_at("budget"):
            options = {key: value for key, value in self.budget.items() if key != "private"}
            return compare(self.model, self.declared(), purpose=self.purpose, **options)

    def declared(self) -> Public:
        """Return the public facts as the file declares them."""
        n = self.data_options.get("n")
        if n is None and self.budget.get("adjacency", "replace") == "replace":
            raise self.file.error('n must be given to plan: under adjacency = "replace" it is public', "data")
        known = {key: self.data_options.get(key) for key in ("public_n", "base_rate", "typical_norm")}
        with self.file.errors_at("data"):
            return self.schema.public(n=1 if n is None else n, **known)

    def data(self, progress: bool = False) -> Data:
        """Return the records: in memory, in a file of packed records, or at the workers of a cluster."""
        options = {key: self.data_options[key] for key in OF_DATA if key in self.data_options}
        if self.cluster or "cache" in self.data_options or "cells" in self.data_options:
            data = self._data_elsewhere(options, progress)
        else:
            with self.file.errors_at("data", "path"):
                data = self.schema.data(self.path(self.data_options["path"]), **options)
        declared = self.data_options.get("n")
        if declared is not None and self.budget.get("adjacency", "replace") == "replace" and declared != len(data):
            raise self.file.error(f"n is {declared} but the table has {len(data)} records; correct it", "data", "n")
        return data

    def _data_elsewhere(self, options: dict[str, Any], progress: bool) -> Data:
        if "cache" in self.data_options:
            options["cache"] = self.path(self.data_options["cache"])
        if "cells" in self.data_options:
            options["cells"] = self.data_options["cells"]
        private = self.budget.get("adjacency", "replace") != "replace"
        options["progress"] = "rows" if progress and not private else progress
        path = self.path(self.data_options["path"])
        with self.file.errors_at("cluster"):
            options |= cluster_options(self.cluster, self.path)
        with self.file.errors_at("data"):
            is_csv = path.name.endswith((".csv", ".csv.gz"))
            if is_csv and self.cluster:
                raise InvalidArgument("path: a cluster reads Parquet files")
            read = Data.from_csv if is_csv else Data.from_parquet
            return read(path, self.schema, **options)

    def path(self, name: str) -> Path:
        """Return a path of the file, which is relative to the folder of the file."""
        return self.file.path.parent / name


def read_study(path: Path) -> Study:
    """Return the study of a TOML file; every mistake is named with its line."""
    file = read_toml(path)
    file.only(SECTIONS)
    for section, known in (("cluster", CLUSTER), ("data", DATA), ("budget", BUDGET), ("run", RUN), ("output", OUTPUT)):
        file.only(known, section)
    data_options = file.table("data")
    if not isinstance(data_options.get("path"), str):
        raise file.error("path must be given: the CSV or Parquet file", "data")
    with file.errors_at("model"):
        named = file.values.get("model")
        model = named_model(named, path.parent) if isinstance(named, str) else from_spec(file.table("model"))
    return Study(
        file=file,
        schema=read_schema(file),
        model=model,
        sampler=_sampler(file),
        purpose=_purpose(file),
        data_options=data_options,
        budget=file.table("budget"),
        run_options=file.table("run", required=False),
        output=file.table("output", required=False),
        cluster=file.table("cluster", required=False),
    )


def _purpose(file: TomlFile) -> str:
    purpose = file.table("sampler", required=False).get("purpose", PURPOSES[0])
    if purpose not in PURPOSES:
        raise file.error(f"purpose must be one of {', '.join(PURPOSES)}, not {given(purpose)}", "sampler", "purpose")
    return str(purpose)


def _sampler(file: TomlFile) -> Sampler | None:
    """Return the sampler of the file; None for `type = "auto"`, which leaves the choice to the planner."""
    options = dict(file.table("sampler", required=False))
    name = options.pop("type", AUTO)
    if not isinstance(name, str) or name not in (AUTO, *SAMPLERS):
        raise file.error(f"type must be one of {AUTO}, {', '.join(SAMPLERS)}, not {given(name)}", "sampler", "type")
    if name == AUTO:
        file.only({"type", "purpose"}, "sampler")
        return None
    file.only({"type", *(field.name for field in fields(SAMPLERS[name]))}, "sampler")
    with file.errors_at("sampler"):
        sampler: Sampler = SAMPLERS[name](**{key: _schedule(value) for key, value in options.items()})
        return sampler


def _schedule(value: Any) -> Any:
    if not isinstance(value, Mapping):
        return value
    options = dict(value)
    name = options.pop("type", None)
    if not isinstance(name, str) or name not in SCHEDULES:
        raise InvalidArgument(f"step_size: type must be one of {', '.join(SCHEDULES)}, not {given(name)}")
    return SCHEDULES[name](**options)
