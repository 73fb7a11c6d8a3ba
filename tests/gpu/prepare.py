"""Prepares what ``make gpu-test`` runs on a machine that has nvcc, a GPU and a plain python3, but none of our packages.

For every spec and every source beside this file, ``build/gpu/<spec>/`` gets the generated files, the serial C of the
`.mf` (``serial.c``), a test program (``main.cu``) and its points (``points.txt``): for every leaf and tile of
every region at least 50 parameter points that bring the dispatcher to it, each with a machine description, sizes that
do not divide among them.
"""

from __future__ import annotations

import argparse
import shutil
from collections.abc import Sequence
from itertools import islice
from pathlib import Path

from comprehensive import __version__
from comprehensive.codegen.dispatch import MACHINE_FIELDS
from comprehensive.data import template_directory
from comprehensive.driver import Compilation, Options, compile_file
from comprehensive.embedding.compiled import KernelCompiler
from comprehensive.embedding.embedded import embedded
from comprehensive.embedding.targets import AUTO, targets_of
from comprehensive.generate import outputs
from comprehensive.loops.interpreter import c_value
from comprehensive.machine.parameters import ample
from comprehensive.plan.interface import Argument, Interface, host_name, interface
from comprehensive.plan.plan import FunctionPlan, ProgramPlan, RegionPlan
from comprehensive.plan.versions import ORIGINAL, Version
from comprehensive.records import replace
from comprehensive.runtime.serial import serial_unit
from comprehensive.soundness.machines import AMPLE, machine_for, serves_all
from comprehensive.soundness.sampling import Ranges, Sample, all_scalars, samples

