"""Machine parameters: the symbols of a case discussion that only the device gives a value.

In: nothing.  Out: :data:`MACHINE_PARAMETERS`, in the order in which they are printed::

    MACHINE_PARAMETERS["Z_B"].unit        # "words of 4 bytes"

``O_W`` and ``F_SM`` follow from speeds, which for an architecture are those of one product.

The others are the resource limits R_1, ..., R_s of the comprehensive optimization paper (section 3.1); a leaf's system
bounds a counter by one of them, as in ``2*s*B0 + 2 <= Z_B``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

WORD_BYTES = 4
"""Shared memory is counted in words, the width of a bank."""
WARP_THREADS = 32


@dataclass(frozen=True, slots=True)
class MachineParameter:
    """A symbol with its meaning; every device has at least ``minimum`` of it (an integer, in ``unit``)."""

    symbol: str
    meaning: str
    unit: str
    minimum: int


def _table(*parameters: MachineParameter) -> Mapping[str, MachineParameter]:
    return MappingProxyType({p.symbol: p for p in parameters})


# The minima hold for every CUDA device since compute capability 3.5, so that a solver may use them as facts.
MACHINE_PARAMETERS = _table(
    MachineParameter("R_B", "registers that one thread may use", "registers of 32 bits", 255),
    MachineParameter(
        "Z_B", "shared memory that one thread block may use (opt-in limit)", "words of 4 bytes", 12288
    ),
    MachineParameter("T_B", "threads of one thread block", "threads", 1024),
    MachineParameter("R_SM", "registers of one multiprocessor", "registers of 32 bits", 65536),
    MachineParameter("Z_SM", "shared memory of one multiprocessor", "words of 4 bytes", 12288),
    MachineParameter("T_SM", "threads resident on one multiprocessor", "threads", 1024),
    MachineParameter("W_SM", "warps resident on one multiprocessor", "warps", 32),
    MachineParameter("B_SM", "thread blocks resident on one multiprocessor", "thread blocks", 16),
    MachineParameter("R_U", "registers that a warp is given at a time", "registers of 32 bits", 1),
    MachineParameter("Q_SM", "sub-partitions of one multiprocessor", "sub-partitions", 1),
    MachineParameter("Z_U", "shared memory that a block is given at a time", "words of 4 bytes", 1),
    MachineParameter("Z_0", "shared memory that the system takes for a block", "words of 4 bytes", 0),
    MachineParameter("O_W", "operations while one word of global memory is moved", "operations", 1),
    MachineParameter("F_SM", "words in flight that keep one multiprocessor busy", "words of 4 bytes", 1),
)

GRANULES = frozenset({"R_U", "Q_SM", "Z_U", "Z_0", "O_W", "F_SM"})
"""Parameters of which a machine admits the more the less it has: what is given at a time, taken, or needed."""


def ample(symbol: str, plenty: int) -> int:
    """The value of a parameter on a machine that has ``plenty`` of everything."""
    return MACHINE_PARAMETERS[symbol].minimum if symbol in GRANULES else plenty
