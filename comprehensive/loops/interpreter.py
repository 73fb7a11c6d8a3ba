"""The reference interpreter: what a nest means, on concrete numbers, with exact C semantics.

In: a nest, its scalars and its arrays.  Out: the arrays afterwards.  Every loop of the grid and of a band runs in
order, one point after the other: the serial elision of the program.  Whatever C leaves undefined raises
:class:`UndefinedBehaviour` with the place.  Example::

    run(nest, {"n": 8, "B": 4}, {"a": numpy.zeros(8, "int32")})["a"]

A nest is compiled to one Python function once; see ``compile_python.py``, ``python_expressions.py``
and ``arithmetic.py``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from itertools import count
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from comprehensive.diagnostics import GENERATED, Span
from comprehensive.loops.arithmetic import EndlessLoopError, UndefinedBehaviour, Value
from comprehensive.loops.compile_python import compile_body, open_loops
from comprehensive.loops.elements import numbers, stored
from comprehensive.loops.ir import Nest, Scalar
from comprehensive.loops.python_expressions import ExprCompiler, Writer
from comprehensive.loops.types import environment_of
from comprehensive.metafork.ast import Expr, ScalarType
from comprehensive.metafork.scalar_types import promote

__all__ = [
    "EndlessLoopError",
    "UndefinedBehaviour",
    "c_value",
    "dimensions",
    "holds_preconditions",
    "run",
    "scalar_values",
]

Data: TypeAlias = npt.NDArray[Any]
Order: TypeAlias = Literal["forward", "reversed"]


def run(
    nest: Nest, arguments: Mapping[str, int | float], data: Mapping[str, Data], *, order: Order = "forward"
) -> dict[str, Data]:
    """The arrays of the nest after one execution; ``data`` itself is left as it is.

    ``arguments`` gives every scalar of the nest but those of the host whose value is known.  An array has the
    type ``type.numpy_name`` and as many elements as its dimensions say, in any shape; the result has its shape.
    ``order="reversed"`` runs grid and threads backwards: a legal nest gives the same.

    Raises UndefinedBehaviour, EndlessLoopError where serial loops take too many turns, and ValueError for
    arguments or arrays that do not fit the nest.
    """
    values = scalar_values(nest, arguments)
    extents: list[int] = []
    cells: dict[str, list[Any]] = {}
    for array in nest.arrays:
        if array.pointer not in data:
            raise ValueError(f"array '{array.pointer}' is missing")
        given = data[array.pointer]
        if given.dtype != array.type.numpy_name:
            raise ValueError(f"array '{array.name}' has type {given.dtype}, not {array.type.value}")
        shape = _dimensions(nest, array.name, values, given.size)
        if not array.whole_rows:
            shape = (given.size, *shape[1:])
        elif np.prod(shape, dtype=object) != given.size:
            raise ValueError(f"array '{array.name}' has {given.size} elements; its dimensions are {shape}")
        extents += shape
        if array.pointer not in cells:
            flat = given.ravel()
            is_single = promote(array.type) is ScalarType.FLOAT
            cells[array.pointer] = list(numbers(flat, array.type)) if is_single else flat.tolist()
    compiled = _compile(_Identity(nest), order)
    compiled.call(*values.values(), *(cells[array.pointer] for array in nest.arrays), *extents)
    types = {array.pointer: array.type for array in nest.arrays}
    return {name: _array(after, types[name]).reshape(data[name].shape) for name, after in cells.items()}


def _array(after: list[Any], type: ScalarType) -> Data:
    if type.is_storage:
        return stored(np.array(after, dtype=np.float32), type)
    return np.array(after, dtype=type.numpy_name)


def scalar_values(nest: Nest, arguments: Mapping[str, int | float]) -> dict[str, Value]:
    """All scalars of the nest in order, in their types; those of the host with known definitions are computed.

    Raises ValueError where one is missing or does not fit its type.
    """
    values: dict[str, Value] = {}
    types: dict[str, ScalarType] = {}
    for scalar in nest.scalars:
        if scalar.value is not None:
            values[scalar.name] = _evaluate(scalar.value, values, types, scalar.type)
        elif scalar.name in arguments:
            values[scalar.name] = _argument(scalar, arguments[scalar.name])
        else:
            raise ValueError(f"scalar '{scalar.name}' is missing")
        types[scalar.name] = scalar.type
    return values


def holds_preconditions(nest: Nest, arguments: Mapping[str, int | float]) -> bool:
    """Whether all asserts of the host hold."""
    values = scalar_values(nest, arguments)
    types = {s.name: s.type for s in nest.scalars}
    return all(_evaluate(condition, values, types) for condition in nest.preconditions)


def c_value(
    expr: Expr, arguments: Mapping[str, int | float], types: Mapping[str, ScalarType] | None = None
) -> int | float:
    """The value of a scalar expression in C.

    Without ``types``, integers are ``int`` where they fit, else ``long``; other numbers are ``double``.
    Raises UndefinedBehaviour.
    """
    known = {name: _guess(value) for name, value in arguments.items()} | dict(types or {})
    value = _evaluate(expr, arguments, known)
    return value if isinstance(value, int) else float(value)


def dimensions(nest: Nest, array: str, arguments: Mapping[str, int | float]) -> tuple[int, ...]:
    """The extents of an array with declared dimensions, in elements.

    Raises ValueError for an array behind a plain pointer and for one with an open first dimension.
    """
    return _dimensions(nest, array, scalar_values(nest, arguments), None)


def _dimensions(nest: Nest, array: str, values: Mapping[str, Value], size: int | None) -> tuple[int, ...]:
    types = {s.name: s.type for s in nest.scalars}
    dims = nest.array(array).dims or (None,)
    extents = [None if d is None else int(_evaluate(d, values, types)) for d in dims]
    if extents[0] is None:
        if size is None:
            raise ValueError(f"array '{array}' does not say how many elements it has")
        row = int(np.prod([e for e in extents[1:] if e is not None], dtype=object))
        extents[0] = size // row if row > 0 else 0
    return tuple(e for e in extents if e is not None)


def _guess(value: int | float) -> ScalarType:
    if not isinstance(value, int):
        return ScalarType.DOUBLE
    fitting = (ScalarType.INT, ScalarType.LONG)
    return next((type for type in fitting if type.lowest <= value <= type.highest), ScalarType.UNSIGNED_LONG)


def _argument(scalar: Scalar, value: int | float) -> Value:
    if not scalar.type.is_integer:
        return np.float32(value) if scalar.type is ScalarType.FLOAT else float(value)
    if int(value) != value or not scalar.type.lowest <= value <= scalar.type.highest:
        raise ValueError(f"scalar '{scalar.name}' cannot be {value}: its type is {scalar.type.value}")
    return int(value)


# --- compilation ---------------------------------------------------------------------------------------------


class _Compiled(Struct, frozen=True):
    function: Callable[..., Any]
    file: str
    spans: tuple[Span, ...]
    """The span of every line of the function, from line 1."""

    def call(self, *arguments: Any) -> Any:
        """Runs the function; Python's own report of an unset variable becomes one about the C program."""
        try:
            with np.errstate(all="ignore"):
                return self.function(*arguments)
        except NameError as error:
            name = re.search(r"'v_(\w+)'", str(error))
            trace = error.__traceback__
            line = 0
            while trace is not None:
                if trace.tb_frame.f_code.co_filename == self.file:
                    line = line or trace.tb_lineno
                trace = trace.tb_next
            if name is None or line == 0:
                raise
            raise UndefinedBehaviour(
                f"'{name[1]}' is read before it has a value", self.spans[line - 1]
            ) from None


