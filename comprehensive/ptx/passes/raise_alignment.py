"""Alignments of objects raised to what accesses of vectors need.

    .visible .global .align 4 .b8 D[4096];      -->  .visible .global .align 16 .b8 D[4096];

Chakrabarti et al., CUDA compiler optimizations, 2012, section 3.3: "if possible, the object alignment may be increased
to enable a vector access".  It may where the object is defined here, so that no other module says where it lies: it is
a variable of the module that is neither ``.extern`` nor ``.weak`` nor ``.common``, or one of a function.  Only objects
of at least so many bytes are raised; shared memory grows by less than that for each, and stays as it is where a block
might then have too little.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from comprehensive.ptx.body import COMMENT
from comprehensive.ptx.build import ALONE, Build
from comprehensive.ptx.module import Function, MadeVariable, Module, Variable, bytes_of
from comprehensive.ptx.passes.ptx_pass import PtxPass, option, strange_statement
from comprehensive.ptx.passes.remark import Kind, Remark
from comprehensive.ptx.statements import Declaration, Statement

STATIC_SHARED_BYTES = 48 * 1024
"""The most shared memory that a block can have that is not dynamic."""

_SPACES = (".global", ".const", ".shared", ".local")
_ELSEWHERE = re.compile(r"\.(?:extern|weak|common)\b")
_OBJECT = re.compile(
    r"(?P<align>\.align\s+(?P<bytes>\d+)\s+)?(?P<vector>\.v[248]\s+)?\.(?P<type>[bsuf]\d+\w*)\s+"
    r"(?P<name>[\w$%]+)(?P<dims>(?:\s*\[\s*\d+\s*\])*)\s*;?\s*\Z"
)


@dataclass(frozen=True)
class RaiseAlignment(PtxPass):
    name = "raise-alignment"
    summary = "alignments of variables that are defined here: .global .align 4 .b8 D[64]; --> .align 16"
    bytes: int = option(16, "the alignment that they get: 8, 16 or 32")

    def __post_init__(self) -> None:
        if self.bytes not in (8, 16, 32):
            raise ValueError("bytes is 8, 16 or 32")

    def run(self, module: Module, build: Build = ALONE) -> tuple[Module, tuple[Remark, ...]]:
        obstacle = self.obstacle(module)
        if obstacle is not None:
            return module, (obstacle,)
        strange = {symbol: strange_statement(f, module) for symbol, f in module.functions.items()}
        # How much shared memory a function has that is not understood is not known.
        is_known = not any(strange.values())
        keeps_shared = not is_known or _shared_bytes(module, self.bytes) > STATIC_SHARED_BYTES
        remarks: list[Remark] = []
        changed: dict[str, str] = {}
        for symbol, variable in module.variables.items():
            if keeps_shared and variable.name == ".shared":
                continue
            text = self._raised(_with_linkage(module, variable))
            if text is not None:
                changed[symbol] = text
                remarks.append(self._told(symbol))
        functions: dict[str, Function] = {}
        for symbol, function in module.functions.items():
            if build.functions is not None and symbol not in build.functions:
                continue
            if (found := strange[symbol]) is not None:
                place, why = found
                text = f"what is declared in it stays as it is: {why}"
                remarks.append(Remark(Kind.MISSED, self.name, symbol, place, text))
                continue
            body = tuple(self._statement(statement, keeps_shared) for statement in function.body)
            if body != tuple(function.body):
                functions[symbol] = function.with_body(body)
                names = [_named(new) for new, old in zip(body, function.body, strict=True) if new is not old]
                remarks += [self._told(name, symbol) for name in names]
        if not changed and not functions:
            return module, tuple(remarks)
        return module.with_functions(functions).with_variables(changed), tuple(remarks)

    def _statement(self, statement: Statement, keeps_shared: bool) -> Statement:
        match statement:
            case Declaration(kind, text) if kind in _SPACES and not (keeps_shared and kind == ".shared"):
                raised = self._raised(text)
                return statement if raised is None else Declaration(kind, raised)
            case _:
                return statement

    def _raised(self, text: str) -> str | None:
        """The declaration with the alignment; None where it has it already, or is to stay as it is."""
        head, equals, initial = text.partition("=")
        found = _OBJECT.search(head)
        if found is None or _ELSEWHERE.search(head) or _size(found) < self.bytes:
            return None
        if _alignment(found) >= self.bytes:
            return None
        at = found.start("align") if found["align"] else found.start()
        rest = head[found.end("align") if found["align"] else at :]
        return f"{head[:at]}.align {self.bytes} {rest}{equals}{initial}"

    def _told(self, name: str, function: str | None = None) -> Remark:
        return Remark(
            Kind.APPLIED, self.name, function, None, f"'{name}' lies at a multiple of {self.bytes} bytes"
        )


def _with_linkage(module: Module, variable: Variable) -> str:
    """The declaration of a variable of the module with what stands before its space, such as ``.visible``."""
    if isinstance(variable, MadeVariable):
        return variable.text
    text = re.sub(COMMENT, " ", module.file.text[variable.start : variable.end])
    linkage = re.findall(r"\.(?:visible|extern|weak|common)\b", text[: text.index(variable.name)])
    return " ".join((*linkage, variable.text))


def _alignment(found: re.Match[str]) -> int:
    vector = int(found["vector"].strip()[2:]) if found["vector"] else 1
    return int(found["bytes"]) if found["bytes"] else vector * bytes_of(found["type"])


def _size(found: re.Match[str]) -> int:
    vector = int(found["vector"].strip()[2:]) if found["vector"] else 1
    size = vector * bytes_of(found["type"])
    for extent in re.findall(r"\d+", found["dims"]):
        size *= int(extent)
    return size


def _named(statement: Statement) -> str:
    assert isinstance(statement, Declaration)
    found = _OBJECT.search(statement.text.partition("=")[0])
    assert found is not None
    return found["name"]


def _shared_bytes(module: Module, align: int) -> int:
    """An upper bound of the static shared memory of any kernel, with what alignments may add."""
    texts = [v.text for v in module.variables.values() if v.name == ".shared"]
    texts += [
        s.text
        for function in module.functions.values()
        for s in function.body
        if isinstance(s, Declaration) and s.kind == ".shared"
    ]
    total = 0
    for text in texts:
        found = _OBJECT.search(text.partition("=")[0])
        total += align + (_size(found) if found is not None else 0)
    return total
