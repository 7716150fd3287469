"""The one lookup of data sets and reference programs that are kept outside this repository."""

from __future__ import annotations

import os
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[2]


def shared_folder() -> Path:
    """Return the folder: PYDPMC_SHARED in the environment, else `shared` beside the checkout."""
    return Path(os.environ.get("PYDPMC_SHARED") or CHECKOUT.parent / "shared")


def shared_path(*parts: str) -> Path | None:
    """Return a path below the shared folder, or None where there is none."""
    path = shared_folder().joinpath(*parts)
    return path if path.exists() else None


def absence(*parts: str) -> str:
    """Say what is missing and how to provide it: the reason of a skip."""
    return f"{'/'.join(parts)} is not in {shared_folder()}: set PYDPMC_SHARED to the folder that holds it"
