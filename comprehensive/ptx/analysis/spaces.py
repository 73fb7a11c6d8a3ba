"""The memory into which a value points (Chakrabarti et al., CUDA compiler optimizations, 2012, section 3.1).

In: an :class:`Ssa`.  Out: :class:`Spaces`, a :class:`Space` of every value and of every access::

    spaces = spaces_of(ssa, operand_values, variables={"table": Space.GLOBAL})
    spaces.values[41]       # Space.GLOBAL
    spaces.access(7)        # of the address that step 7 accesses; what its opcode says comes first

The lattice and its laws are those of :mod:`.space`, what single instructions do is said in :mod:`.space_rules`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from comprehensive.ptx.analysis.space import Space
from comprehensive.ptx.analysis.space_rules import space_named, space_of_literal, space_of_result
from comprehensive.ptx.analysis.ssa import NONE, Ssa
from comprehensive.ptx.flow import Flow
from comprehensive.ptx.opcodes import Opcode, bits
from comprehensive.ptx.operands import Address, Immediate, Name, Operand, Sum
from comprehensive.ptx.special_registers import special_register
from comprehensive.ptx.statements import Declaration


@dataclass(frozen=True)
class Spaces:
    """The memories into which values and addresses point: ``values`` by value, ``accesses`` by step.

    A step that accesses none has NONE, and one whose address is none that is known ANY, as one that is made
    of numbers.
    """

    values: tuple[Space, ...]
    accesses: tuple[Space, ...]

    def access(self, step: int) -> Space:
        return self.accesses[step]


def variable_spaces(flow: Flow, of_module: Mapping[str, str] = MappingProxyType({})) -> Mapping[str, Space]:
    """Return the memories of a function's variables and parameters, and of those of the module, by name.

    ``of_module`` has directives such as ``.global`` by symbol. A name that is declared twice in different
    memories is ANY.
    """
    found = {name: space_named(kind.removeprefix(".")) or Space.ANY for name, kind in of_module.items()}
    function = flow.function
    for parameter in (*function.parameters, *function.returns):
        found[parameter.name] = Space.PARAM
    own: dict[str, Space] = {}
    for statement in function.body:
        if isinstance(statement, Declaration) and statement.kind != ".reg":
            space = space_named(statement.kind.removeprefix(".")) or Space.ANY
            for name in re.findall(r"(?<![.\w%$])[A-Za-z_$%][\w$]*", statement.text.split("=")[0]):
                own[name] = own.get(name, Space.NONE).meet(space)
    return MappingProxyType({**found, **own})


def spaces_of(
    ssa: Ssa,
    operand_values: Sequence[Sequence[int]],
    variables: Mapping[str, Space],
    parameters: Mapping[str, Space] = MappingProxyType({}),
    *,
    parameters_are_global: bool = False,
    address_bits: int = 64,
) -> Spaces:
    """Return the memories into which values and addresses of a function point.

    ``variables`` come from :func:`variable_spaces`; ``parameters`` is what is known of the pointers passed,
    beside what ``.ptr`` says; ``parameters_are_global`` says that all pointers passed to a kernel are into
    global memory, as in CUDA.

    >>> spaces_of(ssa, operand_values, variable_spaces(flow)).values[41]    # doctest: +SKIP
    <Space.GLOBAL: 'global'>
    """
    passed = _passed(ssa.cfg.flow, parameters, parameters_are_global)
    analysis = _Spaces(ssa, operand_values, variables, passed, address_bits)
    return Spaces(tuple(analysis.values()), tuple(analysis.accesses()))


def _passed(flow: Flow, known: Mapping[str, Space], are_global: bool) -> dict[str, Space]:
    found: dict[str, Space] = {}
    for parameter in flow.function.parameters:
        space = space_named(parameter.space) if parameter.is_pointer else None
        if space is None and are_global and flow.function.is_kernel:
            space = Space.GLOBAL
        found[parameter.name] = known.get(parameter.name, space or Space.ANY)
    return found


class _Spaces:
    """Values from NONE down, until nothing changes: each can change four times."""

    def __init__(
        self,
        ssa: Ssa,
        operand_values: Sequence[Sequence[int]],
        variables: Mapping[str, Space],
        passed: Mapping[str, Space],
        address_bits: int,
    ) -> None:
        self._ssa = ssa
        self._operand_values = operand_values
        self._variables = variables
        self._passed = passed
        self._address_bits = address_bits
        self._found = [Space.NONE] * len(ssa.values)

    def values(self) -> list[Space]:
        ssa, found = self._ssa, self._found
        for value in ssa.fixed:
            found[value] = Space.ANY
        users = ssa.merged
        visited = bytearray(len(ssa.defines))
        visited_phis: set[int] = set()

        def is_seen(value: int) -> bool:
            # Readers that come later see the value when they are first visited.
            return any(visited[step] for step in ssa.readers[value]) or not visited_phis.isdisjoint(
                users.get(value, ())
            )

        work: list[int] = []
        for block in (*ssa.cfg.order, *ssa.cfg.unreachable):
            for phi in ssa.phis[block]:
                visited_phis.add(phi.value)
                if self._phi(phi.arguments, phi.value) and is_seen(phi.value):
                    work.append(phi.value)
            for step in ssa.cfg.blocks[block].steps:
                visited[step] = True
                work += filter(is_seen, self._step(step))
        while work:
            value = work.pop()
            for phi_value in users.get(value, ()):
                if self._phi(ssa.phi_of[phi_value].arguments, phi_value):
                    work.append(phi_value)
            for step in ssa.readers[value]:
                work += self._step(step)
        return found

    def accesses(self) -> list[Space]:
        return [self._access(number) for number in range(len(self._ssa.uses))]

    def _access(self, number: int) -> Space:
        instruction = self._ssa.cfg.flow.steps[number].instruction
        for operand, value in zip(instruction.operands, self._operand_values[number], strict=True):
            if isinstance(operand, Address):
                stated = space_named(instruction.opcode.space)
                if stated is not None:
                    return stated
                space = self._operand(operand.base, value)
                return space if space.is_one else Space.ANY
        return Space.NONE

    def _phi(self, arguments: Sequence[int], value: int) -> bool:
        met = Space.NONE
        for argument in arguments:
            if argument != NONE:
                met = met.meet(self._found[argument])
        return self._lower(value, met)

    def _lower(self, value: int, space: Space) -> bool:
        met = self._found[value].meet(space)
        changed = met is not self._found[value]
        self._found[value] = met
        return changed

    def _step(self, number: int) -> list[int]:
        defines = self._ssa.defines[number]
        if not defines:
            return []
        space = self._result(number)
        previous = self._ssa.previous[number]
        changed: list[int] = []
        for place, value in enumerate(defines):
            met = space.meet(self._found[previous[place]]) if previous else space
            if self._lower(value, met):
                changed.append(value)
        return changed

    def _result(self, number: int) -> Space:
        instruction = self._ssa.cfg.flow.steps[number].instruction
        code, operands = instruction.opcode, instruction.operands
        if code.base == "ld" and code.space == "param" and self._is_address(code):
            match operands[-1]:
                case Address(Name(text), 0):
                    return self._passed.get(text, Space.ANY)
                case _:
                    return Space.ANY
        found = [
            self._operand(operand, value)
            for operand, value in zip(operands, self._operand_values[number], strict=True)
        ]
        return space_of_result(instruction, found, self._address_bits)

    def _operand(self, operand: Operand, value: int) -> Space:
        if value != NONE:
            return self._found[value]
        match operand:
            case Immediate():
                return space_of_literal(operand)
            case Name(text) | Sum(Name(text), _) | Address(Name(text), _):
                if special_register(text) is not None or text == "WARP_SZ":
                    return Space.NUMBER
                return self._variables.get(text, Space.ANY)
            case _:
                return Space.ANY

    def _is_address(self, code: Opcode) -> bool:
        return code.vector == 1 and len(code.types) == 1 and bits(code.types[0]) >= self._address_bits
