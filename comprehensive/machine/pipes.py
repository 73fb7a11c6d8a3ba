"""The speeds of pipes of a multiprocessor, beside results per clock: the numbers behind predictions from machine code.

In: nothing.  Out: :data:`PIPES`, in the order in which they are printed::

    PIPES["local_store_bytes_per_kilocycle"].unit       # "bytes"

All are integers.  Values are the table ``pipes`` of the files in ``specs/machines``, which say where they come from.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from comprehensive.machine.speeds import Speed

PIPES: Mapping[str, Speed] = MappingProxyType(
    {
        pipe.name: pipe
        for pipe in (
            Speed(
                "l1_bytes", "first-level cache of a multiprocessor and its shared memory together", "bytes"
            ),
            Speed(
                "local_store_bytes_per_kilocycle",
                "stores to local memory, which are written through, of a multiprocessor, all at work",
                "bytes",
            ),
            Speed(
                "local_load_bytes_per_kilocycle",
                "loads of local memory that the first-level cache does not hold, of a multiprocessor, all at work",
                "bytes",
            ),
            Speed(
                "misaligned_permille", "a global access across rows over one of a whole row", "thousandths"
            ),
            Speed("local_latency_cycles", "from a load of local memory that hits to its value", "cycles"),
            Speed("shuffle_latency_cycles", "from a shuffle to its value", "cycles"),
            Speed("special_latency_cycles", "from a special function or conversion to its value", "cycles"),
            Speed(
                "constant_latency_cycles",
                "from a load of a constant or special register to its value",
                "cycles",
            ),
            Speed(
                "operand_cycles",
                "from the issue of an instruction until its operands have been read",
                "cycles",
            ),
        )
    }
)
