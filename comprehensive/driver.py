"""The pipeline: one function, one named line per stage.  Newcomers start here.

In: the path of a `.mf` file, or its text, and :class:`Options`.  Out: a :class:`Compilation` that holds the value of
every stage; ``comprehensive.generate`` turns it into the files that ``comprehensive gen`` writes.
"""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Literal, Protocol

from msgspec import Struct

from comprehensive.algebra import Polynomial, PortfolioSolver
from comprehensive.codegen.acceptance import kernels_compile
from comprehensive.codegen.cuda import kernel_unit
from comprehensive.counters.assumptions import assumptions
from comprehensive.counters.feasible import warn_of_hopeless
from comprehensive.counters.limits import demand_other_names
from comprehensive.counters.registers import PtxasRegisters, Registers
from comprehensive.counters.shared_words import SharedWords
from comprehensive.diagnostics import (
    CommandLineError,
    CompileError,
    Diagnostic,
    DiagnosticSink,
    SourceFile,
)
from comprehensive.embedding.compiled import KernelCompiler
from comprehensive.embedding.targets import Targets
from comprehensive.kernel_ir.kernel import Kernel
from comprehensive.loops.build import build
from comprehensive.loops.ir import Nest, RegisterTile, Variant
from comprehensive.loops.normalize import normalize
from comprehensive.loops.reading_order import reading_order
from comprehensive.loops.traverse import all_names
from comprehensive.loops.verify import verify
from comprehensive.lowering.lower import lower
from comprehensive.metafork.ast import Program
from comprehensive.metafork.fresh import fresh
from comprehensive.metafork.notation import MetaFork
from comprehensive.metafork.parse import parse
from comprehensive.metafork.preprocessor.configuration import Configuration
from comprehensive.metafork.read import read_source
from comprehensive.model.leaf_sites import leaf_profile
from comprehensive.model.tile_work import tile_work
from comprehensive.model.traffic import traffic
from comprehensive.optimize.algorithm import comprehensive_optimization
from comprehensive.optimize.problem import Problem
from comprehensive.optimize.protocols import Applied, Counter, CounterError, NotApplicable, Strategy
from comprehensive.optimize.tree import Alternative, Leaf, Performance, Tree
from comprehensive.plan.plan import (
    USUAL_REGISTERS,
    FunctionPlan,
    LeafPlan,
    ProgramPlan,
    RegionPlan,
    TilePlan,
)
from comprehensive.poly.apart import check_apart
from comprehensive.poly.report import METAFORK, Words, check
from comprehensive.pragmas.read import Models, parse_pragmas, words_of
from comprehensive.records import replace
from comprehensive.reductions.notation import InAnyOrder
from comprehensive.registry import COMPILED, counters_of, strategies_for
from comprehensive.schedule.alternatives import Tiling
from comprehensive.schedule.equalize import mean_steps
from comprehensive.schedule.instances import meeting_constraints, some_launch, with_room
from comprehensive.schedule.recipes.registry import recipe_of
from comprehensive.strategies.caching import initial_caching
from comprehensive.strategies.fewer_registers import Lowering
from comprehensive.strategies.linear_note import tell_of_linear
from comprehensive.strategies.tilings import every_tiling
from comprehensive.toolchain.registers import register_compiler, single
from comprehensive.toolchain.usage import Usage
from comprehensive.watch import UNWATCHED, Watch

RegisterSource = Literal["auto", "estimate", "ptxas"]


class Options(Struct, frozen=True):
    """The options that a user may choose.

    ``registers``: where the register counter comes from; ``auto`` is ptxas where nvcc is found, else the estimate.
    ``arch``: the architecture that ptxas counts registers for.
    ``reassociate``: whether sums may be added up in another order.
    """

    registers: RegisterSource = "auto"
    arch: str = "sm_90"
    cuda_path: str | None = None
    performance: Performance = "demanded"
    warnings_are_errors: bool = False
    reassociate: bool = False
    counters: tuple[str, ...] = ()
    """The counters besides the default ones, by name; a name of a family stands for its counters."""
    strategies: tuple[str, ...] = ()
    """The strategies to be tried before the default ones, by name."""
    pragma: Models | None = None
    """The directives that say which loops are regions, where no keywords do."""
    configuration: Configuration = Configuration()
    """Macros and directories of included files."""
    passes: str = ""
    """The pipeline that rewrites the PTX of all kernels; counters are those behind it."""
    automatic: bool = False
    """Whether passes are chosen for each embedded kernel by what they are predicted to gain."""
    targets: Targets | None = None
    """The architectures that kernels are compiled for, if compiled kernels are among the outputs."""


