"""What mkdocs does for this site beyond its plugins: pages from other folders, formulas, the API, the gallery."""

from __future__ import annotations

import posixpath
import re
import sys
from pathlib import Path
from typing import Any

import latex2mathml.converter
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

sys.path.insert(0, str(Path(__file__).parent))
import api_pages
import formulas
import gallery

ROOT = Path(__file__).resolve().parents[2]
# The page that a file of the repository becomes, if it is not the one of its own name below docs/.
PLACES = {
    "README.md": "index",
    "docs/index.md": "tasks",
    "CONTRIBUTING.md": "contributing/index",
    "CHANGELOG.md": "changelog",
    "bench/README.md": "contributing/benchmarks",
    ".github/SECURITY.md": "contributing/security",
    ".github/CODE_OF_CONDUCT.md": "contributing/conduct",
    "docs/privacy": "privacy/mathematics",
}
SOURCES = {f"{place}.md": name for name, place in PLACES.items() if name.endswith(".md")}
LINK = re.compile(r"(\]\()([^)\s:#]+)(#[^)]*)?(\))")
FENCE = re.compile(r"^(```.*?^```[ ]*$)", re.MULTILINE | re.DOTALL)
LIST = re.compile(r"^(?![-*] |\d+\. |\s|\||#|>|$)(.+)\n(?=(?:[-*]|\d+\.) )", re.MULTILINE)
PRIME = re.compile(r"<msup>(<mi>[^<]*</mi>)<mi>(&#x02032;)</mi></msup>")  # raised by its glyph already
FORMULA = re.compile(r'<(span|div) class="arithmatex">(.*?)</\1>', re.DOTALL)


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that are kept elsewhere, and those that are made."""
    by_task = files.get_file_from_path("index.md")
    if by_task is not None:
        files.remove(by_task)
    pages = {place: (ROOT / name).read_text(encoding="utf-8") for place, name in SOURCES.items()}
    pages |= api_pages.pages()
    for place, text in pages.items():
        files.append(File.generated(config, place, content=text))
    for name in ("site.css", "iframe-worker.js"):
        text = (Path(__file__).parent / name).read_text(encoding="utf-8")
        files.append(File.generated(config, f"assets/{name}", content=text))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Point links at the site, run the gallery, and write lists as Python-Markdown wants them."""
    place = page.file.src_uri
    if place.startswith("gallery/"):
        markdown = gallery.executed(markdown, place, config, files)
    if place.startswith("privacy/"):
        markdown = formulas.displayed(markdown)
    parts = FENCE.split(markdown)
    for number in range(0, len(parts), 2):
        text = LINK.sub(lambda found: _link(found, place), parts[number])
        parts[number] = LIST.sub(r"\1\n\n", text)
    return "".join(parts)


def on_page_content(html: str, page: Page, **_: Any) -> str:
    """Typeset formulas as MathML, which browsers draw by themselves."""
    html = FORMULA.sub(_typeset, html)
    return formulas.typeset(html) if page.file.src_uri.startswith("privacy/") else html


def _link(found: re.Match[str], place: str) -> str:
    source = SOURCES.get(place, f"docs/{place}")
    target = posixpath.normpath(posixpath.join(posixpath.dirname(source), found[2]))
    where = f"{PLACES[target]}.md" if target in PLACES else target.removeprefix("docs/")
    if target not in PLACES and not target.startswith("docs/"):
        return found[0]
    relative = posixpath.relpath(where, posixpath.dirname(place) or ".")
    return f"{found[1]}{relative}{found[3] or ''}{found[4]}"


def _typeset(found: re.Match[str]) -> str:
    formula = found[2].strip()[2:-2].replace("&amp;", "&").replace("&lt;", "<").replace("&gt;", ">")
    display = "block" if found[1] == "div" else "inline"
    made = latex2mathml.converter.convert(formula, display=display)
    return PRIME.sub(r'<mrow>\1<mo lspace="0" rspace="0">\2</mo></mrow>', made)
