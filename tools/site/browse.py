"""Look at the built site as a reader does: ``python tools/site/browse.py [site]``, after ``mkdocs build --strict``.

Every link within the site leads somewhere, nothing comes from another server, no formula shows its source, and, in a
real browser, no page scrolls sideways at the width of a phone or of a desk, no page writes to the console, and search
works from a folder. ``--pictures FOLDER`` keeps pictures of some pages at both widths, and of paper, to be looked at.
"""

from __future__ import annotations

import argparse
import functools
import http.server
import json
import re
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

WIDTHS = (380, 1200)
SHOWN = (
    "index.html",
    "index.html?q=ledger",  # what a search finds
    "install.html",
    "quickstart.html",
    "choosing_a_sampler.html",
    "howto/regression.html",
    "gallery/index.html",
    "gallery/adult.html",
    "gallery/counts.html",
    "gallery/digits.html",
    "gallery/a_plan_that_says_no.html",
    "privacy/mathematics.html",
    "privacy/newton.html",
    "api/samplers.html",
    "benchmarks.html",
    "glossary.html",
)
PRINTED = ("quickstart.html", "gallery/counts.html", "privacy/newton.html", "api/samplers.html")
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
PROBE = """<!doctype html><meta charset="utf-8"><title>probe</title><body><script>
const pages = %s, widths = %s, found = [];
async function look(page, width) {
  const frame = document.createElement("iframe");
  frame.style = `width:${width}px;height:900px;border:0`;
  const loaded = new Promise(done => frame.onload = done);
  frame.src = page;
  document.body.append(frame);
  await loaded;
  await new Promise(done => setTimeout(done, 60));
  const root = frame.contentDocument.documentElement;
  const inside = frame.contentDocument.querySelector(".md-content__inner");
  const edge = width + 1;
  const scrolls = node => node && node !== inside && (/auto|scroll|hidden/.test(
    frame.contentWindow.getComputedStyle(node).overflowX) || scrolls(node.parentElement));
  const wide = inside ? [...inside.querySelectorAll("*")].filter(node =>
    node.getBoundingClientRect().right > edge && !scrolls(node)).map(node => node.outerHTML.slice(0, 80)) : ["empty"];
  if (root.scrollWidth > width || wide.length) found.push([page, width, root.scrollWidth, wide.slice(0, 3)]);
  frame.remove();
}
(async () => {
  for (const page of pages) for (const width of widths) await look(page, width);
  document.body.dataset.found = JSON.stringify(found);
})();
</script></body>"""


