"""Registers of a thread, R_B: a variant in, a number of 32-bit registers out.

:class:`Registers` estimates from the kernel's own three-address code, with no compiler at hand;
:class:`PtxasRegisters` asks the real one.  Example: a kernel with at most 9 words alive is estimated at
27 registers; under ``register_cap`` 32 never at more than 32, since ptxas then spills.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache

from msgspec import Struct

from comprehensive.algebra import Polynomial, product_of, sum_of
from comprehensive.counters.liveness import max_live_words
from comprehensive.counters.shared_words import KERNEL_NAME
from comprehensive.counters.three_address import three_address
from comprehensive.kernel_ir.kernel import Kernel, KernelStmt
from comprehensive.loops.ir import Nest, RegisterTile, Variant
from comprehensive.metafork.ast import Assign, For, Index, IntLiteral
from comprehensive.metafork.walk import expressions_in, statements_in, subexpressions
from comprehensive.optimize.protocols import Evaluation, Kind


def fitted_registers(live_words: int, unrolled: bool) -> int:
    """Registers for so many live words: 2.5 a word and 4 more, at least 24 and one a word with an unrolled loop.

    Fitted by hand to nvcc 13.0, sm_90, default options, on variants of the first region of each file of ``specs/*.mf``
    (caching, granularity, CSE and register pressure, taken and not taken), and looked at again with kernels that hold
    elements in registers and have ``__restrict__``: on 77 different kernels, 7 of them of products with loops from 1 or
    the first product in front of the loop, the mean absolute error is 2.9 registers and the largest 7 for the 33 of
    straight code (10 to 34 registers), 1.7 and 6 for the 44 with a loop in constant steps, which nvcc unrolls (23 to 37
    registers).  The best lines through these points have 2.6 and 1.6.  It was checked on no other kernels.
    """
    straight = (5 * live_words + 1) // 2 + 4
    return max(straight, live_words + 24) if unrolled else straight


class Registers(Struct, frozen=True):
    """The estimate: maximum of live words, plus what ptxas adds."""

    name: str = "registers_per_thread"
    limit: str = "R_B"
    kind: Kind = Kind.RESOURCE

    def evaluate(self, fragment: Variant) -> Evaluation:
        return _counted(fragment, _estimate, "estimate")


def _counted(fragment: Variant, count: Callable[[Kernel], int], source: str) -> Evaluation:
    from comprehensive.lowering.lower import lower

    if fragment.tile is not None:
        return tile_registers(fragment.nest, fragment.tile)
    return Evaluation(Polynomial.constant(count(lower(fragment, KERNEL_NAME))), source)


@lru_cache(maxsize=4096)
def _estimate(kernel: Kernel) -> int:
    live_words = max_live_words(three_address(kernel))
    registers = fitted_registers(live_words, has_unrolled_loop(kernel.body))
    return registers if kernel.register_cap is None else min(registers, kernel.register_cap)


def has_unrolled_loop(body: tuple[KernelStmt, ...]) -> bool:
    """Whether a thread has a loop of its own in constant steps; copy loops stride by the number of threads."""
    return any(
        isinstance(s, For) and not s.uniform and isinstance(s.step, IntLiteral) for s in statements_in(body)
    )


def tile_registers(nest: Nest, tile: RegisterTile) -> Evaluation:
    """The model for kernels over register tiles: a register for each point of a thread, and what points share.

    What they share is in registers twice, for two steps, at two places each; elements of 16 bits and bytes share a
    register.  The launch bounds of an instance make the compiler keep to what its block can have, so that this is for
    ranking.
    """
    each = [Polynomial.symbol(c.each) for c in tile.coordinates]
    shared = sum_of(each) if len(each) > 1 else Polynomial.constant(0)
    return Evaluation(product_of(each) + (2 if _reads_narrow(nest, tile) else 4) * shared + 40, "model")


def _reads_narrow(nest: Nest, tile: RegisterTile) -> bool:
    """Whether all data that loops of a point read and do not assign is of 16 bits or bytes, and some is."""
    every = (s for body in tile.bodies for s in statements_in(body))
    inside = tuple(s for loop in every if isinstance(loop, For) for s in loop.body)
    targets = (s.target for s in statements_in(inside) if isinstance(s, Assign))
    assigned = {target.array for target in targets if isinstance(target, Index)}
    read = {e.array for x in expressions_in(inside) for e in subexpressions(x) if isinstance(e, Index)}
    types = [a.type for a in nest.arrays if a.name in read - assigned]
    return bool(types) and all(type.is_storage or type.size_bytes == 1 for type in types)


@dataclass(frozen=True, slots=True)
class PtxasRegisters:
    """The count that ptxas reports for an architecture such as ``sm_90``.

    ``compile`` maps a lowered kernel to its number of registers; it is the caller's, and so are its errors.
    """

    arch: str
    compile: Callable[[Kernel], int] = field(compare=False)
    name: str = "registers_per_thread"
    limit: str = "R_B"
    kind: Kind = Kind.RESOURCE

    def evaluate(self, fragment: Variant) -> Evaluation:
        return _counted(fragment, self.compile, f"ptxas {self.arch}")
