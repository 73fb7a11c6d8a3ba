"""The serial elision of a program, compiled: the meaning that everything generated is compared with.

In: the text of a `.mf` file and its functions.  Out: a :class:`SerialLibrary`; the keywords are dropped and
nothing else changes, in C as gcc compiles it without contraction of multiply and add::

    meta_schedule cache(a) { meta_for (int i = 0; ...   -->   { for (int i = 0; ...

But compilers of C differ in what they make of `half` and `bfloat16`, if they know them: see ``elided.py``.
"""

from __future__ import annotations

import ctypes
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from comprehensive.metafork.ast import Function, Program, ScalarType
from comprehensive.metafork.locate import CLAUSES
from comprehensive.plan.interface import Argument
from comprehensive.runtime.elided import elision
from comprehensive.runtime.entry import ENTRY
from comprehensive.runtime.values import Value, as_pointer, as_scalar
from comprehensive.toolchain.compiled import SourceRejectedError
from comprehensive.toolchain.host import Compiler, headers_on_cpu
from comprehensive.toolchain.loaded import loaded
from comprehensive.toolchain.unit import compile_unit, write_binary

TIMEOUT_S = 120.0
PARALLEL_FOR = '_Pragma("omp parallel for") for'
PARALLEL_UPDATE = '_Pragma("omp atomic")'

# Assertions are the caller's to respect: a failing one would end this process.
# Functions are hidden but for the entries: one called as the C library calls one, `step`, is called all the same.
_FLAGS = (
    "-std=gnu99",
    "-O1",
    "-ffp-contract=off",
    "-DNDEBUG",
    "-shared",
    "-fPIC",
    "-fvisibility=hidden",
    "-w",
)

_COMMENT = r"(?>/\*.*?\*/|//[^\n]*+)"
_GAP = rf"(?:\s|{_COMMENT})*+"
_INSIDE = rf"(?:{_COMMENT}|/(?![*/])|[^()/])*+"
_GROUP = rf"\({_INSIDE}(?:\({_INSIDE}(?:\({_INSIDE}\){_INSIDE})*+\){_INSIDE})*+\)"
# Comments, strings and characters first: a keyword in one of them is none.
_KEYWORDS = re.compile(
    rf"""(?P<kept>{_COMMENT}|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')
    |\bmeta_schedule\b(?:{_GAP}(?:{"|".join(CLAUSES)}){_GAP}{_GROUP})*
    |(?P<loop>\bmeta_for\b)
    |(?P<atomic>\bmeta_atomic\b)""",
    re.DOTALL | re.VERBOSE,
)


class SerialBuildError(Exception):
    """The host's compiler has rejected the serial program; carries its words."""


@dataclass(frozen=True)
class SerialLibrary:
    """The compiled serial program; ``path`` is a shared object."""

    path: Path
    functions: Mapping[str, Function]

    def call(self, function: str, arguments: Mapping[str, Value]) -> None:
        """Runs a function on all arguments that it has in C, program parameters and what it uses of variables of its
        file among them; arrays change in place."""
        passed = [
            _passed(Argument(p.name, p.type, pointer=p.is_data, const=p.const), arguments[p.name])
            for p in self.functions[function].written_parameters
        ]
        called = self.shared[entry(self.functions[function])]
        called.restype = None
        called(*passed)

    @cached_property
    def shared(self) -> ctypes.CDLL:
        """The loaded shared object."""
        return loaded(self.path)


def serial_unit(program: Program, name: str, *, every_access: bool = False, parallel: bool = False) -> str:
    """Return the C text of the serial program, which a compiler calls by the name; `headers_on_cpu` are for it.

    With ``every_access`` no access to data is dropped, see `elided.py`; with ``parallel`` as for :func:`serial_text`.
    """
    text = elision(program, every_access=every_access)
    # `assert` is part of the language; the file need not have said where C has it from.
    serial = serial_text(text.text, parallel=parallel)
    return f'#include <assert.h>\n{text.before}#line 1 "{name}"\n{serial}\n{entries(program)}'


