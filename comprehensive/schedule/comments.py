"""The comment of a stage of a kernel on itself: a primitive and arrays in, one comment out.

    commented(context, "stage", ["a"], "D x T1*U1 elements into shared memory")    // stage(a): D x T1*U1 elements ...

Arrays have the names that the program has for them.
"""

from __future__ import annotations

from collections.abc import Iterable

from comprehensive.kernel_ir.kernel import Comment
from comprehensive.schedule.context import TileContext


def commented(context: TileContext, primitive: str, arrays: Iterable[str], does: str) -> Comment:
    """The comment before what a primitive makes of these arrays of the nest."""
    names = ", ".join(dict.fromkeys(context.nest.array(name).pointer for name in arrays))
    return Comment(f"{primitive}({names}): {does}" if names else f"{primitive}: {does}")
