"""Pieces of the page: sections, lists, tables and rows of pictures, every text escaped."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ...checks import visible_html


def plain(value: Any) -> str:
    """Return a value of a plan as text."""
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, Mapping):
        return ", ".join(f"{key}: {plain(inner)}" for key, inner in value.items())
    if isinstance(value, (list, tuple)) and len(value) > 12:
        return f"{len(value)} values"
    return str(value)


def section(heading: str, body: str) -> str:
    """Return a section of the page."""
    return f"<section>\n<h2>{visible_html(heading)}</h2>\n{body}\n</section>"


def paragraphs(sentences: Sequence[str]) -> str:
    """Return a paragraph for each sentence."""
    return "".join(f"<p>{visible_html(text)}</p>" for text in sentences)


def bullets(items: Sequence[str]) -> str:
    """Return a list."""
    return "<ul>" + "".join(f"<li>{visible_html(item)}</li>" for item in items) + "</ul>"


def table(head: Sequence[str], rows: Sequence[Sequence[str]], numbers: bool = False) -> str:
    """Return a table; the first cell of a row names it."""
    top = "".join(f'<th scope="col">{visible_html(h)}</th>' for h in head)
    body = "".join(
        f'<tr><th scope="row">{visible_html(row[0])}</th>'
        + "".join(f"<td>{visible_html(c)}</td>" for c in row[1:])
        + "</tr>"
        for row in rows
    )
    heading = f"<thead><tr>{top}</tr></thead>" if head else ""
    return f'<div class="scroll{" numbers" if numbers else ""}"><table>{heading}<tbody>{body}</tbody></table></div>'


def figures(pictures: Sequence[str], wide: bool = False) -> str:
    """Return pictures beside each other where there is room."""
    inside = "".join(f"<figure>{picture}</figure>" for picture in pictures)
    return f'<div class="charts{" wide" if wide else ""}">{inside}</div>'
