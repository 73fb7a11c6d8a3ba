"""Expected times of all tiles beside measured ones, as an SVG: ``python3 -m benchmarks.gpu.regret_picture``.

In: the ``gpu-regret.json`` that `benchmarks.gpu.regret` writes.  Out: a point a tile and case on logarithmic axes, with
the line where both are equal; circles where the launcher chose the tile.  Needs the standard library only.
"""

from __future__ import annotations

import argparse
import json
import math
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

SIDE, LEFT, TOP = 560, 70, 40
COLOURS = (
    "#1b6ca8", "#d1495b", "#3a7d44", "#8d6a9f", "#e08e1b", "#2a9d8f", "#7f5539", "#c2a83e", "#5e60ce", "#444444",
)  # fmt: skip
LEAST_US, MOST_US = 1.0, 10000.0


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("found", type=Path, help="gpu-regret.json")
    parser.add_argument("-o", "--output", type=Path, required=True, help="the SVG")
    chosen = parser.parse_args()
    chosen.output.write_text(picture(json.loads(chosen.found.read_text(encoding="utf-8"))), encoding="utf-8")
    return 0


def picture(found: Sequence[Mapping[str, Any]]) -> str:
    """The whole SVG, ending in a newline."""
    specs = list(dict.fromkeys(each["spec"] for each in found))
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{SIDE + 240}" height="{SIDE + 110}" '
        'font-family="sans-serif" font-size="12">',
        '<rect width="100%" height="100%" fill="white"/>',
        f'<text x="{LEFT}" y="24" font-size="15">Expected and measured microseconds of a launch, every tile of '
        f"{len(found)} cases</text>",
    ]
    for exponent in range(int(math.log10(LEAST_US)), int(math.log10(MOST_US)) + 1):
        at = place(10.0**exponent)
        parts += [
            f'<line x1="{LEFT + at:.1f}" y1="{TOP}" x2="{LEFT + at:.1f}" y2="{TOP + SIDE}" stroke="#dddddd"/>',
            f'<line x1="{LEFT}" y1="{TOP + SIDE - at:.1f}" x2="{LEFT + SIDE}" y2="{TOP + SIDE - at:.1f}" '
            'stroke="#dddddd"/>',
            f'<text x="{LEFT + at:.1f}" y="{TOP + SIDE + 18}" text-anchor="middle">{10**exponent}</text>',
            f'<text x="{LEFT - 8}" y="{TOP + SIDE - at + 4:.1f}" text-anchor="end">{10**exponent}</text>',
        ]
    parts += [
        f'<line x1="{LEFT}" y1="{TOP + SIDE}" x2="{LEFT + SIDE}" y2="{TOP}" stroke="#888888"/>',
        f'<text x="{LEFT + SIDE / 2}" y="{TOP + SIDE + 40}" text-anchor="middle">measured</text>',
        f'<text x="20" y="{TOP + SIDE / 2}" text-anchor="middle" '
        f'transform="rotate(-90 20 {TOP + SIDE / 2})">expected</text>',
    ]
    for each in found:
        parts += points(each, COLOURS[specs.index(each["spec"]) % len(COLOURS)])
    for row, spec in enumerate(specs):
        y = TOP + 16 + 22 * row
        parts += [
            f'<circle cx="{LEFT + SIDE + 24}" cy="{y - 4}" r="5" fill="{COLOURS[row % len(COLOURS)]}"/>',
            f'<text x="{LEFT + SIDE + 38}" y="{y}">{spec}</text>',
        ]
    y = TOP + 30 + 22 * len(specs)
    parts.append(f'<text x="{LEFT + SIDE + 18}" y="{y}">ringed: what the launcher took</text>')
    return "\n".join((*parts, "</svg>")) + "\n"


def points(each: Mapping[str, Any], colour: str) -> list[str]:
    taken = re.match(r"tile (\d+)", each["chosen"])
    result: list[str] = []
    for number, milliseconds in sorted(each["tiles"].items(), key=lambda tile: int(tile[0])):
        expected = each["expected"][number] / each["clock_ghz"] / 1000
        x, y = LEFT + place(1000 * milliseconds), TOP + SIDE - place(expected)
        result.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}" fill-opacity="0.7"/>')
        if taken is not None and taken[1] == number:
            result.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="6" fill="none" stroke="{colour}"/>')
    return result


def place(microseconds: float) -> float:
    """Return the place of a time along an axis, in pixels from its beginning."""
    low, high = math.log10(LEAST_US), math.log10(MOST_US)
    return SIDE * (math.log10(min(MOST_US, max(LEAST_US, microseconds))) - low) / (high - low)


if __name__ == "__main__":
    raise SystemExit(main())
