"""Opcodes: what an instruction does, by its text.

In: the opcode as written, such as ``ld.global.nc.v4.f32``.  Out: an :class:`Opcode`, the same object for the same
text: roles and types of its operands, its effect on memory, whether it may be moved or removed, what it needs::

    load = opcode("ld.global.nc.v4.f32")
    load.roles(2) == (Role.DEF, Role.ADDRESS)
    load.operand_type(0, 2) == "f32"
    Effect.READ in load.effect and load.space == "global" and load.min_version == (3, 1)

The facts are in ``specs/ptx/opcodes.toml``. Modifiers may stand in any order, as ptxas takes them. What the table does
not know is never an error: such an opcode may read and write its first operand, reads the others, and is a barrier
that must stay where it is.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache

from .opcode_table import UNKNOWN, Effect, Row, find_row, type_bits
from .signatures import Role, Signature, Slot, call_roles, signature, unknown_roles

__all__ = ["Effect", "Opcode", "Role", "bits", "opcode"]

# The qualifiers after `::` that name what the bare word names anyway (PTX ISA 9.0, sections 5.1.6 and 5.1.7).
_SPACES = {
    "global": "global",
    "shared": "shared",
    "shared::cta": "shared",
    "shared::cluster": "shared::cluster",
    "local": "local",
    "const": "const",
    "param": "param",
    "param::entry": "param",
    "param::func": "param",
}
_VECTORS = {"v2": 2, "v4": 4, "v8": 8}
_ORDERING = frozenset({"acquire", "release", "acq_rel", "sc"})
# `.cv` fetches again and `.wt` writes through to system memory: for what others see or change meanwhile.
_VOLATILE = _ORDERING | {"volatile", "relaxed", "mmio", "cv", "wt"}


@dataclass(frozen=True, slots=True, eq=False)
class Opcode:
    """An opcode and its modifiers; compare with ``is`` or ``==``, there is one object a text."""

    text: str
    base: str
    """The first word: ``cp`` of ``cp.async.bulk``."""
    modifiers: tuple[str, ...]
    """The other words as written; those with ``::`` are whole."""
    types: tuple[str, ...]
    """The modifiers that are types, in order: result first, as in ``cvt.f32.s32``."""
    vector: int
    """The number of elements that ``.v2``, ``.v4``, ``.v8`` ask for, else 1."""
    space: str | None
    """The memory that is accessed; of two memories the first, where a copy goes; None if it is not.
    ``shared::cta`` is ``shared``, ``param::entry`` and ``param::func`` are ``param``. ``shared::cluster``
    holds ``shared``, ``generic`` (none is named) may be any but ``param`` of functions, ``tensor`` is tensor
    memory."""
    spaces: tuple[str, ...]
    """All of them: ``cp.async.ca.shared.global`` writes ``shared`` and reads ``global``."""
    is_known: bool
    effect: Effect
    is_volatile: bool
    """Must not be moved, removed or merged with another."""
    is_convergent: bool
    """Lanes take part together: must not get another control dependence."""
    has_side_effects: bool
    """Whether it may not be removed even if no result is used."""
    is_terminator: bool
    """Ends a basic block: bra, brx.idx, ret, exit, trap."""
    is_gate: bool
    """Whether the code behind it must not be executed before it, not even a load of what this grid never writes."""
    reads_carry: bool
    writes_carry: bool
    """The carry flag CC.CF, a register that no operand shows."""
    min_version: tuple[int, int]
    """The lowest ``.version``, and ``min_target`` the lowest ``sm_``, that take it; (1, 0) and 0 where any does."""
    min_target: int
    arch_specific: bool
    """Whether only targets with a letter take it: ``sm_90a``, ``sm_100f``."""
    version_known: bool
    """Whether both are exact; else they are bounds from below."""
    _signature: Signature | None = field(repr=False)

    def roles(self, operands: int, *, returns: bool | None = None) -> tuple[Role, ...]:
        """One role an operand; a vector and a pair ``d|p`` are one operand, and all of it has that role.

        ``returns``: whether the first operand of a call is its return list, ``(ret)``.
        """
        if self._signature is None:
            return unknown_roles(operands)
        if self.base == "call":
            return call_roles(operands, returns)
        return self._signature.roles_by_count.get(operands) or unknown_roles(operands)

    def accepts(self, operands: int) -> bool:
        """Whether that many operands are legal; anything is for an unknown opcode."""
        if self._signature is None:
            return True
        return 1 <= operands <= 4 if self.base == "call" else self._signature.accepts(operands)

    def operand_type(self, position: int, operands: int) -> str | None:
        """The type of the value at a position: of each element of a vector, of the first part of a pair.

        With ``mov`` a vector packs or unpacks, and the type is that of the whole. None where the opcode does not
        say: for addresses, labels, descriptors, constants.
        """
        slot = self._slot(position, operands)
        return None if slot is None else self._resolve(slot.type)

    def second_type(self, position: int, operands: int) -> str | None:
        """The type of ``p`` in ``d|p``; None where no pair may stand."""
        slot = self._slot(position, operands)
        return None if slot is None else slot.second

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return opcode, (self.text,)

    def _slot(self, position: int, operands: int) -> Slot | None:
        slots = self._signature.slots(operands) if self._signature else ()
        return slots[position] if 0 <= position < len(slots) else None

    def _resolve(self, word: str | None) -> str | None:
        """The type that a word of the table stands for; the words are explained there."""
        types = self.types
        if word is None or word in type_bits():
            return word
        if not types:
            return None
        match word:
            case "T":
                return types[0]
            case "T2":
                return types[min(1, len(types) - 1)]
            case "T3":
                return types[min(2, len(types) - 1)]
            case "W":
                return f"{types[0][0]}{2 * type_bits()[types[0]]}"
            case "F" | "D":
                return _in_fragment(types[0])
            case "A" | "B":
                # Two types only: those of d and c, with a and b of f16.
                return _in_fragment(types["AB".index(word) + 1] if len(types) >= 4 else "f16")
            case "C":
                return _in_fragment(types[min(3, len(types) - 1)])
            case _:
                raise ValueError(f"'{word}' is no word for a type")


def _in_fragment(element: str) -> str:
    """A register of a fragment holds one of the wide types, or several of the narrow ones as bits."""
    return element if element in ("f64", "f32", "s32") else "b32"


def bits(kind: str) -> int:
    """Return the number of bits of a value of that type: 32 for ``f16x2``; raises KeyError for what is no type."""
    return type_bits()[kind]


@cache
def opcode(text: str) -> Opcode:
    """The opcode of that text, without predicate and operands."""
    base, *words = text.split(".")
    modifiers = tuple(words)
    have = frozenset(words)
    found = find_row(base, have)
    row = found or UNKNOWN
    kinds = type_bits()
    spaces = _spaces(modifiers, row)
    effect, stays = row.effect, row.volatile or row.effect is Effect.BARRIER
    if spaces and not have.isdisjoint(_VOLATILE):
        stays = True
        effect = effect if have.isdisjoint(_ORDERING) else effect | Effect.BARRIER
    # Lanes may wait for each other at different instructions with `.sync`, but not with `.aligned`.
    waits = "sync" in have and "aligned" not in have
    version, target, specific = _least(row, have.union(spaces))
    return Opcode(
        text=text,
        base=base,
        modifiers=modifiers,
        types=tuple(word for word in modifiers if word in kinds),
        vector=max((_VECTORS.get(word, 1) for word in modifiers), default=1),
        space=spaces[0] if spaces else None,
        spaces=spaces,
        is_known=found is not None,
        effect=effect,
        is_volatile=stays,
        is_convergent=row.convergent or "sync" in have or "aligned" in have,
        has_side_effects=row.side_effects or row.terminator or stays or waits or Effect.WRITE in effect,
        is_terminator=row.terminator,
        is_gate=row.gate,
        reads_carry=row.reads_carry,
        writes_carry=found is None or "cc" in have,
        min_version=version,
        min_target=target,
        arch_specific=specific,
        version_known=row.exact,
        _signature=None if found is None else signature(row.operands, have),
    )


def _spaces(modifiers: tuple[str, ...], row: Row) -> tuple[str, ...]:
    if row.space is None:
        return ()
    return tuple(_SPACES[word] for word in modifiers if word in _SPACES) or (row.space,)


def _least(row: Row, words: frozenset[str]) -> tuple[tuple[int, int], int, bool]:
    """Version, target, and whether only a target with a letter will do."""
    version, target, specific = (1, 0), 0, False
    for need in row.needs:
        if need.words <= words:
            version = max(version, need.version)
            if need.target >= target:
                specific = need.specific or (specific and need.target == target)
                target = need.target
    return version, target, specific
