"""Running compilers: a stand-in shows how, the real nvcc shows that it works."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from comprehensive.toolchain.cache import Cache
from comprehensive.toolchain.compiled import SourceRejectedError
from comprehensive.toolchain.find import Found
from comprehensive.toolchain.nvcc import Tool, assemble, compile_cubin, compile_ptx, load_tool
from comprehensive.toolchain.process import ToolError, run
from comprehensive.toolchain.usage import usage_of

# Takes the arguments apart as nvcc would; writes a line to `calls` for each compilation.
STAND_IN = """\
#!/bin/sh
if [ "$1" = --version ]; then echo 'Cuda compilation tools, release 13.0, V13.0.88'; exit 0; fi
echo "$*" >> {calls}
while [ $# -gt 0 ]; do
  case "$1" in -o) out=$2; shift;; -MF) deps=$2; shift;; esac
  source=$1; shift
done
if grep -q 'error' "$source"; then echo "$source(1): error: as asked" >&2; exit 2; fi
echo leftover > "$TMPDIR/leftover"
cat "$source" > "$out"
[ -z "$deps" ] || printf '%s : %s \\\\\\n    %s\\n' "$out" "$source" {header} > "$deps"
echo "$source(2): warning #177-D: unused"
echo "$source(2): warning #177-D: unused"
"""


class _StandIn:
    def __init__(self, directory: Path) -> None:
        self.calls, self.header = directory / "calls", directory / "h.h"
        self.header.write_text("")
        path = directory / "nvcc"
        path.write_text(STAND_IN.format(calls=self.calls, header=self.header))
        path.chmod(0o755)
        self.tool = load_tool(Found("nvcc", path, ()))
        self.cache = Cache(directory / "cache")

    @property
    def runs(self) -> int:
        return len(self.calls.read_text().splitlines()) if self.calls.exists() else 0


@pytest.fixture
def stand_in(tmp_path: Path) -> _StandIn:
    return _StandIn(tmp_path)


def test_the_version_is_the_full_one(stand_in):
    assert stand_in.tool.version == "13.0.88"


def test_a_program_that_says_no_version_is_not_a_tool():
    with pytest.raises(ToolError, match="no version"):
        load_tool(Found("nvcc", Path("/bin/echo"), ()))


def test_a_second_compilation_of_the_same_is_remembered(stand_in, tmp_path):
    source = tmp_path / "k.cu"
    source.write_text("kernel")
    first = compile_cubin(stand_in.tool, source, "sm_90", cache=stand_in.cache)
    again = compile_cubin(stand_in.tool, source, "sm_90", cache=stand_in.cache)
    assert first == again
    assert first.output == b"kernel"
    assert stand_in.runs == 1
    assert first.warnings == (f"{source}(2): warning #177-D: unused",)


@pytest.mark.parametrize(
    "change", ["source", "header", "arch", "flag", "kind", "version", "place", "profile"]
)
def test_a_change_of_anything_compiles_anew(stand_in, tmp_path, change):
    source = tmp_path / "k.cu"
    source.write_text('#include "h.h"')
    compile_cubin(stand_in.tool, source, "sm_90", cache=stand_in.cache)
    tool, arch, extra, compiler = stand_in.tool, "sm_90", (), compile_cubin
    match change:
        case "source":
            source.write_text('#include "h.h" // changed')
        case "header":
            stand_in.header.write_text("changed")
        case "arch":
            arch = "sm_80"
        case "flag":
            extra = ("-maxrregcount=32",)
        case "kind":
            compiler = compile_ptx
        case "version":
            tool = Tool(tool.name, tool.path, "13.0.89")
        case "profile":
            tool.path.with_name("nvcc.profile").write_text("PATH += elsewhere:")
        case "place":
            (tmp_path / "elsewhere").mkdir()
            source = source.rename(tmp_path / "elsewhere/k.cu")
    compiler(tool, source, arch, extra, cache=stand_in.cache)
    assert stand_in.runs == 2


def test_a_source_that_includes_nothing_beside_it_may_move(stand_in, tmp_path):
    source = tmp_path / "k.cu"
    source.write_text("#include <cuda_runtime.h>\n#include <assert.h>\n")
    compile_cubin(stand_in.tool, source, "sm_90", cache=stand_in.cache)
    compile_cubin(stand_in.tool, source.rename(tmp_path / "moved.cu"), "sm_90", cache=stand_in.cache)
    assert stand_in.runs == 1


def test_a_source_whose_asserts_name_its_place_is_compiled_anew_where_it_moves(stand_in, tmp_path):
    source = tmp_path / "k.cu"
    source.write_text("#include <assert.h>\n#define CHECK assert\n")
    compile_cubin(stand_in.tool, source, "sm_90", cache=stand_in.cache)
    compile_cubin(stand_in.tool, source.rename(tmp_path / "moved.cu"), "sm_90", cache=stand_in.cache)
    assert stand_in.runs == 2


def test_nothing_is_left_beside_the_source_or_in_the_temporary_directory(stand_in, tmp_path, monkeypatch):
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(scratch))
    source = tmp_path / "own/k.cu"
    source.parent.mkdir()
    source.write_text("kernel")
    compile_ptx(stand_in.tool, source, "sm_90", cache=Cache(None))
    assert list(scratch.iterdir()) == []
    assert list(source.parent.iterdir()) == [source]


def test_a_rejected_source_carries_the_words_of_the_compiler_and_is_not_remembered(stand_in, tmp_path):
    source = tmp_path / "k.cu"
    source.write_text("error")
    for _ in range(2):
        with pytest.raises(SourceRejectedError, match="error: as asked") as caught:
            compile_cubin(stand_in.tool, source, "sm_90", cache=stand_in.cache)
        assert caught.value.command[-1] == str(source)
    assert stand_in.runs == 2


def _is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_a_command_that_takes_too_long_ends_with_its_children(tmp_path):
    child = tmp_path / "pid"
    with pytest.raises(ToolError, match="did not end within 2 s"):
        run(("/bin/sh", "-c", f"sleep 300 & echo $! > {child}; wait"), timeout_s=2)
    pid, deadline = int(child.read_text()), time.monotonic() + 60
    while _is_running(pid) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not _is_running(pid)


def test_a_command_that_is_not_there_is_named():
    with pytest.raises(ToolError, match="cannot run /no/such/tool"):
        run(("/no/such/tool",), timeout_s=1)


KERNELS = """\
#include <cuda_runtime.h>
#include "scale.h"
extern "C" __global__ void reverse(float *a) {
    __shared__ float s[128];
    int unused;
    s[threadIdx.x] = SCALE * a[threadIdx.x];
    __syncthreads();
    a[threadIdx.x] = s[127 - threadIdx.x];
}
template <int N> __global__ void fill(float *a) { for (int i = 0; i < N; ++i) a[i * blockDim.x] = i; }
template __global__ void fill<4>(float *);
"""


@pytest.mark.toolchain
def test_nvcc_compiles_a_kernel_and_tells_its_registers(nvcc, tmp_path):
    source = tmp_path / "a kernel.cu"
    source.write_text(KERNELS)
    (tmp_path / "scale.h").write_text("#define SCALE 2.0f\n")
    cache = Cache(tmp_path / "cache")
    compiled = compile_cubin(nvcc, source, "sm_90", cache=cache)
    assert compiled.output.startswith(b"\x7fELF")
    assert any("unused" in warning for warning in compiled.warnings)
    reverse = compiled.usage["reverse"]
    assert reverse.shared_bytes == 512
    assert 0 < reverse.registers_per_thread <= 32
    assert reverse.barriers == 1
    assert [u.arch for u in usage_of("fill", compiled.usage)] == ["sm_90"]
    assert compile_cubin(nvcc, source, "sm_90", cache=cache) == compiled
    (tmp_path / "scale.h").write_text("#define SCALE 3.0f\n")
    assert compile_cubin(nvcc, source, "sm_90", cache=cache).output != compiled.output


@pytest.mark.toolchain
def test_ptx_of_nvcc_assembles_to_the_same_usage_with_ptxas_alone(nvcc, ptxas, tmp_path):
    source = tmp_path / "k.cu"
    source.write_text(KERNELS.replace('"scale.h"', "<cuda_fp16.h>").replace("SCALE", "2.0f"))
    ptx = tmp_path / "k.ptx"
    ptx.write_bytes(compile_ptx(nvcc, source, "sm_80").output)
    assert b".entry reverse" in ptx.read_bytes()
    assembled = assemble(ptxas, ptx, "sm_80")
    assert assembled.usage == compile_cubin(nvcc, ptx, "sm_80").usage
    assert set(assembled.usage) == {"reverse", "_Z4fillILi4EEvPf"}


@pytest.mark.toolchain
def test_nvcc_answers_a_bad_kernel_with_its_diagnostics(nvcc, tmp_path):
    source = tmp_path / "bad.cu"
    source.write_text("__global__ void k(float *a) { a[0] = 1 }\n")
    with pytest.raises(SourceRejectedError) as caught:
        compile_ptx(nvcc, source, "sm_90")
    assert 'expected a ";"' in caught.value.log


@pytest.mark.toolchain
def test_registers_that_do_not_fit_show_up_as_spills(nvcc, tmp_path):
    source = tmp_path / "wide.cu"
    source.write_text(
        "__global__ void wide(float *a) {\n  float v[64];\n"
        "  for (int i = 0; i < 64; ++i) v[i] = a[i * 32 + threadIdx.x];\n"
        "  __syncthreads();\n"
        "  for (int i = 0; i < 64; ++i) a[i * 32 + threadIdx.x] = v[i] * v[63 - i];\n}\n"
    )
    free = usage_of("wide", compile_cubin(nvcc, source, "sm_80").usage)[0]
    capped = usage_of("wide", compile_cubin(nvcc, source, "sm_80", ("-maxrregcount=32",)).usage)[0]
    assert free.spill_store_bytes == 0
    assert capped.registers_per_thread <= 32 < free.registers_per_thread
    assert capped.spill_store_bytes > 0
    assert capped.spill_load_bytes > 0


def test_tests_do_not_touch_the_cache_of_the_user():
    assert Path(os.environ["COMPREHENSIVE_CACHE"]).name.endswith("tool_cache")
