"""Outcomes as bars in one self-contained SVG: for each case the share of the ceiling that ours and its peers reach.

Colours follow the reader's light or dark setting; ours stands out, and names stand at the bars, so that nothing is told
by a colour alone.
"""

from __future__ import annotations

from textwrap import wrap
from xml.sax.saxutils import escape

from benchmarks.gpu import peers
from benchmarks.gpu.cases import Case
from benchmarks.gpu.outcome import Outcome
from benchmarks.gpu.table import Results

_NAMES, _BARS, _VALUES = 150, 520, 140
_WIDTH = _NAMES + _BARS + _VALUES
_ROW, _TITLE, _GAP, _LINE = 15, 22, 14, 17
_LETTERS = 118

_STYLE = """\
text { font: 12px sans-serif; fill: #1a1a1a; }
.title { font-weight: bold; }
.quiet { fill: #5f5f5f; }
.ground { fill: #ffffff; }
.peer { fill: #8fa3b8; }
.ours { fill: #c2410c; }
.line { stroke: #dcdcdc; }
.ceiling { stroke: #1a1a1a; stroke-dasharray: 4 3; }
@media (prefers-color-scheme: dark) {
  text { fill: #ececec; }
  .quiet { fill: #a8a8a8; }
  .ground { fill: #16181c; }
  .peer { fill: #5b7087; }
  .ours { fill: #fb923c; }
  .line { stroke: #33363b; }
  .ceiling { stroke: #ececec; }
}"""


def picture(results: Results) -> str:
    """The SVG, ending in a newline; cases of which nothing ran, and a run without ceilings, leave no bars."""
    panels: list[str] = []
    shown = [case for case in results.cases if _bars(results, case)]
    longest = max((share for case in shown for share, _ in _bars(results, case)), default=1.0)
    unit = _BARS / max(1.0, longest)
    about = wrap(results.about, _LETTERS)
    top = bottom = 2 * _LINE + len(about) * _LINE + 30
    for case in shown:
        panel, height = _panel(results, case, unit, bottom)
        panels += panel
        bottom += height + _GAP
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH}" height="{bottom}" '
            f'viewBox="0 0 {_WIDTH} {bottom}">',
            f"<style>\n{_STYLE}\n</style>",
            f'<rect class="ground" width="{_WIDTH}" height="{bottom}"/>',
            _text(
                10,
                20,
                "Share of the measured ceiling: longer is faster, the dashed line is the ceiling",
                "title",
            ),
            *(_text(10, 20 + _LINE * number, line, "quiet") for number, line in enumerate(about, 1)),
            *_axis(unit, top, bottom),
            *panels,
            "</svg>\n",
        ]
    )


def _bars(results: Results, case: Case) -> list[tuple[float, Outcome]]:
    found = ((results.share(case, outcome), outcome) for outcome in results.of(case) if outcome.ran)
    return [(share, outcome) for share, outcome in found if share is not None]


def _panel(results: Results, case: Case, unit: float, top: int) -> tuple[list[str], int]:
    shapes = [_text(10, top + 14, case.name, "title")]
    bars = _bars(results, case)
    for number, (share, outcome) in enumerate(bars):
        y = top + _TITLE + number * _ROW
        peer = peers.BY_NAME[outcome.peer]
        kind = "ours" if peer == peers.OURS else "peer"
        shapes += [
            _text(_NAMES - 8, y + 11, peer.title, "name", 'text-anchor="end"'),
            f'<rect class="{kind}" x="{_NAMES}" y="{y + 2}" width="{max(1.0, share * unit):.1f}" '
            f'height="{_ROW - 4}"/>',
            _text(_NAMES + _BARS + 12, y + 11, f"{share:.2f}, {_milliseconds(outcome)}", "value"),
        ]
    missing = [peers.BY_NAME[outcome.peer].title for outcome in results.of(case) if not outcome.ran]
    height = _TITLE + len(bars) * _ROW
    if missing:
        shapes.append(_text(_NAMES, top + height + 11, f"not there: {'; '.join(missing)}", "quiet"))
        height += _ROW
    return shapes, height


def _axis(unit: float, top: int, bottom: int) -> list[str]:
    """Lines at every fifth of the ceiling up to it, beyond it at every whole."""
    shapes: list[str] = []
    for share in (0.0, 0.2, 0.4, 0.6, 0.8, *map(float, range(1, int(_BARS / unit + 0.01) + 1))):
        x = _NAMES + share * unit
        shapes += [
            _text(x, top - 12, f"{share:.1f}", "quiet", 'text-anchor="middle"'),
            f'<line class="{"ceiling" if share == 1 else "line"}" x1="{x:.1f}" y1="{top - 8}" x2="{x:.1f}" '
            f'y2="{bottom}"/>',
        ]
    return shapes


def _milliseconds(outcome: Outcome) -> str:
    return f"{outcome.median:.3g} ms" if outcome.median < 1000 else f"{outcome.median:.0f} ms"


def _text(x: float, y: float, words: str, kind: str, more: str = "") -> str:
    return f'<text class="{kind}" x="{x:.1f}" y="{y}"{" " + more if more else ""}>{escape(words)}</text>'
