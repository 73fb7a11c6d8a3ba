"""Systems of occupancy calculations, each written once over an arithmetic with floors, ceilings and numbers of blocks.

In: an arithmetic (Python's integers here; polynomials and z3's expressions in `quotients.py`) and the parameters.
Out: conditions. Which problems have a point stands beside them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import prod
from typing import Any, Protocol

MOST_POINTS = 300_000
BLOCKS = 32

Value = Any
"""A number, a polynomial or an expression of z3."""
Condition = tuple[Value, str, Value]
Limit = tuple[Value, Value]
"""The amount that there is, and the one that a block takes of it."""


class Arithmetic(Protocol):
    def floor(self, above: Value, below: Value) -> Value: ...

    def ceiling(self, above: Value, below: Value) -> Value: ...

    def blocks(self, *limits: Limit) -> Value:
        """Return as many blocks as fit within all limits, at most 32."""
        ...


@dataclass(frozen=True)
class Problem:
    """A problem: `conditions` speaks of parameters from 1 up to `most`, None for no bound."""

    name: str
    conditions: Callable[..., list[Condition]]
    most: Mapping[str, int | None]
    has_point: bool


R_SM, W_SM, Z_SM = 65536, 64, 25600


def registers(a: Arithmetic, threads: Value, each: Value, available: Value = R_SM) -> Limit:
    """Return the limit of registers, which are given out in units of 256."""
    return available, 256 * a.ceiling(each * threads, 256)


def warps(a: Arithmetic, threads: Value) -> Value:
    return a.ceiling(threads, 32)


def shared(a: Arithmetic, words: Value, available: Value = Z_SM) -> Limit:
    """Return the limit of shared memory: with 256 words of the system for each block, in units of 32."""
    return available, 32 * a.ceiling(words + 256, 32)


def all_three(a: Arithmetic, B: Value, s: Value) -> Value:
    """Blocks of B threads that keep s values each."""
    return a.blocks(registers(a, B, 8 * s + 10), (W_SM, warps(a, B)), shared(a, 2 * s * B + 2))


def divides(a: Arithmetic, divisor: Value, value: Value) -> Condition:
    return (value - divisor * a.floor(value, divisor), "==", 0)


SMALL = {"B": 1024, "s": 64}
FREE = {"B": None, "s": None}

PROBLEMS = (
    Problem(
        "registers, 4 blocks",
        lambda a, B, s: [(a.blocks(registers(a, B, 8 * s + 10)), ">=", 4), (B, ">=", 256)],
        SMALL,
        True,
    ),
    Problem(
        "registers, 4 blocks, s too large",
        lambda a, B, s: [(a.blocks(registers(a, B, 8 * s + 10)), ">=", 4), (B, ">=", 256), (s, ">=", 7)],
        SMALL,
        False,
    ),
    Problem(
        "registers, exactly 5 blocks",
        lambda a, B, s: [(a.blocks(registers(a, B, 8 * s + 10)), "==", 5), (B, ">=", 128), (B, "<=", 256)],
        SMALL,
        True,
    ),
    Problem(
        "registers, exactly 8 blocks of 256",
        lambda a, s: [(a.blocks(registers(a, 256, 8 * s + 10)), "==", 8)],
        {"s": None},
        False,
    ),
    Problem(
        "registers, all in use",
        lambda a, B, r: [(a.blocks(registers(a, B, r)) * B * r, "==", R_SM), (B, ">=", 33), (B, "<=", 63)],
        {"B": 1024, "r": 255},
        False,
    ),
    Problem(
        "registers of any device, more than there are",
        lambda a, B, r, R: [(a.blocks(registers(a, B, r, R)) * B * r, ">", R)],
        {"B": None, "r": None, "R": None},
        False,
    ),
    Problem(
        "registers of any device, 2 blocks do not fit",
        lambda a, B, r, R: [(a.blocks(registers(a, B, r, R)), ">=", 2), (R, "<", 2 * r * B)],
        {"B": None, "r": None, "R": None},
        False,
    ),
    Problem(
        "registers of any device, 2 blocks just fit",
        lambda a, B, r, R: [
            (a.blocks(registers(a, B, r, R)), ">=", 2),
            (R, "<", 2 * r * B + 256),
            (r, ">", 32),
        ],
        {"B": None, "r": None, "R": None},
        True,
    ),
    Problem(
        "registers, one more takes no block away",
        lambda a, B, s: [
            (a.blocks(registers(a, B, s + 1)), "==", a.blocks(registers(a, B, s))),
            (B, ">=", 96),
            (s, ">=", 24),
        ],
        SMALL,
        True,
    ),
    Problem(
        "registers, one more adds a block",
        lambda a, B, r, R: [(a.blocks(registers(a, B, r + 1, R)), ">", a.blocks(registers(a, B, r, R)))],
        {"B": None, "r": None, "R": None},
        False,
    ),
    Problem(
        "warps, all resident in blocks of 65 to 95 threads",
        lambda a, B: [(a.blocks((W_SM, warps(a, B))) * warps(a, B), "==", W_SM), (B, ">", 64), (B, "<", 96)],
        {"B": 1024},
        False,
    ),
    Problem(
        "warps, 60 resident in blocks of 129 threads and more",
        lambda a, B: [(a.blocks((W_SM, warps(a, B))) * warps(a, B), ">=", 60), (B, ">", 128), (B, "<", 160)],
        {"B": 1024},
        True,
    ),
    Problem(
        "warps of any device, as many idle as a block has",
        lambda a, B, W: [(a.floor(W, warps(a, B)) * warps(a, B), "<=", W - warps(a, B))],
        {"B": None, "W": None},
        False,
    ),
    Problem(
        "warps of any device, nearly as many idle",
        lambda a, B, W: [(a.floor(W, warps(a, B)) * warps(a, B), "<=", W - warps(a, B) + 1), (B, ">", 64)],
        {"B": None, "W": None},
        True,
    ),
    Problem(
        "shared memory, 3 blocks",
        lambda a, B, s: [(a.blocks(shared(a, 2 * s * B + 2)), ">=", 3), (s * B, ">=", 4000)],
        SMALL,
        True,
    ),
    Problem(
        "shared memory, 3 blocks of more words",
        lambda a, B, s: [(a.blocks(shared(a, 2 * s * B + 2)), ">=", 3), (s * B, ">=", 4150)],
        SMALL,
        False,
    ),
    Problem(
        "all three, 48 of 64 warps",
        lambda a, B, s: [(all_three(a, B, s) * warps(a, B), ">=", 48), (s, ">=", 2), (B, ">", 96)],
        SMALL,
        True,
    ),
    Problem(
        "all three, 48 of 64 warps, s too large",
        lambda a, B, s: [(all_three(a, B, s) * warps(a, B), ">=", 48), (s, ">=", 6), (B, ">", 96)],
        SMALL,
        False,
    ),
    Problem(
        "all three, one block at 16 warps and more",
        lambda a, B, s: [(all_three(a, B, s), "==", 1), (B, ">=", 512), (s, "<=", 6)],
        SMALL,
        True,
    ),
    Problem(
        "two of any device, 2 blocks do not fit",
        lambda a, B, s, R, Z: [
            (a.blocks(registers(a, B, 8 * s + 10, R), shared(a, 2 * s * B + 2, Z)), ">=", 2),
            (Z, "<", 4 * s * B + 4),
        ],
        {**FREE, "R": None, "Z": None},
        False,
    ),
    Problem(
        "blocks of s*B threads in 1000, from 126 to 199",
        lambda a, B, s: [divides(a, s * B, 1000), (s * B, ">=", 126), (s * B, "<=", 199)],
        SMALL,
        False,
    ),
    Problem(
        "blocks of s*B threads in 1000, from 101 to 199",
        lambda a, B, s: [divides(a, s * B, 1000), (s * B, ">=", 101), (s * B, "<=", 199)],
        SMALL,
        True,
    ),
    Problem(
        "blocks of s*B threads in fewer",
        lambda a, B, s, N: [divides(a, s * B, N), (N, "<", s * B)],
        {**FREE, "N": None},
        False,
    ),
    Problem(
        "2*s*B + 1, divisible by 2*B",
        lambda a, B, s: [(2 * s * B + 1 - 2 * B * a.floor(2 * s * B + 1, 2 * B), "==", 0)],
        FREE,
        False,
    ),
    Problem(
        "divisible by 32 and 48, not by 96",
        lambda a, N: [divides(a, 32, N), divides(a, 48, N), (N - 96 * a.floor(N, 96), ">", 0)],
        {"N": None},
        False,
    ),
    Problem(
        "1 more than a multiple of 6, 3 more than one of 10",
        lambda a, N: [(N - 6 * a.floor(N, 6), "==", 1), (N - 10 * a.floor(N, 10), "==", 3), (N, ">", 99)],
        {"N": None},
        True,
    ),
    Problem(
        "rounded up to 8 warps and one more",
        lambda a, B: [(8 * a.ceiling(warps(a, B), 8), ">=", warps(a, B) + 8)],
        {"B": None},
        False,
    ),
)


class Numbers:
    """The arithmetic of Python's integers."""

    def floor(self, above: Value, below: Value) -> Value:
        return above // below

    def ceiling(self, above: Value, below: Value) -> Value:
        return -(-above // below)

    def blocks(self, *limits: Limit) -> Value:
        return min(BLOCKS, *(available // taken for available, taken in limits))


def holds(problem: Problem, values: Mapping[str, int | Fraction]) -> bool:
    given = {name: int(values[name]) for name in problem.most}
    if any(value < 1 for value in given.values()):
        return False
    if any(most is not None and given[name] > most for name, most in problem.most.items()):
        return False
    compare: dict[str, Callable[[int, int], bool]] = {
        "==": int.__eq__,
        "<=": int.__le__,
        ">=": int.__ge__,
        "<": int.__lt__,
        ">": int.__gt__,
    }
    found = problem.conditions(Numbers(), **given)
    return all(compare[relation](left, right) for left, relation, right in found)


def gone_through(problem: Problem) -> bool | None:
    """Whether the box has a point; None where there is none or it is large."""
    limits = [most for most in problem.most.values() if most is not None]
    if len(limits) < len(problem.most) or prod(limits) > MOST_POINTS:
        return None
    boxes = (range(1, most + 1) for most in limits)
    return any(holds(problem, dict(zip(problem.most, values, strict=True))) for values in product(*boxes))
