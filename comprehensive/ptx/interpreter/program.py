"""A kernel with all that it calls, ready to be executed by a batch: variables in memory, functions cut into parts.

    program = build(module, kernel, machine, ...)
    program.parts[position]

In: a module and the state of a batch.  Out: parts by position; the kernel begins at ``program.entry``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from comprehensive.diagnostics import CompileError
from comprehensive.ptx.flow import Flow, Step, flow_of, span_of
from comprehensive.ptx.interpreter.binding import Frame
from comprehensive.ptx.interpreter.calls import Callee, operands_of_call, slot_of_parameter
from comprehensive.ptx.interpreter.control import Part, Shared, built
from comprehensive.ptx.interpreter.cutting import ordered_parts
from comprehensive.ptx.interpreter.faults import Unsupported
from comprehensive.ptx.interpreter.memory import Allocation, Memory, window
from comprehensive.ptx.interpreter.registers import RegisterFile
from comprehensive.ptx.interpreter.stacks import NAME as STACK
from comprehensive.ptx.interpreter.variables import Declared, declared, initial_bytes
from comprehensive.ptx.module import Function, Module
from comprehensive.ptx.statements import Close, Declaration, Instruction, Open

_ALLOCATED = frozenset({".local", ".shared", ".param", ".global", ".const"})
DYNAMIC = "dynamic shared memory"


@dataclass(frozen=True)
class Limits:
    """Limits of a launch: bytes of each thread's stack, activations of one function."""

    stack_bytes: int
    recursion: int


@dataclass(frozen=True)
class Linked:
    """The functions that a kernel can reach, with their variables in memory."""

    flows: Mapping[str, Flow]
    symbols: Mapping[str, Allocation]
    scopes: Mapping[str, Mapping[int, Mapping[str, Allocation]]]
    parameters: Mapping[str, Mapping[str, Allocation]]
    recursive: frozenset[str]
    initial: tuple[tuple[Allocation, bytes], ...]


def link(module: Module, kernel: Function, memory: Memory, shared_bytes: int, limits: Limits) -> Linked:
    """Puts all variables into memory. CompileError (CF1011) for what the interpreter does not know."""
    flows = reached(module, kernel)
    symbols: dict[str, Allocation] = {}
    for name in module.functions:
        symbols[name] = memory.spaces["code"].allocate(f"function '{name}'", 16, writable=False)
    initial = _module_variables(module, flows, symbols, memory, shared_bytes)
    recursive = _recursive(flows)
    if any(step.instruction.opcode.base == "alloca" for flow in flows.values() for step in flow.steps):
        symbols[STACK] = memory.spaces["local"].allocate(STACK, limits.stack_bytes)
    scopes: dict[str, dict[int, Mapping[str, Allocation]]] = {}
    parameters: dict[str, dict[str, Allocation]] = {}
    for name, flow in flows.items():
        copies = limits.recursion if name in recursive else 1
        space = "param" if flow.function.is_kernel else "local"
        parameters[name] = {
            p.name: memory.spaces[space].allocate(
                f"parameter '{p.name}'", p.bytes, align=p.align, copies=copies if space == "local" else 1
            )
            for p in (*flow.function.returns, *flow.function.parameters)
            if not p.is_register
        }
        scopes[name] = _variables_of_body(flow.function, parameters[name], symbols, memory, copies, initial)
    return Linked(flows, symbols, scopes, parameters, recursive, tuple(initial))


def build(linked: Linked, kernel: str, shared: Shared, limits: Limits) -> tuple[list[Part], int]:
    """The parts of all functions by position, and the position where the kernel begins."""
    machine = shared.machine
    ordered = {name: ordered_parts(flow) for name, flow in linked.flows.items()}
    frames: dict[str, Frame] = {}
    position, positions = 0, dict[str, int]()
    for name, flow in linked.flows.items():
        depth = np.zeros(machine.shape.lanes, np.uint64) if name in linked.recursive else None
        registers = RegisterFile(flow.registers, machine.shape.lanes)
        frames[name] = Frame(flow.function, machine, registers, linked.symbols, linked.scopes[name], depth)
        positions[name] = position
        position += len(ordered[name])
        shared.by_address[linked.symbols[name].start] = name
    for name, flow in linked.flows.items():
        function = flow.function
        if not function.is_kernel:
            of_function = linked.parameters[name]
            shared.callees[name] = Callee(
                name,
                frames[name],
                positions[name],
                tuple(slot_of_parameter(frames[name], p, of_function) for p in function.parameters),
                tuple(slot_of_parameter(frames[name], p, of_function) for p in function.returns),
                limits.recursion,
            )
    parts: list[Part] = []
    for name, flow in linked.flows.items():
        try:
            parts += built(flow, frames[name], shared, ordered[name], positions[name])
        except Unsupported as error:
            raise unsupported(flow.function, str(error), error.step) from None
    return parts, positions[kernel]


def unsupported(function: Function, what: str, step: Step | None) -> CompileError:
    return CompileError.of(
        "CF1011",
        f"unsupported by the interpreter: {what}, in '{function.symbol}'",
        None if step is None else span_of(function, step.instruction),
        help="run this kernel on a device, or without this instruction",
    )


# --- which functions -----------------------------------------------------------------------------------------