class Links(HTMLParser):
    """What a page links to, loads and can be linked to."""

    def __init__(self) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.anchors: set[str] = {""}

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Sort the attributes of a tag."""
        values = dict(attrs)
        self.anchors |= {values[name] or "" for name in ("id", "name") if name in values}
        if tag == "a" and values.get("href"):
            self.links.append(values["href"] or "")
        elif tag in ("script", "img", "link", "iframe", "source"):
            self.loads += [values[name] or "" for name in ("src", "href") if values.get(name)]


def read(site: Path) -> dict[Path, Links]:
    """Return every page of the site, parsed."""
    pages = {}
    for path in sorted(site.rglob("*.html")):
        pages[path.resolve()] = found = Links()
        found.feed(path.read_text(encoding="utf-8"))
    return pages


def dead_links(pages: dict[Path, Links]) -> Iterator[str]:
    """Yield each link of the site that leads nowhere, and each thing that would come from another server."""
    for path, page in pages.items():
        for link in (*page.links, *page.loads):
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                if link in page.loads and parts.scheme != "data":
                    yield f"{path.name} loads {link}"
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if target.is_dir():
                target /= "index.html"
            if not target.exists():
                if path.name != "404.html":  # its links are those of the root of a server
                    yield f"{path.name}: {link}"
            elif parts.fragment and target in pages and unquote(parts.fragment) not in pages[target].anchors:
                yield f"{path.name}: {link} (no such place)"


def raw_formulas(pages: dict[Path, Links]) -> Iterator[str]:
    """Yield each page with a formula that shows TeX instead of what it means: an underscore, a backslash."""
    for path in pages:
        formulas = re.findall(r"<math.*?</math>", path.read_text(encoding="utf-8"), re.DOTALL)
        shown = [text for formula in formulas for text in re.findall(r">([^<]+)<", formula)]
        if any(mark in text for text in shown for mark in ("&#x0005F;", "_", "\\")):
            yield f"{path.name}: a formula shows its source"


class Quiet(http.server.SimpleHTTPRequestHandler):
    """A server of one folder that logs nothing."""

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


def browse(browser: str, address: str, *options: str) -> tuple[str, list[str]]:
    """Return the page as the browser has it at the end, and what was written to the console."""
    command = [
        browser,
        "--headless=new",
        "--no-sandbox",
        "--disable-gpu",
        "--hide-scrollbars",
        "--enable-logging=stderr",
    ]
    done = subprocess.run([*command, *options, address], capture_output=True, text=True, timeout=900, check=True)
    return done.stdout, [line for line in done.stderr.splitlines() if "CONSOLE" in line]


def seen(browser: str, site: Path, pages: dict[Path, Links]) -> Iterator[str]:
    """Yield what is wrong with the site in a browser."""
    names = [path.relative_to(site).as_posix() for path in pages if path.name != "404.html"]
    probe = site / "probe.html"
    probe.write_text(PROBE % (json.dumps(names), json.dumps(WIDTHS)), encoding="utf-8")
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(site)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        address = f"http://127.0.0.1:{server.server_port}/probe.html"
        dom, console = browse(
            browser, address, "--dump-dom", "--virtual-time-budget=2000000", "--window-size=1300,1000"
        )
    finally:
        server.shutdown()
        probe.unlink()
    yield from console
    found = re.search(r'data-found="([^"]*)"', dom)
    if found is None:
        yield "the browser did not finish"
    else:
        for page, width, scroll, wide in json.loads(found[1].replace("&quot;", '"').replace("&amp;", "&")):
            yield f"{page} at {width} px is {scroll} px wide: {wide}"
    dom, console = browse(
        browser, (site / "index.html").as_uri() + "?q=ledger", "--dump-dom", "--virtual-time-budget=20000"
    )
    yield from console
    if "md-search-result__item" not in dom:
        yield "search finds nothing when the site is opened from a folder"


def pictures(browser: str, site: Path, folder: Path) -> None:
    """Keep pictures of some pages, and some as they are printed."""
    folder.mkdir(parents=True, exist_ok=True)
    waits = "--virtual-time-budget=5000"
    for page in SHOWN:
        for width in WIDTHS:
            # A window is never narrower than 500 px, so a narrow page is shown in a frame.
            with tempfile.TemporaryDirectory() as made:
                frame = Path(made) / "frame.html"
                frame.write_text(
                    f'<body style="margin:0"><iframe src="{address(site, page)}" '
                    f'style="width:{width}px;height:1600px;border:0">'
                )
                picture = folder / f"{file_name(page)}_{width}.png"
                size = f"--window-size={max(width, 500)},1600"
                browse(browser, frame.as_uri(), f"--screenshot={picture}", size, waits)
    for page in PRINTED:
        paper = folder / f"{file_name(page)}.pdf"
        browse(browser, address(site, page), f"--print-to-pdf={paper}", "--no-pdf-header-footer", waits)


def address(site: Path, page: str) -> str:
    """Return where a browser finds a page of the folder, with what is searched for."""
    name, _, asked = page.partition("?")
    return (site / name).as_uri() + (f"?{asked}" if asked else "")


def file_name(page: str) -> str:
    """Return a name for the picture of a page."""
    return re.sub(r"\W+", "_", page.replace(".html", ""))


def main() -> int:
    """Look, and say what is wrong."""
    parser = argparse.ArgumentParser(description="Check the links of the built site, and look at it in a browser.")
    parser.add_argument("site", nargs="?", type=Path, default=Path("site"))
    parser.add_argument("--pictures", type=Path, help="a folder for pictures of some pages")
    arguments = parser.parse_args()
    site = arguments.site.resolve()
    pages = read(site)
    wrong = [*dead_links(pages), *raw_formulas(pages)] or ([] if pages else [f"{site} has no pages"])
    browser = next((found for name in BROWSERS if (found := shutil.which(name))), None)
    if browser is None:
        print("not looked at in a browser: there is no chromium (Debian: apt-get install chromium)")
    else:
        wrong += seen(browser, site, pages)
        if arguments.pictures:
            pictures(browser, site, arguments.pictures)
    print(*wrong, f"{len(pages)} pages, {len(wrong)} faults", sep="\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