class Compilation(Struct, frozen=True):
    """The value of every stage; ``nests``, ``trees`` and the regions of ``plan`` are in program order."""

    source: SourceFile
    program: Program
    nests: tuple[Nest, ...]
    trees: tuple[Tree[Variant], ...]
    """The alternatives at the root of each are its kernels over tiles."""
    plan: ProgramPlan
    diagnostics: tuple[Diagnostic, ...]

    @property
    def is_whole(self) -> bool:
        """Whether the time sufficed for all trees; else nothing is to be generated from them."""
        return not any(tree.open for tree in self.trees)

    @property
    def reassociated(self) -> bool:
        """Whether a sum is added up in another order than that of the source."""
        return any(function.reassociated for function in self.plan.functions)


def compile_file(path: Path, options: Options, watch: Watch = UNWATCHED) -> Compilation:
    """Reads a `.mf` file and compiles it; errors are those of :func:`compile_text`, and what cannot be read."""
    return compile_text(read_source(path), options, watch)  # bytes -> text with positions


def compile_text(source: SourceFile, options: Options, watch: Watch = UNWATCHED) -> Compilation:
    """Parses, checks, optimizes and lowers a program.

    Where the watch says that the time is over, trees have open nodes, and the compilation is not whole.

    Raises CompileError with every diagnostic when the input has errors, ToolError when ptxas is asked for and
    missing.
    """
    sink = DiagnosticSink()
    program, nests = checked_nests(source, options, sink)  # text -> loop nests, the annotation checked
    count = len(nests)
    trees = tuple(
        grow(nest, options, watch, "" if count == 1 else f" ({number} of {count})")
        for number, nest in enumerate(nests, 1)
    )  # loop nest -> decision tree (Algorithms 1 and 2)
    for nest, tree in zip(nests, trees, strict=True):
        if not tree.open:
            warn_of_hopeless(nest, tree, sink)
    sink.stop_on_errors(warnings_are_errors=options.warnings_are_errors)
    recipes = every_tiling(
        nests, in_another_order=options.reassociate
    )  # loop nests -> tiles, by each recipe that fits
    for found in recipes:
        tell_of_linear(next((each.result for each in found if isinstance(each.result, Applied)), None), sink)
    trees = tuple(
        replace(tree, alternatives=alternatives(found, options))
        for tree, found in zip(trees, recipes, strict=True)
    )  # tiles -> alternatives at the root
    plan = plan_of(source, program, nests, trees, options)  # leaves -> kernels, grouped by host function
    return Compilation(source, program, nests, trees, plan, sink.diagnostics)


def checked_nests(
    source: SourceFile, options: Options, sink: DiagnosticSink
) -> tuple[Program, tuple[Nest, ...]]:
    """Parse and check a program; its loop nests are in normal form.

    Raises CompileError with every diagnostic so far when the input has errors.
    """
    program, nests = understood(source, sink, options)
    return program, tuple(map(normalize, nests))  # however it is written -> normal form


class Examine(Protocol):
    """Reports what is wrong with a nest: `poly.report.check`, or what stands for it."""

    def __call__(
        self, nest: Nest, sink: DiagnosticSink, *, reassociate: bool = False, words: Words = METAFORK
    ) -> None: ...