ROOT = Path(__file__).resolve().parents[2]
RANGES = Ranges(
    sizes=(0, 1, 2, 7, 16, 31, 33, 64, 67, 96, 100, 127, 130, 200, 257),
    tiles=(1, 2, 3, 4, 5, 8, 16, 32),
    steps=(0, 1, 2, 3),
    max_threads=1 << 17,
)
TILE_RANGES = Ranges(
    sizes=(0, 1, 2, 33, 67, 128, 130, 200, 257, 512, 600, 1030, 2050),
    tiles=(1, 2, 3, 4, 5, 8, 16, 32),
    steps=(0, 1, 2, 3),
    max_threads=1 << 19,
)
"""For register tiles, most of which have more than a hundred points along a coordinate."""
TIME_RANGES = Ranges(
    sizes=(3, 5, 33, 67, 128, 130, 200, 257, 512, 600, 1030),
    tiles=(1, 2, 3, 4, 5, 8, 16, 32),
    steps=(4, 5, 6, 7, 8, 13, 20),
    max_threads=1 << 19,
)
"""For time tiles, which need some sweeps."""
REASSOCIATED = {"sums", "mixed_products"}
"""Sources whose sums may be added up in another order."""
POINTS = 50
MAX_DRAWS = 4000
MAX_BLOCK_THREADS = 1024
MAX_SHARED_BYTES = 192 * 1024
"""Above 48 KiB, so that the raised limit is tried; below what sm_80 and newer data-centre devices have."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    own = ROOT / "tests" / "gpu" / "sources"
    sources = sorted((*(ROOT / "specs").glob("*.mf"), *own.glob("*.mf")), key=lambda path: path.stem)
    parser.add_argument("specs", nargs="*", type=Path, default=sources)
    parser.add_argument("-o", "--output", type=Path, default=ROOT / "build" / "gpu")
    parser.add_argument("--embed", default=None, help="compile the kernels here, for these targets")
    parser.add_argument("--passes", default=AUTO, help="with --embed: passes over the kernels, as for `gen`")
    parser.add_argument(
        "--version",
        action="append",
        default=[],
        help="with --embed: passes of a version of all kernels; repeat. Points ask for each in turn",
    )
    arguments = parser.parse_args()
    targets = None if arguments.embed is None else targets_of(arguments.embed)
    for spec in arguments.specs:
        options = Options(
            registers="estimate" if targets is None else "auto",
            reassociate=spec.stem in REASSOCIATED,
            targets=targets,
        )
        compilation = compile_file(spec, options)
        # Each directory stands alone on the machine with the GPU.
        program_plan = replace(with_versions(compilation.plan, arguments.version), single_file=True)
        directory = arguments.output / (spec.stem if targets is None else f"{spec.stem}-embedded")
        shutil.rmtree(directory, ignore_errors=True)
        directory.mkdir(parents=True)
        for name, text in outputs(compilation, plan=program_plan).items():
            (directory / name).write_text(text, encoding="utf-8")
        if targets is not None:
            # As the test program is compiled: C rounds twice where a fused multiplication rounds once.
            automatic = arguments.passes == AUTO
            passes = "" if automatic or arguments.passes == "none" else arguments.passes
            compiler = replace(KernelCompiler.find(passes, None), flags=("-fmad=false",))
            image = embedded(program_plan, targets, compiler, __version__, automatic=automatic)
            (directory / image.name).write_text(image.text, encoding="utf-8")
            (directory / f"{spec.stem}.cu").unlink()
        shutil.copytree(template_directory() / "host" / "on_cpu", directory / "on_cpu")
        (directory / "serial.c").write_text(serial_unit(compilation.program, spec.stem), encoding="utf-8")
        (plan,) = program_plan.functions
        lines = points(compilation, plan)
        (directory / "points.txt").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        (directory / "main.cu").write_text(
            program(spec.stem, plan, exact_sums=compilation.reassociated), encoding="utf-8"
        )
        leaves = sum(len(region.numbers) for region in plan.regions)
        print(f"{spec.stem}: {leaves} leaves and tiles, {len(lines)} points")


def with_versions(plan: ProgramPlan, pipelines: Sequence[str]) -> ProgramPlan:
    """The plan with a version of all kernels for each pipeline."""
    return replace(plan, functions=tuple(_with_versions(function, pipelines) for function in plan.functions))


def _with_versions(plan: FunctionPlan, pipelines: Sequence[str]) -> FunctionPlan:
    tiles = {region.tile_of(number) for region in plan.regions for number in region.numbers}
    kernels = [kernel for tile in tiles for kernel in plan.kernels_of(tile)]
    return replace(plan, versions=(ORIGINAL, *(Version.of(pipeline, kernels) for pipeline in pipelines)))


def points(compilation: Compilation, plan: FunctionPlan) -> list[str]:
    """Lines ``region leaf tile machine... scalars... elements...``; 50 a leaf and tile."""
    host = interface(plan)
    nests = tuple(region.nest for region in plan.regions)
    wanted = {(r, leaf.index): POINTS for r, region in enumerate(plan.regions) for leaf in region.leaves}
    lines: list[str] = []
    for sample in islice(samples(plan.function, nests, 1, RANGES), MAX_DRAWS):
        if not any(wanted.values()):
            break
        for r, region in enumerate(plan.regions):
            for leaf in region.leaves:
                if wanted[r, leaf.index] == 0:
                    continue
                machine = reaching(compilation, region, r, leaf.index, sample)
                if machine is not None:
                    wanted[r, leaf.index] -= 1
                    lines.append(line(host, r, leaf.index, 0, machine, sample))
    for kind, ranges in (("register tile", TILE_RANGES), ("time tile", TIME_RANGES)):
        for sample in islice(samples(plan.function, nests, 2, ranges), POINTS):
            for r, region in enumerate(plan.regions):
                lines += [
                    line(host, r, number, region.tile_of(number), {}, sample)
                    for number in region.numbers
                    if region.kind_of(number) == kind and is_made_for(plan, region.tile_of(number), sample)
                ]
    missing = {key: count for key, count in wanted.items() if count}
    if missing:
        raise SystemExit(f"{plan.function.name}: too few points for (region, leaf): {missing}")
    return lines


def is_made_for(plan: FunctionPlan, tile: int, sample: Sample) -> bool:
    """Whether the conditions of a tile hold at a sample, in all regions, since callers ask for one in all of them: rows
    that stay in shared memory have a longest one."""
    for region in plan.regions:
        found = next(
            (f for n in region.numbers if region.tile_of(n) == tile and (f := region.tiling_of(n))), None
        )
        if found is None:
            continue
        tiling, sizes = found
        values = {k: v for k, v in all_scalars(region.nest, sample.arguments).items() if isinstance(v, int)}
        if not all(c_value(condition, values) for condition in tiling.conditions_of(sizes)):
            return False
    return True


def reaching(
    compilation: Compilation, region: RegionPlan, number: int, leaf: int, sample: Sample
) -> dict[str, int] | None:
    """Machine parameters for which the region takes the leaf; None where none does, or a block is too large."""
    tree = compilation.trees[number]
    values = {k: v for k, v in all_scalars(region.nest, sample.arguments).items() if isinstance(v, int)}
    machine = machine_for(tree, leaf, values)
    if machine is None:
        return None
    kernel = region.leaves[leaf].kernel
    threads = 1
    for extent in kernel.block:
        threads *= int(c_value(extent, values))
    others = [
        {k: v for k, v in all_scalars(nest, sample.arguments).items() if isinstance(v, int)}
        for nest in compilation.nests
    ]
    if not serves_all(compilation.trees, others, machine):
        return None
    words = kernel.shared_words.evaluate(values) + kernel.slots * (threads + 31)
    fits = threads <= MAX_BLOCK_THREADS and 4 * words <= MAX_SHARED_BYTES
    return machine if fits else None


def line(host: Interface, region: int, leaf: int, tile: int, machine: dict[str, int], sample: Sample) -> str:
    limits = [str(machine.get(symbol, ample(symbol, AMPLE))) for symbol in MACHINE_FIELDS]
    scalars = [
        str(value) if isinstance(value, int) else value.hex()
        for value in (sample.arguments[a.name] for a in host.everything if not a.pointer)
    ]
    elements = [str(elements_of(sample.shapes[a.name])) for a in host.everything if a.pointer]
    return " ".join([str(region), str(leaf), str(tile), *limits, *scalars, *elements])


def elements_of(shape: tuple[int, ...]) -> int:
    product = 1
    for extent in shape:
        product *= extent
    return product


def program(stem: str, plan: FunctionPlan, *, exact_sums: bool) -> str:
    """The test program of a spec: reads points, runs both versions, compares every byte of every array."""
    host = interface(plan)
    function = host.name
    scalars = [a for a in host.everything if not a.pointer]
    arrays = [a for a in host.everything if a.pointer]
    fields = list(MACHINE_FIELDS.values())
    versions = f"static_cast<int>(seed % {len(plan.versions)})"
    options = [value for name, value in ((host.tile, "tile"), (host.version, versions)) if name is not None]
    program_values = ", ".join((*(a.name for a in host.program), *options))
    device = {a.name: f"device_{a.name}" for a in arrays}
    launch = ", ".join(device.get(a.name, a.name) for a in host.arguments)
    serial = ", ".join(f"host_{a.name}.data()" if a.pointer else a.name for a in host.everything)
    declared = ", ".join(f"{host_name(a.type)} *" if a.pointer else a.type.value for a in host.everything)
    return MAIN.format(
        stem=stem,
        # Few bits, so that a sum is the same in any order.
        real="drawn % 16" if exact_sums else "drawn * 0.00037",
        function=function,
        declared=declared,
        read_machine="".join(f"    machine.{f} = read_integer(stream);\n" for f in fields),
        read_scalars="".join(f"    const {read(a)}" for a in scalars),
        read_elements="".join(
            f"    const size_t elements_{a.name} = static_cast<size_t>(read_integer(stream));\n"
            for a in arrays
        ),
        allocate="".join(
            f"    std::vector<{host_name(a.type)}> host_{a.name}(elements_{a.name});\n"
            f"    fill(host_{a.name}, seed + {i});\n"
            f"    {host_name(a.type)} *device_{a.name} = to_device(host_{a.name});\n"
            for i, a in enumerate(arrays)
        ),
        params=f"    const {function}_params params = {{ {program_values or '0'} }};\n",
        launch=launch,
        first_time=min(
            (r.tile_of(several.first) for r in plan.regions for several in r.several), default=1 << 30
        ),
        serial=serial,
        compare="".join(
            f'    differences += compare("{a.name}", host_{a.name}, device_{a.name}, message);\n'
            f"    cudaFree(device_{a.name});\n"
            for a in arrays
        ),
    )


def read(argument: Argument) -> str:
    reader = "read_integer" if argument.type.is_integer else "read_real"
    return f"{argument.type.value} {argument.name} = static_cast<{argument.type.value}>({reader}(stream));\n"


MAIN = r"""// Test program of {stem}: every point of points.txt, generated kernels against the serial C, byte by byte.
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>
#include <type_traits>
#include <vector>

