"""Generated CUDA runs on the CPU, and what a GPU leaves undefined is caught there."""

from __future__ import annotations

import gc
import resource
import shutil
from collections.abc import Mapping
from pathlib import Path

import numpy
import pytest

from comprehensive.codegen.host import header_text, source_text
from comprehensive.plan.interface import interface
from comprehensive.plan.plan import ProgramPlan
from comprehensive.records import replace
from comprehensive.runtime.cpu import CpuBuildError, CpuFaultError, CpuLibrary, build
from comprehensive.toolchain.host import find_cxx_compiler
from tests.unit.codegen.plans import KERNELS, copy_plan, smooth_plan, with_kernel

OK, NO_VARIANT, PARAMETER, PRECONDITION, OVERFLOW, LIMIT, CUDA = range(7)
COMPILER = find_cxx_compiler()
pytestmark = pytest.mark.skipif(COMPILER is None, reason="no C++ compiler on the PATH")

MAX_BLOCK_X, MAX_GRID_Y, MAX_SHARED_OPTIN = 2, 6, 97


def built(
    plan: ProgramPlan, folder: Path, kernels: Mapping[str, str] = KERNELS, *, sanitize: bool = False
) -> CpuLibrary:
    assert COMPILER is not None
    folder.mkdir(exist_ok=True)
    (folder / f"{plan.stem}.h").write_text(header_text(plan, "0.1.0"))
    (folder / f"{plan.stem}.cu").write_text(source_text(plan, kernels, "0.1.0"))
    interfaces = [interface(function) for function in plan.functions]
    return build(folder / f"{plan.stem}.cu", folder, interfaces, sanitize=sanitize, compiler=COMPILER)


@pytest.fixture(scope="module")
def smooth(tmp_path_factory: pytest.TempPathFactory) -> CpuLibrary:
    return built(smooth_plan(), tmp_path_factory.mktemp("smooth"))


@pytest.fixture(scope="module")
def copy2(tmp_path_factory: pytest.TempPathFactory) -> CpuLibrary:
    return built(copy_plan(), tmp_path_factory.mktemp("copy2"))


def smoothed(a: numpy.ndarray) -> numpy.ndarray:
    expected = numpy.full_like(a, -1)
    expected[1:-1] = (a[:-2] + a[1:-1] + a[2:]) / numpy.float32(3)
    return expected


def data(n: int) -> numpy.ndarray:
    return numpy.random.default_rng(n).random(n, dtype=numpy.float32)


@pytest.mark.parametrize(("words", "leaf"), [(58112, 1), (10, 2)])
@pytest.mark.parametrize("backwards", [False, True])
@pytest.mark.parametrize(
    ("n", "b", "s"), [(1000, 64, 3), (3, 32, 1), (66, 8, 8), (200, 1, 5), (4099, 1024, 2)]
)
def test_every_leaf_computes_what_the_program_means(
    smooth: CpuLibrary, words: int, leaf: int, backwards: bool, n: int, b: int, s: int
) -> None:
    a, result = data(n), numpy.full(n, -1, numpy.float32)
    if words == 10 and s * b + 2 <= words:
        leaf = 1
    outcome = smooth.call(
        "smooth",
        {"n": n, "a": a, "b": result},
        {"B": b, "s": s},
        machine={"Z_B": words, "T_B": 1024},
        backwards=backwards,
    )
    assert (outcome.status, outcome.leaf) == (OK, leaf)
    numpy.testing.assert_array_equal(result, smoothed(a))


def test_parameters_are_chosen_where_none_are_given(smooth: CpuLibrary) -> None:
    a, result = data(5000), numpy.full(5000, -1, numpy.float32)
    outcome = smooth.call("smooth", {"n": 5000, "a": a, "b": result}, None)
    assert (outcome.status, outcome.leaf) == (OK, 1)
    numpy.testing.assert_array_equal(result, smoothed(a))


def test_grid_beyond_the_limit_along_y_strides(copy2: CpuLibrary) -> None:
    a, c = data(70 * 33).reshape(70, 33), numpy.zeros((70, 33), numpy.float32)
    library_limits = {MAX_GRID_Y: 7}
    outcome = copy2.call("copy2", {"m": 70, "n": 33, "a": a, "c": c}, {"B": 16}, attributes=library_limits)
    assert outcome.status == OK
    numpy.testing.assert_array_equal(c, a)


def test_the_device_of_a_library_is_its_own(tmp_path: Path) -> None:
    libraries = [built(smooth_plan(), tmp_path / name) for name in ("small", "usual")]
    a, result = data(1000), numpy.full(1000, -1, numpy.float32)
    arguments, parameters = {"n": 1000, "a": a, "b": result}, {"B": 64, "s": 3}
    small = libraries[0].call("smooth", arguments, parameters, attributes={MAX_BLOCK_X: 32})
    usual = libraries[1].call("smooth", arguments, parameters)
    assert (small.status, usual.status) == (LIMIT, OK)


