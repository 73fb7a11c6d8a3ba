"""The statements of a function body of PTX, each of which knows the text that it was read from.

``start`` and ``end`` are offsets into the text of the module, white space and comments before the statement included:
the texts of the statements of a body, one after the other, are the body.  A statement that a pass has made has
``end`` :data:`MADE` and is printed in the one canonical form.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

from comprehensive.ptx.opcodes import Opcode
from comprehensive.ptx.operands import Name, Not, Operand

MADE = -1
"""The ``end`` of a statement that stands in no text."""


class Instruction(NamedTuple):
    """An instruction: ``@guard opcode operands;``."""

    opcode: Opcode
    operands: tuple[Operand, ...]
    guard: Name | Not | None = None
    start: int = MADE
    end: int = MADE


class Label(NamedTuple):
    """A label: ``name:``."""

    name: str
    start: int = MADE
    end: int = MADE


class Declaration(NamedTuple):
    """Registers or variables: ``.reg .b32 %r<5>;``, ``.shared .align 4 .b8 tile[64];``; ``text`` without comments."""

    kind: str
    text: str
    start: int = MADE
    end: int = MADE


class Directive(NamedTuple):
    """A directive to the assembler: ``.loc 1 5 3``, ``.pragma "nounroll";``, ``t: .branchtargets A, B;``."""

    name: str
    text: str
    label: str | None = None
    start: int = MADE
    end: int = MADE


class Open(NamedTuple):
    """A ``{``, which begins a scope of names."""

    start: int = MADE
    end: int = MADE


class Close(NamedTuple):
    """A ``}``, which ends a scope of names."""

    start: int = MADE
    end: int = MADE


Statement: TypeAlias = Instruction | Label | Declaration | Directive | Open | Close
