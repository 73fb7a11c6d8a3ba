"""Loops over a feasible set: a triangular description in, nested loops in the notation of C out.

    for (B = 1; B*B <= Z; B++)
      for (s = 1; s*B <= Z; s++)
        point(B, s);

`ceil_div(a, b)` and `floor_div(a, b)` round the exact quotient up and down, for positive `b`; `max` takes any number
of arguments.  The points are the integer ones, piece after piece.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from comprehensive.algebra.atom import Atom
from comprehensive.algebra.limits import Limit
from comprehensive.algebra.polynomial import Polynomial
from comprehensive.algebra.signs import split_linear
from comprehensive.algebra.symbols import is_integer_symbol
from comprehensive.algebra.triangular import Level, Piece, Triangular


def as_loops(description: Triangular, body: str = "point") -> str:
    """Nested loops that call `body` with the variables.  ValueError names a variable that is no integer."""
    shares = [name for name in description.order if not is_integer_symbol(name)]
    if shares:
        raise ValueError(f"{', '.join(shares)}: a loop needs an integer variable")
    given = f" for given {', '.join(description.parameters)}" if description.parameters else ""
    lines = [f"/* all {', '.join(description.order)}{given} */"]
    lines += [f"/* not covered: {gap} */" for gap in description.uncovered]
    lines += [f"/* no bound on {name} from {side} */" for name, side in _open_ends(description)]
    for piece in description.pieces:
        lines += _piece(piece, f"{body}({', '.join(description.order)});", description.order)
    return "\n".join(lines) + "\n"


def _open_ends(description: Triangular) -> list[tuple[str, str]]:
    """The variables, outermost first, that some piece does not bound, with the side that is open."""
    levels = [level for piece in description.pieces for level in piece.levels]
    ends = {(level.name, "below") for level in levels if not level.lower}
    ends |= {(level.name, "above") for level in levels if not level.upper}
    return sorted(ends, key=lambda end: (description.order.index(end[0]), end[1]))


def _piece(piece: Piece, call: str, order: Sequence[str]) -> list[str]:
    lines = [f"if ({_all(piece.guard, order, ())})"] if piece.guard else []
    for level in piece.levels:
        lines.append(_loop(level, order))
        # A root from below has no quotient to start at, so that it is asked for each value.
        asked = [limit.atom for limit in level.lower if limit.value is None] + list(level.checks)
        if asked:
            lines.append(f"if ({_all(asked, order, (level.name,))})")
    return ["  " * depth + line for depth, line in enumerate([*lines, call])]


def _loop(level: Level, order: Sequence[str]) -> str:
    name = level.name
    starts = [_start(limit, order) for limit in level.lower if limit.value is not None]
    start = f"max({', '.join(starts)})" if len(starts) > 1 else "".join(starts) or "-infinity"
    until = _all([limit.atom for limit in level.upper], order, (name,))
    return f"for ({name} = {start}; {until}; {name}++)"


def _start(limit: Limit, order: Sequence[str]) -> str:
    """The least integer that satisfies a linear limit from below."""
    split = split_linear(limit.polynomial, limit.name)
    assert split is not None, "not a root"
    common = split.coefficient.gcd(split.rest)
    slope, rest = split.coefficient.divide_exactly(common), split.rest.divide_exactly(common)
    assert slope is not None, "a gcd divides"
    assert rest is not None, "a gcd divides"
    if slope == 1:
        return _text(1 - rest if limit.strict else -rest, order)
    quotient = f"{_text(-rest, order)}, {_text(slope, order)}"
    return f"floor_div({quotient}) + 1" if limit.strict else f"ceil_div({quotient})"


def _all(atoms: Sequence[Atom], order: Sequence[str], isolate: Sequence[str]) -> str:
    return " && ".join(_products(atom.format(order, isolate)) for atom in atoms)


def _text(polynomial: Polynomial, order: Sequence[str]) -> str:
    return _products(polynomial.format(order))


def _products(text: str) -> str:
    """Write powers as products, since C has none: B^3 is B*B*B."""
    return re.sub(r"(\w+)\^(\d+)", lambda found: "*".join([found[1]] * int(found[2])), text)
