"""The canonical form of loops: how many iterations there are is known before the first one.

In: a loop whose header declares its iterator.  Out: what keeps it from the form that OpenMP and OpenACC demand of a
parallel loop, as the end of a sentence about it, or None::

    for (int i = 0; i < n; i += 2) a[i] = 0;      -->  None
    for (int i = 0; i < n; i++) { i++; ... }      -->  "assigns 'i' in its body"
"""

from __future__ import annotations

from collections.abc import Container

from comprehensive.loops.normalize.local_scalars import assigns
from comprehensive.metafork.ast import For, Index, Name, Unary
from comprehensive.metafork.constants import constant_value
from comprehensive.metafork.walk import subexpressions


def obstacle(loop: For, known: Container[str]) -> str | None:
    """What keeps a loop from being canonical; ``known`` are the scalars around it."""
    assert loop.type is not None
    read = [node for part in (loop.start, loop.bound, loop.step) for node in subexpressions(part)]
    header = {node.identifier for node in read if isinstance(node, Name)}
    if not loop.type.is_integer:
        return f"counts in {loop.type.value}"
    element = next((node for node in read if isinstance(node, Index)), None)
    if element is not None:
        return f"has a range that depends on elements of '{element.array}'"
    if any(assigns(statement, loop.iterator) for statement in loop.body):
        return f"assigns '{loop.iterator}' in its body"
    if loop.iterator in header:
        return f"has a range that depends on '{loop.iterator}' itself"
    changed = sorted(name for name in header if any(assigns(s, name) for s in loop.body))
    if changed:
        return f"changes '{changed[0]}', on which its range depends"
    unknown = sorted(name for name in header if name not in known)
    if unknown:
        return f"has a range that reads '{unknown[0]}', which is no scalar of the function"
    return _direction(loop)


def _direction(loop: For) -> str | None:
    step = constant_value(loop.step)
    if loop.relation == "!=":
        return None if step in (1, -1) else "compares with '!=' and does not step by 1"
    down = step < 0 if step is not None else isinstance(loop.step, Unary)
    if step == 0 or down != (loop.relation in (">", ">=")):
        return "runs away from its bound"
    return None
