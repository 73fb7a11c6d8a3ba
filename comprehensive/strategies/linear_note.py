"""The notes on subscripts that stay linear in a tile: a nest over tiles in, notes in the user's names out.

a[i * j + k]:  note: 'a[i * j + k]' stays linear, because of a product of numbers that vary: 'i * j' [CF0501]
"""

from __future__ import annotations

from comprehensive.diagnostics import GENERATED, DiagnosticSink
from comprehensive.loops.ir import KeptLinear, RegisterTile, Variant, Why
from comprehensive.metafork.ast import Name
from comprehensive.metafork.printer import print_expr
from comprehensive.metafork.rewrite import substitute
from comprehensive.optimize.protocols import Applied, NotApplicable

_ROWS = "declare the array with its rows, as in '{}[m][n]', and write a subscript for each dimension"
_HELP = {
    Why.PRODUCT: "where one of them is the same for all points, make it a parameter of the function",
    Why.WRAPS: "compute it in int, long or size_t",
}


def tell_of_linear(tiled: Applied[Variant] | NotApplicable | None, sink: DiagnosticSink) -> None:
    """A note for each array whose references might have rows and have none (CF0501)."""
    if not isinstance(tiled, Applied) or tiled.fragment.tile is None:
        return
    for kept in tiled.fragment.tile.linear:
        if kept.span is GENERATED:
            continue
        reference = " ".join(kept.span.text.split())
        because = kept.why.value.format(*_terms(kept, tiled.fragment.tile))
        help = _HELP.get(kept.why, _ROWS.format(tiled.fragment.nest.array(kept.array).pointer))
        sink.note("CF0501", f"'{reference}' stays linear: {because}", kept.span, help=help)


def _terms(kept: KeptLinear, tile: RegisterTile) -> list[str]:
    """The terms with the iterators of the program in the places of coordinates."""
    shown = {c.name: Name(c.shown) for c in tile.coordinates if c.shown.isidentifier()}
    return [print_expr(substitute(term, shown)) for term in kept.terms]
