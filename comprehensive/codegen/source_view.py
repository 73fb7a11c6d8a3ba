"""The view from which sources with launchers are printed: the CUDA source, and the C source with compiled kernels.

In: a :class:`ProgramPlan`, and the texts of its kernels or their :class:`Image`.  Out: a :class:`SourceView` for
`templates/cuda/source.cu.j2` or `templates/launcher/image.c.j2`, with every decision taken before a template is read.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from comprehensive.codegen.conversions import storage_headers
from comprehensive.codegen.dispatch import Guard, as_size
from comprehensive.codegen.header_view import data_sizes, function_view
from comprehensive.codegen.host_calls import HostCalls
from comprehensive.codegen.host_code import Language, settings_lines, written
from comprehensive.codegen.image import Image
from comprehensive.codegen.launchers import AsFunctions, KernelNames, RegionSource, region_source
from comprehensive.codegen.source_lines import HOST_CODE
from comprehensive.codegen.tables import Table, tables_of
from comprehensive.kernel_ir.c_expr import c_comment, c_string
from comprehensive.metafork.file_scope import file_scope
from comprehensive.plan.interface import Argument, interface
from comprehensive.plan.plan import FunctionPlan, ProgramPlan
from comprehensive.records import replace


class FunctionSource(Struct, frozen=True):
    name: str
    params_type: str
    machine_name: str
    params_name: str
    stream_name: str
    why_name: str
    chosen_name: str
    device_name: str
    launch_parameters: str
    launch_arguments: str
    """The same names, for the wrappers."""
    choose_parameters: str
    choose_arguments: str
    """The arguments of a launch, for a choice without a stream."""
    defaults_arguments: str
    sizes: tuple[Argument, ...]
    """The sizes that defaults depend on, besides the machine."""
    observed_sizes: tuple[str, ...]
    observed_parameters: tuple[str, ...]
    """The names on a line about an observed launch: integer arguments, and members of the parameters."""
    tuned_arguments: str
    """The arguments that tuned parameters are for; empty where there are none."""
    program: tuple[str, ...]
    """The members that are program parameters."""
    tile: str | None
    version: str | None
    adapt: str | None
    candidates: tuple[str, ...]
    """The candidates that are tried if that is asked for, as initialisers of version and threads; else empty."""
    tried: tuple[int, ...]
    """The versions of those behind the first."""
    along: int
    """So many behind the first are in the direction of the search."""
    parts: int
    """The version that stands for the original where a launch is divided; 0 where none is."""
    smallest: tuple[Guard, ...]
    regions: tuple[RegionSource, ...]
    memories: int
    """The arrays between its regions, whose memory the launcher brings."""
    has_time: bool
    """Whether a region has time tiles."""
    host_declaration: str
    """The parameters of the host code."""
    host_arguments: str


class MachineView(Struct, frozen=True):
    """Speeds of devices of a name, which is a C literal."""

    name: str
    speeds: tuple[tuple[str, int], ...]


class SourceView(Struct, frozen=True):
    version: str
    input_name: str
    stem: str
    headers: tuple[str, ...]
    """The headers of CUDA that kernels need beside what nvcc includes by itself."""
    prototypes: tuple[str, ...]
    """Functions of the C library with their prototypes in C, of which C++ has overloads."""
    host_code: str
    settings: tuple[str, ...]
    """Preprocessor lines before the host code: macros are what they were when the program was read."""
    written: tuple[str, ...]
    """The host code of the functions and what it needs of the rest of the file, in the order of the source."""
    kernels: tuple[str, ...]
    tables: tuple[Table, ...]
    """The constant arrays that kernels read, by name."""
    functions: tuple[FunctionSource, ...]
    machines: tuple[MachineView, ...]
    image: Image | None
    """The compiled kernels, in the C source."""

    @property
    def has_device_names(self) -> bool:
        """Whether parameters or speeds are known for devices of a name."""
        return bool(self.machines) or any(function.tuned_arguments for function in self.functions)

    @property
    def adapted_sizes(self) -> int:
        """The most numbers that the sizes of a function are which looks for its best version; 0 where none does."""
        return max((max(1, len(f.sizes)) for f in self.functions if f.candidates), default=0)

    @property
    def most_candidates(self) -> int:
        """The most candidates that a function has, the original included; 0 where none looks for its best version."""
        return max((len(function.candidates) for function in self.functions), default=0)

    @property
    def has_numbers(self) -> bool:
        """Whether a launch says of a kernel which blocks run."""
        return self.image is not None and _has_numbers(self.image)

    @property
    def has_versions(self) -> bool:
        """Whether a launcher chooses among versions of its kernels."""
        return self.image is not None and any(function.version for function in self.functions)


def source_view(
    plan: ProgramPlan, kernels_text: Mapping[str, str], version: str, image: Image | None = None
) -> SourceView:
    """The view of a program, in C where there is an image of its kernels. KeyError for a kernel without a text."""
    regions = [region for function in plan.functions for region in function.regions]
    functions = [function.function for function in plan.functions]
    language = Language.CPLUSPLUS if image is None else Language.C
    names = AsFunctions() if image is None else image
    pieces = file_scope(functions)
    calls = HostCalls.of(pieces)
    tiles = [tile.kernel for region in regions for tile in region.tilings]
    kernels: tuple[str, ...] = ()
    if image is None:
        leaves = [leaf.kernel for region in regions for leaf in region.leaves]
        kernels = tuple(
            kernels_text[k].rstrip("\n") for k in dict.fromkeys(k.name for k in (*leaves, *tiles))
        )
    return SourceView(
        version=version,
        input_name=c_comment(plan.source_path),
        stem=plan.stem,
        headers=storage_headers(kernels),
        prototypes=tuple(prototype.definition for prototype in calls.used(pieces, functions)),
        host_code=HOST_CODE,
        settings=settings_lines(plan.settings),
        written=written(plan.functions, pieces, calls, language),
        kernels=kernels,
        tables=tables_of(regions),
        functions=tuple(_function(function, names) for function in plan.functions),
        machines=tuple(MachineView(c_string(machine.name), machine.speeds) for machine in plan.machines),
        image=image,
    )


def _has_numbers(kernels: KernelNames) -> bool:
    return isinstance(kernels, Image) and kernels.has_numbers


def _function(plan: FunctionPlan, kernels: KernelNames) -> FunctionSource:
    host = interface(plan)
    view = function_view(plan)
    names = view.names
    regions = tuple(
        region_source(region, host, seen, kernels)
        for region, seen in zip(plan.regions, view.regions, strict=True)
    )
    chosen = [f"cf_chosen->{a.name}" if a.name in host.program_names else a.name for a in host.everything]
    smallest = [
        Guard(c_string(f"{a.name} >= 1"), f"cf_chosen->{a.name} >= 1", "1", f"cf_chosen->{a.name}")
        for a in host.program
    ]
    smallest += [
        replace(limit, text=c_string(limit.text))
        for limit in (as_size(a.name, a.type) for a in data_sizes(plan, host))
    ]
    if host.tile is not None:
        # Only a number that the caller gives: what was tuned with another version of the tool may have more tiles.
        most = max(sum(len(tiling.instances) for tiling in region.tilings) for region in plan.regions)
        given, text = f"cf_chosen->{host.tile}", c_string(f"{host.tile} <= {most}")
        smallest.append(Guard(text, f"!{names.params} || {given} <= {most}", given, str(most)))
    if host.version is not None:
        most = len(plan.versions) - 1
        given, text = f"cf_chosen->{host.version}", c_string(f"0 <= {host.version} <= {most}")
        smallest.append(Guard(text, f"{given} >= 0 && {given} <= {most}", given, str(most)))
    if host.adapt is not None:
        given, text = f"cf_chosen->{host.adapt}", c_string(f"0 <= {host.adapt} <= 2")
        smallest.append(Guard(text, f"{given} >= 0 && {given} <= 2", given, "2"))
    adaptation = plan.adaptation
    return FunctionSource(
        name=host.name,
        params_type=view.params_type,
        machine_name=names.machine,
        params_name=names.params,
        stream_name=names.stream,
        why_name=names.why,
        chosen_name=names.chosen,
        device_name=names.device,
        launch_parameters=view.launch_parameters,
        launch_arguments=", ".join((*(a.name for a in host.arguments), names.params, names.stream)),
        choose_parameters=view.choose_parameters,
        choose_arguments=", ".join((*(a.name for a in host.arguments), names.params, "0")),
        defaults_arguments="".join(f"{a.name}, " for a in view.sizes),
        sizes=view.sizes,
        observed_sizes=tuple(a.name for a in host.arguments if not a.pointer and a.type.is_integer),
        observed_parameters=tuple(a.name for a in host.members if a.name != host.version),
        tuned_arguments="".join(f"{a.name}, " for a in view.tuned_sizes),
        program=tuple(a.name for a in host.program),
        tile=host.tile,
        version=host.version,
        adapt=host.adapt,
        candidates=()
        if adaptation is None
        else tuple(f"{{ {c.version}, {c.threads} }}" for c in adaptation.candidates),
        tried=() if adaptation is None else tuple(c.version for c in adaptation.candidates[1:]),
        along=0 if adaptation is None else adaptation.along,
        parts=adaptation.parts if adaptation is not None and _has_numbers(kernels) else 0,
        smallest=tuple(smallest),
        regions=regions,
        memories=len(plan.function.memory),
        has_time=any(region.several for region in regions),
        host_declaration=", ".join(("cf_call *cf_state", *(a.declaration for a in host.everything))),
        host_arguments=", ".join(("&cf_state", *chosen)),
    )
