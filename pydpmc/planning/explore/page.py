"""The page itself: figures, style and script in one file that loads nothing."""

from __future__ import annotations

import base64
import hashlib
import json
from importlib import resources
from typing import Any

from ...accounting.statement import units_of
from ...checks import visible, visible_html
from ...samplers.directions import directions
from ...samplers.request import Request
from .grid import Axes

LEAD = (
    "Move the sliders. Nothing here was computed from a record: every figure is a forecast from what was declared, so "
    "looking costs no privacy. The budget is the promise; what it buys is beside it."
)
SLIDERS = (
    ("epsilon", "epsilon", "smaller protects more"),
    ("delta", "delta", "the probability with which the promise may fail"),
    ("records", "records", "how many the table has"),
)


def render(request: Request, purpose: str, axes: Axes, found: list[dict[str, Any]], title: str | None) -> str:
    """Return the page."""
    name = visible_html(title or "What would a privacy budget buy?")
    style, script = (_part(file) for file in ("style.css", "script.js"))
    policy = (
        f"default-src 'none'; style-src '{_digest(style)}'; script-src '{_digest(script)}'; base-uri 'none'; "
        "form-action 'none'"
    )
    model = type(request.model).__name__
    how = f"{model}, {request.dim} parameters, for {request.public.unit} {_neighbours(request.adjacency)}"
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{name}</title>\n<style>{style}</style>\n</head>\n<body>\n<main>\n"
        f'<h1>{name}</h1>\n<p class="soft">{visible_html(how)}.</p>\n<p>{LEAD}</p>\n'
        f"{_sliders(request)}\n{_BODY}\n{_foot(request)}\n</main>\n"
        f'<script type="application/json" id="grid">{_figures(request, purpose, axes, found)}</script>\n'
        f"<script>{script}</script>\n</body>\n</html>\n"
    )


_BODY = """\
<noscript><p>The sliders need scripts, which this browser does not run.</p></noscript>
<div class="boxes" aria-live="polite">
<section class="box" id="learn"><h2>What an attacker could learn</h2><p class="figure" id="guess"></p>
<p id="guess-words"></p><p id="caught"></p></section>
<section class="box" id="buys"><h2>What it buys</h2><p class="figure" id="kind"></p><p id="reason"></p>
<p id="runs"></p></section>
</div>
<div class="charts">
<figure><figcaption>Most successful guess over epsilon</figcaption>
<svg id="chart-guess" viewBox="0 0 320 200" role="img" aria-label="Most successful guess over epsilon"></svg></figure>
<figure><figcaption>Interval width over epsilon (1: without privacy)</figcaption>
<svg id="chart-width" viewBox="0 0 320 200" role="img" aria-label="Width of intervals over epsilon"></svg></figure>
</div>
<h2>All samplers at this setting</h2>
<div class="scroll"><table><thead><tr><th>sampler</th><th>error</th><th>width</th><th>draws</th><th>time</th>
<th>verdict</th></tr></thead><tbody id="samplers"></tbody></table></div>
<p class="soft">Error of estimates, and width of 90 % intervals, in units of the posterior without privacy (1: as
without privacy).</p>"""


def _sliders(request: Request) -> str:
    units = units_of(request.public.unit)
    made = []
    for key, label, hint in SLIDERS:
        shown = units if key == "records" else label
        made.append(
            f'<div class="slider"><label for="{key}">{visible_html(shown)} <output id="{key}-value" for="{key}">'
            f'</output></label><input type="range" id="{key}" min="0" step="1" aria-describedby="{key}-hint">'
            f'<small id="{key}-hint">{hint}</small></div>'
        )
    return f'<form class="sliders">{"".join(made)}</form>'


def _foot(request: Request) -> str:
    ways = directions(request.model, request.public, request.n)
    assumed = "" if ways is None or not ways.assumption else f" Assumed of the records: {ways.assumption}."
    text = (
        "The guess is that of the best attack on the sampler that would run, whatever the attacker knows beside the "
        f"release; a coin is right 50 % of the time.{assumed}"
    )
    return f'<p class="soft">{visible_html(text)}</p>'


def _figures(request: Request, purpose: str, axes: Axes, found: list[dict[str, Any]]) -> str:
    whole = {
        "epsilon": axes.epsilons,
        "delta": axes.deltas,
        "records": axes.records,
        "start": axes.start,
        "purpose": purpose,
        "unit": visible(request.public.unit),
        "cells": found,
    }
    return json.dumps(whole, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c")


def _part(name: str) -> str:
    return resources.files(__package__).joinpath(name).read_text(encoding="utf-8")


def _digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _neighbours(adjacency: str) -> str:
    return "replaced" if adjacency == "replace" else "added or removed"
