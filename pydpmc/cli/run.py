"""``pydpmc run``."""

from __future__ import annotations

import os
from argparse import Namespace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..ledger.address import is_url

if TYPE_CHECKING:
    from ..data.data import Data
    from ..posterior.posterior import Posterior
    from .study import Study

SUFFIXES = {"posterior": (".npz", ".nc"), "report": (".html",), "table": (".md", ".tex")}


def add(commands: Any) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "run",
        help="run a study: data, schema, model, sampler, budget and outputs from one file",
        description="Reads a study file, prints its plan, runs it, and writes its outputs. Every run spends the budget "
        "anew; a ledger (ledger = ... under [run]) keeps count.",
    )
    parser.add_argument("study", type=Path, nargs="+", help="a TOML file, or several; `pydpmc init` writes one")
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="run so many studies at a time, if several")
    parser.add_argument("--overwrite", action="store_true", help="replace outputs that exist")
    parser.add_argument("--anyway", action="store_true", help="run also a plan that public facts say is hopeless")
    parser.add_argument("--quiet", action="store_true", help="no progress, no plan, no table")
    parser.add_argument(
        "--rehearse",
        type=int,
        metavar="RUNS",
        help="first run the plan so often on made-up records, at no cost, and show in the report what happened",
    )
    parser.add_argument(
        "--check-levels",
        type=float,
        metavar="EPSILON",
        help="first release how many records have each level of the target, at this cost of its own, and stop before "
        "the run if a level seems to have none (a typo in levels or positive)",
    )
    parser.set_defaults(run=run)


def run(arguments: Namespace) -> None:
    """Plan, run, and write the outputs."""
    from .several import run_all
    from .study import read_study

    if len(arguments.study) > 1:
        run_all(arguments)
        return
    study = read_study(arguments.study[0])
    _check_outputs(study, arguments.overwrite)
    data = study.data(progress=not arguments.quiet)
    planned = study.plan(data.public)
    if not arguments.quiet:
        print(planned, end="\n\n")
    options = dict(study.run_options)
    if arguments.anyway:
        options["anyway"] = True
    for name in ("ledger", "checkpoint"):
        if name in options and not is_url(options[name]):
            options[name] = study.path(options[name])
    if arguments.check_levels is not None:
        _check_levels(study, data, arguments.check_levels, planned.adjacency, options.get("ledger"))
    rehearsal = None
    if arguments.rehearse is not None:
        rehearsal = planned.rehearse(runs=arguments.rehearse, progress=not arguments.quiet)
        print("" if arguments.quiet else f"{rehearsal}\n\n", end="")
    with study.file.errors_at("run"):
        post = planned.run(data, progress=not arguments.quiet, **options)
    if data._cluster is not None:
        data._cluster.leave()
    _write(study, post, rehearsal)
    if post.ledger_entry is not None:
        run_of, left = (post.ledger_entry[key] for key in ("run", "epsilon left after this run"))
        print(f"{post.ledger_entry['ledger']}: this was run {run_of}; epsilon = {left:g} is left for one more run")
    print(f"\n{post}" if not arguments.quiet else post.verdict)


def _check_levels(study: Study, data: Data, epsilon: float, adjacency: str, ledger: Any) -> None:
    """Release the shares of the target's levels, and stop where one of them shows no record."""
    from ..data.schema import Binary
    from ..quantiles.shares import private_shares

    target = study.schema.columns[str(study.schema.target)]
    levels = data.public.target_levels
    if isinstance(target, Binary):
        levels = (f"not {target.positive}", str(target.positive))
    if levels is None:
        raise study.file.error("--check-levels: the target is a number, and has no levels", "schema", "target")
    with study.file.errors_at("schema"):
        found = private_shares(data, levels, epsilon=epsilon, adjacency=adjacency, ledger=ledger)  # type: ignore[arg-type]
    print(f"{found}\n(released at epsilon = {epsilon:g}, in addition to the cost of the run)\n")
    if found.absent:
        raise study.file.error(
            f"target: no record seems to have {', '.join(map(repr, found.absent))}; check the spelling of the levels. "
            "The run was not started, but the check was charged",
            "schema",
            "target",
        )


def _check_outputs(study: Study, overwrite: bool) -> None:
    """Refuse outputs that cannot be written, before any budget is spent."""
    if "posterior" not in study.output:
        raise study.file.error("[output] posterior must be given: the file that will hold the draws", "output")
    for kind, suffixes in SUFFIXES.items():
        if kind not in study.output:
            continue
        path = study.path(study.output[kind])
        if path.suffix not in suffixes:
            raise study.file.error(f"{kind} must end in {' or '.join(suffixes)}", "output", kind)
        if not path.parent.is_dir() or not os.access(path.parent, os.W_OK):
            raise study.file.error(f"{kind}: the folder {path.parent} does not exist or is read-only", "output", kind)
        if path.exists() and not overwrite:
            saved = study.run_options.get("checkpoint")
            free = f" (if the study is the same its draws come from {saved}, at no cost)" if saved else ""
            raise study.file.error(f"{kind}: {path} exists; remove it, or pass --overwrite{free}", "output", kind)


def _write(study: Study, post: Posterior, rehearsal: Any) -> None:
    """Write the outputs, first the draws, because they cost the budget."""
    paths = {kind: study.path(study.output[kind]) for kind in SUFFIXES if kind in study.output}
    post.save(paths["posterior"])
    print(f"wrote {paths['posterior']}")
    if "table" in paths:
        paths["table"].write_text(post.table("latex" if paths["table"].suffix == ".tex" else "markdown") + "\n")
        print(f"wrote {paths['table']}")
    if "report" in paths:
        print(f"writing {paths['report']} (its privacy curves take a few seconds)", flush=True)
        post.report(paths["report"], schema=study.schema, title=study.output.get("title"), rehearsal=rehearsal)
