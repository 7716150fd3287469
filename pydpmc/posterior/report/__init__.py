"""The report of a posterior: one self-contained page for people who must judge it."""

from .page import render, write

__all__ = ["render", "write"]
