"""Run the Python blocks of a gallery page when the site is built, and show below each what it prints and draws."""

from __future__ import annotations

import contextlib
import io
import os
import re
import tempfile
import warnings
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

NOT_RUN = r"(?P<mark><!-- not run -->\s*\n)?"
BLOCK = re.compile(NOT_RUN + r"(?P<block>^```python\n(?P<code>.*?)^```$)", re.DOTALL | re.MULTILINE)


def executed(markdown: str, place: str, config: MkDocsConfig, files: Files) -> str:
    """Return the page with the output of its blocks, run in order in one namespace."""
    import matplotlib as mpl

    mpl.use("Agg")
    mpl.rcParams.update({"figure.figsize": (7, 3.4), "figure.constrained_layout.use": True, "svg.hashsalt": place})
    namespace: dict[str, Any] = {"__name__": "__main__"}
    pictures: list[str] = []

    def run(found: re.Match[str]) -> str:
        if found["mark"]:
            return found["block"]
        printed = _run(found["code"], place, namespace)
        shown = [found["block"]]
        if printed.strip():
            shown.append(f"```text\n{printed.rstrip()}\n```")
        for svg, words in _figures():
            name = f"{Path(place).stem}_{len(pictures)}.svg"
            pictures.append(name)
            files.append(File.generated(config, f"gallery/{name}", content=svg))
            shown.append(f"![{words}]({name})")
        return "\n\n".join(shown)

    return BLOCK.sub(run, markdown)


def _run(code: str, place: str, namespace: dict[str, Any]) -> str:
    printed, here = io.StringIO(), Path.cwd()
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(printed), warnings.catch_warnings():
        os.chdir(folder)
        try:
            exec(compile(code, place, "exec"), namespace)
        finally:
            os.chdir(here)
    return printed.getvalue()


def _figures() -> list[tuple[str, str]]:
    """Return each open figure as SVG, with its title for those who do not see it, and close it."""
    import matplotlib.pyplot as plt

    found = []
    for number in plt.get_fignums():
        figure = plt.figure(number)
        drawn = io.StringIO()
        figure.savefig(drawn, format="svg", metadata={"Date": None})
        found.append((drawn.getvalue(), figure.axes[0].get_title() or "figure"))
        plt.close(figure)
    return found
