"""Kernels as CUDA C++ text.

In: a :class:`Kernel`.  Out: the text of its ``__global__`` function, laid out as a careful person would write it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import assert_never, cast

from msgspec import Struct

from comprehensive.codegen.atomic import atomic_call
from comprehensive.codegen.conversions import storage_headers, with_conversions
from comprehensive.codegen.environment import render_template
from comprehensive.codegen.runtime_files import DEVICE, plain_files
from comprehensive.codegen.source_lines import GENERATED_LINE, mark
from comprehensive.codegen.tables import tables_of
from comprehensive.codegen.wrap import wrapped
from comprehensive.kernel_ir.kernel import (
    WIDTH,
    Await,
    Barrier,
    Box,
    Comment,
    Commit,
    Feed,
    Kernel,
    KernelParameter,
    KernelStmt,
    LoadMatrices,
    MultiplyAdd,
    OfKernel,
    Prefetch,
    SharedTile,
    Stage,
    StageBox,
    StageRow,
    StorePrefetched,
    Vectors,
    VectorStore,
)
from comprehensive.loops.access import names_read
from comprehensive.metafork.ast import Assign, Index, IntLiteral, Name, ScalarType
from comprehensive.metafork.own_statement import OwnStatement
from comprehensive.metafork.printer import INDENT, print_assignment, print_expr, print_stmts
from comprehensive.metafork.terms import plus, times
from comprehensive.metafork.walk import statements_in
from comprehensive.plan.plan import ProgramPlan, RegionPlan


def print_kernel(kernel: Kernel, *, marked: bool = False) -> str:
    """The kernel as an ``extern "C" __global__`` function definition, ending in a newline.

    With ``marked`` the lines that come from the source are marked for :func:`source_lines.resolved`.
    """
    kernel = with_conversions(kernel)
    return render_template(
        "cuda/kernel.cu.j2",
        name=kernel.name,
        register_cap=kernel.register_cap,
        parameters=[print_parameter(p) for p in kernel.parameters],
        constants=[
            *(f"int {name}" for name in kernel.constants),
            *([f"int {WIDTH}"] if kernel.together else []),
        ],
        threads=" * ".join(map(print_expr, kernel.block)),
        blocks=kernel.blocks,
        constraints=[print_expr(each) for each in kernel.constraints],
        shared=_shared_name(kernel),
        shared_words=kernel.shared_words_text if kernel.uses_shared_memory else None,
        body="\n".join(
            part
            for line in _Style.of(kernel, marked).text(kernel.body).splitlines()
            for part in wrapped(line)
        ),
    )


def kernel_unit(kernel: Kernel) -> str:
    """A translation unit with this kernel of a leaf alone, for what only compiles: PTX, register counts."""
    text = print_kernel(kernel)
    return render_template(
        "cuda/unit.cu.j2",
        headers=storage_headers((text,)),
        kernels=[text],
        tables=(),
        instances=[],
        device=plain_files()[DEVICE],
    )


def program_unit(plan: ProgramPlan) -> str:
    """A translation unit with all kernels of a program and the constant arrays that they are passed, for the same.

    Kernels over tiles are there in all their instances.
    """
    regions = [region for function in plan.functions for region in function.regions]
    kernels = {kernel.name: kernel for region in regions for kernel in region.kernels}
    texts = [print_kernel(kernel) for kernel in kernels.values()]
    return render_template(
        "cuda/unit.cu.j2",
        headers=storage_headers(texts),
        kernels=texts,
        tables=tables_of(regions),
        instances=[_instantiation(kernel, constants) for kernel, constants in _instances(regions)],
        device=plain_files()[DEVICE],
    )


def kernel_count(plan: ProgramPlan) -> int:
    """Return how many kernels that unit has, each instance of a kernel over tiles counted as one."""
    regions = [region for function in plan.functions for region in function.regions]
    leaves = {leaf.kernel.name for region in regions for leaf in region.leaves}
    return len(leaves) + len(_instances(regions))


def _instances(regions: Sequence[RegionPlan]) -> list[tuple[Kernel, tuple[int, ...]]]:
    """Return the instances of kernels over tiles: the kernel, and the constants that make it one."""
    return [
        (tile.kernel, (*instance.sizes, *together))
        for region in regions
        for tile in region.tilings
        for instance in tile.instances
        for together in ([(count,) for count in tile.kernel.together] or [()])
    ]


def _instantiation(kernel: Kernel, constants: Sequence[int]) -> str:
    parameters = ", ".join(print_parameter(p) for p in kernel.parameters)
    return f"template __global__ void {kernel.name}<{', '.join(map(str, constants))}>({parameters});"


def print_parameter(parameter: KernelParameter) -> str:
    """Return ``const float *__restrict__ a`` or ``int n``.

    Data does not overlap, which the compiler cannot know.
    """
    qualifier = "const " if parameter.pointer and parameter.const else ""
    star = "*__restrict__ " if parameter.pointer else ""
    return f"{qualifier}{parameter.type.value} {star}{parameter.name}"


def _feed(feed: Feed) -> str:
    """The declaration of the object that copies."""
    kind = "cf_transposed_copy" if feed.turned else "cf_tiled_copy"
    constants = [feed.type.value, *map(print_expr, feed.constants)]
    stride, *numbers = map(print_expr, feed.numbers)
    if feed.row_numbers is not None:
        rows = f"cf_looked_up<{feed.row_number_type.value}>"
        constants.append(rows)
        stride = f"{rows}(&{print_expr(feed.row_numbers)}, {stride})"
    if feed.turned and feed.leftwards:
        constants += ["cf_in_order"] * (feed.row_numbers is None) + ["true"]
    given = ", ".join((f"&{print_expr(feed.source)}", stride, *numbers))
    return f"{kind}<{', '.join(constants)}> {feed.name}({given});"


def _box(box: Box) -> str:
    """The declaration of the object that copies boxes."""
    constants = ", ".join((box.type.value, *map(print_expr, box.constants)))
    numbers = ", ".join(map(print_expr, (*box.strides, box.thread)))
    return f"cf_box<{constants}> {box.name}({numbers});"


class _Style(Struct, frozen=True):
    """The style in which statements are printed: with marks of their lines or without, and which updates are atomic."""

    marked: bool
    types: Mapping[str, ScalarType]
    """The types of the elements of arrays in global and in shared memory."""
    shared: str
    """The name of the shared memory."""

    @staticmethod
    def of(kernel: Kernel, marked: bool) -> _Style:
        shared = {s.name: s.type for s in statements_in(kernel.body) if isinstance(s, SharedTile)}
        types = {p.name: p.type for p in kernel.parameters if p.pointer} | shared
        return _Style(marked, types, _shared_name(kernel))

    def text(self, body: Sequence[KernelStmt]) -> str:
        """The lines of the body of a kernel; with marks, what follows it stands in no source."""
        if not self.marked:
            return print_stmts(body, 1, assignment=self.assignment, own=self.own)
        return print_stmts(body, 1, mark, self.assignment, self.own) + GENERATED_LINE

    def assignment(self, statement: Assign) -> str:
        if not statement.atomic:
            return print_assignment(statement)
        assert isinstance(statement.target, Index)
        return atomic_call(statement, self.types[statement.target.array])

    def own(self, statement: OwnStatement, margin: str) -> str:
        """The text of a statement that only kernels have, behind a margin."""
        lines = _lines(cast("OfKernel", statement), self.shared)
        return "".join(f"{margin}{line}\n" for line in lines)


def _shared_name(kernel: Kernel) -> str:
    """The name of a kernel's shared memory, which templates and functions of C must not have in common."""
    return "cf_smem" if kernel.constants else "cf_shared"


