"""The roles of the operands of an instruction, by the small language of the opcode table.

In: the text of a row, such as ``"def T|pred, address, use? b32, use b64 if L2::cache_hint"``, and the modifiers of an
opcode.  Out: a :class:`Signature`, which knows the slots for every legal number of operands::

    signature("def T, address, use b64 if L2::cache_hint", {"L2::cache_hint"}).slots(3)

has the roles DEF, ADDRESS, USE. A number of operands that is not legal has no slots.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Set
from dataclasses import dataclass, field
from enum import Enum
from functools import cache

_MORE = 16
"""The number of operands that may stand for one that is marked ``*``."""


class Role(Enum):
    """The role of an operand: how the instruction uses it."""

    DEF = "def"
    USE = "use"
    DEF_USE = "update"
    """Written, and read before: also where it is not known which of both."""
    ADDRESS = "address"
    """Says where memory is accessed; registers in it are read."""
    LABEL = "label"
    TARGETS = "targets"
    """The name of a list of labels."""
    CALLEE = "callee"
    """The name of a function, or the register that holds its address, which is read."""
    SYMBOL = "symbol"
    """A name that is neither a value nor a label: the prototype of a call."""
    CONSTANT = "constant"
    """A number known to the assembler; never a register."""


@dataclass(frozen=True, slots=True)
class Slot:
    """One operand: its role, the word for its type, and for that of the second part of a pair ``d|p``."""

    role: Role
    type: str | None = None
    second: str | None = None
    mark: str = ""
    condition: str | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Signature:
    """The operands of an opcode: slots and roles by how many there are."""

    by_count: dict[int, tuple[Slot, ...]] = field(repr=False)
    roles_by_count: dict[int, tuple[Role, ...]]

    def slots(self, operands: int) -> tuple[Slot, ...]:
        return self.by_count.get(operands, ())

    def accepts(self, operands: int) -> bool:
        return operands in self.by_count


_SLOT = re.compile(
    r"(?P<role>[a-z]+)(?P<mark>[?*]?)(?: (?P<type>[\w-]+)(?:\|(?P<second>\w+))?)?(?: if (?P<condition>[\w:]+))?"
)


@cache
def parse_slots(text: str) -> tuple[Slot, ...]:
    """The slots of a row as written; raises ValueError where it is not in the language."""
    return tuple(_slot(part.strip()) for part in text.split(",")) if text.strip() else ()


def _slot(text: str) -> Slot:
    match = _SLOT.fullmatch(text)
    if match is None:
        raise ValueError(f"'{text}' is no operand")
    kind = None if match["type"] == "-" else match["type"]
    return Slot(Role(match["role"]), kind, match["second"], match["mark"], match["condition"])


@cache
def _signature(text: str, conditions: frozenset[str]) -> Signature:
    slots = tuple(s for s in parse_slots(text) if s.condition is None or s.condition in conditions)
    by_count = dict(_expand(slots))
    return Signature(by_count, {n: tuple(slot.role for slot in each) for n, each in by_count.items()})


def signature(text: str, modifiers: Set[str]) -> Signature:
    """The signature of a row for an opcode with these modifiers; the same object for the same row and conditions."""
    return _signature(text, _conditions(text) & modifiers)


@cache
def _conditions(text: str) -> frozenset[str]:
    return frozenset(slot.condition for slot in parse_slots(text) if slot.condition)


def _expand(slots: tuple[Slot, ...]) -> Iterator[tuple[int, tuple[Slot, ...]]]:
    """Yield numbers of operands with their slots: ``a, b?, c`` stands for ``a, c`` and ``a, b, c``.

    Optional slots are filled from the left to the right.
    """
    least = sum(not slot.mark for slot in slots)
    optional = sum(slot.mark == "?" for slot in slots)
    repeated = any(slot.mark == "*" for slot in slots)
    for extra in range(optional + (_MORE if repeated else 0) + 1):
        yield least + extra, tuple(_chosen(slots, extra))


def _chosen(slots: tuple[Slot, ...], extra: int) -> Iterator[Slot]:
    for slot in slots:
        match slot.mark:
            case "?" if extra:
                extra -= 1
                yield slot
            case "*":
                yield from (slot for _ in range(extra))
            case "":
                yield slot
            case _:
                pass


def unknown_roles(operands: int) -> tuple[Role, ...]:
    """Return the roles for an instruction that the table does not know.

    The first operand may be anything, the others are read.
    """
    return (Role.DEF_USE, *(Role.USE for _ in range(operands - 1))) if operands else ()


def call_roles(operands: int, returns: bool | None) -> tuple[Role, ...]:
    """Return the roles for ``call (ret), f, (args), prototype``.

    ``returns`` says whether ``(ret)`` is there; None where that is not known.

    Without knowing, two operands are ``(ret), f`` or ``f, (args)`` and three ``(ret), f, (args)`` or ``f, (args),
    prototype``: then the first may be anything.
    """
    if not 1 <= operands <= 4 or (returns is None and operands in (2, 3)):
        return unknown_roles(operands)
    with_return = operands == 4 if returns is None else returns
    rest = (Role.CALLEE, Role.USE, Role.SYMBOL)
    return ((Role.DEF, *rest) if with_return else rest)[:operands]