#include "{stem}.h"

extern "C" void {function}({declared});

static long long read_integer(std::istream &stream)
{{
  std::string text;
  stream >> text;
  return std::strtoll(text.c_str(), nullptr, 10);
}}

[[maybe_unused]] static double read_real(std::istream &stream)
{{
  std::string text;
  stream >> text;
  return std::strtod(text.c_str(), nullptr); // hexadecimal: exact
}}

template <typename T> static void fill(std::vector<T> &values, unsigned seed)
{{
  unsigned state = seed * 2654435761u + 1u;
  for (T &value : values) {{
    state = state * 1664525u + 1013904223u;
    const int drawn = static_cast<int>(state >> 8) % 20001 - 10000;
    value = std::is_integral<T>::value ? static_cast<T>(drawn) : static_cast<T>({real});
  }}
}}

template <typename T> static T *to_device(const std::vector<T> &values)
{{
  T *pointer = nullptr;
  // Exactly as large as the array, so that memcheck sees what goes past its end.
  if (!values.empty()) cudaMalloc(&pointer, values.size() * sizeof(T));
  if (!values.empty()) cudaMemcpy(pointer, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice);
  return pointer;
}}

template <typename T>
static int compare(const char *name, const std::vector<T> &expected, const T *device, std::string &message)
{{
  std::vector<T> actual(expected.size());
  if (!actual.empty()) cudaMemcpy(actual.data(), device, actual.size() * sizeof(T), cudaMemcpyDeviceToHost);
  for (size_t i = 0; i < actual.size(); i++)
    if (std::memcmp(&actual[i], &expected[i], sizeof(T)) != 0) {{
      std::ostringstream text;
      text << name << "[" << i << "] is " << static_cast<double>(actual[i]) << ", expected "
           << static_cast<double>(expected[i]) << "; ";
      message += text.str();
      return 1;
    }}
  return 0;
}}

