"""The accesses to memory that instructions make.

In: the forms of addresses and the memories that they lead to.  Out: an :class:`Access` of every step that touches
memory or orders accesses::

    accesses_of(affine, spaces)[7]     # Access(step=7, space=Space.GLOBAL, address=..., bytes=16, reads=True, ...)

``address`` is None for what is more than one address of which the width is known (copies, textures, calls, barriers,
opcodes that are not known): such an access may touch everything.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from comprehensive.ptx.analysis.affine import Affine
from comprehensive.ptx.analysis.forms import Form
from comprehensive.ptx.analysis.space import Space
from comprehensive.ptx.analysis.spaces import Spaces
from comprehensive.ptx.module import bytes_of
from comprehensive.ptx.opcodes import Effect

_SIMPLE = frozenset({"ld", "ldu", "st", "atom", "red"})


@dataclass(frozen=True, slots=True)
class Access:
    """An access of ``bytes`` from ``address`` on.

    ``is_constant`` says that nobody writes there while the kernel runs (``.nc``, constant memory, parameters
    of a kernel); ``orders`` that accesses of what somebody writes may not pass it, ``gates`` that no access
    may.
    """

    step: int
    space: Space
    address: Form | None
    bytes: int
    reads: bool
    writes: bool
    is_constant: bool
    orders: bool
    gates: bool


def accesses_of(affine: Affine, spaces: Spaces) -> Mapping[int, Access]:
    """Return what each step that reads, writes or orders memory does to it, by step, in order.

    >>> accesses_of(affine, spaces)[7].bytes    # doctest: +SKIP
    16
    """
    flow = affine.ssa.cfg.flow
    parameters = flow.function.kernel_parameters.keys()
    found: dict[int, Access] = {}
    for number, step in enumerate(flow.steps):
        code = step.instruction.opcode
        if code.effect is Effect.NONE and code.is_known:
            continue
        reads, writes = bool(code.effect & Effect.READ), bool(code.effect & Effect.WRITE)
        orders = bool(code.effect & Effect.BARRIER) or code.is_volatile or not code.is_known
        if not code.is_known:
            reads = writes = True
        is_simple = code.base in _SIMPLE and bool(code.types)
        space = spaces.access(number) if is_simple else Space.ANY
        constant = (
            "nc" in code.modifiers
            or space is Space.CONST
            or (space is Space.PARAM and bool(step.symbols) and parameters >= set(step.symbols))
        )
        found[number] = Access(
            number,
            space,
            affine.addresses[number] if is_simple else None,
            code.vector * bytes_of(code.types[-1]) if is_simple else 0,
            reads,
            writes,
            is_simple and constant and not writes,
            orders,
            code.is_gate,
        )
    return MappingProxyType(found)
