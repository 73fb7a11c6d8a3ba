"""Loads and stores of neighbouring addresses in a basic block to one access of a vector.

    ld.global.f32 %f1, [%rd1];          -->  ld.global.v2.f32 {%f1, %f2}, [%rd1];
    ld.global.f32 %f2, [%rd1+4];

Chakrabarti et al., CUDA compiler optimizations, 2012, section 3.3: the addresses have one affine form and differ by
the size of an element; the form, every coefficient and the constant, is a multiple of the size of the vector.  Loads
go up to the first of them, stores down to the last, and nothing that they pass may write, or read, what they access,
nor synchronise.

What is loaded earlier lives longer, the elements of a vector live all at once, and what does not change in an outer
loop ptxas may keep through it: of the vectors of a round only so many are made, in the order of the text, as leave the
registers before the next cliff of the occupancy.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from comprehensive.ptx.access_forms import form_obstacle, register_types
from comprehensive.ptx.analysis.analyses import Analyses
from comprehensive.ptx.analysis.cfg import Block
from comprehensive.ptx.analysis.forms import Form
from comprehensive.ptx.build import Build
from comprehensive.ptx.module import Function, Module, bytes_of
from comprehensive.ptx.opcodes import Opcode, opcode
from comprehensive.ptx.operands import Address, Name, Operand, Vector
from comprehensive.ptx.passes.alignment import Alignment
from comprehensive.ptx.passes.edits import Edits
from comprehensive.ptx.passes.expressions import scope_depths
from comprehensive.ptx.passes.hoisting import hoisted_words
from comprehensive.ptx.passes.memory import NOALIAS, Memory
from comprehensive.ptx.passes.occupancy_gate import RegisterGate, predicted_registers
from comprehensive.ptx.passes.pragmas import has_pragma
from comprehensive.ptx.passes.ptx_pass import FunctionPass, option, shown
from comprehensive.ptx.passes.remark import Remark
from comprehensive.ptx.statements import Instruction, Statement

_MOST_ROUNDS = 8
# ld and st of vectors move at most 16 bytes before sm_100.
_MOST_BYTES = 16
_SPACES = frozenset({"global", "shared", "local", "const", "generic"})


@dataclass(frozen=True)
class VectorizeAccesses(FunctionPass):
    name = "vectorize-accesses"
    summary = "ld.f32 a, [p]; ld.f32 b, [p+4]; --> ld.v2.f32 {a, b}, [p];"
    width: int = option(4, "most elements of a vector, 2 or 4")
    assume_pointer_align: int = option(
        1, "bytes that pointers given to kernels are multiples of (cudaMalloc: 256)"
    )
    assume_noalias: bool = option(False, NOALIAS)

    def __post_init__(self) -> None:
        if self.width not in (2, 4):
            raise ValueError("width is 2 or 4")
        if self.assume_pointer_align not in (1, 2, 4, 8, 16, 32, 64, 128, 256):
            raise ValueError("assume_pointer_align is a power of two up to 256")

    def rewrite(
        self, function: Function, module: Module, build: Build
    ) -> tuple[Function | None, tuple[Remark, ...]]:
        remarks: list[Remark] = []
        body: Sequence[Statement] | None = None
        missed: tuple[Remark, ...] = ()
        analyses = Analyses(function, module, assume_noalias=self.assume_noalias)
        gate = RegisterGate.of(analyses, build)
        for _ in range(_MOST_ROUNDS):
            search = _Search(self, analyses, module)
            vectors, hoisted = _apart_from_hoisted(analyses, search.vectors(), gate)
            taken = gate.most_passed(len(vectors), partial(self._with_first, analyses, vectors))
            refused = [self._refused(analyses, each, gate.why) for each in (*hoisted, *vectors[taken:])]
            missed = (*search.missed, *refused)
            if not taken:
                break
            body = _merged(analyses, vectors[:taken])
            remarks += [self._applied(analyses, vector) for vector in vectors[:taken]]
            analyses = self._with_first(analyses, vectors, taken)
        return None if body is None else function.with_body(body), (*remarks, *missed)

    def _with_first(self, analyses: Analyses, vectors: Sequence[_Vector], count: int) -> Analyses:
        changed = analyses.function.with_body(_merged(analyses, vectors[:count]))
        return Analyses(changed, analyses.module, assume_noalias=self.assume_noalias)

    def _refused(self, analyses: Analyses, vector: _Vector, why: str) -> Remark:
        step = analyses.flow.steps[vector.accesses[0].step].instruction
        return self.missed(analyses.flow.function, step, _apart(step, why))

    def _applied(self, analyses: Analyses, vector: _Vector) -> Remark:
        first = analyses.flow.steps[vector.accesses[0].step].instruction
        text = f"{len(vector.accesses)} accesses to one: {shown(vector.instruction)}"
        return self.applied(analyses.flow.function, first, text)


@dataclass(frozen=True, slots=True)
class _Access:
    """An access; ``offset`` is the constant of its form."""

    step: int
    opcode: Opcode
    data: Name
    address: Address
    offset: int

    @property
    def is_load(self) -> bool:
        return self.opcode.base == "ld"

    @property
    def bytes(self) -> int:
        return bytes_of(self.opcode.types[0])


@dataclass(frozen=True, slots=True)
class _Vector:
    """An access of a vector in the making; its ``accesses`` are by address."""

    accesses: tuple[_Access, ...]

    @property
    def bytes(self) -> int:
        return len(self.accesses) * self.accesses[0].bytes

    @property
    def first(self) -> int:
        return min(access.step for access in self.accesses)

    @property
    def last(self) -> int:
        return max(access.step for access in self.accesses)

    @property
    def place(self) -> _Access:
        """The access in whose place the vector access stands, since its address is known there."""
        at = self.first if self.accesses[0].is_load else self.last
        return next(access for access in self.accesses if access.step == at)

    @property
    def instruction(self) -> Instruction:
        place = self.place
        address = Address(place.address.base, place.address.offset + self.accesses[0].offset - place.offset)
        data = Vector(tuple(access.data for access in self.accesses))
        operands: tuple[Operand, ...] = (data, address) if place.is_load else (address, data)
        return Instruction(_of_width(place.opcode, len(self.accesses)), operands)


def _apart(step: Instruction, why: str) -> str:
    return f"{shown(step)} and its neighbour stay apart: {why}"


def _of_width(scalar: Opcode, width: int) -> Opcode:
    words = [scalar.base, *scalar.modifiers]
    words.insert(words.index(scalar.types[0]), f"v{width}")
    return opcode(".".join(words))


def _apart_from_hoisted(
    analyses: Analyses, vectors: Sequence[_Vector], gate: RegisterGate
) -> tuple[list[_Vector], list[_Vector]]:
    """Vectors, and those that ptxas would load before a loop into more registers than there are."""
    words = {v: hoisted_words(analyses, v.first, v.bytes // 4) if v.place.is_load else 0 for v in vectors}
    if predicted_registers(analyses) + sum(words.values()) <= gate.registers:
        return list(vectors), []
    return [v for v in vectors if not words[v]], [v for v in vectors if words[v]]


def _merged(analyses: Analyses, vectors: Sequence[_Vector]) -> list[Statement]:
    edits = Edits(analyses.flow)
    for vector in vectors:
        for access in vector.accesses:
            edits.replace(access.step, (vector.instruction,) if access is vector.place else ())
    return edits.made()


class _Search:
    """The search for accesses of a function that can be merged."""

    def __init__(self, settings: VectorizeAccesses, analyses: Analyses, module: Module) -> None:
        self._settings = settings
        self._analyses = analyses
        self._steps = analyses.flow.steps
        self._memory = Memory(analyses)
        self._module = module
        self._types = register_types(analyses.flow)
        self._depths = scope_depths(analyses.flow.function.body)
        self._alignment = Alignment(
            analyses.flow.function,
            module,
            analyses.affine.symbols,
            settings.assume_pointer_align,
        )
        self.missed: list[Remark] = []

    def vectors(self) -> list[_Vector]:
        return [vector for block in self._analyses.cfg.blocks for vector in self._of_block(block)]

    def _of_block(self, block: Block) -> list[_Vector]:
        groups: dict[tuple[str, Form], dict[int, _Access]] = defaultdict(dict)
        for number in block.steps:
            found = self._access(number)
            if found is not None:
                access, form = found
                group = groups[access.opcode.text, form.varying]
                # Of loads of one address the first, of stores the last.
                if not access.is_load or access.offset not in group:
                    group[access.offset] = access
        taken: list[_Vector] = []
        for (_, form), group in groups.items():
            self._of_group(form, group, taken)
        return taken

    def _access(self, number: int) -> tuple[_Access, Form] | None:
        step = self._steps[number]
        code, operands = step.instruction.opcode, step.instruction.operands
        if code.base not in ("ld", "st") or code.vector != 1 or code.is_volatile or code.space not in _SPACES:
            return None
        if step.guard is not None or len(operands) != 2 or len(code.types) != 1:
            return None
        if self._depths[step.position] or has_pragma(self._analyses.flow.function.body, step.position):
            return None
        data, address = operands if code.base == "ld" else reversed(operands)
        form = self._analyses.affine.addresses[number]
        if not isinstance(data, Name) or not isinstance(address, Address) or form is None:
            return None
        access = _Access(number, code, data, address, form.constant)
        return (access, form) if self._values(access) else None

    def _of_group(self, form: Form, group: dict[int, _Access], taken: list[_Vector]) -> None:
        left = dict(sorted(group.items()))
        for width in (4, 2):
            if width > self._settings.width:
                continue
            for offset in list(left):
                run = tuple(_run(left, offset, width))
                if len(run) < width or width * run[0].bytes > _MOST_BYTES:
                    continue
                vector = _Vector(run)
                obstacle = self._obstacle(form, vector, taken)
                if obstacle is None:
                    taken.append(vector)
                    for access in run:
                        del left[access.offset]
                elif width == 2:
                    step = self._steps[run[0].step].instruction
                    text = _apart(step, obstacle)
                    self.missed.append(self._settings.missed(self._analyses.flow.function, step, text))

    def _obstacle(self, form: Form, vector: _Vector, taken: Sequence[_Vector]) -> str | None:
        """Return why accesses cannot be merged; None where they can."""
        size = vector.bytes
        least = vector.accesses[0].offset
        known = self._alignment.of(form._replace(constant=least))
        if known < size:
            return f"the address is known to be a multiple of {known} bytes, not of {size}"
        if (
            len({access.data.text for access in vector.accesses}) < len(vector.accesses)
            and vector.place.is_load
        ):
            return "two of them go to one register"
        why = form_obstacle(vector.instruction, self._types, self._module)
        if why is not None:
            return why
        for access in vector.accesses:
            for number in self._passed(vector, access):
                why = self._conflict(access, number)
                if why is not None:
                    return why
        for other in taken:
            if other.first <= vector.last and vector.first <= other.last:
                for access in vector.accesses:
                    for each in other.accesses:
                        why = self._conflict(access, each.step)
                        if why is not None:
                            return why
        return None

    def _passed(self, vector: _Vector, access: _Access) -> range:
        """Steps that an access goes past."""
        if access.is_load:
            return range(vector.first, access.step)
        return range(access.step + 1, vector.last + 1)

    def _conflict(self, access: _Access, number: int) -> str | None:
        """Return why an access cannot go past a step; None where it can."""
        passed = self._steps[number]
        what = shown(passed.instruction)
        touched = (*passed.reads, *passed.defines) if access.is_load else passed.defines
        if not self._values(access).isdisjoint(touched):
            return f"{what} uses the register between them"
        if self._memory.orders(number):
            return f"{what} stands between them"
        if self._memory.keeps_apart(access.step, number):
            return f"{what} between them may access the same memory"
        return None

    def _values(self, access: _Access) -> frozenset[int]:
        """The register that is stored, or loaded; the address may come from another place."""
        step = self._steps[access.step]
        registers = self._analyses.flow.registers
        return frozenset(n for n in (*step.uses, *step.defines) if registers[n].name == access.data.text)


def _run(left: dict[int, _Access], offset: int, width: int) -> Iterator[_Access]:
    access = left.get(offset)
    for index in range(width):
        if access is None:
            return
        yield access
        access = left.get(offset + (index + 1) * access.bytes)
