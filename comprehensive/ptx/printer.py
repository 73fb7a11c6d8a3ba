"""Modules back to text: what no pass has touched to the byte as it was read, the rest in one canonical form.

print_module(parse(file)) == file.text
print_statement(Instruction(opcode("add.s32"), ...))      # "add.s32 %r1, %r2, 4;"
"""

from __future__ import annotations

from comprehensive.diagnostics import SourceFile
from comprehensive.ptx.module import Function, Item, MadeVariable, Module, Rewritten
from comprehensive.ptx.statements import (
    MADE,
    Close,
    Declaration,
    Directive,
    Instruction,
    Label,
    Open,
    Statement,
)


def print_module(module: Module) -> str:
    """The whole text."""
    text = module.file.text
    return "".join((*(_item(text, item) for item in module.items), text[module.tail :]))


def _item(text: str, item: Item) -> str:
    if isinstance(item, Rewritten):
        return item.text
    if isinstance(item, MadeVariable):
        return f"\n{item.text}"
    if not isinstance(item, Function) or item.changed is None or item.open is None:
        return text[item.start : item.end]
    return f"{item.header}{print_body(item.file, item.changed)}\n}}"


def print_body(file: SourceFile, body: tuple[Statement, ...]) -> str:
    """The statements, each with what stood before it."""
    return "".join(
        file.text[s.start : s.end] if s.end != MADE else f"{_lead(s)}{print_statement(s)}" for s in body
    )


def _lead(statement: Statement) -> str:
    return "\n" if isinstance(statement, Label) else "\n\t"


def print_statement(statement: Statement) -> str:
    """The canonical form, without white space around it."""
    match statement:
        case Instruction(opcode, operands, guard):
            before = "" if guard is None else f"@{guard} "
            behind = f" {', '.join(map(str, operands))}" if operands else ""
            return f"{before}{opcode.text}{behind};"
        case Label(name):
            return f"{name}:"
        case Declaration(kind, text):
            return f"{kind} {text};"
        case Directive(name, text, label):
            before = "" if label is None else f"{label}: "
            end = "" if name in (".loc", ".file") else ";"
            return f"{before}{name} {text}{end}"
        case Open():
            return "{"
        case Close():
            return "}"
