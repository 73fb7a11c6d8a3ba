"""Generated functions as operators of torch, on the processor; what needs torch is skipped where it is missing."""

from __future__ import annotations

import sys
import types
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

import comprehensive
from comprehensive import LoadError
from comprehensive.bindings.load import Module
from comprehensive.bindings.torch_op import _implementation, schema_of

TEXT = """
void saxpy(int n, float alpha, const float *x, float *y, int B)
{
  meta_schedule block(B) {
    meta_for (int i = 0; i < n; i++)
      y[i] += alpha * x[i];
  }
}
void add(long n, const bfloat16 *in, bfloat16 *self)
{
  meta_schedule {
    meta_for (long i = 0; i < n; i++)
      meta_for (int j = 0; j < 1; j++)
        self[i] += in[i];
  }
}
"""


@pytest.fixture(scope="module")
def module() -> Module:
    return comprehensive.compile(TEXT, name="ops", registers="estimate").load(device="cpu")


@pytest.fixture(scope="module")
def torch() -> Any:
    return pytest.importorskip("torch", reason="needs torch, which is no dependency: pip install torch")


@pytest.fixture(scope="module")
def saxpy(module: Module, torch: Any) -> Any:
    return comprehensive.torch_op(module.saxpy)


def data(torch: Any, n: int) -> tuple[Any, Any]:
    return torch.arange(n, dtype=torch.float32), torch.ones(n)


def test_the_schema_says_what_is_written_and_what_may_be_chosen(module: Module) -> None:
    assert schema_of(module.saxpy) == (
        "(SymInt n, float alpha, Tensor x, Tensor(a3!) y, *, SymInt? B=None, SymInt? tile=None) -> ()"
    )
    # Words of Python cannot be names there.
    assert schema_of(module["add"]) == (
        "(SymInt n, Tensor in_, Tensor(a2!) self__, *, SymInt? tile=None) -> ()"
    )


@pytest.mark.parametrize(
    ("stand_in", "words"),
    [
        (None, "an operator of torch needs torch .* pip install torch"),
        (
            types.SimpleNamespace(library=types.SimpleNamespace(), __version__="2.3.1"),
            "2.4 or newer, and this is 2.3.1",
        ),
    ],
)
def test_without_a_torch_that_has_operators_it_says_so(
    module: Module, monkeypatch: pytest.MonkeyPatch, stand_in: Any, words: str
) -> None:
    monkeypatch.setitem(sys.modules, "torch", stand_in)
    with pytest.raises(LoadError, match=words):
        comprehensive.torch_op(module.saxpy)


def test_on_a_gpu_an_operator_runs_on_the_device_of_its_data_and_the_current_stream_of_torch(
    module: Module,
) -> None:
    # Of torch and of the function only what is asked of them, since there is no GPU here.
    entered: list[str] = []
    calls: list[dict[str, Any]] = []

    class Data:
        device, dtype = "cuda:1", "float32"

        def detach(self) -> Any:
            return self

    @contextmanager
    def current(device: str) -> Iterator[None]:
        entered.append(device)
        yield
        entered.append("left")

    stream = types.SimpleNamespace(cuda_stream=77)
    cuda = types.SimpleNamespace(device=current, current_stream=lambda device: stream)
    stand_in = types.SimpleNamespace(cuda=cuda, bfloat16="bfloat16")

    class OnGpu:
        interface, device, stream_name = module.saxpy.interface, "gpu", "stream"

        def __call__(self, **named: Any) -> None:
            calls.append(named)

    x, y = Data(), Data()
    _implementation(OnGpu(), stand_in)(10, 2.0, x, y, B=32, tile=None)  # type: ignore[arg-type]
    assert entered == ["cuda:1", "left"]
    assert calls == [{"n": 10, "alpha": 2.0, "x": x, "y": y, "B": 32, "stream": 77}]


def test_an_operator_computes_in_place(saxpy: Any, torch: Any) -> None:
    x, y = data(torch, 100)
    assert saxpy(100, 2.0, x, y) is None
    torch.testing.assert_close(y, 1 + 2 * x, rtol=0, atol=0)
    torch.ops.comprehensive.saxpy(100, 1.0, x, y, B=32, tile=0)
    torch.testing.assert_close(y, 1 + 3 * x, rtol=0, atol=0)


def test_torch_finds_nothing_wrong_with_an_operator(saxpy: Any, torch: Any) -> None:
    x, y = data(torch, 20)
    torch.library.opcheck(saxpy, (20, 2.0, x, y))
    torch.library.opcheck(saxpy, (20, 2.0, x, y), {"B": 32})


@pytest.mark.parametrize("backend", ["eager", "aot_eager", pytest.param("inductor", marks=pytest.mark.slow)])
def test_a_compiled_function_may_call_an_operator(saxpy: Any, torch: Any, backend: str) -> None:
    def plain(x: Any, y: Any) -> Any:
        z = y * 2
        saxpy(x.shape[0], 2.0, x, z)
        return z + 1

    torch._dynamo.reset()
    compiled = torch.compile(plain, backend=backend, fullgraph=True)
    for n in (100, 50, 60):  # the second size makes it a symbol
        x, y = data(torch, n)
        torch.testing.assert_close(compiled(x, y), 3 + 2 * x, rtol=0, atol=0)
        torch.testing.assert_close(y, torch.ones(n), rtol=0, atol=0)


def test_elements_of_bfloat16_are_those_of_torch(module: Module, torch: Any) -> None:
    add = comprehensive.torch_op(module["add"], name="tests::add")
    x, y = torch.ones(10, dtype=torch.bfloat16), torch.full((10,), 2.0, dtype=torch.bfloat16)
    torch.ops.tests.add(10, x, y)
    add(n=10, in_=x, self__=y)
    torch.library.opcheck(add, (10, x, y))
    assert y.tolist() == [4.0] * 10


def test_data_that_does_not_fit_is_refused(saxpy: Any, torch: Any) -> None:
    x, y = data(torch, 100)
    for arguments, error, words in [
        ((100, 2.0, x.double(), y), TypeError, "x must have elements of float32"),
        ((100, 2.0, x, y[:50]), ValueError, "y has 50 elements where 100 are needed"),
        ((50, 2.0, x[::2], y), TypeError, "x must be contiguous"),
        ((100, 2.0, x, x), ValueError, "x and y overlap in memory"),
    ]:
        with pytest.raises(error, match=words):
            saxpy(*arguments)
    with pytest.raises(TypeError, match="give B, too"):
        saxpy(100, 2.0, x, y, tile=1)


def test_data_of_another_type_is_refused_while_a_program_is_traced(saxpy: Any, torch: Any) -> None:
    with torch._subclasses.FakeTensorMode():
        x, y = torch.empty(10, dtype=torch.float64), torch.empty(10)
        with pytest.raises(TypeError, match=r"x must have elements of torch\.float32, not torch\.float64"):
            saxpy(10, 2.0, x, y)


@pytest.mark.parametrize("name", ["saxpy", "a::b::c", "a::1", "::f"])
def test_a_name_without_a_namespace_is_refused(module: Module, torch: Any, name: str) -> None:
    with pytest.raises(ValueError, match="an operator has a name like 'mylib::saxpy'"):
        comprehensive.torch_op(module.saxpy, name=name)


def test_functions_of_an_operator_must_be_the_same_on_different_devices(module: Module, torch: Any) -> None:
    with pytest.raises(ValueError, match="is another function than"):
        comprehensive.torch_op(module.saxpy, module["add"])
    with pytest.raises(ValueError, match="two functions are given for the device 'cpu'"):
        comprehensive.torch_op(module.saxpy, module.saxpy)
