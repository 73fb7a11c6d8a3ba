"""Both ways from PTX to a cubin say the same of a kernel; what is missing is said with what to do."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import cast

import pytest

from comprehensive.toolchain.assembler import InProcess, Ptxas, find_assembler, functions_called
from comprehensive.toolchain.cache import Cache
from comprehensive.toolchain.compiled import Compiled, SourceRejectedError
from comprehensive.toolchain.find import Found, Missing, Step, find_library
from comprehensive.toolchain.jitlink import JitLink, find_jitlink, load_jitlink
from comprehensive.toolchain.nvcc import Tool, compile_ptx
from comprehensive.toolchain.process import ToolError

KERNELS = """\
extern "C" __global__ void reverse(float *a) {
    __shared__ float s[128];
    s[threadIdx.x] = 2.0f * a[threadIdx.x];
    __syncthreads();
    a[threadIdx.x] = s[127 - threadIdx.x];
}
extern "C" __global__ void wide(float *a) {
    float v[64];
    for (int i = 0; i < 64; ++i) v[i] = a[i * 32 + threadIdx.x];
    __syncthreads();
    for (int i = 0; i < 64; ++i) a[i * 32 + threadIdx.x] = v[i] * v[63 - i];
}
template <int N> __global__ void deep(double *a, int n) {
    double v[N];
    for (int i = 0; i < N; ++i) v[i] = a[i + threadIdx.x];
    for (int k = 0; k < n; ++k)
        for (int i = 0; i < N; ++i) v[i] = v[i] * v[(i + 3) % N] + sqrt(v[(i + 1) % N]);
    for (int i = 0; i < N; ++i) a[i + threadIdx.x] = v[i];
}
template __global__ void deep<4>(double *, int);
template __global__ void deep<24>(double *, int);
"""


@pytest.fixture(scope="module")
def jitlink() -> JitLink:
    found = find_jitlink()
    if isinstance(found, Missing):
        pytest.skip("needs nvJitLink; " + "; ".join(str(step) for step in found.steps))
    return load_jitlink(found, cache=Cache(None))


@pytest.fixture
def ptx(nvcc: Tool, tmp_path: Path) -> str:
    source = tmp_path / "kernels.cu"
    source.write_text(KERNELS)
    return compile_ptx(nvcc, source, "sm_90").output.decode()


class _Rejecting:
    """Stands for nvJitLink and a text that is not for separate compilation."""

    def assemble(self, ptx: str, arch: str, flags: Sequence[str] = ()) -> Compiled:
        raise SourceRejectedError(("nvJitLink",), "not allowed for per-function compilation modes")


class _Taking:
    def assemble(self, ptx: str, arch: str, flags: Sequence[str] = ()) -> Compiled:
        return Compiled(ptx.encode(), " ".join((arch, *flags)))


def test_what_nvjitlink_rejects_goes_to_ptxas() -> None:
    assembler = InProcess(cast(JitLink, _Rejecting()), cast(Ptxas, _Taking()))
    assert assembler.assemble("text", "sm_90", ("-O1",)) == Compiled(b"text", "sm_90 -O1")


def demand_one_version(jitlink: JitLink, ptxas: Tool) -> None:
    if not f"{ptxas.version}.".startswith(f"{jitlink.version}."):
        pytest.skip(f"nvJitLink is {jitlink.version}, ptxas {ptxas.version}: other versions, other counts")


@pytest.mark.toolchain
@pytest.mark.parametrize("flags", [(), ("-maxrregcount=32",), ("-O1",)])
def test_both_assemblers_count_the_same(
    jitlink: JitLink, ptxas: Tool, ptx: str, flags: tuple[str, ...]
) -> None:
    demand_one_version(jitlink, ptxas)
    process = Ptxas(ptxas, Cache(None))
    either = InProcess(jitlink, process)
    beside = process.assemble(ptx, "sm_90", flags)
    assert either.assemble(ptx, "sm_90", flags).usage == beside.usage
    assert len(beside.usage) == 4
    assert beside.usage["reverse"].shared_bytes == 512
    if flags == ("-maxrregcount=32",):
        assert beside.usage["wide"].spill_store_bytes > 0


@pytest.mark.toolchain
def test_kernels_that_call_nothing_are_counted_in_process(jitlink: JitLink, ptxas: Tool, ptx: str) -> None:
    demand_one_version(jitlink, ptxas)
    none = InProcess(jitlink, Ptxas(Tool("ptxas", Path("/no/such/ptxas"), ptxas.version), Cache(None)))
    alone = ptx[: ptx.index("// .globl\t_Z4deep")]
    answer = none.assemble(alone, "sm_90")
    assert answer.output.startswith(b"\x7fELF")
    assert answer.usage == Ptxas(ptxas, Cache(None)).assemble(alone, "sm_90").usage
    assert set(answer.usage) == {"reverse", "wide"}
    linked = jitlink.assemble(ptx, "sm_90")
    assert functions_called(linked) == ("__cuda_sm20_dsqrt_rn_f64_mediumpath_v1",)
    with pytest.raises(ToolError, match="/no/such/ptxas"):
        none.assemble(ptx, "sm_90")


@pytest.mark.toolchain
def test_threads_assemble_at_once(jitlink: JitLink, ptx: str) -> None:
    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda arch: jitlink.assemble(ptx, arch).usage, ["sm_90", "sm_100"] * 4))
    assert answers == answers[:2] * 4
    assert {usage.arch for usage in answers[1].values()} == {"sm_100"}


SMALL = """\
.version 8.0
.target sm_80
.address_size 64
.visible .entry nothing() { ret; }
"""


def test_an_answer_is_remembered(jitlink: JitLink, tmp_path: Path) -> None:
    remembering = load_jitlink(find_jitlink(), cache=Cache(tmp_path))
    first = remembering.assemble(SMALL, "sm_80")
    (entry,) = (path for path in tmp_path.rglob("*") if path.is_file())
    written = entry.stat().st_mtime_ns
    assert remembering.assemble(SMALL, "sm_80") == first == jitlink.assemble(SMALL, "sm_80")
    assert entry.stat().st_mtime_ns == written
    remembering.assemble(SMALL, "sm_80", ("-maxrregcount=32",))
    remembering.assemble(SMALL + "// other\n", "sm_80")
    assert len([path for path in tmp_path.rglob("*") if path.is_file()]) == 3


@pytest.mark.parametrize(
    ("text", "arch", "flags", "words"),
    [
        (SMALL.replace("ret;", "retour;"), "sm_80", (), "retour"),
        ("no PTX", "sm_80", (), "bad input"),
        (SMALL, "sm_81", (), "architecture"),
        (SMALL, "sm_80", ("--no-such-option",), "no-such-option"),
    ],
)
def test_rejected_text_carries_the_words_of_the_assembler(
    jitlink: JitLink, text: str, arch: str, flags: tuple[str, ...], words: str
) -> None:
    with pytest.raises(SourceRejectedError, match=words) as caught:
        jitlink.assemble(text, arch, flags)
    assert f"-arch={arch}" in caught.value.command


def test_a_missing_library_is_named_with_its_places_and_what_to_do(tmp_path: Path) -> None:
    missing = find_library(
        "nvJitLink", "jitlink", environment={"CUDA_HOME": str(tmp_path)}, wheel_directories=[]
    )
    with pytest.raises(ToolError) as caught:
        load_jitlink(missing)
    for words in (f"{tmp_path}/lib64/libnvJitLink.so", "pip install 'comprehensive[jitlink]'"):
        assert words in str(caught.value)


def test_a_library_is_found_where_wheels_and_toolkits_have_it(tmp_path: Path) -> None:
    wheel, toolkit = tmp_path / "nvidia/cu13/lib/libnvJitLink.so.13", tmp_path / "cuda/lib64/libnvJitLink.so"
    for path in (wheel, toolkit):
        path.parent.mkdir(parents=True)
        path.touch()

    def found(environment: dict[str, str]) -> Path:
        search = find_library(
            "nvJitLink", "jitlink", environment=environment, wheel_directories=[tmp_path / "nvidia"]
        )
        assert isinstance(search, Found)
        return search.path

    assert found({}) == wheel
    assert found({"CUDA_HOME": str(tmp_path / "cuda")}) == toolkit


def test_what_is_no_library_is_refused_by_name(tmp_path: Path) -> None:
    path = tmp_path / "libnvJitLink.so"
    path.write_text("text")
    with pytest.raises(ToolError, match="cannot be used"):
        load_jitlink(Found("nvJitLink", path, (Step("here", "found"),)))


def test_where_there_is_neither_assembler_both_ways_out_are_told(tmp_path: Path) -> None:
    with pytest.raises(ToolError) as caught:
        find_assembler(str(tmp_path))
    assert "comprehensive[cuda]" in str(caught.value)
    assert "comprehensive[jitlink]" in str(caught.value)


def toolkit(directory: Path, version: str) -> Path:
    """Return a toolkit with a ptxas that says its version, and the real library."""
    ptxas = directory / "bin/ptxas"
    ptxas.parent.mkdir(parents=True)
    ptxas.write_text(f"#!/bin/sh\necho 'Cuda compilation tools, release {version}, V{version}'\n")
    ptxas.chmod(0o755)
    found = find_jitlink()
    assert isinstance(found, Found)
    (directory / "lib64").mkdir()
    (directory / "lib64/libnvJitLink.so").symlink_to(found.path)
    return directory


def test_the_assembler_in_process_is_taken_where_it_counts_as_ptxas_does(
    jitlink: JitLink, tmp_path: Path
) -> None:
    same = find_assembler(str(toolkit(tmp_path / "same", f"{jitlink.version}.48")))
    assert isinstance(same, InProcess)
    assert isinstance(find_assembler(str(toolkit(tmp_path / "other", f"{jitlink.version}1.48"))), Ptxas)
    (tmp_path / "same/bin/ptxas").unlink()
    assert isinstance(find_assembler(str(tmp_path / "same")), JitLink)