def serial_text(text: str, *, parallel: bool = False) -> str:
    """The text without the keywords of MetaFork; lines keep their numbers.

    With ``parallel`` the outermost `meta_for` of every region is a parallel loop of OpenMP: its iterations write
    different elements or update one atomically, so that results are the same to the bit (but for floating sums).
    """
    outermost = False

    def elided(match: re.Match[str]) -> str:
        nonlocal outermost
        if match["atomic"] is not None:
            return PARALLEL_UPDATE if parallel else ""
        if match["kept"] is None and match["loop"] is None:
            outermost = True
        elif match["loop"] is not None and outermost:
            outermost = False
            return PARALLEL_FOR if parallel else "for"
        return _elided(match)

    return _KEYWORDS.sub(elided, text)


def entry(function: Function) -> str:
    """The name by which a function is called, whether it is ``static`` or not, with the variables of its file."""
    return f"{ENTRY}{function.name}"


def entries(program: Program) -> str:
    """A function for each: it sets the variables of the file, runs the one that uses them, and gives arrays back."""
    texts: list[str] = []
    for function in program.functions:
        declared = [
            f"{'void *' if p.is_data else f'{_spelled(p.type)} '}cf_{p.name}"
            for p in function.written_parameters
        ]
        variables = [p for p in function.written_parameters if p.of_file]
        before = [
            f"__builtin_memcpy({p.name}, cf_{p.name}, sizeof {p.name});"
            if p.dims
            else f"{p.name} = cf_{p.name};"
            for p in variables
        ]
        after = [f"__builtin_memcpy(cf_{p.name}, {p.name}, sizeof {p.name});" for p in variables if p.dims]
        passed = ", ".join(f"cf_{p.name}" for p in function.own_parameters)
        called = f"{function.name}({passed});"
        for p in function.written_parameters:
            called = f"*({_spelled(p.type)} *)cf_{p.name} = {called}" if p.is_result else called
        body = " ".join((*before, called, *after))
        head = f'__attribute__((visibility("default"))) void {entry(function)}'
        texts.append(f"{head}({', '.join(declared)}) {{ {body} }}\n")
    return "".join(texts)


def _spelled(type: ScalarType) -> str:
    """Return the type as C has it without a header."""
    return "_Bool" if type is ScalarType.BOOL else type.value


def build(program: Program, work: Path, *, compiler: Compiler) -> SerialLibrary:
    """Compiles the serial program into the directory ``work``. SerialBuildError where the compiler rejects it."""
    work.mkdir(parents=True, exist_ok=True)
    stem = re.sub("[^A-Za-z0-9_]", "_", Path(program.file.path).stem)
    source, target = work / f"{stem}_serial.c", work / f"lib{stem}_serial.so"
    command = (
        *compiler.command,
        *_FLAGS,
        *headers_on_cpu(),
        *program.configuration.flags,
        *program.include_flags,
        "-x",
        "c",
    )
    words = ""
    # What the compiler rejects is said of the text as it was written.
    for every_access in (True, False):
        source.write_text(serial_unit(program, stem, every_access=every_access), encoding="utf-8")
        try:
            compiled = compile_unit(command, source, ("-lm",), timeout_s=TIMEOUT_S)
        except SourceRejectedError as error:
            words = str(error)
            continue
        write_binary(compiled, target)
        return SerialLibrary(target.absolute(), {f.name: f for f in program.functions})
    raise SerialBuildError(words)


def _passed(argument: Argument, value: Value) -> object:
    return as_pointer(argument, value) if argument.pointer else as_scalar(argument, value)


def _elided(match: re.Match[str]) -> str:
    if match["kept"] is not None:
        return match["kept"]
    if match["loop"] is not None:
        return "for"
    # The end of a line inside the clause stays: diagnostics of the compiler keep their place.
    return "\n" * match.group().count("\n")
