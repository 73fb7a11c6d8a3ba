"""The one look of all pictures: shapes and words in, a self-contained SVG out that is the same bytes in every run.

Ink is the colour of the picture, so that one which stands in an HTML page, not in an `<img>`, follows it: light ink on
dark paper where the reader prefers that. A page with a switch of its own sets `color` of `.cf-picture` and `fill` of
`.cf-paper`.  Colours that mean something are the same on both papers.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import ceil
from typing import TypeAlias
from xml.sax.saxutils import escape

Place: TypeAlias = tuple[float, float]

INK = "currentColor"
_DARK_INK, _LIGHT_INK, _DARK_PAPER = "#1a1a1a", "#e4e4e4", "#17191d"
_STYLE = (
    "<style>@media (prefers-color-scheme: dark) { "
    f".cf-picture {{ color: {_LIGHT_INK} }} .cf-paper {{ fill: {_DARK_PAPER} }} "
    f".cf-rim {{ stroke: {_DARK_PAPER} }} }}</style>"
)
_VIRIDIS = ((68, 1, 84), (59, 82, 139), (33, 145, 140), (94, 201, 98), (253, 231, 37))
HATCH = "url(#cf-hatch)"
"""The filling of what has no variant."""
_HATCHING = (
    '<defs><pattern id="cf-hatch" width="8" height="8" patternUnits="userSpaceOnUse" '
    'patternTransform="rotate(45)"><rect width="8" height="8" fill="#9c9c9c" fill-opacity="0.2"/>'
    '<rect width="2" height="8" fill="#9c9c9c"/></pattern></defs>'
)


def picture(width: float, height: float, shapes: Iterable[str], title: str = "") -> str:
    """The whole picture, ending in a newline."""
    w, h = ceil(width), ceil(height)
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" class="cf-picture" role="img" width="{w}" height="{h}" '
            f'viewBox="0 0 {w} {h}" font-family="monospace" font-size="12" color="{_DARK_INK}" fill="{INK}">',
            *([f"<title>{escape(title)}</title>"] if title else []),
            _STYLE,
            _HATCHING,
            f'<rect class="cf-paper" width="{w}" height="{h}" fill="white"/>',
            *shapes,
            "</svg>\n",
        ]
    )


def text(x: float, y: float, words: str, more: str = "") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}"{" " if more else ""}{more}>{escape(words)}</text>'


def on_anything(more: str = "") -> str:
    """Attributes of text with a rim of paper, readable on every colour."""
    return (
        f'class="cf-rim" stroke="white" stroke-width="3.5" paint-order="stroke" stroke-linejoin="round"{more}'
    )


def rectangle(x: float, y: float, width: float, height: float, fill: str, more: str = "") -> str:
    return (
        f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" fill="{fill}"'
        f"{' ' if more else ''}{more}/>"
    )


def stroke(places: Sequence[Place], width: float = 1.8, colour: str = INK, more: str = "") -> str:
    return (
        f'<polyline points="{points(places)}" fill="none" stroke="{colour}" stroke-width="{width}"'
        f"{' ' if more else ''}{more}/>"
    )


def points(places: Sequence[Place]) -> str:
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in places)


def group(shapes: Iterable[str], right: float, down: float) -> str:
    """Shapes that are moved together."""
    return "\n".join([f'<g transform="translate({right:.1f},{down:.1f})">', *shapes, "</g>"])


def with_hint(shape: str, words: Iterable[str]) -> str:
    """A shape that tells more when one points at it."""
    told = "\n".join(words)
    return f"<g><title>{escape(told)}</title>{shape}</g>" if told else shape


def shade(place: int, last: int) -> str:
    """Return a colour from dark to light, in equal steps; a single one is the lightest but one."""
    steps = len(_VIRIDIS) - 1
    whole, part = divmod(steps * (last - place), last)
    low, high = _VIRIDIS[whole], _VIRIDIS[min(whole + 1, steps)]
    mixed = ((a * (last - part) + b * part) // last for a, b in zip(low, high, strict=True))
    return "#" + "".join(f"{each:02x}" for each in mixed)
