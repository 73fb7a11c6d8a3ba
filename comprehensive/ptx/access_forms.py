"""The accesses that exist: what every pass asks before it writes one, and :mod:`.verify` behind it.

In: an instruction that accesses memory, the types of the registers of its vector, the module it stands in.  Out: why
there is no such instruction, None where there is::

    form_obstacle(parsed("ld.volatile.local.u32 %r1, [%rd1]"), {}, module)     # "'.volatile' does not go with '.local'"

The facts are in ``specs/ptx/access_forms.toml``; from which version and target on there is a form says
:mod:`.opcodes`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations
from typing import NotRequired, TypedDict

from comprehensive.data import fact_table
from comprehensive.ptx.flow import Flow
from comprehensive.ptx.module import Function, Module, Parameter, bytes_of
from comprehensive.ptx.opcodes import Opcode
from comprehensive.ptx.operands import Name, Vector
from comprehensive.ptx.statements import Instruction

Version = tuple[int, int]


class _Access(TypedDict):
    names: list[str]
    spaces: str
    words: NotRequired[dict[str, str]]


class _Parameters(TypedDict):
    bytes: int
    version: str


class _File(TypedDict):
    access: list[_Access]
    bytes: dict[str, int]
    registers: dict[str, list[str]]
    parameters: list[_Parameters]


@dataclass(frozen=True, slots=True)
class AccessForms:
    """The memories that accesses with one base opcode may name, and those that single words go with."""

    spaces: frozenset[str]
    words: Mapping[str, frozenset[str]]


def _file() -> _File:
    return fact_table("ptx/access_forms.toml")


@cache
def access_forms() -> Mapping[str, AccessForms]:
    """Return the forms of accesses by base opcode, as ``specs/ptx/access_forms.toml`` lists them."""
    return {
        name: AccessForms(
            frozenset(row["spaces"].split()),
            {word: frozenset(spaces.split()) for word, spaces in row.get("words", {}).items()},
        )
        for row in _file()["access"]
        for name in row["names"]
    }


def register_types(flow: Flow) -> dict[str, str]:
    """Return the types of a function's registers by name, without names that several registers share."""
    inner = {register.name for register in flow.registers if register.scope != 0}
    return {register.name: register.type for register in flow.registers if register.name not in inner}


def form_obstacle(instruction: Instruction, types: Mapping[str, str], module: Module) -> str | None:
    """Return why there is no such access as the instruction makes; None where there is.

    ``types`` are those of registers by name; one that is not there is not looked at.
    """
    code = instruction.opcode
    forms = access_forms().get(code.base)
    if forms is None or code.space is None:
        return None
    space = code.space.split("::")[0]
    shown = "a generic access" if space == "generic" else f"'.{space}'"
    if space not in forms.spaces:
        return f"'{code.base}' does not go with {shown}"
    for word in code.modifiers:
        if space not in forms.words.get(word, forms.spaces):
            return f"'.{word}' does not go with {shown}"
    most = _file()["bytes"][space]
    if code.base in ("ld", "ldu", "st") and code.types and code.vector * bytes_of(code.types[-1]) > most:
        return f"an access with {shown} has at most {most} bytes"
    return _version_obstacle(code, module) or _vector_obstacle(instruction, types)


def _version_obstacle(code: Opcode, module: Module) -> str | None:
    if code.min_version > module.version:
        return f"'{code.text}' needs .version {code.min_version[0]}.{code.min_version[1]}"
    if code.min_target > module.sm:
        return f"'{code.text}' needs sm_{code.min_target}"
    return None


def _vector_obstacle(instruction: Instruction, types: Mapping[str, str]) -> str | None:
    for operand in instruction.operands:
        if not isinstance(operand, Vector):
            continue
        names = [item.text for item in operand.items if isinstance(item, Name)]
        of_registers = [(name, types[name]) for name in names if name in types]
        for (one, its), (other, others) in combinations(of_registers, 2):
            if bytes_of(its) != bytes_of(others) or not _go_together(its, others):
                return f"'{one}' is a .{its} and '{other}' a .{others}, which no vector takes together"
    return None


def _go_together(one: str, other: str) -> bool:
    bits, *kinds = _file()["registers"].values()
    return one in bits or other in bits or any(one in kind and other in kind for kind in kinds)


def parameters_version(function: Function) -> Version:
    """The least version that takes as many bytes of parameters as a kernel has; the newest where none does."""
    needed = _size(function.parameters) if function.is_kernel else 0
    rows = [(row["bytes"], version_of(row["version"])) for row in _file()["parameters"]]
    return next((version for most, version in rows if needed <= most), rows[-1][1])


def _size(parameters: Sequence[Parameter]) -> int:
    end = 0
    for parameter in parameters:
        end += -end % parameter.align + parameter.bytes
    return end


def version_of(text: str) -> Version:
    """Return the version that a text such as ``8.1`` stands for."""
    major, minor = text.split(".")
    return int(major), int(minor)
