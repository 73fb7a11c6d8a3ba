"""A compiled program as a value: its functions, trees and texts, what runs where, and how to run it.

program = comprehensive.compile("specs/matmul.mf")
print(program.explain(device="h200", B0=16, ub1=16, s=2, n=1024))
module = program.load(device="cpu")
module.matmul(n, a, b, c)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from html import escape
from pathlib import Path
from tempfile import TemporaryDirectory
from types import MappingProxyType

from msgspec import Struct, field

from comprehensive import explanation, generate, parameter_space
from comprehensive.api.explanation import Explanation
from comprehensive.api.given import Given, given
from comprehensive.api.leaf import Leaf
from comprehensive.api.partition import Partition
from comprehensive.api.region import Region
from comprehensive.api.tree import Tree
from comprehensive.bindings.load import Module, load
from comprehensive.codegen.emit import write_outputs
from comprehensive.codegen.levels import with_levels
from comprehensive.diagnostics import Diagnostic
from comprehensive.driver import Compilation, Options
from comprehensive.generate import Written
from comprehensive.machine.device import load_device
from comprehensive.plan.interface import Argument, interface
from comprehensive.plan.plan import FunctionPlan, ProgramPlan
from comprehensive.records import replace
from comprehensive.tree_forms import tree_form
from comprehensive.values import Rational, demand_levels, demand_no_quotients, value_error


class Function(Struct, frozen=True, eq=False):
    """A C function with regions: what callers of the generated function pass, and its regions in order."""

    plan: FunctionPlan
    regions: tuple[Region, ...]

    @property
    def name(self) -> str:
        return self.plan.function.name

    @property
    def arguments(self) -> tuple[Argument, ...]:
        """The arguments of a call, in order, without the program parameters."""
        return interface(self.plan).arguments

    @property
    def parameters(self) -> tuple[str, ...]:
        """The program parameters, which a call may give by name or leave to the launcher."""
        return tuple(argument.name for argument in interface(self.plan).program)

    def __repr__(self) -> str:
        program = ", ".join(self.parameters)
        arguments = ", ".join(argument.declaration for argument in self.arguments)
        return f"<function {self.name}({arguments}{', *, ' if program else ''}{program})>"


class Program(Struct, frozen=True, eq=False, dict=True):
    """A program, compiled as ``options`` say; ``limits`` are levels of performance that its code demands.

    Everything is computed when it is asked for first, and stays.
    """

    compilation: Compilation
    options: Options
    limits: Mapping[str, Rational] = field(default_factory=lambda: MappingProxyType({}))

    # --- what it is

    @property
    def name(self) -> str:
        """The name of the outputs: that of the file, or as it was given."""
        return self.compilation.plan.stem

    @property
    def source(self) -> str:
        """The text that was compiled."""
        return self.compilation.source.text

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """Warnings and notes of the compilation; ``comprehensive.diagnostics.render`` prints one."""
        return self.compilation.diagnostics

    @cached_property
    def regions(self) -> tuple[Region, ...]:
        """All regions, in the order of the text."""
        plans = (region for function in self.compilation.plan.functions for region in function.regions)
        return tuple(Region(self.compilation, number, plan) for number, plan in enumerate(plans))

    @cached_property
    def functions(self) -> Mapping[str, Function]:
        """The functions with regions, by name."""
        remaining = iter(self.regions)
        return MappingProxyType(
            {
                plan.function.name: Function(plan, tuple(next(remaining) for _ in plan.regions))
                for plan in self.compilation.plan.functions
            }
        )

    @property
    def region(self) -> Region:
        """The one region of the program; ValueError where there are several."""
        if len(self.regions) != 1:
            names = ", ".join(f"{n} is {region.name}" for n, region in enumerate(self.regions))
            raise ValueError(f"{self.name} has {len(self.regions)} regions: take one of .regions ({names})")
        return self.regions[0]

    @property
    def tree(self) -> Tree:
        """The tree of the one region; ValueError where there are several."""
        return self.region.tree

    @property
    def leaves(self) -> tuple[Leaf, ...]:
        """The leaves of the one region; ValueError where there are several."""
        return self.region.leaves

    # --- what runs where

    def with_limits(self, values: Mapping[str, Given] | None = None, /, **named: Given) -> Program:
        """The program with values of the limits that no device has: levels of performance such as ``P_occupancy``.

        Its texts demand them.  Raises CompileError for a name that is no such limit (CF0701), for a value that it
        cannot have (CF0702, CF0704), and unless all limits have one (CF0706).
        """
        limits = given(values, named)
        demand_levels(self.compilation, limits)
        return replace(self, limits=MappingProxyType(limits))

    def explain(
        self,
        values: Mapping[str, Given] | None = None,
        /,
        *,
        device: str | Path = "sm_90",
        leaf: int | None = None,
        **named: Given,
    ) -> Explanation:
        """Explain which leaf runs at values of parameters on a device, and why each other one does not.

        ``device`` is an architecture, a product or the path of a TOML file; parameters without a value stay symbols.
        Values may come as a mapping, too, where a parameter is called ``device`` or ``leaf``.

        Raises CompileError for a device (CF0801), a name (CF0701), or a leaf (CF0703) that is not known, and for a
        value that a parameter cannot have (CF0702, CF0704, CF0705).
        """
        found = {**self.limits, **given(values, named)}
        return Explanation(explanation.explain(self.compilation, load_device(device), found, leaf))

    def where(
        self,
        *symbols: str,
        values: Mapping[str, Given] | None = None,
        device: str | Path = "sm_90",
        ranges: Mapping[str, tuple[int, int]] | None = None,
        **named: Given,
    ) -> Partition:
        """Return where on the line of one parameter, or in the plane of two, which leaf runs; the others have values.

        ``ranges`` are the lower and the upper end of what is shown.

        Raises CompileError for a device (CF0801) or a name (CF0701) that is not known, for a value that makes no sense
        (CF0702, CF0704), for parameters without a value (CF0706), and for trees with values that are rounded (CF0709);
        TypeError unless one or two different symbols are named.
        """
        if not 1 <= len(symbols) <= 2 or len(set(symbols)) != len(symbols):
            raise TypeError(f"name one parameter, or two different ones, not {symbols!r}")
        found, shown = {**self.limits, **given(values, named)}, dict(ranges or {})
        for name in (*found, *shown):
            if (name in found) == (name in symbols):
                what = "is shown and has a value" if name in found else "has a range and is not shown"
                raise value_error(
                    "CF0704", f"{name} {what}", "give a range to what is shown, a value to all else"
                )
        machine = load_device(device)
        demand_no_quotients(self.compilation)
        return Partition(parameter_space.divide(self.compilation, machine, symbols, found, shown))

    # --- what is generated

    @cached_property
    def header(self) -> str:
        """The header: selection in C99, and the declarations of the launchers."""
        return self._texts[f"{self.name}.h"]

    @cached_property
    def cuda(self) -> str:
        """The CUDA source with all kernels and launchers."""
        return self._texts[f"{self.name}.cu"]

    def write(self, directory: str | Path, *, force: bool = False, verify: bool = True) -> Written:
        """Writes what ``comprehensive gen`` writes; says which files there are and which of them are new.

        With ``verify`` the compilers of this machine read header and source first; ``force`` overwrites files that the
        tool has not written.

        Raises CompileError where a limit has no value (CF0706: use `with_limits`), where the directory cannot be
        written (CF0620), and where a file would be lost (CF0622).
        """
        return generate.write(
            self.compilation,
            Path(directory),
            self.options,
            levels=self.limits,
            force=force,
            verify=verify,
        )

    def load(
        self, *, device: str = "gpu", cuda_path: str | None = None, options: Sequence[str] = ()
    ) -> Module:
        """The functions, compiled: ``program.load(device="cpu").saxpy(n, 2.0, x, y)``.

        The arguments are those of ``comprehensive.load``; what the program includes is found.  Raises LoadError as that
        does, CompileError where a limit has no value (CF0706).
        """
        image = generate.image_of(self._plan, self.options)
        texts = generate.outputs(self.compilation, plan=self._plan, image=image)
        place = cuda_path or self.options.cuda_path
        options = (*options, *self.compilation.program.include_flags)
        with TemporaryDirectory(prefix="comprehensive-") as folder:
            write_outputs(Path(folder), texts)
            manifest = Path(folder) / generate.manifest_name(self._plan)
            return load(manifest, device=device, cuda_path=place, options=options)

    @cached_property
    def _plan(self) -> ProgramPlan:
        demand_levels(self.compilation, self.limits)
        return with_levels(self.compilation.plan, self.limits)

    @cached_property
    def _texts(self) -> Mapping[str, str]:
        return generate.source_texts(self._plan)

    def __str__(self) -> str:
        return generate.tree_text(self.compilation).rstrip("\n")

    def __repr__(self) -> str:
        return f"<program {self.name}: {', '.join(map(repr, self.functions.values()))}>"

    def _repr_html_(self) -> str:
        trees = "\n".join(region.tree.html() for region in self.regions)
        return f"<p><b>{escape(self.name)}</b></p>\n{trees}"

    def svg(self, *, pruned: bool = False) -> str:
        """The trees of all regions in one picture, as ``comprehensive tree --format svg`` draws them."""
        return tree_form(self.compilation, "svg", pruned=pruned)

    def _repr_svg_(self) -> str:
        return self.svg()
