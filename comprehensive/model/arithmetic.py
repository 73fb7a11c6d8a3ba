"""Operations on data, which are counted and not done.

In: an operator, or the name of a function, and what it is given.  Out: the number as the model knows it, with the depth
that it has; the tally has the instructions::

    arithmetic.operated("*", (a, Data(1)), (b, Data(0)), 1, None)  -->  Data(2)
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from msgspec import Struct

from comprehensive.kernel_ir.instructions import branches, is_fused, of_function, of_operator, waits_of
from comprehensive.metafork.ast import Expr
from comprehensive.model.accesses import Mask, Tally
from comprehensive.model.depth import LOADED, Data, depth_of, taken_for
from comprehensive.model.integers import calculate
from comprehensive.model.looked_up import LINEAR
from comprehensive.model.thread_values import Value
from comprehensive.records import replace

MMA_DEPTH = 8
"""Instructions that the next steps of a sum wait for, about: of doubles one that is eight multiply-adds long."""


class Arithmetic(Struct, frozen=True):
    """Operations of the threads of a block; ``wide`` says whether its data are in double precision."""

    tally: Tally
    wide: bool

    def operated(
        self,
        operator: str,
        left: tuple[Expr, Value],
        right: tuple[Expr, Value],
        times: float,
        active: Mask | None,
    ) -> Data:
        """Count an operation on data, given as expressions with their values, and return the result."""
        for (written, value), (_, other) in ((left, right), (right, left)):
            if isinstance(value, Data) and is_fused(operator, written):
                found = self._added(value, other)
                break
        else:
            self._done(of_operator(operator), times, active)
            found = self._deeper(left[1], right[1], waits_of(operator), branches=branches(operator))
        likes = taken_for(left[1]), taken_for(right[1])
        differ = any(
            isinstance(value, Data) and isinstance(value.like, np.ndarray) for _, value in (left, right)
        )
        is_known = all(like is not None for like in likes) and (operator in LINEAR or not differ)
        return replace(found, like=calculate(operator, *likes)) if is_known else found

    def called(self, function: str, values: Sequence[Value], times: float, active: Mask | None) -> Data:
        """Count a function of these values and return its result."""
        instructions = of_function(function)
        self._done(instructions, times, active)
        return self._deeper(LOADED, max(values, key=depth_of), instructions, branches=branches(function))

    def multiplied(self, rows: int, columns: int, element_bytes: int, times: float) -> None:
        """Count some steps of all sums of the warps: an instruction does 16 x 8 of them."""
        done = -(-rows // 2) * -(-columns // 2)
        self.tally.tensor_cores(done, element_bytes, times)
        self.tally.chain += MMA_DEPTH

    def _added(self, product: Value, other: Value) -> Data:
        """One instruction, which has been counted with the product, and waits for the other value as late as that."""
        return self._deeper(Data(max(0, depth_of(product) - 1)), other, 1)

    def _deeper(self, left: Value, right: Value, instructions: int, *, branches: bool = False) -> Data:
        found = Data(max(depth_of(left), depth_of(right), self.tally.begun) + instructions)
        self.tally.chain = max(self.tally.chain, found.depth)
        self.tally.begun = found.depth if branches else self.tally.begun
        return found

    def _done(self, instructions: int, times: float, active: Mask | None) -> None:
        self.tally.arithmetic(instructions, times, active, wide=self.wide)
