"""The functions that a kernel calls, and those that these call in turn.

In: a kernel and its module.  Out: a :class:`CallGraph`, or why the calls are not known::

    graph = call_graph_of(module.kernels["k"], module)
    graph.order                # ("leaf", "mid", "k"): callees first
    graph.calls["mid"]         # ((17, "leaf"), (40, "leaf")): by step

Functions without a body are not in it: what they call is not of this module.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass

from comprehensive.ptx.flow import flow_of
from comprehensive.ptx.module import Function, Module
from comprehensive.ptx.operands import Arguments, Name
from comprehensive.ptx.statements import Instruction


@dataclass(frozen=True)
class CallGraph:
    """``order`` has callees before their callers, ``calls`` the steps of each function that call another one of it."""

    order: tuple[str, ...]
    calls: Mapping[str, tuple[tuple[int, str], ...]]

    def without(self, names: Set[str]) -> CallGraph:
        """The kernel with what it calls otherwise than through functions of these names."""
        reached = {self.order[-1]}
        for caller in reversed(self.order):
            if caller in reached:
                reached |= {callee for _, callee in self.calls[caller] if callee not in names}
        return CallGraph(
            tuple(name for name in self.order if name in reached),
            {
                name: tuple(each for each in calls if each[1] in reached)
                for name, calls in self.calls.items()
                if name in reached
            },
        )


def call_graph_of(kernel: Function, module: Module) -> CallGraph | str:
    """Return what a kernel calls, or in words what of it is not known: calls through pointers, and recursion.

    CompileError where a function that is reached cannot be understood.
    """
    calls: dict[str, tuple[tuple[int, str], ...]] = {}
    done: dict[str, None] = {}
    path: list[tuple[str, Iterator[tuple[int, str]]]] = []

    def enter(function: Function) -> str | None:
        found = tuple(_calls(function))
        if any(callee not in module.declarations for _, callee in found):
            return "it calls a function through a pointer, whose registers are not known"
        calls[function.symbol] = tuple(each for each in found if each[1] in module.functions)
        path.append((function.symbol, iter(calls[function.symbol])))
        return None

    why = enter(kernel)
    while path and why is None:
        name, rest = path[-1]
        _, callee = next(rest, (0, None))
        if callee is None:
            path.pop()
            done[name] = None
        elif callee in (each for each, _ in path):
            why = f"it calls '{callee}', which calls itself"
        elif callee not in done:
            why = enter(module.functions[callee])
    return CallGraph(tuple(done), calls) if why is None else why


def callee_of(call: Instruction) -> str | None:
    """Return the name of what a call calls, that of a register where it is in one; None where it is no name."""
    operands = call.operands[isinstance(call.operands[0], Arguments) :]
    return operands[0].text if operands and isinstance(operands[0], Name) else None


def _calls(function: Function) -> Iterator[tuple[int, str]]:
    for number, step in enumerate(flow_of(function).steps):
        if step.instruction.opcode.base == "call":
            yield number, callee_of(step.instruction) or ""