def reached(module: Module, kernel: Function) -> dict[str, Flow]:
    """The kernel and every function whose name it, or what it reaches, or an initialiser of a variable, says."""
    in_variables = [
        name for variable in module.variables.values() for name in module.functions if name in variable.text
    ]
    flows: dict[str, Flow] = {}
    left = [kernel.symbol]
    while left:
        name = left.pop()
        if name in flows:
            continue
        flows[name] = flow_of(module.functions[name])
        named = [s for step in flows[name].steps for s in step.symbols if s in module.functions]
        left += [*named, *(in_variables if _is_indirect(flows[name]) else ())]
    return flows


def _is_indirect(flow: Flow) -> bool:
    return any(_calls_pointer(step) for step in flow.steps)


def _calls_pointer(step: Step) -> bool:
    if step.instruction.opcode.base != "call":
        return False
    _, callee, _ = operands_of_call(step.instruction.operands)
    return callee.text not in step.symbols


def _recursive(flows: Mapping[str, Flow]) -> frozenset[str]:
    """Functions that may be called while they are active. A pointer may lead to any function."""
    called = {
        name: {
            target
            for step in flow.steps
            if step.instruction.opcode.base == "call"
            for target in (
                [n for n in flows if not flows[n].function.is_kernel]
                if _calls_pointer(step)
                else step.symbols
            )
            if target in flows
        }
        for name, flow in flows.items()
    }
    return frozenset(name for name in flows if name in _closure(called, called[name]))


def _closure(called: Mapping[str, set[str]], start: Iterable[str]) -> set[str]:
    found: set[str] = set()
    left = list(start)
    while left:
        name = left.pop()
        if name not in found:
            found.add(name)
            left += called[name]
    return found


# --- variables -----------------------------------------------------------------------------------------------


def _module_variables(
    module: Module,
    flows: Mapping[str, Flow],
    symbols: dict[str, Allocation],
    memory: Memory,
    shared_bytes: int,
) -> list[tuple[Allocation, bytes]]:
    used = {symbol for flow in flows.values() for step in flow.steps for symbol in step.symbols}
    begin: list[tuple[Allocation, Declared]] = []
    for variable in module.variables.values():
        if variable.name not in _ALLOCATED or (variable.name == ".shared" and variable.symbol not in used):
            continue
        try:
            found = declared(variable.name, variable.text)
        except Unsupported as error:
            if variable.symbol in used:
                function = next(f for f in flows.values() if variable.symbol in _symbols(f)).function
                raise unsupported(function, str(error), None) from None
            continue
        begin += _allocated(found, symbols, memory, shared_bytes, 1)
    addresses = {name: (a.start, a.start + _generic(a)) for name, a in symbols.items()}
    return _initial(next(iter(flows.values())).function, begin, addresses)


def _initial(
    function: Function,
    variables: Sequence[tuple[Allocation, Declared]],
    addresses: dict[str, tuple[int, int]],
) -> list[tuple[Allocation, bytes]]:
    """The contents of variables that have an initialiser."""
    try:
        return [
            (place, initial_bytes(variable, addresses)) for place, variable in variables if variable.initial
        ]
    except Unsupported as error:
        raise unsupported(function, str(error), None) from None


def _symbols(flow: Flow) -> set[str]:
    return {symbol for step in flow.steps for symbol in step.symbols}


def _generic(allocation: Allocation) -> int:
    return 0 if allocation.space == "code" else window(allocation.space)


def _allocated(
    variables: Sequence[Declared],
    symbols: dict[str, Allocation],
    memory: Memory,
    shared_bytes: int,
    copies: int,
) -> list[tuple[Allocation, Declared]]:
    found: list[tuple[Allocation, Declared]] = []
    for variable in variables:
        space = memory.spaces[variable.space]
        if variable.space == "shared" and variable.size == 0:
            dynamic = symbols.get(DYNAMIC) or space.allocate(DYNAMIC, shared_bytes, align=128)
            symbols[DYNAMIC] = symbols[variable.name] = dynamic
            continue
        symbols[variable.name] = space.allocate(
            f"'{variable.name}'",
            variable.size,
            align=variable.align,
            writable=variable.space != "const",
            copies=copies if variable.space in ("local", "param") else 1,
        )
        found.append((symbols[variable.name], variable))
    return found


def _variables_of_body(
    function: Function,
    parameters: Mapping[str, Allocation],
    symbols: dict[str, Allocation],
    memory: Memory,
    copies: int,
    initial: list[tuple[Allocation, bytes]],
) -> dict[int, Mapping[str, Allocation]]:
    """Return the variables that each instruction sees, by its position, and allocate them."""
    scopes: list[dict[str, Allocation]] = [dict(parameters)]
    found: dict[int, Mapping[str, Allocation]] = {}
    for position, statement in enumerate(function.body):
        match statement:
            case Open():
                scopes.append(dict(scopes[-1]))
            case Close():
                scopes.pop()
            case Declaration(kind, text) if kind in _ALLOCATED:
                try:
                    variables = declared(".local" if kind == ".param" else kind, text.replace(".param", " "))
                except Unsupported as error:
                    raise unsupported(function, str(error), None) from None
                # A new mapping: instructions before see what was there before.
                scopes[-1] = dict(scopes[-1])
                made = _allocated(variables, scopes[-1], memory, 0, copies)
                known = {n: (a.start, a.start + _generic(a)) for n, a in {**symbols, **scopes[-1]}.items()}
                initial += _initial(function, made, known)
            case Instruction():
                found[position] = scopes[-1]
            case _:
                pass
    return found
