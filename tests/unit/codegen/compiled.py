"""Compiles generated headers for tests and calls the selection in them."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from comprehensive.codegen.header_view import function_view
from comprehensive.codegen.host import header_text
from comprehensive.machine.parameters import MACHINE_PARAMETERS
from comprehensive.machine.speeds import SPEEDS
from comprehensive.plan.plan import ProgramPlan
from comprehensive.records import replace
from comprehensive.runtime.choice import Choice
from comprehensive.toolchain.unit import compile_unit, write_binary

WARNINGS = ("-Wall", "-Wextra", "-Werror", "-pedantic")


def compile_text(text: str, suffix: str, flags: Sequence[str], folder: Path) -> Path:
    """A shared object of the text, which may include what stands in the folder."""
    source, target = folder / f"unit{suffix}", folder / f"unit{suffix}.so"
    source.write_text(text)
    compiler = "gcc" if suffix == ".c" else "g++"
    write_binary(compile_unit((compiler, *flags, "-shared", "-fPIC"), source, timeout_s=300), target)
    return target


class Selection:
    """``select``, ``nearest`` and ``defaults`` of the one region of a plan; parameters are int."""

    def __init__(self, plan: ProgramPlan, folder: Path, sizes: Sequence[str], program: Sequence[str]) -> None:
        (folder / f"{plan.stem}.h").write_text(header_text(replace(plan, single_file=True), "0.1.0"))
        name, params = plan.functions[0].regions[0].name, f"{plan.functions[0].function.name}_params"
        function = plan.functions[0].function.name
        given = "".join(f"int {size}, " for size in sizes)
        passed = "".join(f"{size}, " for size in sizes)
        self._searched = tuple(a.name for a in function_view(plan.functions[0]).sizes)
        searched = "".join(f"int {size}, " for size in self._searched)
        searching = "".join(f"{size}, " for size in self._searched)
        text = f"""#include "{plan.stem}.h"
int t_select(const cf_machine *t_m, {given}const {params} *t_p, cf_choice *t_c)
{{ return {name}_select(t_m, {passed}t_p, t_c); }}
int t_nearest(const cf_machine *t_m, {given}const {params} *t_p, {params} *t_f)
{{ return {name}_nearest(t_m, {passed}t_p, t_f); }}
int t_defaults(const cf_machine *t_m, {searched}{params} *t_p)
{{ return {function}_defaults(t_m, {searching}t_p); }}
const char *t_explain(int leaf) {{ return {name}_explain(leaf); }}
double t_seconds(const cf_machine *t_m, {given}const {params} *t_p, int t_times)
{{
  cf_choice t_c; int t_k; volatile int t_sink = 0; const clock_t t_begin = clock();
  for (t_k = 0; t_k < t_times; t_k++) t_sink += {name}_select(t_m, {passed}t_p, &t_c);
  return (double)(clock() - t_begin) / CLOCKS_PER_SEC / t_times;
}}
"""
        target = compile_text("#include <time.h>\n" + text, ".c", ("-std=c99", "-O2", *WARNINGS), folder)
        self._library = ctypes.CDLL(str(target))
        self._library.t_explain.restype = ctypes.c_char_p
        self._library.t_seconds.restype = ctypes.c_double
        self._sizes = tuple(sizes)
        self._program = tuple(program)

    def _arguments(self, machine: Mapping[str, int], values: Mapping[str, int]) -> list[Any]:
        numbers = (*MACHINE_PARAMETERS, *SPEEDS)
        limits = (ctypes.c_longlong * len(numbers))(*(machine.get(p, 0) for p in numbers))
        params = (ctypes.c_int * max(1, len(self._program)))(*(values[p] for p in self._program))
        return [limits, *(ctypes.c_int(values[s]) for s in self._sizes), params]

    def select(self, machine: Mapping[str, int], values: Mapping[str, int]) -> Choice:
        choice = Choice()
        status = self._library.t_select(*self._arguments(machine, values), ctypes.byref(choice))
        assert status == choice.status
        return choice

    def nearest(self, machine: Mapping[str, int], values: Mapping[str, int]) -> tuple[int, dict[str, int]]:
        feasible = (ctypes.c_int * max(1, len(self._program)))()
        status = self._library.t_nearest(*self._arguments(machine, values), feasible)
        return status, dict(zip(self._program, feasible, strict=True))

    def defaults(self, machine: Mapping[str, int], sizes: Mapping[str, int]) -> tuple[int, dict[str, int]]:
        limits, *_ = self._arguments(machine, {**dict.fromkeys((*self._program, *self._sizes), 1), **sizes})
        given = [ctypes.c_int(sizes[name]) for name in self._searched]
        params = (ctypes.c_int * (len(self._program) + 1))()
        status = self._library.t_defaults(limits, *given, params)
        return status, dict(zip(self._program, params, strict=False))

    def explain(self, leaf: int) -> str:
        return self._library.t_explain(leaf).decode()

    def seconds(self, machine: Mapping[str, int], values: Mapping[str, int], times: int) -> float:
        return self._library.t_seconds(*self._arguments(machine, values), times)