def test_nothing_to_do_is_success_without_a_launch(copy2: CpuLibrary) -> None:
    empty = numpy.zeros(0, numpy.float32)
    outcome = copy2.call("copy2", {"m": 0, "n": 5, "a": empty, "c": empty}, {"B": 16}, machine={"T_B": 0})
    assert (outcome.status, outcome.leaf) == (OK, -1)


def test_refusals_have_their_status_and_numbers_and_touch_no_data(
    smooth: CpuLibrary, copy2: CpuLibrary
) -> None:
    a, b = data(100), numpy.full(100, -1, numpy.float32)
    arguments = {"n": 100, "a": a, "b": b}

    asserted = smooth.call("smooth", arguments, {"B": 2000, "s": 1})
    assert (asserted.status, asserted.constraint, asserted.needed) == (PRECONDITION, "B <= 1024", 2000)

    below = smooth.call("smooth", arguments, {"B": 8, "s": 0})
    assert (below.status, below.constraint, below.available) == (PARAMETER, "s >= 1", 0)

    refused = smooth.call("smooth", arguments, {"B": 512, "s": 1}, machine={"T_B": 256})
    assert (refused.status, refused.constraint) == (NO_VARIANT, "B <= T_B")
    assert (refused.needed, refused.available) == (512, 256)

    # The machine that the caller describes has more than the device at hand.
    device = smooth.call("smooth", arguments, {"B": 1000, "s": 1000}, machine={})
    assert (device.status, device.constraint) == (LIMIT, "bytes of shared memory")
    assert (device.needed, device.available) == (4 * 1000002, 232448)

    negative = copy2.call("copy2", {"m": -1, "n": 5, "a": a, "c": b}, {"B": 16})
    assert (negative.status, negative.constraint) == (PARAMETER, "m >= 0")

    large = copy2.call("copy2", {"m": 5, "n": 2**31 - 1, "a": a, "c": b}, {"B": 1000})
    assert (large.status, large.constraint) == (OVERFLOW, "points along x < 2^31")
    assert (b == -1).all()


def test_more_than_48_kib_of_shared_memory_is_asked_for(smooth: CpuLibrary) -> None:
    a, result = data(40000), numpy.full(40000, -1, numpy.float32)
    outcome = smooth.call("smooth", {"n": 40000, "a": a, "b": result}, {"B": 1000, "s": 20})
    assert (outcome.status, outcome.leaf) == (OK, 1)
    numpy.testing.assert_array_equal(result, smoothed(a))


def test_missing_barrier_changes_the_result_and_registers_limit_the_threads(tmp_path: Path) -> None:
    library = built(smooth_plan(), tmp_path, with_kernel("smooth_tiled", r" *__syncthreads\(\);\n", ""))
    a = data(1000)
    wrong = 0
    for backwards in (False, True):
        result = numpy.full(1000, -1, numpy.float32)
        arguments = {"n": 1000, "a": a, "b": result}
        assert library.call("smooth", arguments, {"B": 64, "s": 2}, backwards=backwards).status == OK
        wrong += not numpy.array_equal(result, smoothed(a))
    assert wrong > 0

    # A kernel whose registers leave room for 32 threads; limits of a kernel are asked for once, this one is new.
    arguments = {"n": 1000, "a": a, "b": numpy.zeros(1000, numpy.float32)}
    refused = library.call("smooth", arguments, {"B": 64, "s": 2}, machine={"Z_B": 0}, kernel_threads=32)
    assert (refused.status, refused.leaf, refused.needed, refused.available) == (LIMIT, 2, 64, 32)


@pytest.mark.parametrize("sanitize", [False, True])
def test_barrier_that_a_part_of_the_block_reaches_is_an_error(tmp_path: Path, sanitize: bool) -> None:
    kernels = with_kernel("smooth_tiled", r"__syncthreads\(\);", "if (threadIdx.x < 5) __syncthreads();")
    library = built(smooth_plan(), tmp_path, kernels, sanitize=sanitize)
    arguments = {"n": 1000, "a": data(1000), "b": numpy.zeros(1000, numpy.float32)}
    outcome = library.call("smooth", arguments, {"B": 64, "s": 2})
    assert outcome.status == CUDA
    assert "divergent barrier: thread (0, 0, 0) of block (0, 0, 0) waits at" in outcome.message
    assert "thread (5, 0, 0) has finished" in outcome.message


def test_block_with_equal_threads_runs_after_a_divergent_one(tmp_path: Path) -> None:
    kernels = with_kernel("smooth_tiled", r"__syncthreads\(\);", "if (threadIdx.x < 32) __syncthreads();")
    library = built(smooth_plan(), tmp_path, kernels)
    a, result = data(1000), numpy.full(1000, -1, numpy.float32)
    assert library.call("smooth", {"n": 1000, "a": a, "b": result}, {"B": 64, "s": 2}).status == CUDA
    assert library.call("smooth", {"n": 1000, "a": a, "b": result}, {"B": 32, "s": 2}).status == OK
    numpy.testing.assert_array_equal(result, smoothed(a))