int main(int argc, char **argv)
{{
  std::ifstream file(argc > 1 ? argv[1] : "points.txt");
  std::string line;
  int number = 0, failures = 0;
  while (std::getline(file, line)) {{
    std::istringstream stream(line);
    const int region = static_cast<int>(read_integer(stream)), leaf = static_cast<int>(read_integer(stream));
    [[maybe_unused]] const int tile = static_cast<int>(read_integer(stream));
    cf_machine machine = {{}}; // speeds do not matter where tiles are asked for
{read_machine}{read_scalars}{read_elements}    const unsigned seed = static_cast<unsigned>(++number);
{allocate}{params}    cf_choice why;
    const int status = {function}_launch_explained(&machine, {launch}, &params, nullptr, &why);
    const cudaError_t error = cudaDeviceSynchronize();
    {function}({serial});
    std::string message;
    int differences = 0;
    if (status != CF_OK) {{
      message = std::string({function}_strerror(status)) + ": " + why.constraint + "; ";
      differences = 1;
    }} else if (tile >= {first_time} && why.leaf != leaf && why.leaf != CF_NO_LEAF) {{
      message = "another kernel ran: " + std::to_string(why.leaf) + "; ";
      differences = 1;
    }} else if (error != cudaSuccess) {{
      std::printf("region %d leaf %d: FAIL %s\n  at %s\n", region, leaf, cudaGetErrorString(error), line.c_str());
      return 1;
    }}
{compare}    std::printf("region %d leaf %d: %s %s\n", region, leaf, differences ? "FAIL" : "ok", message.c_str());
    if (differences) std::printf("  at %s\n", line.c_str());
    failures += differences != 0;
  }}
  return failures != 0;
}}
"""

if __name__ == "__main__":
    main()
