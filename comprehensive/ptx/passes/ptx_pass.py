"""What a pass is: a frozen dataclass whose fields are its options, and a pure function from module to module.

    @dataclass(frozen=True)
    class VectorizeAccesses(FunctionPass):
        name = "vectorize-accesses"
        width: int = option(4, "most elements of a vector")
        def rewrite(self, function, module): ...

Code that is not understood is never changed: a :class:`FunctionPass` passes over such functions, and says why.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar, TypeAlias

from comprehensive.diagnostics import CompileError, Span
from comprehensive.ptx.body import token_start
from comprehensive.ptx.flow import flow_of
from comprehensive.ptx.module import Function, Module
from comprehensive.ptx.passes.remark import Kind, Remark
from comprehensive.ptx.printer import print_statement
from comprehensive.ptx.statements import MADE, Instruction, Statement

Option: TypeAlias = int | bool | str

NEWEST_VERSION = (9, 0)
"""The newest ``.version`` whose statements are known, that of ptxas 13.0."""


def option(default: Any, help: str) -> Any:
    """A field of a pass that the command line can set."""
    return field(default=default, metadata={"help": help})


@dataclass(frozen=True)
class PtxPass(ABC):
    """ValueError from the constructor, with what is wrong, for options that do not fit."""

    name: ClassVar[str]
    summary: ClassVar[str]
    """One line; a rewrite is written ``before --> after``."""

    @abstractmethod
    def run(self, module: Module) -> tuple[Module, tuple[Remark, ...]]:
        """Another module, or the same one where nothing was to be done."""

    @property
    def spelled(self) -> str:
        """As a pipeline names it: with the options that differ from their defaults."""
        given = [
            f"{f.name}={_text(getattr(self, f.name))}"
            for f in fields(self)
            if getattr(self, f.name) != f.default
        ]
        return f"{self.name}{{{' '.join(given)}}}" if given else self.name


@dataclass(frozen=True)
class FunctionPass(PtxPass):
    """A pass that looks at one function at a time."""

    @abstractmethod
    def rewrite(
        self, function: Function, module: Module
    ) -> tuple[Sequence[Statement] | None, tuple[Remark, ...]]:
        """The new body, None where it stays as it is."""

    def run(self, module: Module) -> tuple[Module, tuple[Remark, ...]]:
        strange = strange_module(module)
        if strange is not None:
            return module, (Remark(Kind.MISSED, self.name, None, None, strange),)
        changed: dict[str, Function] = {}
        remarks: list[Remark] = []
        for name, function in module.functions.items():
            obstacle = strange_statement(function)
            if obstacle is not None:
                span, why = obstacle
                remarks.append(Remark(Kind.MISSED, self.name, name, span, f"'{name}' stays as it is: {why}"))
                continue
            body, found = self.rewrite(function, module)
            remarks += found
            if body is not None:
                changed[name] = function.with_body(body)
        return (module.with_functions(changed) if changed else module), tuple(remarks)

    def applied(self, function: Function, statement: Statement, text: str) -> Remark:
        return Remark(Kind.APPLIED, self.name, function.symbol, span_of(function, statement), text)

    def missed(self, function: Function, statement: Statement | None, text: str) -> Remark:
        span = None if statement is None else span_of(function, statement)
        return Remark(Kind.MISSED, self.name, function.symbol, span, text)


def strange_module(module: Module) -> str | None:
    """Why nothing in a module may be changed."""
    if module.version > NEWEST_VERSION:
        major, minor = module.version
        return (
            f"the module stays as it is: .version {major}.{minor} is newer than "
            f"{NEWEST_VERSION[0]}.{NEWEST_VERSION[1]}, the newest that is known"
        )
    if "debug" in module.target:
        return "the module stays as it is: it was built for a debugger, whose tables name registers"
    return None


def strange_statement(function: Function) -> tuple[Span | None, str] | None:
    """The first statement that is not understood, and why; None where all are."""
    try:
        flow = flow_of(function)
    except CompileError as error:
        first = error.diagnostics[0]
        return first.span, first.message
    for step in flow.steps:
        opcode = step.instruction.opcode
        if not opcode.is_known:
            return span_of(function, step.instruction), f"'{opcode.text}' is not known"
        if not opcode.accepts(len(step.instruction.operands)):
            return span_of(function, step.instruction), f"'{opcode.text}' has not so many operands"
        if opcode.base == "wgmma":
            return span_of(function, step.instruction), f"'{opcode.text}' uses registers while others run"
    return None


def span_of(function: Function, statement: Statement) -> Span | None:
    """The statement without what stands before it; None for one that a pass has made."""
    if statement.end == MADE:
        return None
    return Span(function.file, token_start(function.file, statement), statement.end)


def shown(instruction: Instruction) -> str:
    """An instruction in a remark, on one line."""
    return f"'{print_statement(instruction)}'"


def _text(value: Option) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