def understood(
    source: SourceFile, sink: DiagnosticSink, options: Options, examine: Examine = check
) -> tuple[Program, tuple[Nest, ...]]:
    """The program and its loop nests, checked: all that is said of a text before anything is optimized.

    ``examine`` looks at each nest.  Raises CompileError with every diagnostic when the input has errors.
    """
    program = program_of(source, sink, options)  # text -> syntax tree, names and types checked
    sink.stop_on_errors(warnings_are_errors=options.warnings_are_errors)
    nests = build(program, sink)  # syntax tree -> loop nests
    words = METAFORK if options.pragma is None else words_of(program)
    regions = ((function, region) for function in program.functions for region in function.regions)
    for nest, (function, region) in zip(
        nests, regions, strict=True
    ):  # the annotation is checked, not trusted
        verify(nest)
        if not nest.is_checked:
            examine(nest, sink, reassociate=options.reassociate, words=words)
        check_apart(region, nest, {p.name for p in function.parameters if p.is_data}, sink)
    sink.stop_on_errors(warnings_are_errors=options.warnings_are_errors)
    return program, nests


def program_of(source: SourceFile, sink: DiagnosticSink, options: Options) -> Program:
    """The program of a file in the notation that the options name."""
    if options.pragma is None:
        notation = InAnyOrder() if options.reassociate else MetaFork()
        return parse(source, sink, options.configuration, notation)
    return parse_pragmas(
        source,
        sink,
        options.pragma,
        configuration=options.configuration,
    )


def grow(nest: Nest, options: Options, watch: Watch = UNWATCHED, place: str = "") -> Tree[Variant]:
    """The decision tree of a nest, without its alternatives; `place` says to the watch which of several it is.

    Raises CompileError where a counter returns what has no place in a system.
    """
    root = Variant(initial_caching(nest))
    return _grown(root, problem_of(nest, options, watch=watch, place=place), watch, place)


def alternatives(found: Sequence[Tiling], options: Options) -> tuple[Alternative[Variant], ...]:
    """The trees of a nest over tiles: what fits is the leaf of one; where none fits, the other leaves decide."""
    return tuple(Alternative(each.recipe, tree_of_tiles(each.result, options)) for each in found)


def tree_of_tiles(tiled: Applied[Variant] | NotApplicable, options: Options) -> Tree[Variant] | NotApplicable:
    if isinstance(tiled, NotApplicable):
        return tiled
    # Its sizes are chosen by what they cost, and its leaf is all that there is: no performance is demanded of it.
    return _grown(tiled.fragment, problem_of(tiled.fragment.nest, replace(options, counters=()), ()))


def _grown(
    root: Variant, problem: Problem[Variant], watch: Watch = UNWATCHED, place: str = ""
) -> Tree[Variant]:
    doing = f"nodes in the tree of {root.nest.name}{place}"
    try:
        return comprehensive_optimization(problem.initial(root), problem, watch, doing)
    except CounterError as error:
        text = f"region '{root.nest.name}' cannot be counted: {error}"
        raise CompileError.of("CF0720", text, root.nest.span, help=error.help) from error


def problem_of(
    nest: Nest,
    options: Options,
    strategies: tuple[Strategy[Variant], ...] | None = None,
    watch: Watch = UNWATCHED,
    place: str = "",
) -> Problem[Variant]:
    """Return what Algorithm 1 is given for a nest: counters, strategies, assumptions.

    The strategies are all that there are, unless some are given.  The watch is told of kernels that are compiled.
    """
    given = counted_by(options, watch, f"{nest.name}{place}")
    counted = counters_of(options.counters, given)
    demand_other_names(nest, counted)
    return Problem(
        counted,
        strategies_for((c.name for c in counted), options.strategies, lowerings(options), given)
        if strategies is None
        else strategies,
        assumptions(nest),
        PortfolioSolver(),
        performance=options.performance,
        order=reading_order(nest),
    )


