"""One HTML page with nothing outside it: no script, no font, no picture from elsewhere."""

from __future__ import annotations

import base64
import hashlib
import platform
from collections.abc import Mapping
from datetime import UTC, datetime
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..._files import replace_file
from ..._version import __version__
from ...accounting.statement import units_of
from ...checks import file_path, given, usable, visible_html
from ...errors import WrongType
from ..facts import public_of
from . import charts, result, words
from .markup import bullets, figures, paragraphs, plain, section, table

if TYPE_CHECKING:
    from ...data.schema import Schema
    from ..posterior import Posterior
    from ..verdict import Verdict

MOST_COLUMNS = 200
PLAN_NOT_SHOWN = (
    *("public", "model_spec", "model", "private", "prior_mean", "prior_precision", "independent_draws"),
    "comparison",
)
COMPARED = ("sampler", "error", "width", "verdict")


def write(
    post: Posterior,
    path: str | Path,
    *,
    title: str | None = None,
    schema: Schema | None = None,
    ledger_entry: Mapping[str, Any] | None = None,
    rehearsal: Any = None,
) -> None:
    """Write the report of a posterior to an HTML file."""
    file = file_path(path, "path")
    page = render(post, title=title, schema=schema, ledger_entry=ledger_entry, rehearsal=rehearsal).encode()
    with usable(file, "path"):
        replace_file(file, lambda new: new.writelines([page]))


def render(
    post: Posterior,
    *,
    title: str | None = None,
    schema: Schema | None = None,
    ledger_entry: Mapping[str, Any] | None = None,
    rehearsal: Any = None,
) -> str:
    """Return the report of a posterior as HTML."""
    _check(title, schema, ledger_entry)
    name = title or "Privacy report of a Bayesian analysis"
    found = post.verdict
    sections = [
        _head(post, name, found),
        *([] if rehearsal is None else [result.rehearsed(rehearsal)]),
        _promise(post),
        *([_one_record(post)] if post.private else []),
        section("What this rests on", bullets(words.not_covered(post))),
        _data(post, schema),
        _model(post, found),
        *_choice(post),
        *result.sections(post, found),
        _provenance(post, post.ledger_entry if ledger_entry is None else ledger_entry),
    ]
    style = resources.files(__package__).joinpath("style.css").read_text(encoding="utf-8")
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_policy(style)}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{visible_html(name)}</title>\n<style>\n{style}</style>\n</head>\n<body>\n<main>\n"
        + "\n".join(sections)
        + "\n</main>\n</body>\n</html>\n"
    )


def _policy(style: str) -> str:
    """Let a browser use this style sheet and nothing else: no script, no form, nothing from elsewhere."""
    digest = base64.b64encode(hashlib.sha256(f"\n{style}".encode()).digest()).decode()
    return f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"


def _check(title: Any, schema: Any, ledger_entry: Any) -> None:
    from ...data.schema import Schema

    if title is not None and not isinstance(title, str):
        raise WrongType(f"title must be a text, not {given(title)}")
    if schema is not None and not isinstance(schema, Schema):
        raise WrongType(f"schema must be the pydpmc.Schema of the data, not {given(schema)}")
    if ledger_entry is not None and not isinstance(ledger_entry, Mapping):
        raise WrongType(f"ledger_entry must map names to values, not {given(ledger_entry)}")


def _head(post: Posterior, name: str, found: Verdict) -> str:
    made = datetime.now(UTC).strftime("%d %B %Y, %H:%M UTC")
    how = f"{post.plan.get('sampler')} draws from the posterior of {str(post.plan.get('model')).partition('(')[0]}"
    below = words.in_short(post) if post.private else ""
    return (
        f'<h1>{visible_html(name)}</h1>\n<p class="soft">{visible_html(how)}. Page made on {made}.</p>\n'
        f'<div class="boxes">{_box(words.headline(post), below, post.private)}'
        f"{_box(f'{found.kind[0].upper()}{found.kind[1:]}', words.use_in_short(found), found.usable)}</div>"
    )


def _box(headline: str, below: str, good: bool) -> str:
    text = f"<span>{visible_html(below)}</span>" if below else ""
    return f'<div class="banner{"" if good else " void"}"><strong>{visible_html(headline)}</strong>{text}</div>'


def _promise(post: Posterior) -> str:
    return section("The promise", "".join(f"<p>{visible_html(text)}</p>" for text in words.promise(post)))


def _one_record(post: Posterior) -> str:
    sentences, rows = words.one_record(post.guarantee)
    head = ("wrongly accused, at most", "rightly accused, at most", "ratio")
    pictures = figures(charts.privacy(post))
    return section(
        f"What {post.guarantee.unit} can change", paragraphs(sentences) + table(head, rows, numbers=True) + pictures
    )


def _data(post: Posterior, schema: Schema | None) -> str:
    public = public_of(post)
    count = f"{public.n:,} (public)" if post.guarantee.adjacency == "replace" else "not disclosed"
    facts = [(units_of(public.unit), count), ("features", str(public.width))]
    facts += [("bound on the norm of a record", "none" if public.row_norm is None else f"{public.row_norm:.6g}")]
    if public.y_bounds is not None:
        facts.append(("bounds of the target", "[{:g}, {:g}]".format(*public.y_bounds)))
    body = "<p>Bounds were declared, not learned; values outside them were moved to the nearest bound.</p>" + table(
        (), facts
    )
    if schema is not None:
        declared = [(name, column.describe(), str(column.missing)) for name, column in schema.rows()]
        body += table(("column", "declared", "missing values"), declared)
    elif public.x_bounds is not None:
        bounds = [(c, f"{lo:g}", f"{hi:g}") for c, (lo, hi) in zip(public.columns, public.x_bounds, strict=True)]
        body += table(("feature", "low", "high"), bounds[:MOST_COLUMNS], numbers=True)
    else:
        body += f"<p>Features: {visible_html(', '.join(public.columns[:MOST_COLUMNS]))}.</p>"
    return section("The data, as declared", body)


def _model(post: Posterior, found: Verdict) -> str:
    spec = post.plan.get("model_spec") or {}
    rows = [(key, plain(value)) for key, value in spec.items()] or [("model", str(post.plan.get("model")))]
    return section("Model and prior", table((), rows) + paragraphs(words.tempering(found)))


def _choice(post: Posterior) -> list[str]:
    """Return the samplers that were compared, if the planner chose; a file may hold anything in their place."""
    found = post.plan.get("comparison")
    try:
        heads, rows, why = found["headings"], found["rows"], found["why"]  # type: ignore[index]
        kept = [heads.index(name) for name in COMPARED]
        body = table(COMPARED, [tuple(str(row[k]) for k in kept) for row in rows])
    except (AttributeError, IndexError, KeyError, TypeError, ValueError):
        return []
    told = "Forecast from public facts before a record was read; 1 is the posterior without privacy."
    return [section("How the sampler was chosen", paragraphs([str(why), told]) + body)]


def _provenance(post: Posterior, ledger_entry: Mapping[str, Any] | None) -> str:
    settings = [(key, plain(value)) for key, value in post.plan.items() if key not in PLAN_NOT_SHOWN]
    software = [("pydpmc", __version__), ("numpy", np.__version__), ("Python", platform.python_version())]
    body = f"<p>{visible_html(post.guarantee.statement())}</p>" + table((), [*settings, *software])
    if ledger_entry is not None:
        body += "<p>Entry in the ledger of this data set:</p>"
        body += table((), [(str(key), plain(value)) for key, value in ledger_entry.items()])
        body += paragraphs(words.ledger(ledger_entry))
    return section("How it was made", body)