def test_sanitized_build_computes_the_same(tmp_path: Path) -> None:
    library = built(smooth_plan(), tmp_path, sanitize=True)
    a, result = data(777), numpy.full(777, -1, numpy.float32)
    outcome = library.call("smooth", {"n": 777, "a": a, "b": result}, {"B": 64, "s": 2}, backwards=True)
    assert (outcome.status, outcome.leaf, outcome.message) == (OK, 1, "")
    numpy.testing.assert_array_equal(result, smoothed(a))
    refused = library.call("smooth", {"n": 777, "a": a, "b": result}, {"B": 64, "s": 2}, machine={"T_B": 8})
    assert (refused.status, refused.constraint, refused.needed) == (NO_VARIANT, "B <= T_B", 64)


@pytest.mark.parametrize(
    ("kernel", "pattern", "replacement", "machine"),
    [
        ("smooth_tiled", r"x < s \* B \+ 2", "x < s * B + 3", {}),  # beyond shared memory
        ("smooth_plain", r"x \+ 2 < n", "x + 1 < n", {"Z_B": 0}),  # beyond the arrays
    ],
)
def test_access_out_of_bounds_is_caught(
    tmp_path: Path, kernel: str, pattern: str, replacement: str, machine: Mapping[str, int]
) -> None:
    library = built(smooth_plan(), tmp_path, with_kernel(kernel, pattern, replacement), sanitize=True)
    n = 131
    arguments = {"n": n, "a": data(n), "b": numpy.zeros(n, numpy.float32)}
    with pytest.raises(CpuFaultError, match="heap-buffer-overflow"):
        library.call("smooth", arguments, {"B": 32, "s": 2}, machine=machine)


def test_source_that_does_not_compile_is_reported_with_the_compiler_s_words(tmp_path: Path) -> None:
    with pytest.raises(CpuBuildError, match="undeclared_name"):
        built(smooth_plan(), tmp_path, with_kernel("smooth_plain", r"threadIdx\.x", "undeclared_name"))


def test_array_of_another_type_is_a_type_error(smooth: CpuLibrary) -> None:
    wrong = numpy.zeros(10, numpy.float64)
    with pytest.raises(TypeError, match="b must be an array of float32"):
        smooth.call("smooth", {"n": 10, "a": data(10), "b": wrong}, {"B": 1, "s": 1})


def test_many_threads_meet_many_times(tmp_path: Path) -> None:
    """256 blocks of 256 threads that meet ten times."""
    kernels = with_kernel(
        "smooth_tiled", r"__syncthreads\(\);", "for (int t = 0; t < 10; t++) __syncthreads();"
    )
    library = built(smooth_plan(), tmp_path, kernels)
    n = 256 * 256 + 2
    a, result = data(n), numpy.full(n, -1, numpy.float32)
    arguments = {"n": n, "a": a, "b": result}
    assert library.call("smooth", arguments, {"B": 256, "s": 1}).status == OK
    numpy.testing.assert_array_equal(result, smoothed(a))


def mappings() -> int:
    """The mappings of memory of this process, of which Linux gives it no more than 65530."""
    return len(Path("/proc/self/maps").read_text().splitlines())


def resident() -> int:
    """The bytes of this process that are in memory."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


def copies(library: CpuLibrary, folder: Path, count: int) -> list[CpuLibrary]:
    """Return as many libraries, each from a file of its own, since the loader takes one file for one library."""
    found = [replace(library, path=folder / f"copy{k}.so") for k in range(count)]
    for each in found:
        shutil.copy(library.path, each.path)
    return found


def test_programs_of_a_process_keep_few_mappings_and_none_when_they_are_gone(
    smooth: CpuLibrary, tmp_path: Path
) -> None:
    a, result = data(1000), numpy.full(1000, -1, numpy.float32)
    libraries = copies(smooth, tmp_path, 20)
    before, resident_before = mappings(), resident()
    assert all(library.shared for library in libraries)
    # What could run 1024 threads takes no memory before it does.
    assert resident() - resident_before < 600_000 * len(libraries)
    arguments, parameters = {"n": 1000, "a": a, "b": result}, {"B": 512, "s": 1}
    assert {each.call("smooth", arguments, parameters).status for each in libraries} == {OK}
    assert mappings() - before < 50 * len(libraries)
    del libraries
    gc.collect()
    assert mappings() - before < 20


def test_threads_for_which_there_is_no_memory_are_an_error(smooth: CpuLibrary, tmp_path: Path) -> None:
    (library,) = copies(smooth, tmp_path, 1)
    a, result = data(5000), numpy.full(5000, -1, numpy.float32)
    arguments = {"n": 5000, "a": a, "b": result}
    assert library.call("smooth", arguments, {"B": 1, "s": 1}).status == OK
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    limits = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (used + 32 * 2**20, limits[1]))
    try:
        refused = library.call("smooth", arguments, {"B": 1024, "s": 1})
    finally:
        resource.setrlimit(resource.RLIMIT_AS, limits)
    assert (refused.status, refused.message) == (CUDA, "no memory for the stack of a thread")
    assert library.call("smooth", arguments, {"B": 1024, "s": 1}).status == OK
    numpy.testing.assert_array_equal(result, smoothed(a))