def lowerings(options: Options) -> Mapping[str, Lowering] | None:
    """Return the ways in which the compiler lowers registers, by strategy; None where no kernels are compiled.

    CommandLineError (CF0722) where such a strategy is asked for then.
    """
    embedding = embedding_of(options)
    if embedding is None:
        asked = [name for name in options.strategies if name in COMPILED]
        if asked:
            message = f"the strategy '{asked[0]}' works on compiled kernels, and none are asked for"
            help = "add --embed, or leave the strategy out"
            raise CommandLineError.of("CF0722", message, help=help)
        return None
    # What reads machine code is slow to import.
    from comprehensive.embedding.demoted import with_limit, with_slots

    return {
        "register-cap": partial(with_limit, *embedding),
        "demote-registers": partial(with_slots, *embedding),
    }


def embedding_of(options: Options) -> tuple[KernelCompiler, tuple[str, ...]] | None:
    """The compiler of embedded kernels, and the architectures, first that for which registers are counted."""
    if options.targets is None:
        return None
    compiler = KernelCompiler.find(options.passes, options.cuda_path)
    return compiler, tuple(dict.fromkeys((options.arch, *options.targets.archs)))


def slots_counted(options: Options) -> Callable[[Kernel], int] | None:
    """Return what says how many words of a thread of a demoted kernel lie in shared memory; None without compilers."""
    embedding = embedding_of(options)
    if embedding is None:
        return None
    # What reads machine code is slow to import.
    from comprehensive.embedding.demoted import slots_of

    return partial(slots_of, *embedding)


def counted_by(
    options: Options, watch: Watch = UNWATCHED, region: str = "the program"
) -> Mapping[str, Counter[Variant]]:
    """The counters that others go by: all count registers by the estimate, or as ptxas does.

    The watch is told how many kernels of the region were compiled for it; how many a tree asks for, it only shows
    while it grows.
    """
    compile = _watched(register_count(options), watch, region)
    return {
        "registers": Registers()
        if compile is None
        else PtxasRegisters(options.arch, lambda kernel: _counted(kernel, compile)),
        "shared_words": SharedWords(slots=slots_counted(options)),
    }


def register_count(options: Options) -> Callable[[str], Usage] | None:
    """Return the function that says what a kernel takes, given its translation unit; None for the estimate.

    With passes the assembler counts what they make of it.
    """
    if options.passes:
        compiler = KernelCompiler.find(options.passes, options.cuda_path)
        return lambda unit: single(compiler.compile(unit, options.arch).usages)
    if options.registers == "estimate":
        return None
    required = options.registers == "ptxas"
    return register_compiler(options.arch, options.cuda_path, required=required)


def _watched(
    compile: Callable[[str], Usage] | None, watch: Watch, region: str
) -> Callable[[str], Usage] | None:
    """Return the same function; before each call it tells the watch how many there were."""
    if compile is None:
        return None
    calls = itertools.count()

    def watched(unit: str) -> Usage:
        watch.tell(f"kernels compiled for the registers of {region}", next(calls))
        return compile(unit)

    return watched


def _counted(kernel: Kernel, count: Callable[[str], Usage]) -> int:
    """The registers of a thread; of a kernel that spills whatever it is given, an estimate of those that it needs."""
    unit = kernel_unit(kernel)
    with kernels_compile(unit):
        usage = count(unit)
    return usage.needed_registers if kernel.register_cap is None else usage.registers_per_thread


def plan_of(
    source: SourceFile,
    program: Program,
    nests: tuple[Nest, ...],
    trees: tuple[Tree[Variant], ...],
    options: Options,
) -> ProgramPlan:
    """Kernels and systems of all leaves, grouped as the host sees them."""
    slots = slots_counted(options)
    regions = iter(region_plan(nest, tree, slots) for nest, tree in zip(nests, trees, strict=True))
    functions = tuple(
        FunctionPlan(function, tuple(next(regions) for _ in function.regions))
        for function in program.functions
    )
    digest = hashlib.sha256(_everything_read(source, program).encode()).hexdigest()
    path = Path(source.path)
    return ProgramPlan(path.stem, path.name, digest, functions, settings=program.settings)


def _everything_read(source: SourceFile, program: Program) -> str:
    """The text of the program; behind it, where there are some, those that it includes and what the macros are."""
    included = [text for file in program.included for text in (file.path, file.text)]
    return "\0".join((source.text, *included, *program.configuration.flags))


