"""Random nests of loops that count down and branches forward, around statements that the caller draws.

In: a source of random numbers.  Out: lines::

    nested(draw, 3, [0], statement)     # statements, loops and branches, three deep; labels are counted in the list

Branches go by what is in ``%r0`` to ``%r8``, which lanes may have in common or not; ``%p1`` and ``%p2`` are written.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random


def nested(draw: Random, depth: int, labels: list[int], statement: Callable[[Random], str]) -> list[str]:
    lines: list[str] = []
    for _ in range(draw.randrange(2, 9)):
        choice = draw.random()
        if depth and choice < 0.12:
            labels[0] += 1
            label, counter = f"L{labels[0]}", f"%c{labels[0]}"
            lines += [f".reg .b32 {counter};", f"mov.u32 {counter}, {draw.randrange(1, 4)};", f"{label}:"]
            lines += nested(draw, depth - 1, labels, statement)
            lines += [
                f"sub.u32 {counter}, {counter}, 1;",
                f"setp.ne.u32 %p2, {counter}, 0;",
                f"@%p2 bra {label};",
            ]
        elif depth and choice < 0.3:
            labels[0] += 1
            label = f"L{labels[0]}"
            lines += [f"setp.lt.u32 %p1, %r{draw.randrange(9)}, {draw.randrange(40)};", f"@%p1 bra {label};"]
            lines += nested(draw, depth - 1, labels, statement)
            if draw.random() < 0.6:
                labels[0] += 1
                end = f"L{labels[0]}"
                lines += [f"bra {end};", f"{label}:", *nested(draw, depth - 1, labels, statement)]
                label = end
            lines.append(f"{label}:")
        else:
            lines.append(statement(draw))
    return lines
