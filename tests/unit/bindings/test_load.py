"""Generated functions called from Python on the stand-in of a device: results, refusals, files that do not fit."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import comprehensive
from comprehensive.bindings.load import Module
from comprehensive.driver import Options, compile_file
from comprehensive.generate import write
from comprehensive.machine.device import load_device

SPECS = Path(__file__).resolve().parents[3] / "specs"

CALM = """
void calm(int n, int m, float stream, const float *x, float y[n][2 * m], int B)
{
  int dim = n / B;
  meta_schedule {
    meta_for (int i = 0; i < dim; i++)
      meta_for (int t = 0; t < B; t++)
        y[i * B + t][0] = stream * x[i * B + t];
  }
}
"""


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with what is generated for two programs."""
    out = tmp_path_factory.mktemp("out")
    options = Options(registers="estimate")
    (out / "calm.mf").write_text(CALM)
    for source in (SPECS / "matmul.mf", out / "calm.mf"):
        write(compile_file(source, options), out, options)
    return out


@pytest.fixture
def module(written: Path) -> Module:
    return comprehensive.load(written / "matmul.json", device="cpu")


@pytest.fixture
def calm(written: Path) -> Any:
    return comprehensive.load(written / "calm.json", device="cpu").calm


def matrices(n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(n)
    a, b = (rng.random((n, n), dtype=np.float32) for _ in range(2))
    return a, b, np.zeros((n, n), np.float32)


def h200() -> dict[str, int]:
    return dict(load_device("h200").machine())


class Borrowed:
    """Data of another library: numpy's, through a protocol."""

    def __init__(self, array: np.ndarray) -> None:
        self._array = array


class WithDlpack(Borrowed):
    def __dlpack__(self, **wanted: Any) -> Any:
        return self._array.__dlpack__(**wanted)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self._array.__dlpack_device__()


class WithInterface(Borrowed):
    @property
    def __array_interface__(self) -> Any:
        return self._array.__array_interface__


class OnGpu(Borrowed):
    def __dlpack__(self, **_: Any) -> Any:
        raise BufferError("on another device")

    def __dlpack_device__(self) -> tuple[int, int]:
        return (2, 0)


# --- what works ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("wrapped", [lambda a: a, WithDlpack, WithInterface])
def test_the_product_is_that_of_numpy(module: Module, wrapped: Any) -> None:
    a, b, c = matrices(33)
    launched = module.matmul(33, wrapped(a), wrapped(b), wrapped(c))
    assert launched.leaf >= 0
    np.testing.assert_allclose(c, a @ b, rtol=1e-5)


def test_program_parameters_decide_about_the_leaf(module: Module, written: Path) -> None:
    a, b, c = matrices(32)
    leaf = module.matmul(32, a, b, c, B0=4, ub1=4, s=2).leaf
    np.testing.assert_allclose(c, a @ b, rtol=1e-5)
    assert leaf == 0
    tiles = json.loads((written / "matmul.json").read_text())["functions"][0]["regions"][0]["tiles"][0][
        "instances"
    ]
    assert module.matmul(32, a=a, b=b, c=c, B0=4, ub1=4, s=2, tile=2).leaf == tiles[1]["leaf"]


def test_what_is_chosen_is_what_runs(module: Module) -> None:
    a, b, c = matrices(70)
    chosen = module.matmul.choose(70)
    launched = module.matmul(70, a, b, c)
    assert (launched.leaf, launched.cycles) == (chosen.leaf, chosen.cycles)
    assert dict(module.matmul.choose(70, **chosen.parameters).parameters) == dict(chosen.parameters)


def test_the_choice_moves_with_size_and_machine(module: Module) -> None:
    leaves = {module.matmul.choose(n, machine="h200").leaf for n in (64, 512, 2048)}
    assert len(leaves) > 1
    tiny = {**h200(), "Z_B": 16, "R_B": 32}
    roomy = module.matmul.choose(64, machine="h200", B0=4, ub1=4, s=2)
    assert module.matmul.choose(64, machine=tiny, B0=4, ub1=4, s=2).leaf != roomy.leaf


def test_where_data_begins_counts(module: Module) -> None:
    a, b, _ = matrices(64)
    shifted = np.zeros(64 * 64 + 1, np.float32)[1:].reshape(64, 64)
    aligned = module.matmul.choose(64, machine="h200", a=a, b=b)
    assert aligned.cycles <= module.matmul.choose(64, machine="h200", a=shifted, b=b).cycles
    assert aligned == module.matmul.choose(64, machine="h200") or a.ctypes.data % 16


def test_empty_data_runs_nothing(module: Module) -> None:
    a, b, c = matrices(0)
    assert module.matmul(0, a, b, c).leaf == -1


def test_names_of_the_user_are_not_hidden(calm: Any) -> None:
    x, y = np.arange(8, dtype=np.float32), np.zeros((8, 6), np.float32)
    calm(8, 3, 0.5, x, y, stream_=None)
    np.testing.assert_array_equal(y[:, 0], x * 0.5)


def test_a_flat_array_serves_as_a_matrix(calm: Any) -> None:
    x, y = np.ones(4, np.float32), np.zeros(4 * 6, np.float32)
    calm(4, 3, 2.0, x, y)
    assert y.reshape(4, 6)[:, 0].tolist() == [2.0] * 4


def test_modules_tell_what_is_in_them(module: Module) -> None:
    assert "matmul(int n, const float *a, const float *b, float *c, *, B0, ub1, s, tile)" in repr(module)
    assert dir(module) == ["matmul"]


@pytest.mark.slow
def test_what_was_compiled_once_is_not_compiled_again(
    written: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Load from another process and from another place: nothing is compiled again."""
    monkeypatch.setenv("COMPREHENSIVE_CACHE", str(tmp_path / "cache"))
    calls, compiler = tmp_path / "calls", tmp_path / "g++"
    compiler.write_text(f'#!/bin/sh\necho called >> {calls}\nexec g++ "$@"\n')
    compiler.chmod(0o755)
    monkeypatch.setenv("CXX", str(compiler))
    code = "import comprehensive, sys; comprehensive.load(sys.argv[1], device='cpu')"
    for number, expected in enumerate((2, 3)):  # one call asks for the version
        path = shutil.copytree(written, tmp_path / str(number)) / "calm.json"
        subprocess.run([sys.executable, "-c", code, str(path)], check=True)
        assert len(calls.read_text().splitlines()) == expected


def test_importing_the_package_imports_nothing_else() -> None:
    code = "import comprehensive, sys; print([m for m in sys.modules if m.startswith('comprehensive.')])"
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert answer.stdout.strip() == "[]"


# --- what is refused -----------------------------------------------------------------------------------------


def call_with(**changed: Any) -> dict[str, Any]:
    a, b, c = matrices(8)
    return {"n": 8, "a": a, "b": b, "c": c, **changed}


def read_only() -> np.ndarray:
    array = np.zeros((8, 8), np.float32)
    array.flags.writeable = False
    return array


def unaligned() -> np.ndarray:
    return np.frombuffer(bytearray(8 * 8 * 4 + 1), np.uint8)[1:].view(np.float32).reshape(8, 8)


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        (
            call_with(c=np.zeros((7, 8), np.float32)),
            ValueError,
            "c has 7 x 8 elements where 8 x 8 are needed",
        ),
        (call_with(c=np.zeros((8, 9), np.float32)), ValueError, "c has 8 x 9 elements"),
        (call_with(c=np.zeros(63, np.float32)), ValueError, "c has 63 elements"),
        (call_with(a=np.zeros((8, 8))), TypeError, "a must have elements of float32, not <f8"),
        (call_with(a=np.zeros((8, 16), np.float32)[:, ::2]), TypeError, "a must be contiguous"),
        (call_with(c=read_only()), TypeError, "read-only"),
        (call_with(a=[1.0]), TypeError, r"a \(list\) is no array"),
        (call_with(a=OnGpu(np.zeros(1))), TypeError, r"a \(OnGpu\) cannot be seen from the processor"),
        (call_with(n=8.5), TypeError, "n must be a number"),
        (call_with(n=1 << 40), OverflowError, "does not fit into int"),
        (call_with(d=1), TypeError, "has no argument d"),
        (call_with(B0=4), TypeError, "give ub1, s, too"),
        (call_with(stream=1), TypeError, "no streams on the processor"),
        (call_with(machine="h300"), ValueError, "not known"),
        (call_with(machine={"Z_B": 1}), ValueError, "the machine misses R_B"),
        (call_with(machine={**h200(), "T_B": 1 << 64}), OverflowError, "T_B = .* does not fit into long"),
        (call_with(machine=3), TypeError, "a machine is the name of a device"),
        (call_with(a=np.zeros((8, 8), ">f4")), TypeError, "a must have elements of float32, not >f4"),
        (call_with(a=unaligned()), TypeError, "a begins at no multiple of 4 bytes"),
        (call_with(n="8"), TypeError, "n must be a number"),
        (call_with(B0=1.5, ub1=1, s=1), TypeError, "B0 must be a number"),
        (call_with(B0=1, ub1=1, s=1, tile=1 << 40), OverflowError, "tile = .* does not fit into int"),
    ],
)
def test_a_wrong_argument_is_named(
    module: Module, arguments: dict[str, Any], error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        module.matmul(**arguments)


def test_arguments_missing_twice_or_too_many(module: Module) -> None:
    a, b, c = matrices(8)
    with pytest.raises(TypeError, match="misses b, c"):
        module.matmul(8, a)
    with pytest.raises(TypeError, match="got n twice"):
        module.matmul(8, a, b, c, n=8)
    with pytest.raises(TypeError, match="takes 4 arguments in order, got 5"):
        module.matmul(8, a, b, c, 1)
    with pytest.raises(AttributeError, match="there are matmul"):
        module.matadd  # noqa: B018


def test_data_that_is_written_overlaps_no_other(module: Module) -> None:
    a, b, _ = matrices(8)
    both = np.zeros((9, 8), np.float32)
    for c in (a, both[:8]):
        with pytest.raises(ValueError, match="a and c overlap in memory"):
            module.matmul(8, a if c is a else both[1:], b, c)
    c = np.zeros((8, 8), np.float32)
    module.matmul(8, a, a, c)
    np.testing.assert_allclose(c, a @ a, rtol=1e-5)


def test_read_only_data_serves_where_it_is_only_read(module: Module) -> None:
    a, b, c = matrices(8)
    a.flags.writeable = False
    module.matmul(8, a, b, c)
    np.testing.assert_allclose(c, a @ b, rtol=1e-5)


def test_infeasible_parameters_name_the_condition_and_what_would_do(module: Module) -> None:
    a, b, c = matrices(64)
    with pytest.raises(
        comprehensive.LaunchError, match=r"B0\*ub1 <= T_B \(needed: 4096, available: 1024\)"
    ) as raised:
        module.matmul(64, a, b, c, B0=64, ub1=64, s=1)
    assert (raised.value.status, raised.value.needed, raised.value.available) == (1, 4096, 1024)
    assert raised.value.constraint == "B0*ub1 <= T_B"
    assert "without program parameters feasible ones are chosen" in str(raised.value)


@pytest.mark.parametrize(
    ("n", "parameters", "words"),
    [
        (-1, {}, "n >= 0 .needed: 0, available: -1"),
        (8, {"B0": 0, "ub1": 1, "s": 1}, "B0 >= 1"),
        (8, {"B0": 8, "ub1": 1, "s": 1}, "B0 <= ub1 [*] s .needed: 8, available: 1"),
    ],
)
def test_refusals_of_the_launcher_are_errors(
    module: Module, n: int, parameters: dict[str, int], words: str
) -> None:
    a, b, c = matrices(8)
    with pytest.raises(comprehensive.LaunchError, match=words):
        module.matmul(n, a, b, c, **parameters)
    with pytest.raises(comprehensive.LaunchError, match=words):
        module.matmul.choose(n, **parameters)


def test_sizes_that_overflow_are_refused(calm: Any) -> None:
    x, y = np.ones(4, np.float32), np.zeros(4, np.float32)
    with pytest.raises(ValueError, match=r"y is declared with n x 2 \* m elements, which cannot be computed"):
        calm(2**31 - 1, 2**31 - 1, 1.0, x, y)


# --- files ---------------------------------------------------------------------------------------------------


def copied(written: Path, to: Path) -> Path:
    for path in (*written.glob("matmul.*"), *written.glob("cf_*")):
        (to / path.name).write_bytes(path.read_bytes())
    return to / "matmul.json"


def refused(path: Path, device: str = "cpu") -> str:
    with pytest.raises(comprehensive.LoadError) as raised:
        comprehensive.load(path, device=device)
    return str(raised.value)


def test_files_that_are_no_manifest(written: Path, tmp_path: Path) -> None:
    assert "cannot read" in refused(tmp_path / "missing.json")
    (tmp_path / "broken.json").write_text("{")
    assert "is no manifest" in refused(tmp_path / "broken.json")
    assert "not the tree" in refused(copied(written, tmp_path).with_name("matmul.tree.json"))


@pytest.mark.parametrize(("key", "value"), [("schema", 0), ("interface", 1)])
def test_another_version_is_refused(written: Path, tmp_path: Path, key: str, value: int) -> None:
    path = copied(written, tmp_path)
    path.write_text(json.dumps({**json.loads(path.read_text()), key: value}))
    assert f"of another version (comprehensive {comprehensive.__version__})" in refused(path)


def test_a_damaged_manifest_is_refused(written: Path, tmp_path: Path) -> None:
    path = copied(written, tmp_path)
    document = json.loads(path.read_text())
    document["functions"][0]["arguments"][0]["type"] = "complex"
    path.write_text(json.dumps(document))
    assert "damaged" in refused(path)


@pytest.mark.parametrize("name", ["matmul.h", "matmul.cu"])
def test_files_of_another_generation_are_refused(written: Path, tmp_path: Path, name: str) -> None:
    path = copied(written, tmp_path)
    (tmp_path / name).write_text((tmp_path / name).read_text() + "\n")
    assert f"{name}' is not the file that was written with" in refused(path)
    (tmp_path / name).unlink()
    assert "generate everything again" in refused(path)


def test_unknown_device_and_missing_compilers(
    written: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = copied(written, tmp_path)
    assert "give gpu or cpu" in refused(path, "tpu")
    monkeypatch.setenv("CXX", "no-such-compiler")
    assert "no C++ compiler" in refused(path)
    monkeypatch.setenv("CXX", "false")
    monkeypatch.setenv("COMPREHENSIVE_CACHE", str(tmp_path / "cache"))
    assert "rejects matmul.cu" in refused(path)


def test_without_cuda_core_or_a_gpu_one_is_told_what_to_do(written: Path) -> None:
    said = refused(written / "matmul.json", "gpu")
    assert "load(..., device='cpu')" in said


def test_several_threads_call_at_once(module: Module) -> None:
    def product(n: int) -> bool:
        a, b, c = matrices(n)
        module.matmul(n, a, b, c)
        return bool(np.allclose(c, a @ b, rtol=1e-4))

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(product, (20, 21, 22, 23, 24, 25)))


def test_a_cache_that_cannot_be_written_is_no_error(
    written: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("COMPREHENSIVE_CACHE", str(tmp_path / "file" / "cache"))
    assert comprehensive.load(written / "calm.json", device="cpu").calm.choose(8, 3, 0.5).leaf >= 0


def test_a_damaged_library_is_made_again(
    written: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COMPREHENSIVE_CACHE", str(tmp_path / "cache"))
    code = (
        "import comprehensive, sys; "
        "print(comprehensive.load(sys.argv[1], device='cpu').calm.choose(8, 3, 0.5).leaf)"
    )

    def run() -> str:
        command = [sys.executable, "-c", code, str(written / "calm.json")]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout

    before = run()
    (entry,) = (path for path in (tmp_path / "cache").rglob("*") if path.is_file())
    entry.write_bytes(entry.read_bytes()[:-1])
    assert run() == before


def test_options_go_to_the_compiler(written: Path) -> None:
    with pytest.raises(comprehensive.LoadError, match=r"rejects calm\.cu"):
        comprehensive.load(written / "calm.json", device="cpu", options=["-include", "missing.h"])
