"""The extents that data must have: the dimensions of a declaration and the sizes of a call in, a complaint or none out.

Extents(("n", "2 * m"), types).complaint((10, 6), {"n": 10, "m": 4})      # "has 10 x 6 elements ..."
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from msgspec import Struct

from comprehensive.loops.arithmetic import UndefinedBehaviour
from comprehensive.loops.interpreter import c_value
from comprehensive.metafork.ast import ScalarType
from comprehensive.metafork.attempt import expression


class Extents(Struct, frozen=True):
    """The extents of an array.

    ``dims`` are expressions of C over the scalar arguments, whose ``types`` count; None where the size is
    open.

    ValueError for what is no expression.
    """

    dims: tuple[str | None, ...]
    types: Mapping[str, ScalarType]

    def __post_init__(self) -> None:
        for text in self.dims:
            if text is not None:
                expression(text)

    def rows(self, shape: Sequence[int], arguments: Mapping[str, int | float]) -> int:
        """Return the number of elements along an open first dimension, behind a plain pointer that of all elements."""
        try:
            row = math.prod(_value(d, arguments, self.types) for d in self.dims[1:] if d is not None)
        except UndefinedBehaviour:
            return math.prod(shape)  # `complaint` says so
        return math.prod(shape) // row if row > 0 else 0

    def complaint(self, shape: Sequence[int], arguments: Mapping[str, int | float]) -> str | None:
        """Return why data of this shape will not do; None if it does, or if that cannot be said.

        Where there are as many dimensions as declared, they are the declared ones, of which the first may be
        larger.  Else there are at least as many elements as declared.
        """
        if any(arguments.get(d, 0) < 0 for d in self.dims if d is not None):
            return None  # the launcher says so
        try:
            wanted = [None if d is None else max(0, _value(d, arguments, self.types)) for d in self.dims]
        except UndefinedBehaviour as error:
            declared = " x ".join("?" if d is None else d for d in self.dims)
            return f"is declared with {declared} elements, which cannot be computed: {error.message}"
        if len(shape) == len(wanted):
            fits = all(d is None or d == s for d, s in zip(wanted[1:], shape[1:], strict=True))
            fits = fits and (wanted[0] is None or wanted[0] <= shape[0])
        else:
            fits = math.prod(1 if d is None else d for d in wanted) <= math.prod(shape)
        text = " x ".join("?" if d is None else str(d) for d in wanted)
        return None if fits else f"has {' x '.join(map(str, shape)) or '1'} elements where {text} are needed"


def _value(text: str, arguments: Mapping[str, int | float], types: Mapping[str, ScalarType]) -> int:
    """Return the value of an expression, which mostly is the name of an argument."""
    found = arguments.get(text)
    return int(c_value(expression(text), arguments, types) if found is None else found)
