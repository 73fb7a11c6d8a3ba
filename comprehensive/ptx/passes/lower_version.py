"""The least ``.version`` that a module needs, so that an older ptxas or driver takes it.

    .version 9.0 --> .version 7.0      # cp.async needs 7.0, the rest less

A module keeps its version where anything in it is not known: an opcode, a directive, a type, an architecture.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from comprehensive.diagnostics import Span
from comprehensive.ptx.access_forms import Version, parameters_version
from comprehensive.ptx.build import ALONE, Build
from comprehensive.ptx.flow import registers_in
from comprehensive.ptx.module import Function, Item, Module
from comprehensive.ptx.passes.ptx_pass import PtxPass, strange_statement
from comprehensive.ptx.passes.remark import Kind, Remark
from comprehensive.ptx.special_registers import special_register
from comprehensive.ptx.statements import Declaration, Directive, Instruction

# "PTX ISA 9.0", the notes on each directive and the release notes of section 13.
_ARCHITECTURES: Mapping[str, Version] = {
    **{f"sm_{sm}": (5, 0) for sm in (50, 52, 53)},
    **{f"sm_{sm}": (5, 0) for sm in (60, 61, 62)},
    "sm_70": (6, 0),
    "sm_72": (6, 1),
    "sm_75": (6, 3),
    "sm_80": (7, 0),
    "sm_86": (7, 1),
    "sm_87": (7, 4),
    "sm_89": (7, 8),
    "sm_90": (7, 8),
    "sm_90a": (8, 0),
    "sm_100": (8, 6),
    "sm_100a": (8, 6),
    "sm_100f": (8, 8),
    "sm_103": (8, 8),
    "sm_103a": (8, 8),
    "sm_103f": (8, 8),
    "sm_110": (9, 0),
    "sm_110a": (9, 0),
    "sm_110f": (9, 0),
    "sm_120": (8, 7),
    "sm_120a": (8, 7),
    "sm_120f": (8, 8),
    "sm_121": (8, 8),
    "sm_121a": (8, 8),
    "sm_121f": (8, 8),
}
_TARGET_OPTIONS: Mapping[str, Version] = {"texmode_unified": (1, 5), "texmode_independent": (1, 5)}
# Words with a dot, in declarations, heads of functions and directives: linkage, tunings, spaces, types.
_WORDS: Mapping[str, Version] = {
    **{
        word: (1, 0)
        for word in (
            *(
                "version",
                "target",
                "entry",
                "func",
                "visible",
                "extern",
                "global",
                "const",
                "shared",
                "local",
            ),
            *(
                "reg",
                "param",
                "align",
                "v2",
                "v4",
                "file",
                "loc",
                "section",
                "pred",
                "s8",
                "s16",
                "s32",
                "s64",
            ),
            *("u8", "u16", "u32", "u64", "b8", "b16", "b32", "b64", "f16", "f32", "f64", "maxntid"),
        )
    },
    "maxnreg": (1, 3),
    "minnctapersm": (2, 0),
    "pragma": (2, 0),
    "branchtargets": (2, 1),
    "calltargets": (2, 1),
    "callprototype": (2, 1),
    "reqntid": (2, 1),
    "ptr": (2, 2),
    "address_size": (2, 3),
    "weak": (3, 1),
    "attribute": (4, 0),
    "managed": (4, 0),
    "common": (5, 0),
    "alias": (6, 3),
    "noreturn": (6, 4),
    "explicitcluster": (7, 8),
    "reqnctapercluster": (7, 8),
    "maxclusterrank": (7, 8),
    "bf16": (7, 8),
    "bf16x2": (7, 8),
    "f16x2": (5, 3),
    "b128": (8, 3),
}
_PRAGMAS: Mapping[str, Version] = {
    "nounroll": (2, 0),
    "used_bytes_mask": (8, 3),
    "enable_smem_spilling": (9, 0),
}
# `.loc ..., function_name ..., inlined_at ...`
_INLINED: Version = (7, 2)
# Sizes and initialisers of several forms came until this version.
_INITIALISER: Version = (7, 1)

_OLD_CONVERSIONS = frozenset(("s8", "s16", "s32", "s64", "u8", "u16", "u32", "u64", "f16", "f32", "f64")) | {
    "rn",
    "rz",
    "rm",
    "rp",
    "rni",
    "rzi",
    "rmi",
    "rpi",
    "ftz",
    "sat",
}

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
        item = _version_item(module)
        head = module.file.text.rindex(".version", item.start, item.end)
        return Remark(kind, self.name, None, Span(module.file, head, item.end), text)


def _needs(module: Module) -> Iterator[tuple[Version, str]]:
    """Versions with what needs them. _UnknownNeedError."""
    architecture, *options = module.target
    yield _known(_ARCHITECTURES, architecture), architecture
    for option in options:
        yield _known(_TARGET_OPTIONS, option), option
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
        yield _known(_WORDS, word, "."), f"'.{word}'"
    if ".loc" in bare and "inlined_at" in bare:
        yield _INLINED, "'inlined_at'"
    if ".pragma" in bare:
        for word in _QUOTED.findall(text):
            yield _known(_PRAGMAS, word), f'.pragma "{word}"'


def _known(table: Mapping[str, Version], word: str, before: str = "") -> Version:
    try:
        return table[word]
    except KeyError:
        raise _UnknownNeedError(f"'{before}{word}'") from None


def _version_item(module: Module) -> Item:
    return next(item for item in module.items if item.name == ".version")


def _text(version: Version) -> str:
    return f"{version[0]}.{version[1]}"
