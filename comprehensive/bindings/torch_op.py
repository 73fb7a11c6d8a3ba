"""A generated function as an operator of torch: a loaded function in, what `torch.library.custom_op` makes of it out.

    module = comprehensive.load("out/saxpy.json", device="cpu")
    saxpy = comprehensive.torch_op(module.saxpy)     # also torch.ops.comprehensive.saxpy
    torch.compile(lambda x, y: saxpy(len(x), 2.0, x, y))

The schema is read off the interface.  Data that is written is mutated, nothing is returned, and program parameters
are keywords, given all or none::

    saxpy(SymInt n, float alpha, Tensor x, Tensor(a3!) y, *, SymInt? B=None, SymInt? tile=None) -> ()
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from keyword import kwlist
from types import MappingProxyType
from typing import Any

from comprehensive.bindings.errors import LoadError
from comprehensive.bindings.function import GeneratedFunction
from comprehensive.metafork.ast import ScalarType
from comprehensive.plan.interface import Argument, Interface, fresh

NAMESPACE = "comprehensive"
_TAKEN = frozenset((*kwlist, "NoneType", "self", "self_"))
"""Names that the arguments of an operator cannot have, or about which torch warns."""
_DEVICE_TYPES = MappingProxyType({"gpu": "cuda", "cpu": "cpu"})


def torch_op(function: GeneratedFunction, *others: GeneratedFunction, name: str | None = None) -> Any:
    """Register a function as a custom operator, which `torch.compile` takes as it is, and return the operator.

    ``name`` is ``namespace::name``, by default ``comprehensive::`` and the name of the function; an operator that had
    it before is replaced.  The operator runs on the kind of device that the function was loaded for (``cuda``, or
    ``cpu`` for ``device="cpu"``), and with ``others``, the same function loaded for another kind, on several.  On a GPU
    it runs on the current stream of torch.  Elements of `bfloat16` are those of torch.  No gradient goes through it.
    Arguments whose names are words of Python have an underscore behind them, as in ``in_``.

    LoadError without torch 2.4 or newer, ValueError for a name that is none, and for ``others`` that are another
    function or for the same kind of device.
    """
    torch = _torch()
    wanted = f"{NAMESPACE}::{function.__name__}" if name is None else name
    parts = wanted.split("::")
    if len(parts) != 2 or not all(part.isidentifier() for part in parts):
        raise ValueError(f"an operator has a name like 'mylib::{function.__name__}', not {wanted!r}")
    _demand_alike(function, others)
    operator = torch.library.custom_op(
        wanted,
        _implementation(function, torch),
        mutates_args=tuple(
            name for a, name in _spelled(function.interface, function.interface.arguments) if _is_mutated(a)
        ),
        device_types=_DEVICE_TYPES[function.device],
        schema=schema_of(function),
    )
    for other in others:
        operator.register_kernel(_DEVICE_TYPES[other.device])(_implementation(other, torch))
    operator.register_fake(_fake(function, torch))
    return operator


def schema_of(function: GeneratedFunction) -> str:
    """Return the arguments and the result of a function in the language of torch's schemas."""
    interface = function.interface
    arguments = (
        f"{_schema_type(argument, place)} {name}"
        for place, (argument, name) in enumerate(_spelled(interface, interface.arguments))
    )
    chosen = [f"SymInt? {name}=None" for _, name in _spelled(interface, interface.members)]
    return f"({', '.join([*arguments, *(['*', *chosen] if chosen else [])])}) -> ()"


def _spelled(interface: Interface, arguments: Sequence[Argument]) -> tuple[tuple[Argument, str], ...]:
    """Arguments with their names in an operator, which are others where torch or Python has a meaning for them."""
    names = _TAKEN.union(a.name for a in (*interface.everything, *interface.members))
    return tuple((a, fresh(f"{a.name}_", names) if a.name in _TAKEN else a.name) for a in arguments)


def _schema_type(argument: Argument, place: int) -> str:
    if argument.pointer:
        tensor = f"Tensor(a{place}!)" if _is_mutated(argument) else "Tensor"
        return f"{tensor}?" if argument.may_be_null else tensor
    if argument.type is ScalarType.BOOL:
        return "bool"
    return "SymInt" if argument.type.is_integer else "float"


def _is_mutated(argument: Argument) -> bool:
    return argument.pointer and not argument.const


def _demand_alike(function: GeneratedFunction, others: tuple[GeneratedFunction, ...]) -> None:
    devices = [function.device]
    for other in others:
        if other.interface != function.interface:
            raise ValueError(f"{other.signature} is another function than {function.signature}")
        if other.device in devices:
            raise ValueError(f"two functions are given for the device '{other.device}'")
        devices.append(other.device)


def _given(
    function: GeneratedFunction, positional: Sequence[Any], named: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the arguments of a call of the operator, by the names of the function, without members that are None."""
    interface = function.interface
    spelled = _spelled(interface, (*interface.arguments, *interface.members))
    by_name = {**dict(zip((name for _, name in spelled), positional, strict=False)), **named}
    return {
        a.name: by_name.get(name) for a, name in spelled if by_name.get(name) is not None or a.may_be_null
    }


def _implementation(function: GeneratedFunction, torch: Any) -> Callable[..., None]:
    data = [a.name for a in function.interface.arguments if a.pointer]

    def run(*positional: Any, **named: Any) -> None:
        given = _given(function, positional, named)
        tensors = {name: _plain(given[name], torch) for name in data if given[name] is not None}
        if function.device == "cpu":
            function(**{**given, **{name: tensor.numpy() for name, tensor in tensors.items()}})
            return
        device = next(tensor.device for tensor in tensors.values())
        with torch.cuda.device(device):
            stream = torch.cuda.current_stream(device).cuda_stream
            function(**{**given, **tensors, function.stream_name: stream})

    return run


def _plain(tensor: Any, torch: Any) -> Any:
    """The same memory as a tensor that other libraries can see: without gradients, and without `bfloat16`."""
    plain = tensor.detach()
    return plain.view(torch.int16) if plain.dtype == torch.bfloat16 else plain


def _fake(function: GeneratedFunction, torch: Any) -> Callable[..., None]:
    """Return the function that runs while a program is traced: it changes nothing, and refuses data of another type."""
    wanted = {a.name: _dtype(a.type, torch) for a in function.interface.arguments if a.pointer}

    def run(*positional: Any, **named: Any) -> None:
        given = _given(function, positional, named)
        for name, dtype in wanted.items():
            if given[name] is not None and given[name].dtype != dtype:
                raise TypeError(f"{name} must have elements of {dtype}, not {given[name].dtype}")

    return run


def _dtype(type: ScalarType, torch: Any) -> Any:
    return torch.bfloat16 if type is ScalarType.BFLOAT16 else getattr(torch, type.numpy_name)


def _torch() -> Any:
    try:
        torch = import_module("torch")
    except ImportError as error:
        raise LoadError(f"an operator of torch needs torch ({error}): pip install torch") from error
    if not hasattr(torch.library, "custom_op"):
        raise LoadError(f"an operator of torch needs torch 2.4 or newer, and this is {torch.__version__}")
    return torch
