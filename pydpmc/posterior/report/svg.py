"""Charts as inline SVG, narrow enough for a phone: axes, lines and marks, no library."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from ...checks import visible_html

Points = Sequence[tuple[float, float]]
WIDTH = 360.0


@dataclass
class Chart:
    """A plotting area with axes; add lines and marks, then `render`."""

    title: str
    x_range: tuple[float, float]
    y_range: tuple[float, float]
    height: float = 220.0
    left: float = 44.0
    bottom: float = 34.0
    top: float = 12.0
    log_x: bool = False
    parts: list[str] = field(default_factory=list)

    def x(self, value: float) -> float:
        """Return the place of a value on the horizontal axis."""
        low, high = self.x_range
        if self.log_x:
            value, low, high = math.log10(value), math.log10(low), math.log10(high)
        return self.left + (WIDTH - self.left - 12.0) * (value - low) / (high - low)

    def y(self, value: float) -> float:
        """Return the place of a value on the vertical axis."""
        low, high = self.y_range
        return self.height - self.bottom - (self.height - self.bottom - self.top) * (value - low) / (high - low)

    def line(self, points: Points, kind: str) -> None:
        """Add a line through the points; `kind` is its class in the style sheet."""
        path = " ".join(f"{self.x(a):.1f},{self.y(b):.1f}" for a, b in points)
        self.parts.append(f'<polyline class="{kind}" points="{path}"/>')

    def area(self, points: Points, kind: str) -> None:
        """Add the area under a line."""
        floor = self.y(self.y_range[0])
        path = " ".join(f"{self.x(a):.1f},{self.y(b):.1f}" for a, b in points)
        first, last = self.x(points[0][0]), self.x(points[-1][0])
        self.parts.append(f'<polygon class="{kind}" points="{first:.1f},{floor:.1f} {path} {last:.1f},{floor:.1f}"/>')

    def segment(self, start: tuple[float, float], end: tuple[float, float], kind: str) -> None:
        """Add a straight line between two points of the plotting area."""
        (a, b), (c, d) = (self.x(start[0]), self.y(start[1])), (self.x(end[0]), self.y(end[1]))
        self.parts.append(f'<line class="{kind}" x1="{a:.1f}" y1="{b:.1f}" x2="{c:.1f}" y2="{d:.1f}"/>')

    def dot(self, place: tuple[float, float], kind: str = "dot") -> None:
        """Add a dot."""
        self.parts.append(f'<circle class="{kind}" cx="{self.x(place[0]):.1f}" cy="{self.y(place[1]):.1f}" r="3.2"/>')

    def text(self, x: float, y: float, words: str, kind: str) -> None:
        """Add text at a place of the picture."""
        self.parts.append(f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}">{visible_html(words)}</text>')

    def x_axis(self, label: str) -> None:
        """Add the horizontal axis."""
        floor = self.height - self.bottom
        for tick in decades(*self.x_range) if self.log_x else nice_ticks(*self.x_range):
            self.segment((tick, self.y_range[0]), (tick, self.y_range[1]), "grid")
            self.text(self.x(tick), floor + 13, _number(tick), "tick middle")
        self.text((self.left + WIDTH - 12) / 2, self.height - 4, label, "label middle")

    def y_axis(self, label: str) -> None:
        """Add the vertical axis."""
        for tick in nice_ticks(*self.y_range, count=4):
            self.segment((self.x_range[0], tick), (self.x_range[1], tick), "grid")
            self.text(self.left - 5, self.y(tick) + 3.5, _number(tick), "tick end")
        self.text(2, 9, label, "label")

    def render(self) -> str:
        """Return the chart."""
        size = f'viewBox="0 0 {WIDTH:.0f} {self.height:.0f}"'
        name = visible_html(self.title)
        return f'<svg {size} role="img" aria-label="{name}"><title>{name}</title>{"".join(self.parts)}</svg>'


def nice_ticks(low: float, high: float, count: int = 5) -> list[float]:
    """Return round numbers between low and high, about `count` of them.

    Examples
    --------
    >>> nice_ticks(0.0, 1.0)
    [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]
    """
    raw = (high - low) / count
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(power * factor for factor in (1, 2, 5, 10) if power * factor >= raw * (1 - 1e-9))
    first = math.ceil(low / step - 1e-9)
    last = math.floor(high / step + 1e-9)
    digits = max(0, -math.floor(math.log10(step)))
    return [round(k * step, digits) + 0.0 for k in range(first, last + 1)]


def decades(low: float, high: float) -> list[float]:
    """Return powers of ten, at most six of them."""
    first, last = math.ceil(math.log10(low) - 1e-9), math.floor(math.log10(high) + 1e-9)
    stride = max(1, math.ceil((last - first + 1) / 6))
    return [10.0**k for k in range(first, last + 1, stride)]


def _number(value: float) -> str:
    if value != 0 and not 1e-3 <= abs(value) < 1e5:
        return f"{value:.0e}".replace("e-0", "e-").replace("e+0", "e").replace("e+", "e")
    return f"{value:g}"


def padded(values: Sequence[float], share: float = 0.05) -> tuple[float, float]:
    """Return the range of some numbers with a margin, never empty."""
    low, high = min(values), max(values)
    margin = (high - low) * share or max(abs(low), 1.0) * 1e-3
    return low - margin, high + margin
