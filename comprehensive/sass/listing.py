"""The JSON of nvdisasm to instructions without registers and control bits.

In: the text of ``nvdisasm -json``.  Out: a :class:`Printed` an instruction, by function, in the order of the code::

    printed_functions(text)["k"][3]      # Printed(guard="@!P0", opcode="BRA", operands="0x510")

The document is a list: what the file is, then functions, each of which stands for a section of code.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast


@dataclass(frozen=True, slots=True)
class Printed:
    """The fields that nvdisasm prints for one instruction; targets of branches are addresses, of calls names."""

    guard: str
    opcode: str
    operands: str


def printed_functions(text: str) -> Mapping[str, tuple[Printed, ...]]:
    """Return the instructions of every function. ValueError for a text of another form."""
    try:
        _, functions = cast("tuple[object, list[dict[str, Any]]]", json.loads(text))
        return {
            str(function["function-name"]): tuple(_printed(each) for each in function["sass-instructions"])
            for function in functions
        }
    except (KeyError, TypeError, ValueError) as problem:
        raise ValueError(f"the JSON of nvdisasm is of another form: {problem!r}") from problem


def _printed(instruction: Mapping[str, Any]) -> Printed:
    guard, operands = str(instruction.get("predicate", "")), str(instruction.get("operands", ""))
    if guard and not guard.startswith("@"):
        # nvdisasm 13.5 gives the source of `P2R R6, PR, RZ, 0x20` as its predicate.
        first, _, rest = operands.partition(",")
        guard, operands = "", ",".join((first, guard, rest))
    return Printed(guard, str(instruction["opcode"]), operands)
