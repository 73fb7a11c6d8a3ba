"""The parts of `templates/runtime/cf_runtime.h` that are printed from `comprehensive/machine`.

In: nothing but the rules over counts.  Out: the functions ``cf_resident`` and ``cf_cost`` of C, which are what rules
over any arithmetic are in that of texts, and ``cf_work_of_block``, whose loops are printed from the Python itself::

    cost_functions()     # "static inline cf_count cf_resident(const cf_machine *machine, ...) ..."

``python -m tests.printed_cost`` writes it anew; `tests/specs/test_runtime_files.py` compares.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass, field, fields
from pathlib import Path

from comprehensive.codegen.runtime_files import RUNTIME
from comprehensive.data import template_directory
from comprehensive.machine import sites
from comprehensive.machine.cost import Block, Counted, Extent, held, price
from comprehensive.machine.counts import SATURATED
from comprehensive.machine.resident import Taken
from comprehensive.machine.work import WORK_FIELDS
from tests.printed_functions import functions_of, of_machine

BEGIN = "/* ---- printed from machine/{}.py, up to the next such line: python -m tests.printed_cost */\n"
END = "/* ---- the end of what is printed */\n"


@dataclass(frozen=True, slots=True)
class Text:
    """An expression of C, of type ``cf_count``; ``is_operand`` where it stands beside any operator as it is."""

    text: str
    is_operand: bool = True

    @property
    def operand(self) -> str:
        return self.text if self.is_operand else f"({self.text})"


@dataclass(frozen=True, slots=True)
class InC:
    """Counts as text: what is named is a constant of the function whose ``lines`` these are."""

    lines: list[str] = field(default_factory=list[str])

    def count(self, value: int) -> Text:
        return Text("CF_SATURATED" if value == SATURATED else str(value))

    def of_machine(self, name: str) -> Text:
        """Return a constant for the parameter."""
        member, read = of_machine(name)
        line = f"const cf_count {member} = {read}(machine->{member});"
        if line not in self.lines:
            self.lines.append(line)
        return Text(member)

    def plus(self, first: Text, second: Text) -> Text:
        return Text(f"cf_plus({first.text}, {second.text})")

    def times(self, first: Text, second: Text) -> Text:
        return Text(f"cf_times({first.text}, {second.text})")

    def down(self, above: Text, below: Text) -> Text:
        return Text(f"{above.operand} / {below.operand}", is_operand=False)

    def up(self, above: Text, below: Text) -> Text:
        return Text(f"cf_rounded_up({above.text}, {below.text})")

    def most(self, first: Text, second: Text) -> Text:
        return Text(f"cf_most({first.text}, {second.text})")

    def least(self, first: Text, second: Text) -> Text:
        return Text(f"cf_least({first.text}, {second.text})")

    def minus(self, first: Text, second: Text) -> Text:
        return Text(f"{first.operand} - {second.operand}", is_operand=False)

    def where_more(self, first: Text, second: Text, then: Text, otherwise: Text) -> Text:
        condition = first.operand if second.text == "0" else f"{first.operand} > {second.operand}"
        return Text(f"{condition} ? {then.text} : {otherwise.text}", is_operand=False)

    def named(self, name: str, value: Text) -> Text:
        self.lines.append(f"const cf_count {name} = {value.text};")
        return Text(name)


_RESIDENT = """/* Blocks of a kernel that are on a multiprocessor together; 0 where one does not fit. */
static inline cf_count cf_resident(const cf_machine *machine, cf_count warps, cf_count registers, cf_count words)"""
_COST = """/* Cycles from launch to end; CF_SATURATED where not even one block fits. */
static inline cf_count cf_cost(const cf_machine *machine, const cf_tile_work *work, const cf_extent *launch)"""


def cost_functions() -> str:
    """Return the text of both functions, as ``clang-format`` may still break its lines."""
    c = InC()
    taken = Taken(Text("warps"), Text("registers"), Text("words"))
    first = _function(_RESIDENT, c, held(c, taken))
    c = InC()
    blocks = c.named("held", Text("cf_resident(machine, work->warps, work->registers, work->shared_words)"))
    block = Block(
        _counted("once"),
        _counted("step"),
        _counted("part"),
        _counted("kiloturn"),
        _counted("cut_once"),
        _counted("cut_step"),
        Text("work->warps"),
        Text("work->ahead"),
        blocks,
    )
    launch = Extent(*(Text(f"launch->{f.name}") for f in fields(Extent)))
    cycles = c.where_more(blocks, c.count(0), price(c, block, launch).cycles, c.count(SATURATED))
    return f"{first}\n{_function(_COST, c, cycles)}"


def _counted(part: str) -> Counted[Text]:
    return Counted(*(Text(f"work->{part}.{name}") for name in WORK_FIELDS))


def _function(head: str, c: InC, value: Text) -> str:
    lines = (*c.lines, f"return {value.text};")
    return "\n".join((head, "{", *(f"  {line}" for line in lines), "}", ""))


def find_formatter() -> str | None:
    """Return the path of clang-format, of the environment before others; None where there is none."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return shutil.which("clang-format", path=path)


def with_functions(formatter: str, text: str) -> str:
    """Return the text of the file with the functions as they are printed today, formatted."""
    name = template_directory() / "runtime" / RUNTIME
    command = [formatter, "--style=file", f"--assume-filename={name}"]
    for module, functions in (("cost", cost_functions()), ("sites", functions_of(sites, "work_of_block"))):
        done = subprocess.run(command, input=functions, capture_output=True, text=True, check=True)
        before, rest = text.split(BEGIN.format(module))
        text = f"{before}{BEGIN.format(module)}{done.stdout}{END}{rest.split(END, 1)[1]}"
    return text


def _main() -> None:
    formatter = find_formatter()
    if formatter is None:
        sys.exit("clang-format is not installed: pip install -e '.[dev]'")
    path = template_directory() / "runtime" / RUNTIME
    path.write_text(with_functions(formatter, path.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    _main()
