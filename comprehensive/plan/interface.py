"""The interface of generated functions: arguments in the user's order, and program parameters apart.

In: a :class:`FunctionPlan`.  Out: an :class:`Interface`, shared by the header, the CUDA source and the runtime::

    void matmul(int n, float a[n][n], float c[n][n], int B0)
      -->  arguments: int n, const float *a, float *c;  program: int B0
"""

from __future__ import annotations

from msgspec import Struct

from comprehensive.diagnostics import CompileError
from comprehensive.loops.access import accesses
from comprehensive.loops.ir import Role
from comprehensive.metafork.ast import ScalarType
from comprehensive.plan.plan import FunctionPlan


class Argument(Struct, frozen=True):
    """A scalar by value, or data as a device pointer; ``const`` data is read only, and some ``may_be_null``."""

    name: str
    type: ScalarType
    pointer: bool = False
    const: bool = False
    may_be_null: bool = False

    @property
    def value_type(self) -> str:
        """The type of the value that is passed, such as ``const float *``."""
        name = host_name(self.type)
        return f"{'const ' if self.const else ''}{name} *" if self.pointer else name

    @property
    def declaration(self) -> str:
        """The argument as a C parameter list declares it, such as ``const float *a``."""
        if not self.pointer:
            return f"{host_name(self.type)} {self.name}"
        return f"{'const ' if self.const else ''}{host_name(self.type)} *{self.name}"


def host_name(type: ScalarType) -> str:
    """Return the name of the type in the generated header, where `half` and `bfloat16` have names of their own."""
    return _HOST_NAMES.get(type, type.value)


_HOST_NAMES = {ScalarType.HALF: "cf_half", ScalarType.BFLOAT16: "cf_bfloat16"}


class Interface(Struct, frozen=True):
    """The parameters of a generated function.

    ``everything`` is the user's parameter list; ``program`` and ``arguments`` are its parts, in its order.
    """

    name: str
    everything: tuple[Argument, ...]
    program_names: frozenset[str]
    tile: str | None = None
    """The member of the parameters that chooses register tiles, where a region has some."""
    version: str | None = None
    """The member of the parameters that chooses a version of the kernels, where there are several."""
    adapt: str | None = None
    """The member of the parameters that asks for the fastest version to be found while the function runs."""

    @property
    def program(self) -> tuple[Argument, ...]:
        return tuple(a for a in self.everything if a.name in self.program_names)

    @property
    def arguments(self) -> tuple[Argument, ...]:
        return tuple(a for a in self.everything if a.name not in self.program_names)

    @property
    def options(self) -> tuple[Argument, ...]:
        """The members of ``<function>_params`` behind the program parameters, of which 0 is the plain choice."""
        names = (self.tile, self.version)
        return tuple(Argument(name, ScalarType.INT) for name in names if name is not None)

    @property
    def members(self) -> tuple[Argument, ...]:
        """The members of ``<function>_params`` that say what runs, in order."""
        return (*self.program, *self.options)

    @property
    def layout(self) -> tuple[Argument, ...]:
        """All members of ``<function>_params``, in order: those, and whether something else may run in their place."""
        return self.members if self.adapt is None else (*self.members, Argument(self.adapt, ScalarType.INT))


def interface(plan: FunctionPlan) -> Interface:
    """The interface of a function, without what the launcher brings itself.

    A scalar is a program parameter of the function if it is one of a region and gives no dimension of data in any.
    Data is const where the user says so, or where the regions read it, none writes it, and no pointer of host code goes
    to it.  Raises CompileError (CF0610) for arrays that host code declares: only what the caller passes can be on the
    device.
    """
    function = plan.function
    own = {parameter.name for parameter in function.parameters}
    nests = [region.nest for region in plan.regions]
    for nest, region in zip(nests, function.regions, strict=True):
        known = own | {each.name for each in (*region.pointers, *region.tables)}
        for array in nest.arrays:
            if array.name not in known:
                raise CompileError.of(
                    "CF0610",
                    f"array '{array.name}' is declared by host code and is not on the device",
                    array.span,
                    help=f"make '{array.name}' a parameter of function '{function.name}'",
                )
    roles = {name: {s.role for nest in nests for s in nest.scalars if s.name == name} for name in own}
    program = frozenset(name for name in own if Role.PROGRAM in roles[name] and Role.DATA not in roles[name])
    found = [access for nest in nests for access in accesses(nest)]
    written = {access.array for access in found if access.mode.writes}
    read_only = {access.array for access in found} - written - function.pointed
    everything = tuple(
        Argument(
            parameter.name,
            parameter.type,
            pointer=parameter.is_data,
            const=parameter.is_data and (parameter.const or parameter.name in read_only),
            may_be_null=parameter.may_be_null,
        )
        for parameter in function.parameters
        if parameter not in function.memory
    )
    has_tiles = any(region.tilings for region in plan.regions)
    return Interface(
        function.name,
        everything,
        program,
        fresh("tile", frozenset(own)) if has_tiles else None,
        fresh("version", frozenset(own)) if len(plan.versions) > 1 else None,
        fresh("adapt", frozenset(own)) if plan.adaptation is not None else None,
    )


def fresh(name: str, taken: frozenset[str]) -> str:
    """The name, with underscores behind it until the user's program does not use it."""
    while name in taken:
        name += "_"
    return name
