"""One HTML page with nothing outside it: no script, no font, no picture from elsewhere."""

from __future__ import annotations

import base64
import hashlib
import platform
from collections.abc import Mapping, Sequence
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
from ..summary import COLUMNS
from ..tables import cell
from . import charts, words

if TYPE_CHECKING:
    from ...data.schema import Schema
    from ..posterior import Posterior

MOST_COLUMNS = 200
PLAN_NOT_SHOWN = ("public", "model_spec", "model", "private", "prior_mean", "prior_precision", "independent_draws")


def write(
    post: Posterior,
    path: str | Path,
    *,
    title: str | None = None,
    schema: Schema | None = None,
    ledger_entry: Mapping[str, Any] | None = None,
) -> None:
    """Write the report of a posterior to an HTML file."""
    file = file_path(path, "path")
    page = render(post, title=title, schema=schema, ledger_entry=ledger_entry).encode()
    with usable(file, "path"):
        replace_file(file, lambda new: new.writelines([page]))


def render(
    post: Posterior,
    *,
    title: str | None = None,
    schema: Schema | None = None,
    ledger_entry: Mapping[str, Any] | None = None,
) -> str:
    """Return the report of a posterior as HTML."""
    _check(title, schema, ledger_entry)
    name = title or "Privacy report of a Bayesian analysis"
    sections = [
        _head(post, name),
        _promise(post),
        *([_one_record(post)] if post.private else []),
        _section("What this rests on", _list(words.not_covered(post))),
        _data(post, schema),
        _model(post),
        _posterior(post),
        _diagnostics(post),
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


def _head(post: Posterior, name: str) -> str:
    made = datetime.now(UTC).strftime("%d %B %Y, %H:%M UTC")
    how = f"{post.plan.get('sampler')} draws from the posterior of {str(post.plan.get('model')).partition('(')[0]}"
    kind = "banner" if post.private else "banner void"
    below = f"<span>{visible_html(words.in_short(post))}</span>" if post.private else ""
    return (
        f'<h1>{visible_html(name)}</h1>\n<p class="soft">{visible_html(how)}. Page made on {made}.</p>\n'
        f'<div class="{kind}"><strong>{visible_html(words.headline(post))}</strong>{below}</div>'
    )


def _promise(post: Posterior) -> str:
    return _section("The promise", "".join(f"<p>{visible_html(text)}</p>" for text in words.promise(post)))


def _one_record(post: Posterior) -> str:
    sentences, rows = words.one_record(post.guarantee)
    head = ("wrongly accused, at most", "rightly accused, at most", "ratio")
    pictures = _figures(charts.privacy(post))
    return _section(
        f"What {post.guarantee.unit} can change", _paragraphs(sentences) + _table(head, rows, numbers=True) + pictures
    )


def _data(post: Posterior, schema: Schema | None) -> str:
    public = public_of(post)
    count = f"{public.n:,} (public)" if post.guarantee.adjacency == "replace" else "not disclosed"
    facts = [(units_of(public.unit), count), ("features", str(public.width))]
    facts += [("bound on the norm of a record", "none" if public.row_norm is None else f"{public.row_norm:.6g}")]
    if public.y_bounds is not None:
        facts.append(("bounds of the target", "[{:g}, {:g}]".format(*public.y_bounds)))
    body = "<p>Bounds were declared, not learned; values outside them were moved to the nearest bound.</p>" + _table(
        (), facts
    )
    if schema is not None:
        declared = [(name, column.describe(), str(column.missing)) for name, column in schema.rows()]
        body += _table(("column", "declared", "missing values"), declared)
    elif public.x_bounds is not None:
        bounds = [(c, f"{lo:g}", f"{hi:g}") for c, (lo, hi) in zip(public.columns, public.x_bounds, strict=True)]
        body += _table(("feature", "low", "high"), bounds[:MOST_COLUMNS], numbers=True)
    else:
        body += f"<p>Features: {visible_html(', '.join(public.columns[:MOST_COLUMNS]))}.</p>"
    return _section("The data, as declared", body)


def _model(post: Posterior) -> str:
    spec = post.plan.get("model_spec") or {}
    rows = [(key, _plain(value)) for key, value in spec.items()] or [("model", str(post.plan.get("model")))]
    weight = post.plan.get("w")
    note = ""
    if weight is not None and weight != 1:
        note = (
            f"<p>The likelihood is tempered with weight w = {weight:.4g}: the posterior is wider than that of the full "
            "data, by design, because the budget buys no more.</p>"
        )
    return _section("Model and prior", _table((), rows) + note)


def _posterior(post: Posterior) -> str:
    rows = [(name, *(cell(c, row[c], 3) for c in COLUMNS)) for name, row in post.summary().rows.items()]
    body = _table(("parameter", *COLUMNS), rows, numbers=True)
    if _has_draws(post):
        body += _figures([charts.forest(post)], wide=True)
        body += '<p class="soft">Posterior (filled) and prior (dashed):</p>' + _figures(charts.densities(post))
    return _section("The posterior", body)


def _diagnostics(post: Posterior) -> str:
    if not _has_draws(post):
        return _section("Diagnostics", "<p>The run was stopped before it made a draw.</p>")
    if post.plan.get("independent_draws"):
        return _section("Diagnostics", _independent(post))
    rhat, ess = (post.summary().column(name) for name in ("rhat", "ess"))
    rhat, ess = rhat[np.isfinite(rhat)], ess[np.isfinite(ess)]
    if rhat.size == 0 or ess.size == 0:
        return _section("Diagnostics", "<p>There are too few draws for R-hat and effective sample size.</p>")
    verdict = (
        "The chains agree with each other and with themselves."
        if rhat.max() < 1.05 and ess.min() > 100
        else "Effective draws are few or chains disagree: read the figures with caution. The guarantee holds anyway."
    )
    facts = [("largest R-hat", f"{rhat.max():.3f}"), ("least effective sample size", f"{ess.min():.0f}")]
    facts += [(f"acceptance of chain {k + 1}", f"{rate:.3f}") for k, rate in enumerate(post.acceptance)]
    stopped = "<p>The run was stopped by hand; all planned steps are charged.</p>" if post.interrupted else ""
    return _section("Diagnostics", f"<p>{verdict}</p>{stopped}" + _table((), facts) + _figures(charts.traces(post)))


def _independent(post: Posterior) -> str:
    chains, draws = next(iter(post.draws.values())).shape[:2]
    several = f"These are {chains * draws:,} independent draws, each made on its own"
    what = "This is one draw, made on its own" if chains * draws == 1 else several
    return (
        f"<p>{what}: no chain was released whose parts could be compared, and every draw counts in full. The guarantee "
        "does not depend on it.</p>"
    )


def _provenance(post: Posterior, ledger_entry: Mapping[str, Any] | None) -> str:
    settings = [(key, _plain(value)) for key, value in post.plan.items() if key not in PLAN_NOT_SHOWN]
    software = [("pydpmc", __version__), ("numpy", np.__version__), ("Python", platform.python_version())]
    body = f"<p>{visible_html(post.guarantee.statement())}</p>" + _table((), [*settings, *software])
    if ledger_entry is not None:
        body += "<p>Entry in the ledger of this data set:</p>"
        body += _table((), [(str(key), _plain(value)) for key, value in ledger_entry.items()])
    return _section("How it was made", body)


def _has_draws(post: Posterior) -> bool:
    return all(values.size for values in post.draws.values())


def _plain(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, Mapping):
        return ", ".join(f"{key}: {_plain(inner)}" for key, inner in value.items())
    if isinstance(value, (list, tuple)) and len(value) > 12:
        return f"{len(value)} values"
    return str(value)


def _section(heading: str, body: str) -> str:
    return f"<section>\n<h2>{visible_html(heading)}</h2>\n{body}\n</section>"


def _paragraphs(sentences: Sequence[str]) -> str:
    return "".join(f"<p>{visible_html(text)}</p>" for text in sentences)


def _list(items: Sequence[str]) -> str:
    return "<ul>" + "".join(f"<li>{visible_html(item)}</li>" for item in items) + "</ul>"


def _table(head: Sequence[str], rows: Sequence[Sequence[str]], numbers: bool = False) -> str:
    top = "".join(f'<th scope="col">{visible_html(h)}</th>' for h in head)
    body = "".join(
        f'<tr><th scope="row">{visible_html(row[0])}</th>'
        + "".join(f"<td>{visible_html(c)}</td>" for c in row[1:])
        + "</tr>"
        for row in rows
    )
    heading = f"<thead><tr>{top}</tr></thead>" if head else ""
    return f'<div class="scroll{" numbers" if numbers else ""}"><table>{heading}<tbody>{body}</tbody></table></div>'


def _figures(pictures: Sequence[str], wide: bool = False) -> str:
    inside = "".join(f"<figure>{picture}</figure>" for picture in pictures)
    return f'<div class="charts{" wide" if wide else ""}">{inside}</div>'
