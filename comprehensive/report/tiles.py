"""The contents of blocks, for pictures and as a document (`specs/schema/tiles.json`).

document(found)["kernels"][0]["copies"][0]["copies"][0]["shared"][:2]     # where lanes 0 and 1 put their 16 bytes
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import ceil, prod
from typing import Any

from msgspec import Struct

from comprehensive.algebra import Polynomial
from comprehensive.machine.parameters import WARP_THREADS
from comprehensive.metafork.printer import print_expr
from comprehensive.model.block_shape import BlockShape, Elements
from comprehensive.model.staged_copies import StagedCopy

SCHEMA = 1


class Drawn(Struct, frozen=True):
    """A block of a kernel with its values, its shape, and the numbers that are known.

    ``conditions`` are those of its leaf with the numbers put in, ``copies`` those of the first warp of the first block.
    """

    region: str
    kernel: str
    shape: BlockShape
    values: Mapping[str, int]
    threads: tuple[int, ...] | None
    """Outermost first."""
    offsets: tuple[int, ...] | None
    """The words at which tiles in shared memory begin."""
    shared_words: int | None
    conditions: tuple[str, ...]
    order: tuple[str, ...]
    copies: tuple[StagedCopy, ...] = ()

    @property
    def title(self) -> str:
        names = ", ".join(f"{name} = {value}" for name, value in self.values.items())
        return f"a block of {self.region} {self.kernel}" + (f", {names}" if names else "")

    def numbers(self, extents: Sequence[Polynomial]) -> list[int] | None:
        """Return the numbers of extents; None where one depends on what has no value."""
        if any(name not in self.values for e in extents for name in e.symbols):
            return None
        return [max(0, int(extent.evaluate(self.values))) for extent in extents]


def document(found: Sequence[Drawn]) -> dict[str, Any]:
    """The blocks as plain data."""
    return {"schema": SCHEMA, "kernels": [_kernel(each) for each in found]}


def _kernel(found: Drawn) -> dict[str, Any]:
    shape, threads = found.shape, found.threads
    return {
        "region": found.region,
        "kernel": found.kernel,
        "values": dict(found.values),
        "threads": {
            "extents": [print_expr(extent) for extent in shape.threads],
            "numbers": None if threads is None else list(threads),
            "warps": None if threads is None else ceil(prod(threads) / WARP_THREADS),
        },
        "elements": [_elements(found, each) for each in shape.elements],
        "not_drawn": [{"array": array, "because": reason} for array, reason in shape.unknown],
        "shared_memory": {
            "words": shape.shared_words.format(found.order),
            "number": found.shared_words,
            "tiles": [
                {
                    "name": tile.name,
                    "array": tile.array or None,
                    "bytes_of_an_element": tile.element_bytes,
                    "at": print_expr(tile.offset_words),
                    "number": None if found.offsets is None else found.offsets[number],
                }
                for number, tile in enumerate(shape.shared)
            ],
        },
        "registers": [
            {"name": name, "extents": [print_expr(extent) for extent in extents]}
            for name, extents in shape.registers
        ],
        "conditions": list(found.conditions),
        "copies": [
            {
                "array": each.array,
                "tile": each.tile,
                "kind": each.kind,
                "copies": [
                    {"bytes": copy.width, "global": list(copy.source), "shared": list(copy.target)}
                    for copy in each.copies
                ],
            }
            for each in found.copies
        ],
    }


def _elements(found: Drawn, elements: Elements) -> dict[str, Any]:
    return {
        "array": elements.array,
        "part": elements.band,
        "reads": elements.reads,
        "writes": elements.writes,
        "extents": [extent.format(found.order) for extent in elements.extents],
        "numbers": found.numbers(elements.extents),
        "halo": [list(side) for side in elements.halo],
        "of_a_thread": [extent.format(found.order) for extent in elements.each],
    }