def _lines(statement: OfKernel, shared_name: str) -> Sequence[str]:
    """The lines of a statement that only kernels have."""
    match statement:
        case Barrier():
            return ("__syncthreads();",)
        case Comment():
            return (f"// {statement.text}",)
        case Feed():
            return (_feed(statement),)
        case Stage():
            return (f"{statement.feed}.stage({print_expr(statement.shared)});",)
        case StageRow(shared, _, source, count, lane):
            constants = f"{print_expr(statement.vectors)}, {print_expr(statement.lanes)}"
            numbers = ", ".join(map(print_expr, (count, lane)))
            return (f"cf_stage_row<{constants}>({print_expr(shared)}, &{print_expr(source)}, {numbers});",)
        case Prefetch():
            return (f"{statement.feed}.prefetch();",)
        case StorePrefetched():
            return (f"{statement.feed}.store({print_expr(statement.shared)});",)
        case Box():
            return (_box(statement),)
        case StageBox():
            return _stage_box(statement)
        case Vectors(registers=registers, source=source, count=count, apart=apart):
            constants = f"{print_expr(statement.together)}, {print_expr(count)}, {print_expr(apart)}"
            return (f"cf_vectors<{constants}>(&{print_expr(registers)}, &{print_expr(source)});",)
        case VectorStore(target=target, registers=registers):
            return (f"cf_store_vector<{WIDTH}>(&{print_expr(target)}, &{print_expr(registers)});",)
        case LoadMatrices(registers=registers, source=source, turned=turned):
            arguments = ", ".join((print_expr(registers), f"&{print_expr(source)}"))
            return (f"cf_load_matrices<{str(turned).lower()}>({arguments});",)
        case MultiplyAdd(type=type, sums=sums, left=left, right=right):
            arguments = ", ".join(map(print_expr, (sums, left, right)))
            return (f"cf_multiply_add<{type.value}>({arguments});",)
        case Commit():
            return ("cf_commit();",)
        case Await():
            return (f"cf_await<{print_expr(statement.pending)}>();",)
        case SharedTile():
            begin, type = (
                plus(Name(shared_name), times(statement.offset_words, IntLiteral(4))),
                statement.type.value,
            )
            base = print_expr(begin) if isinstance(begin, Name) else f"({print_expr(begin)})"
            return (f"{type} *const {statement.name} = ({type} *){base};",)
        case _:
            assert_never(statement)


def _stage_box(statement: StageBox) -> Sequence[str]:
    """The copy of a box; where it says of its places what it reads, as a function of these."""
    shared, sizes = print_expr(statement.shared), ", ".join(map(print_expr, statement.valid))
    source = print_expr(statement.source)
    if not statement.places:
        return (f"{statement.feed}.stage({shared}, &{source}, {sizes});",)
    read = names_read(statement.source)
    taken = ", ".join(f"int {name}" if name in read else "int" for name in statement.places)
    return (
        f"{statement.feed}.stage_from([&]({taken}) {{",
        f"{INDENT}return &{source};",
        f"}}, {shared}, {sizes});",
    )