def region_plan(
    nest: Nest,
    tree: Tree[Variant],
    slots: Callable[[Kernel], int] | None = None,
) -> RegionPlan:
    """A kernel for every leaf, leaves with the same code sharing one, and those over tiles.

    ``slots`` says how many words of a thread of a demoted kernel lie in shared memory.
    """
    leaves: list[LeafPlan] = []
    names: dict[Variant, str] = {}
    for leaf in tree.leaves:
        name = names.setdefault(leaf.fragment, f"{nest.name}_leaf{leaf.index}")
        kernel = lower(leaf.fragment, name)
        if kernel.demoted and slots is not None:
            words = slots(kernel)
            # A strategy that came later may have left so few values that all fit.
            kernel = replace(kernel, slots=words, demoted=words > 0)
        leaves.append(
            LeafPlan(
                leaf.index,
                kernel,
                leaf.fragment.nest,
                leaf.simplified,
                decision_lines(leaf),
                registers_of(tree, leaf),
                leaf_profile(kernel, leaf.fragment.nest),
            )
        )
    dead_ends = tuple(d.simplified for d in tree.dead_ends)
    grown = [_only_leaf(each.tree) for each in tree.alternatives if isinstance(each.tree, Tree)]
    plans: list[TilePlan] = []
    number, point_registers = len(leaves), registers_of_a_point(nest) if grown else 0
    for leaf, tile in grown:
        ending = f"{tile.kind.ending}{sum(plan.tile.kind is tile.kind for plan in plans) or ''}"
        plans.append(tile_plan(f"{nest.name}_{ending}", leaf, tile, number, point_registers))
        number += len(plans[-1].instances)
    return RegionPlan(nest.name, nest, tuple(leaves), dead_ends, tuple(plans), tree.quotients)


def _only_leaf(tiles: Tree[Variant]) -> tuple[Leaf[Variant], RegisterTile]:
    """The leaf of a tree over tiles, and how points are cut there."""
    (leaf,) = tiles.leaves
    assert leaf.fragment.tile is not None
    return leaf, leaf.fragment.tile


def tile_plan(name: str, leaf: Leaf[Variant], tile: RegisterTile, first: int, registers: int) -> TilePlan:
    """The kernel over the tiles of a recipe, which a leaf is; its instances are numbered from ``first`` on.

    ``registers`` are those of a thread that does one point.
    """
    kernel = lower(leaf.fragment, fresh(name, all_names(leaf.fragment.nest)))
    recipe_instances = recipe_of(tile).instances(kernel, tile)
    instances = meeting_constraints(kernel, with_room(kernel, tile, recipe_instances, registers))
    instances = some_launch(kernel, instances, tile.conditions) or instances
    return TilePlan(
        kernel,
        leaf.fragment.nest,
        leaf.simplified,
        first,
        instances,
        tile,
        traffic(leaf.fragment.nest, tile),
        lambda instance, together: tile_work(kernel, leaf.fragment.nest, tile, instance.sizes, together),
        mean_steps(tile),
    )


def registers_of_a_point(nest: Nest) -> int:
    """Return about how many registers a thread takes that does one point from global memory."""
    value = Registers().evaluate(Variant(replace(nest, cached=()))).value
    return int(value.constant_value()) if isinstance(value, Polynomial) else USUAL_REGISTERS


def registers_of(tree: Tree[Variant], leaf: Leaf[Variant]) -> int:
    """Return the registers of a thread of a leaf, where they are counted as a number; else a usual number."""
    for counter in tree.counters:
        value = counter.evaluate(leaf.fragment).value
        if counter.limit == "R_B" and isinstance(value, Polynomial) and value.is_constant:
            return int(value.constant_value())
    return USUAL_REGISTERS


def decision_lines(leaf: Leaf[Variant]) -> tuple[str, ...]:
    """Return what was decided on the way to a leaf, a line for each strategy that was asked for."""
    return tuple(": ".join(filter(None, (d.strategy, d.text, d.note))) for d in leaf.decisions if d.note)
