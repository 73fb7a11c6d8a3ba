"""The commands ``gen`` and ``tree``: they write and print the values of a compilation.

In: a :class:`Compilation`.  Out: files, and texts of single stages.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from comprehensive import __version__
from comprehensive.codegen.acceptance import accepted, accepts_image
from comprehensive.codegen.cuda import kernel_count, kernel_unit, print_kernel, program_unit
from comprehensive.codegen.emit import depfile as depfile_text
from comprehensive.codegen.emit import marked, stale_outputs, touch, write_outputs
from comprehensive.codegen.host import header_text, shared_files, source_text
from comprehensive.codegen.levels import with_levels
from comprehensive.codegen.manifest import manifest
from comprehensive.codegen.resources import Resources, resources
from comprehensive.codegen.runtime_files import RUNTIME_FILES, demand_own_name
from comprehensive.data import spec_directory, template_directory
from comprehensive.descriptions import describe
from comprehensive.driver import Compilation, Options
from comprehensive.embedding.compiled import KernelCompiler
from comprehensive.embedding.targets import AUTO
from comprehensive.kernel_ir.c_expr import c_comment
from comprehensive.loops.ir import Nest, Variant
from comprehensive.loops.printer import print_nest
from comprehensive.loops.reading_order import reading_order
from comprehensive.metafork.printer import print_program
from comprehensive.optimize.protocols import NotApplicable
from comprehensive.plan.plan import LeafPlan, ProgramPlan, RegionPlan
from comprehensive.poly.polyhedra import polyhedra
from comprehensive.report.polyhedra import to_json as polyhedra_json
from comprehensive.report.polyhedra import to_text as polyhedra_text
from comprehensive.report.tree_json import tree_to_json
from comprehensive.report.tree_text import ASCII, UNICODE, render_tree
from comprehensive.toolchain.find import Missing, find_tool
from comprehensive.toolchain.nvcc import compile_ptx, load_tool
from comprehensive.toolchain.process import ToolError
from comprehensive.values import Rational, demand_levels
from comprehensive.watch import UNWATCHED, Watch

if TYPE_CHECKING:
    from comprehensive.embedding.embedded import Embedded


class Written(Struct, frozen=True):
    """Names below the output directory; ``changed`` are those whose bytes are new, ``verified`` those that a compiler
    has accepted."""

    files: tuple[str, ...]
    changed: tuple[str, ...]
    verified: tuple[str, ...] = ()


def outputs(
    compilation: Compilation, plan: ProgramPlan | None = None, image: Embedded | None = None
) -> Mapping[str, str]:
    """File names and texts of everything that ``gen`` writes, except depfile and stamp.

    ``plan`` is that of the compilation, or what has become of it; ``image`` is the C source with all kernels.
    """
    plan = compilation.plan if plan is None else plan
    return _outputs(compilation, None, plan, source_texts(plan), {}, image)


def _outputs(
    compilation: Compilation,
    resources: Resources | None,
    plan: ProgramPlan,
    sources: Mapping[str, str],
    compiled: Mapping[str, str],
    image: Embedded | None,
) -> Mapping[str, str]:
    if image is not None:
        sources = {**sources, image.name: image.text}
    texts = {**sources, f"{plan.stem}.tree.json": _json(tree_document(compilation))}
    for number, region in enumerate(region for function in plan.functions for region in function.regions):
        for leaf in region.leaves:
            name = f"{leaf_stem(plan, region, leaf)}.mf"
            text = leaf_program(compilation, number, leaf)
            texts[name] = marked(text, __version__, c_comment(plan.source_path))
    texts |= compiled
    document = _manifest(compilation, resources, plan, sources, image)
    names = sorted(own_outputs((*texts, manifest_name(plan))))
    return {**texts, manifest_name(plan): _json({**document, "outputs": names})}


def leaf_program(compilation: Compilation, number: int, leaf: LeafPlan) -> str:
    """The program in MetaFork with the region of a number, in program order, as the leaf has it."""
    return print_program(compilation.program, {number: print_nest(leaf.nest)})


def own_outputs(names: Iterable[str]) -> tuple[str, ...]:
    """The names of what is of one program alone: what all programs share stays where others may include it."""
    return tuple(name for name in names if name not in RUNTIME_FILES)


def manifest_name(plan: ProgramPlan) -> str:
    """The file name of the manifest."""
    return f"{plan.stem}.json"


def leaf_stem(plan: ProgramPlan, region: RegionPlan, leaf: LeafPlan) -> str:
    """The file name, without its suffix, of what is written for one leaf.

    It begins with that of the source, so that two sources whose functions share a name can share a directory.
    """
    owner = plan.stem if region.name == plan.stem else f"{plan.stem}.{region.name}"
    return f"{owner}.leaf{leaf.index}"


def source_texts(plan: ProgramPlan) -> dict[str, str]:
    """Names and texts of the header, of the CUDA source, and of the files that all programs share."""
    kernels = {
        kernel.name: print_kernel(kernel, marked=True)
        for function in plan.functions
        for region in function.regions
        for kernel in region.kernels
    }
    texts = {
        f"{plan.stem}.h": header_text(plan, __version__),
        f"{plan.stem}.cu": source_text(plan, kernels, __version__),
    }
    return {**texts, **shared_files(plan, texts.values(), __version__)}


def _manifest(
    compilation: Compilation,
    resources: Resources | None,
    plan: ProgramPlan,
    sources: Mapping[str, str],
    image: Embedded | None,
) -> dict[str, Any]:
    c = compilation
    embedded = None if image is None else image.document()
    return manifest(plan, c.trees, resources, sources, embedded, __version__)


def _json(document: object) -> str:
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"


def fragment_to_json(variant: Variant) -> dict[str, object]:
    """A variant as people read it: its code and what is done to its IR."""
    return {"code": print_nest(variant.nest), "register_cap": variant.register_cap}


class Prepared(Struct, frozen=True):
    """The files that ``gen`` writes, by name; ``verified`` are the names of those that a compiler has accepted."""

    texts: Mapping[str, str]
    verified: tuple[str, ...]


def prepare(
    compilation: Compilation,
    options: Options,
    *,
    ptx_arch: str | None = None,
    levels: Mapping[str, Rational] | None = None,
    plan: ProgramPlan | None = None,
    verify: bool = True,
    watch: Watch = UNWATCHED,
) -> Prepared:
    """All outputs but depfile and stamp, with nothing written; arguments and errors as of :func:`write`.

    The watch is told of the steps in which compilers run. ValueError where the compilation is not whole.
    """
    if not compilation.is_whole:
        raise ValueError("a tree has nodes that were not decided: no code covers the parameters there")
    watch.tell("outputs read by compilers", 0)
    demand_levels(compilation, levels or {})
    demand_own_name(compilation.source)
    plan = with_levels(compilation.plan if plan is None else plan, levels or {})
    sources = source_texts(plan)
    verified = (
        accepted(
            plan.stem,
            sources,
            compilation.source,
            options.arch,
            options.cuda_path,
            compilation.program.include_flags,
        )
        if verify
        else ()
    )
    watch.tell("outputs read by compilers", len(verified))
    if options.targets is not None:
        watch.tell("kernels compiled to be embedded", 0, kernel_count(plan))
    image = image_of(plan, options)
    if verify and image is not None and _image_is_accepted(image, sources, compilation, options):
        verified = (*verified, image.name)
    taken = _taken(compilation.plan, options, image, watch)
    compiled: Mapping[str, str] = {}
    if ptx_arch is not None:
        compiled = ptx_texts(compilation, ptx_arch, options.cuda_path, watch)
    texts = _outputs(compilation, taken, plan, sources, compiled, image)
    return Prepared(texts, verified)


def stale(directory: Path, prepared: Prepared, compilation: Compilation) -> tuple[tuple[str, str], ...]:
    """The outputs below a directory that are missing, differ or are none any more, each with which of these."""
    earlier = earlier_outputs(directory / manifest_name(compilation.plan))
    return stale_outputs(directory, prepared.texts, earlier=earlier)


def write(
    compilation: Compilation,
    directory: Path,
    options: Options,
    *,
    depfile: Path | None = None,
    stamp: Path | None = None,
    ptx_arch: str | None = None,
    levels: Mapping[str, Rational] | None = None,
    plan: ProgramPlan | None = None,
    read: Sequence[Path] = (),
    force: bool = False,
    verify: bool = True,
    watch: Watch = UNWATCHED,
) -> Written:
    """Writes every output and removes those of an earlier run that are none any more.

    Selection demands the performance ``levels``.  ``plan`` is that of the compilation, or what files that were
    ``read`` have made of it.  The file ``stamp`` is touched last and in any case, so that its time is that of the run;
    where there is one, it is the target of the rule in ``depfile``.  With ``verify`` compilers read the header and the
    CUDA source first, where they are found.

    CompileError (CF0620) where the directory cannot be written, (CF0622) where a file would be overwritten that was not
    generated, unless ``force``, as of `demand_own_name` and `accepted`; CommandLineError as of `demand_levels`.
    """
    prepared = prepare(
        compilation, options, ptx_arch=ptx_arch, levels=levels, plan=plan, verify=verify, watch=watch
    )
    texts, earlier = prepared.texts, earlier_outputs(directory / manifest_name(compilation.plan))
    changed = write_outputs(directory, texts, stale=earlier, force=force)
    if depfile is not None:
        made = sorted(own_outputs(texts))
        targets = [str(directory / name) for name in made] if stamp is None else [str(stamp)]
        included = (file.path for file in compilation.program.included)
        rule = depfile_text(
            targets, [compilation.source.path, *included, *map(str, read), *map(str, _data_files())]
        )
        # A rule is written anew by every run and by every other compiler: nobody keeps one by hand.
        write_outputs(depfile.parent, {depfile.name: rule}, force=True)
    if stamp is not None:
        touch(stamp)
    return Written(tuple(sorted(texts)), changed, prepared.verified)


def image_of(plan: ProgramPlan, options: Options) -> Embedded | None:
    """The C source with all kernels compiled, where there is to be one. ToolError where a tool is missing."""
    if options.targets is None:
        return None
    # What reads machine code is slow to import.
    from comprehensive.embedding.embedded import embedded

    compiler = KernelCompiler.find(options.passes, options.cuda_path)
    return embedded(
        plan, options.targets, compiler, __version__, options.cuda_path, automatic=options.automatic
    )


def _image_is_accepted(
    image: Embedded, sources: Mapping[str, str], compilation: Compilation, options: Options
) -> bool:
    """Whether a C compiler has accepted the C source; GeneratedCodeError as of `accepts_image`."""
    headers = {name: text for name, text in sources.items() if not name.endswith(".cu")}
    return accepts_image(
        image.name,
        {**headers, image.name: image.text},
        Path(compilation.source.path).absolute().parent,
        KernelCompiler.find("", options.cuda_path).nvcc,
        compilation.program.include_flags,
    )


def _taken(plan: ProgramPlan, options: Options, image: Embedded | None, watch: Watch) -> Resources | None:
    """Return what kernels take on the architecture that registers are counted for, behind the passes.

    nvcc is given all kernels together, so that the watch is told how many there are, and not which is done.
    What the ``image`` has for that architecture is not compiled again.
    """
    known = () if image is None else image.kernels
    found = next((each for each in known if each.arch == options.arch), None)
    if found is None and (options.passes or options.registers != "estimate"):
        watch.tell("kernels compiled together for their registers", 0, kernel_count(plan))
    if options.passes or found is not None:
        # What reads machine code is slow to import.
        from comprehensive.embedding.demoted import own_passes

        compiler = KernelCompiler.find(options.passes, options.cuda_path)
        usages = (found or compiler.compile(program_unit(plan), options.arch, own_passes(plan))).usages
        passes = AUTO if options.automatic else options.passes
        source = f"nvcc {compiler.nvcc.version}" + (f", passes {passes}" if passes else "")
        return Resources(source, options.arch, usages)
    if options.registers == "estimate":
        return None
    return resources(plan, options.arch, options.cuda_path, required=options.registers == "ptxas")


def earlier_outputs(manifest: Path) -> tuple[str, ...]:
    """The names of the outputs that a manifest of an earlier run lists; none where there is no such manifest."""
    try:
        document: Any = json.loads(manifest.read_text(encoding="utf-8"))
        names: list[Any] = list(document["outputs"])
    except (OSError, ValueError, LookupError, TypeError):
        return ()
    return tuple(n for n in names if isinstance(n, str) and Path(n).name == n)


def _data_files() -> list[Path]:
    """Return the files that outputs depend on besides the source: templates, grammar, macros of headers."""
    folders = (template_directory() / name for name in ("cuda", "host", "launcher"))
    templates = sorted(p for folder in folders for p in folder.rglob("*") if p.is_file())
    headers = sorted((spec_directory() / "headers").glob("*.h"))
    return [*templates, spec_directory() / "metafork.lark", *headers]


def with_candidates(plan: ProgramPlan, options: Options, *, parts: bool = False) -> ProgramPlan:
    """Return the plan with what launchers try while they run, with ``parts`` also in parts of one launch.

    Errors as of `adaptive`, ToolError without nvcc.
    """
    # What reads machine code is slow to import.
    from comprehensive.embedding.adaptive import adaptive, device_of_targets

    device = device_of_targets(options.targets)
    return adaptive(plan, KernelCompiler.find(options.passes, options.cuda_path), device, parts=parts)


def ptx_texts(
    compilation: Compilation, arch: str, cuda_path: str | None, watch: Watch = UNWATCHED
) -> Mapping[str, str]:
    """One PTX module a leaf, compiled by nvcc; ToolError where there is none."""
    found = find_tool("nvcc", cuda_path)
    if isinstance(found, Missing):
        raise ToolError(f"--ptx needs nvcc\n{found.explain()}\nhelp: {found.help}")
    nvcc = load_tool(found)
    texts: dict[str, str] = {}
    regions = [region for function in compilation.plan.functions for region in function.regions]
    count = sum(len(region.leaves) for region in regions)
    with tempfile.TemporaryDirectory(prefix="comprehensive-") as scratch:
        for region in regions:
            for leaf in region.leaves:
                watch.tell("leaves compiled to PTX", len(texts), count)
                name = leaf_stem(compilation.plan, region, leaf)
                unit = Path(scratch) / f"{name}.cu"
                unit.write_text(kernel_unit(leaf.kernel), encoding="utf-8")
                text = compile_ptx(nvcc, unit, arch).output.decode()
                texts[f"{name}.ptx"] = marked(text, __version__, c_comment(compilation.plan.source_path))
    return texts


def stage_text(compilation: Compilation, stage: str) -> str:
    """The value of a stage as text: ``ast``, ``nest`` or ``kernel``."""
    match stage:
        case "ast":
            return "".join(f"{function!r}\n" for function in compilation.program.functions)
        case "nest":
            return "\n".join(print_nest(nest) for nest in compilation.nests)
        case "kernel":
            regions = [region for function in compilation.plan.functions for region in function.regions]
            kernels = {kernel.name: kernel for region in regions for kernel in region.kernels}
            return "\n".join(print_kernel(kernel) for kernel in kernels.values())
        case _:
            raise ValueError(f"no stage is called {stage}")


def polyhedra_stage(nests: Sequence[Nest]) -> str:
    """The polyhedra of all regions as text."""
    return "\n".join(polyhedra_text(polyhedra(nest), reading_order(nest)) for nest in nests)


def polyhedra_document(nests: Sequence[Nest]) -> dict[str, Any]:
    """The polyhedra of all regions as one JSON document, as `specs/schema/polyhedra.json` describes it."""
    return {
        "schema": 1,
        "tool": f"comprehensive {__version__}",
        "regions": [polyhedra_json(polyhedra(nest), reading_order(nest)) for nest in nests],
    }


def tree_document(compilation: Compilation) -> dict[str, Any]:
    """All trees as one JSON document; ``tiles`` has what each recipe makes of a region, or why it does not fit."""
    return {
        "schema": 2,
        "tool": f"comprehensive {__version__}",
        "regions": [
            {
                "name": nest.name,
                "tree": tree_to_json(tree, fragment_to_json),
                "tiles": [
                    {"recipe": each.recipe, "because": each.tree.reason}
                    if isinstance(each.tree, NotApplicable)
                    else {"recipe": each.recipe, "tree": tree_to_json(each.tree, fragment_to_json)}
                    for each in tree.alternatives
                ],
            }
            for nest, tree in zip(compilation.nests, compilation.trees, strict=True)
        ],
    }


def tree_text(compilation: Compilation, *, pruned: bool = False, ascii_only: bool = False) -> str:
    """All trees for a terminal, a heading each; before the leaves as written the alternatives at the root."""
    parts: list[str] = []
    strokes = ASCII if ascii_only else UNICODE
    for nest, tree in zip(compilation.nests, compilation.trees, strict=True):
        where = f"{compilation.source.path}:{nest.span.position[0]}"
        parts.append(f"{nest.name} ({where})\n")
        parts.append(render_tree(tree, pruned, describe, strokes) + "\n\n")
    return "".join(parts).removesuffix("\n")
