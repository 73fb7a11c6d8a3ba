"""The least ``.version`` that a module needs, so that an older ptxas or driver takes it.

    .version 9.0 --> .version 7.0      # cp.async needs 7.0, the rest less

A module keeps its version where anything in it is not known: an opcode, a directive, a type, an architecture.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache

from comprehensive.data import fact_table
from comprehensive.diagnostics import Span
from comprehensive.ptx.access_forms import Version, parameters_version, version_of
from comprehensive.ptx.build import ALONE, Build
from comprehensive.ptx.flow import registers_in
from comprehensive.ptx.module import Function, Module
from comprehensive.ptx.passes.ptx_pass import PtxPass, strange_statement
from comprehensive.ptx.passes.remark import Kind, Remark
from comprehensive.ptx.special_registers import special_register
from comprehensive.ptx.statements import Declaration, Directive, Instruction

# `.loc ..., function_name ..., inlined_at ...`
_INLINED: Version = (7, 2)
# Sizes and initialisers of several forms came until this version.
_INITIALISER: Version = (7, 1)

_OLD_CONVERSIONS = frozenset(
    (
        *(f"{kind}{bits}" for kind in "su" for bits in (8, 16, 32, 64)),
        *("f16", "f32", "f64", "rn", "rz", "rm", "rp", "rni", "rzi", "rmi", "rpi", "ftz", "sat"),
    )
)

_DOTTED = re.compile(r"(?<![\w$%.\])])\.([A-Za-z_]\w*)")
_QUOTED = re.compile(r'"\s*(\w+)')
_COMMENT = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:[^"\\\n]|\\.)*"', re.DOTALL)


class _UnknownNeedError(Exception):
    """Something whose version is not known."""


@dataclass(frozen=True)
class LowerVersion(PtxPass):
    name = "lower-version"
    summary = "the least .version that the statements need: .version 9.0 --> .version 7.0"

    def run(self, module: Module, build: Build = ALONE) -> tuple[Module, tuple[Remark, ...]]:
        obstacle = self.obstacle(module)
        if obstacle is not None:
            return module, (obstacle,)
        try:
            needed, reason = max(_needs(module))
        except _UnknownNeedError as unknown:
            text = f"the version stays as it is: it is not known which one {unknown} needs"
            return module, (self._remark(Kind.MISSED, module, text),)
        if needed >= module.version:
            return module, ()
        text = f"{_text(module.version)} --> {_text(needed)}, which {reason} needs"
        return module.with_version(needed), (self._remark(Kind.APPLIED, module, text),)

    def _remark(self, kind: Kind, module: Module, text: str) -> Remark:
        item = next(item for item in module.items if item.name == ".version")
        head = module.file.text.rindex(".version", item.start, item.end)
        return Remark(kind, self.name, None, Span(module.file, head, item.end), text)


def _needs(module: Module) -> Iterator[tuple[Version, str]]:
    """Versions with what needs them. _UnknownNeedError."""
    architecture, *options = module.target
    yield _known("targets", architecture), architecture
    for option in options:
        yield _known("target_options", option), option
    for item in module.items:
        if isinstance(item, Function):
            yield from _of_text(item.header)
            yield parameters_version(item), f"what '{item.symbol}' has of parameters"
            if not item.is_declaration:
                yield from _of_function(item, module)
        elif item.name != ".section":
            text = module.file.text[item.start : item.end]
            yield from _of_text(text)
            if "=" in text:
                yield _INITIALISER, "an initialiser"


def _of_function(function: Function, module: Module) -> Iterator[tuple[Version, str]]:
    strange = strange_statement(function, module)
    if strange is not None:
        raise _UnknownNeedError(f"a statement of '{function.symbol}'")
    for statement in function.body:
        match statement:
            case Instruction(opcode=opcode):
                if not _is_exact(statement):
                    raise _UnknownNeedError(f"'{opcode.text}'")
                yield opcode.min_version, f"'{opcode.text}'"
                for name in registers_in(statement.operands):
                    special = special_register(name)
                    if special is not None:
                        yield special.min_version, f"'{name}'"
            case Directive(name, text):
                yield from _of_text(f"{name} {text}")
            case Declaration(kind, text):
                yield from _of_text(f"{kind} {text}")
            case _:
                pass


def _is_exact(instruction: Instruction) -> bool:
    """Whether the version of the opcode is that of the instruction, and not only a bound from below."""
    opcode = instruction.opcode
    if opcode.base in ("min", "max"):
        # Of three values they came later than of two.
        return opcode.version_known and len(instruction.operands) == 3
    if opcode.base == "cvt":
        # Between these types, and rounded so, it is as old as the language.
        return opcode.version_known or not set(opcode.modifiers) - _OLD_CONVERSIONS
    return opcode.version_known


def _of_text(text: str) -> Iterator[tuple[Version, str]]:
    bare = _COMMENT.sub(" ", text)
    for word in _DOTTED.findall(bare):
        yield _known("words", word, "."), f"'.{word}'"
    if ".loc" in bare and "inlined_at" in bare:
        yield _INLINED, "'inlined_at'"
    if ".pragma" in bare:
        for word in _QUOTED.findall(text):
            yield _known("pragmas", word), f'.pragma "{word}"'


@cache
def _versions() -> Mapping[str, Mapping[str, Version]]:
    """The least version of each word by table of ``specs/ptx/versions.toml``."""
    tables: dict[str, dict[str, str]] = fact_table("ptx/versions.toml")
    return {
        name: {word: version_of(version) for version, words in table.items() for word in words.split()}
        for name, table in tables.items()
    }


def _known(table: str, word: str, before: str = "") -> Version:
    try:
        return _versions()[table][word]
    except KeyError:
        raise _UnknownNeedError(f"'{before}{word}'") from None


def _text(version: Version) -> str:
    return f"{version[0]}.{version[1]}"
