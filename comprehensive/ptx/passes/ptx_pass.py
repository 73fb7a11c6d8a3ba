"""The form of a pass: a frozen dataclass whose fields are its options, and a pure function from module to module.

    @dataclass(frozen=True)
    class VectorizeAccesses(FunctionPass):
        name = "vectorize-accesses"
        width: int = option(4, "most elements of a vector")
        def rewrite(self, function, module, build): ...

Code that is not understood is never changed: a :class:`FunctionPass` passes over such functions, and says why.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Container
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar, TypeAlias

from comprehensive.diagnostics import CompileError, Span
from comprehensive.ptx.body import COMMENT, STRING, token_start
from comprehensive.ptx.build import ALONE, Build
from comprehensive.ptx.flow import flow_of, span_of
from comprehensive.ptx.module import Function, Item, Module
from comprehensive.ptx.opcodes import opcode
from comprehensive.ptx.operands import Operand
from comprehensive.ptx.passes.remark import Kind, Remark
from comprehensive.ptx.printer import print_statement
from comprehensive.ptx.statements import Directive, Instruction, Statement

Option: TypeAlias = int | bool | str

NEWEST_VERSION = (9, 0)
"""The newest ``.version`` whose statements are known, that of ptxas 13.0."""


# Directives between functions, within bodies, and in the heads of functions.
_OF_MODULES = frozenset(
    (
        *(".version", ".target", ".address_size", ".file", ".loc", ".section", ".pragma", ".alias"),
        *(".entry", ".func", ".global", ".const", ".shared", ".local", ".param", ".reg"),
        *(".tex", ".texref", ".samplerref", ".surfref"),
    )
)
_OF_BODIES = frozenset((".loc", ".file", ".pragma", ".branchtargets", ".calltargets", ".callprototype"))
_OF_HEADS = frozenset(
    (
        *(".entry", ".func", ".visible", ".extern", ".weak", ".common", ".attribute", ".noreturn", ".pragma"),
        *(
            ".param",
            ".reg",
            ".align",
            ".ptr",
            ".global",
            ".const",
            ".shared",
            ".local",
            ".v2",
            ".v4",
            ".pred",
        ),
        *(".texref", ".samplerref", ".surfref", ".maxntid", ".reqntid", ".minnctapersm", ".maxnctapersm"),
        *(".maxnreg", ".reqnctapercluster", ".explicitcluster", ".maxclusterrank", ".blocksareclusters"),
        *(".abi_preserve", ".abi_preserve_control", ".unified", ".managed"),
        *(f".{kind}{bits}" for kind in "busf" for bits in (8, 16, 32, 64, 128)),
        *(".f16x2", ".bf16", ".bf16x2"),
    )
)
_DIRECTIVE = re.compile(r"(?<![\w$%.])\.[A-Za-z_]\w*")
_QUIET = re.compile(rf"{COMMENT}|{STRING}")


def option(default: Any, help: str) -> Any:
    """A field of a pass that the command line can set."""
    return field(default=default, metadata={"help": help})


@dataclass(frozen=True)
class PtxPass(ABC):
    """A pass over modules.

    The constructor raises ValueError, with what is wrong, for options that do not fit.
    """

    name: ClassVar[str]
    summary: ClassVar[str]
    """One line; a rewrite is written ``before --> after``."""

    @property
    def is_gated(self) -> bool:
        """Whether the pipeline puts kernels back that take more registers than the pass may make them take.

        Not so for passes that are about registers, and ask ptxas themselves.
        """
        return True

    @property
    def changes_launch(self) -> bool:
        """Whether kernels get parameters, or shared memory that their launches add: for launchers of our own."""
        return False

    @abstractmethod
    def run(self, module: Module, build: Build = ALONE) -> tuple[Module, tuple[Remark, ...]]:
        """Return another module, or the same one where nothing was to be done, and remarks.

        ``build`` is how the module will be assembled.
        """

    def obstacle(self, module: Module) -> Remark | None:
        """Return the remark that nothing in the module may be changed; None where it may."""
        strange = strange_module(module)
        if strange is None:
            return None
        span, why = strange
        return Remark(Kind.MISSED, self.name, None, span, f"the module stays as it is: {why}")

    @property
    def spelled(self) -> str:
        """The pass as a pipeline names it: with the options that differ from their defaults."""
        given = [
            f"{f.name}={_text(getattr(self, f.name))}"
            for f in fields(self)
            if getattr(self, f.name) != f.default
        ]
        return f"{self.name}{{{' '.join(given)}}}" if given else self.name


@dataclass(frozen=True)
class WithinModulePass(PtxPass):
    """A pass that goes from function to function, and may add others to the module."""

    @abstractmethod
    def rewritten(
        self, function: Function, module: Module, build: Build
    ) -> tuple[Module, tuple[Remark, ...]]:
        """The module with what the pass makes of one of its functions, the same one where that is nothing."""

    def run(self, module: Module, build: Build = ALONE) -> tuple[Module, tuple[Remark, ...]]:
        obstacle = self.obstacle(module)
        if obstacle is not None:
            return module, (obstacle,)
        remarks: list[Remark] = []
        for name, function in module.functions.items():
            if build.functions is not None and name not in build.functions:
                continue
            strange = strange_statement(function, module)
            if strange is not None:
                span, why = strange
                remarks.append(Remark(Kind.MISSED, self.name, name, span, f"'{name}' stays as it is: {why}"))
                continue
            module, found = self.rewritten(function, module, build)
            remarks += found
        return module, tuple(remarks)

    def applied(self, function: Function, statement: Statement, text: str) -> Remark:
        return Remark(Kind.APPLIED, self.name, function.symbol, span_of(function, statement), text)

    def missed(self, function: Function, statement: Statement | None, text: str) -> Remark:
        span = None if statement is None else span_of(function, statement)
        return Remark(Kind.MISSED, self.name, function.symbol, span, text)


@dataclass(frozen=True)
class FunctionPass(WithinModulePass):
    """A pass that looks at one function at a time."""

    @abstractmethod
    def rewrite(
        self, function: Function, module: Module, build: Build
    ) -> tuple[Function | None, tuple[Remark, ...]]:
        """The function in its place, None where it stays as it is."""

    def rewritten(
        self, function: Function, module: Module, build: Build
    ) -> tuple[Module, tuple[Remark, ...]]:
        new, remarks = self.rewrite(function, module, build)
        return module if new is None else module.with_functions({function.symbol: new}), remarks


def strange_module(module: Module) -> tuple[Span | None, str] | None:
    """Return where a module says why nothing in it may be changed, and why; None where it may."""
    if module.version > NEWEST_VERSION:
        (major, minor), (newest, of_newest) = module.version, NEWEST_VERSION
        why = f".version {major}.{minor} is newer than {newest}.{of_newest}, the newest that is known"
        return _span_of(module, ".version"), why
    if "debug" in module.target:
        return _span_of(module, ".target"), "it was built for a debugger, whose tables name registers"
    for item in module.items:
        if item.name not in _OF_MODULES:
            return _item_span(module, item), f"'{item.name}' is not known"
        if isinstance(item, Function) and item.open is not None and module.functions[item.symbol] is not item:
            return _item_span(module, item), f"'{item.symbol}' is there twice"
    return None


def _span_of(module: Module, name: str) -> Span:
    return _item_span(module, next(item for item in module.items if item.name == name))


def _item_span(module: Module, item: Item) -> Span:
    return Span(module.file, token_start(module.file, item), item.end)


def strange_statement(function: Function, module: Module) -> tuple[Span | None, str] | None:
    """The first statement that is not understood, and why; None where all are."""
    try:
        flow = flow_of(function)
    except CompileError as error:
        first = error.diagnostics[0]
        return first.span, first.message
    for name, position in flow.free.items():
        if name not in module.names:
            return span_of(function, function.body[position]), f"'{name}' is not declared"
    for word in _DIRECTIVE.findall(_QUIET.sub(" ", function.header)):
        if word not in _OF_HEADS:
            return _head_span(function), f"'{word}' is not known"
    for statement in function.body:
        if isinstance(statement, Directive) and statement.name not in _OF_BODIES:
            return span_of(function, statement), f"'{statement.name}' is not known"
    for step in flow.steps:
        opcode = step.instruction.opcode
        if not opcode.is_known:
            return span_of(function, step.instruction), f"'{opcode.text}' is not known"
        if not opcode.accepts(len(step.instruction.operands)):
            return span_of(function, step.instruction), f"'{opcode.text}' has not so many operands"
        if opcode.base == "wgmma":
            return span_of(function, step.instruction), f"'{opcode.text}' uses registers while others run"
    return None


def _head_span(function: Function) -> Span:
    head_end = function.end if function.open is None else function.open
    return Span(function.file, token_start(function.file, function), head_end)


def shown(instruction: Instruction) -> str:
    """An instruction in a remark, on one line."""
    return f"'{print_statement(instruction)}'"


def _text(value: Option) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def made(text: str, *operands: Operand) -> Instruction:
    """An instruction that a pass makes."""
    return Instruction(opcode(text), operands)


def unused(name: str, taken: Container[str]) -> str:
    """The name, with a number behind it where it is taken."""
    found, number = name, 2
    while found in taken:
        found, number = f"{name}_{number}", number + 1
    return found
