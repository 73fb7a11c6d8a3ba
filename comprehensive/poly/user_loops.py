"""Loops as the program has them: what a block clause has cut into blocks and threads is one loop again in messages.

In: a nest, and names of its loops or values of their iterators.  Out: the same in terms of the loops of the program::

    i_block = 1, i_thread = 0, j = 3   -->   i = 2, j = 3      where i = i_block*B + i_thread and B = 2
"""

from __future__ import annotations

from collections.abc import Mapping

from comprehensive.loops.ir import Loop, Nest
from comprehensive.poly.search import NotEvaluableError, evaluate


def user_loop(nest: Nest, iterator: str) -> str:
    """The iterator of the program's loop of which the loop over ``iterator`` is a part."""
    return next((loop.shown for loop in _parallel_loops(nest) if loop.iterator == iterator), iterator)


def user_values(nest: Nest, values: Mapping[str, int], parameters: Mapping[str, int]) -> dict[str, int]:
    """The values with those of cut loops joined; ``parameters`` are the scalars that the cuts read."""
    cuts = {loop.iterator: loop.cut for loop in _parallel_loops(nest) if loop.cut is not None}
    shown: dict[str, int] = {}
    for name, value in values.items():
        cut = cuts.get(name)
        if cut is None:
            shown[name] = value
            continue
        try:
            shown[cut.iterator] = evaluate(cut.value, {**parameters, **values})
        except NotEvaluableError:
            shown[name] = value
    return shown


def _parallel_loops(nest: Nest) -> tuple[Loop, ...]:
    return (*nest.grid, *(loop for band in nest.bands for loop in band.loops))