_numbers = count()


def _finish(writer: Writer, parameters: list[str]) -> _Compiled:
    head = [f"def kernel({', '.join(parameters)}):", *writer.prologue]
    spans = (GENERATED,) * len(head) + tuple(writer.line_spans)
    file = f"<nest {next(_numbers)}>"
    names = writer.names()
    exec(compile("\n".join([*head, *writer.lines, ""]), file, "exec"), names)
    return _Compiled(names["kernel"], file, spans)


@lru_cache(maxsize=512)
def _compile_expr(expr: Expr, names: tuple[tuple[str, ScalarType], ...], to: ScalarType | None) -> _Compiled:
    writer = Writer()
    code = ExprCompiler(writer, dict(names)).value(expr, to)
    writer.line(f"return {code.text}", expr.span)
    return _finish(writer, [f"v_{name}" for name, _ in names])


def _evaluate(
    expr: Expr,
    values: Mapping[str, int | float | np.float32],
    types: Mapping[str, ScalarType],
    to: ScalarType | None = None,
) -> Value:
    names = tuple((name, types[name]) for name in sorted(values))
    return _compile_expr(expr, names, to).call(*(values[name] for name, _ in names))


class _Identity:
    """A nest as a key of the cache: equal nests may have different spans, which errors show."""

    def __init__(self, nest: Nest) -> None:
        self.nest = nest

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Identity) and other.nest is self.nest

    def __hash__(self) -> int:
        return id(self.nest)


@lru_cache(maxsize=64)
def _compile(key: _Identity, order: Order) -> _Compiled:
    nest, writer = key.nest, Writer(backwards=order == "reversed")
    data = {a.name: a for a in nest.arrays}
    scope = ExprCompiler(writer, environment_of(nest), data=data)
    writer.line("_n = 0")
    for loop in (*nest.grid, *nest.thread_loops):
        if loop.extent not in writer.extents:
            writer.extents[loop.extent] = f"x_{len(writer.extents)}"
            writer.line(f"{writer.extents[loop.extent]} = {scope.value(loop.extent).text}", loop.span)
    open_loops(writer, nest.grid)
    compile_body(writer, nest.body, scope)
    parameters = [f"v_{s.name}" for s in nest.scalars] + [f"a_{a.name}" for a in nest.arrays]
    parameters += [f"d_{a.name}_{dimension}" for a in nest.arrays for dimension in range(a.rank)]
    return _finish(writer, parameters)
