"""Whether a module that passes have made is well formed: what ``opt`` asks behind every pass.

    problems(after, before)      # (), or ("matmul: register '%r9' is not declared",)

The printed text is parsed again and must give the same statements; labels are unique, registers declared, operands as
wide as the opcodes say, and accesses of a form that exists.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from comprehensive.diagnostics import CompileError, SourceFile
from comprehensive.ptx.access_forms import form_obstacle, register_types
from comprehensive.ptx.flow import Flow, flow_of
from comprehensive.ptx.module import Function, Module, bytes_of, parse
from comprehensive.ptx.operands import Name, Operand, Vector
from comprehensive.ptx.printer import print_module, print_statement
from comprehensive.ptx.statements import Statement


def problems(module: Module, before: Module) -> tuple[str, ...]:
    """Return what is wrong in functions that passes have changed, one line each; empty where nothing is."""
    try:
        again = parse(SourceFile(module.file.path, print_module(module)))
    except CompileError as error:
        return (error.diagnostics[0].message,)
    if again.version != module.version:
        return ("the version is another one when the text is parsed again",)
    found: list[str] = []
    for name, function in module.functions.items():
        old = before.functions.get(name)
        if function is not old:
            found += [
                f"{name}: {problem}"
                for problem in _of_function(function, again.functions.get(name), old, module)
            ]
    return tuple(found)


def _of_function(
    function: Function, again: Function | None, old: Function | None, module: Module
) -> Iterator[str]:
    if again is None:
        yield "is not there when the text is parsed again"
        return
    try:
        yield from _differences(function.body, again.body)
        after, before = flow_of(again), None if old is None else flow_of(old)
        for problems_of in (_misfits, partial(_no_forms, module=module)):
            found = next(problems_of(after), None)
            # What did not fit before is no fault of the pass.
            if found is not None and not (before is not None and any(problems_of(before))):
                yield found
    except CompileError as error:
        yield error.diagnostics[0].message


def _differences(before: tuple[Statement, ...], after: tuple[Statement, ...]) -> Iterator[str]:
    if len(before) != len(after):
        yield f"{len(before)} statements are {len(after)} when the text is parsed again"
        return
    for one, other in zip(before, after, strict=True):
        if one._replace(start=0, end=0) != other._replace(start=0, end=0):
            yield f"'{print_statement(one)}' is '{print_statement(other)}' when the text is parsed again"
            return


# What these take may be wider than the type says; what ld.param and st.param move is any register of the width.
_RELAXED = frozenset({"ld", "ldu", "st", "cvt", "call"})


def _misfits(flow: Flow) -> Iterator[str]:
    """Registers of the function's own scope that are not as wide as the opcode says."""
    by_name = {register.name: register for register in flow.registers if register.scope == 0}
    shadowed = {register.name for register in flow.registers if register.scope != 0}
    for step in flow.steps:
        opcode, operands = step.instruction.opcode, step.instruction.operands
        for position, operand in enumerate(operands):
            type_ = opcode.operand_type(position, len(operands))
            # A vector of mov is the whole value.
            if type_ is None or (opcode.base == "mov" and isinstance(operand, Vector)):
                continue
            for name in _registers(operand):
                register = by_name.get(name)
                if register is None or name in shadowed:
                    continue
                wanted, given = bytes_of(type_), bytes_of(register.type)
                if (type_ == "pred") != (register.type == "pred"):
                    yield f"'{print_statement(step.instruction)}': {name} is a .{register.type}"
                elif given < wanted or (given > wanted and opcode.base not in _RELAXED):
                    yield f"'{print_statement(step.instruction)}': {name} has {given} bytes, not {wanted}"


def _no_forms(flow: Flow, module: Module) -> Iterator[str]:
    """Yield the accesses that do not exist, each with the reason."""
    types = register_types(flow)
    for step in flow.steps:
        obstacle = form_obstacle(step.instruction, types, module)
        if obstacle is not None:
            yield f"'{print_statement(step.instruction)}': {obstacle}"


def _registers(operand: Operand) -> tuple[str, ...]:
    match operand:
        case Name() | Vector():
            return operand.names
        case _:
            return ()
