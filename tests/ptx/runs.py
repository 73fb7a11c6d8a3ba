"""Lines ``// run:`` of a source to launches of its kernels with data that is the same everywhere.

In: the text of a ``.cu`` or ``.ptx`` file.  Out: a :class:`Run` a line, and by :func:`drawn` the bytes that each
argument begins with::

    // run: saxpy(i32=333, f32=2.5, in f32[333], inout f32[333] -1..1) grid=(3) block=(128)

    run = runs_of(text)[0]
    run.grid, run.arguments[2]    # (3, 1, 1), Buffer(direction='in', type='f32', count=333, ...)
    drawn(run)[0]                 # b'M\\x01\\x00\\x00'

`README.md` beside this file has the whole format.  The data comes from a counter through the finaliser of
splitmix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014), so that it depends on no
version of any library.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[Any]
Dimensions: TypeAlias = tuple[int, int, int]

# bfloat16 is unknown to numpy: its arrays hold the bits.
DTYPES: dict[str, np.dtype[Any]] = {
    **{f"{kind}{8 * size}": np.dtype(f"{kind}{size}") for kind in "iu" for size in (1, 2, 4, 8)},
    **{f"f{8 * size}": np.dtype(f"f{size}") for size in (2, 4, 8)},
    "bf16": np.dtype("u2"),
}
# What nothing has written reads as this in every byte.
UNWRITTEN = 0xA5


@dataclass(frozen=True, slots=True)
class Buffer:
    """``count`` elements in global memory; ``direction`` is ``in``, ``out`` (begins unwritten) or ``inout``."""

    direction: str
    type: str
    count: int
    values: Literal["any", "uniform", "whole", "special"] = "any"
    low: float = -4
    high: float = 4


@dataclass(frozen=True, slots=True)
class Scalar:
    type: str
    value: float


@dataclass(frozen=True, slots=True)
class Bytes:
    """Drawn bytes within a struct."""

    count: int


@dataclass(frozen=True, slots=True)
class Struct:
    """A parameter by value; its fields lie as in C."""

    fields: tuple[Scalar | Bytes, ...]


Argument: TypeAlias = Buffer | Scalar | Struct


@dataclass(frozen=True, slots=True)
class Run:
    """``tolerance`` is None where the bits must agree; else it is relative, and absolute for values below 1."""

    kernel: str
    arguments: tuple[Argument, ...]
    grid: Dimensions
    block: Dimensions
    smem_bytes: int = 0
    cooperative: bool = False
    tolerance: float | None = None


_NUMBER = r"[-+]?[\d.]+(?:e[-+]?\d+)?"
_RUN = re.compile(r"//\s*run:\s*([\w$]+)\((.*)\)\s+grid=\(([\d,]+)\)\s+block=\(([\d,]+)\)((?:\s+\S+)*)\s*")
_BUFFER = re.compile(
    rf"(in|out|inout) (\w+)\[(\d+)\](?: (?:(special)|(whole )?({_NUMBER}?)\.\.({_NUMBER})))?"
)
_SCALAR = re.compile(rf"(\w+)=({_NUMBER})")


def runs_of(text: str) -> tuple[Run, ...]:
    """The runs of a source in their order; raises ValueError with the line that is none."""
    return tuple(parse_run(line.strip()) for line in text.splitlines() if re.match(r"\s*//\s*run:", line))


def parse_run(line: str) -> Run:
    match = _RUN.fullmatch(line)
    if match is None:
        raise ValueError(f"not 'kernel(arguments) grid=(x) block=(x)': {line}")
    kernel, arguments, grid, block, rest = match.groups()
    smem_bytes, cooperative, tolerance = 0, False, None
    for word in rest.split():
        key, _, value = word.partition("=")
        match key:
            case "smem":
                smem_bytes = int(value)
            case "cooperative":
                cooperative = True
            case "approx":
                tolerance = float(value or "1e-6")
            case _:
                raise ValueError(f"unknown word {word!r}: {line}")
    parsed = tuple(_argument(text, line) for text in _split(arguments))
    return Run(kernel, parsed, _dimensions(grid), _dimensions(block), smem_bytes, cooperative, tolerance)


def _split(arguments: str) -> Iterator[str]:
    """Yield the parts of the text between commas outside parentheses."""
    for match in re.finditer(r"(?:[^,()]|\([^()]*\))+", arguments):
        yield match[0].strip()


def _dimensions(text: str) -> Dimensions:
    x, y, z = ([int(word) for word in text.split(",")] + [1, 1])[:3]
    return x, y, z


def _argument(text: str, line: str) -> Argument:
    if text.startswith("struct("):
        return Struct(tuple(_field(field, line) for field in _split(text[len("struct(") : -1])))
    buffer = _BUFFER.fullmatch(text)
    if buffer is None:
        return _scalar(text, line)
    direction, kind, count, special, whole, low, high = buffer.groups()
    _known(kind, line)
    if special:
        return Buffer(direction, kind, int(count), "special")
    if high is None:
        return Buffer(direction, kind, int(count), "uniform" if "f" in kind else "any")
    values = "uniform" if "f" in kind and not whole else "whole"
    number = int if values == "whole" else float
    return Buffer(direction, kind, int(count), values, number(low), number(high))


def _field(text: str, line: str) -> Scalar | Bytes:
    return Bytes(int(text[len("bytes=") :])) if text.startswith("bytes=") else _scalar(text, line)


def _scalar(text: str, line: str) -> Scalar:
    match = _SCALAR.fullmatch(text)
    if match is None:
        raise ValueError(f"not an argument: {text!r} in {line}")
    kind = _known(match[1], line)
    return Scalar(kind, float(match[2]) if "f" in kind else int(match[2]))


def _known(kind: str, line: str) -> str:
    if kind not in DTYPES:
        raise ValueError(f"unknown type {kind!r}: {line}")
    return kind


def drawn(run: Run, seed: int = 0) -> tuple[bytes, ...]:
    """Return the initial bytes of each argument: the contents of a buffer, the bytes of a value."""
    return tuple(
        _initial(argument, zlib.crc32(f"{run.kernel} {position} {seed}".encode()))
        for position, argument in enumerate(run.arguments)
    )


def agree(run: Run, position: int, left: bytes, right: bytes) -> bool:
    """Whether two results of the buffer at ``position`` are the same within the tolerance of the run."""
    buffer = run.arguments[position]
    if run.tolerance is None or not isinstance(buffer, Buffer) or "f" not in buffer.type:
        return left == right
    one, other = _floats(buffer.type, left), _floats(buffer.type, right)
    return one.shape == other.shape and np.allclose(one, other, run.tolerance, run.tolerance, equal_nan=True)


def _floats(kind: str, contents: bytes) -> Array:
    array = np.frombuffer(contents, DTYPES[kind])
    if kind == "bf16":
        return (array.astype(np.uint32) << 16).view(np.float32)
    return array.astype(np.float64)


def _initial(argument: Argument, key: int) -> bytes:
    match argument:
        case Buffer():
            return _contents(argument, key)
        case Scalar():
            return _encoded(argument.type, np.array([argument.value])).tobytes()
        case Struct():
            return _laid_out(argument, key)


def _laid_out(struct: Struct, key: int) -> bytes:
    """Each field at the next multiple of its size, the whole padded to the largest."""
    contents, widest = b"", 1
    for field in struct.fields:
        if isinstance(field, Bytes):
            contents += _bits(key + len(contents), field.count).astype(np.uint8).tobytes()
            continue
        value = _initial(field, key)
        widest = max(widest, len(value))
        contents += bytes(-len(contents) % len(value)) + value
    return contents + bytes(-len(contents) % widest)


def _contents(buffer: Buffer, key: int) -> bytes:
    dtype = DTYPES[buffer.type]
    if buffer.direction == "out":
        return bytes([UNWRITTEN]) * (buffer.count * dtype.itemsize)
    bits = _bits(key, buffer.count)
    match buffer.values:
        case "any":
            return bits.astype(f"u{dtype.itemsize}").tobytes()
        case "whole":
            low, high = int(buffer.low), int(buffer.high)
            offsets = bits % np.array([high - low + 1]).astype(np.uint64)
            if "f" not in buffer.type:
                return (offsets + np.array([low]).astype(np.uint64)).astype(f"u{dtype.itemsize}").tobytes()
            return _encoded(buffer.type, offsets.astype(np.float64) + low).tobytes()
        case "uniform":
            return _encoded(buffer.type, _uniform(buffer, bits)).tobytes()
        case "special":
            table = _encoded(buffer.type, np.array(_special(buffer.type)))
            chosen = table[(bits >> np.uint64(32)) % np.uint64(len(table))]
            return np.where(bits % 2 == 0, chosen, _encoded(buffer.type, _uniform(buffer, bits))).tobytes()


def _uniform(buffer: Buffer, bits: NDArray[np.uint64]) -> Array:
    return buffer.low + (buffer.high - buffer.low) * ((bits >> np.uint64(40)).astype(np.float64) * 2.0**-24)


def _special(kind: str) -> list[float]:
    """Zeros, infinities, no number, the borders of normal and subnormal numbers, and the largest."""
    info = np.finfo(np.float32 if kind == "bf16" else DTYPES[kind])
    tiny, smallest, largest = float(info.tiny), float(info.smallest_subnormal), float(info.max)
    values = [0.0, 1.0, float("inf"), tiny, smallest, tiny - smallest, largest]
    return [*values, *(-value for value in values), float("nan")]


def _encoded(kind: str, values: Array) -> Array:
    with np.errstate(over="ignore"):
        if kind != "bf16":
            return values.astype(DTYPES[kind])
        bits = values.astype(np.float32).view(np.uint32)
    # To the nearest, ties to even.
    return ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16).astype(np.uint16)


def _bits(key: int, count: int) -> NDArray[np.uint64]:
    """64 bits each, by the finaliser of splitmix64 over ``key``, ``key`` + 2**32, ..."""
    z = (np.arange(count, dtype=np.uint64) << np.uint64(32)) + np.uint64(key)
    z *= np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))
