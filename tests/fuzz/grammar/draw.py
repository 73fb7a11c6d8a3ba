"""Random choices of one program, and which constructs it may have.

Every program leaves out some constructs, so that the others are combined more often ("swarm testing", Groce et al.,
ISSTA 2012); what is used is counted.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import TypeVar

Choice = TypeVar("Choice")

CONSTRUCTS: dict[str, str] = {
    "alias of a product": "both factors of a product are the same array",
    "assert": "conditions of the host before a region",
    "assignment operators": "+= -= *= /= and for integers %= &= |= ^= <<= >>=",
    "bands that meet": "threads that read after a barrier what other threads of the block have written",
    "atomic": "atomic updates of elements that iterations share",
    "band loops": "serial loops and conditions between grid and threads, several bands of threads",
    "block clause": "plain meta_for with block(...)",
    "break": "break and continue in serial loops",
    "cache": "cache clauses",
    "casts": "(int) (float) (double) (long) (unsigned) (unsigned char) (signed char) (short) (unsigned short)",
    "comments": "comments, also with our keywords in them",
    "conditional": "?: in expressions",
    "constant dims": "arrays of constant extents",
    "data guard": "conditions on elements of arrays",
    "data subscript": "subscripts read from an array",
    "direct nest": "parallel loops without blocks: half of a perfect nest is the grid",
    "walks along rows": "loops along the rows of a point, with recurrences, one after the other",
    "do": "do loops",
    "double": "data and arithmetic in double",
    "double buffering": "a loop of the host with two regions that read what the other one writes",
    "downward": "loops that count down",
    "else": "else branches",
    "exact math": "functions whose results are exact: fabs, floor, ceil, fmin, fmax, sqrt, fma",
    "floor grid": "grids rounded down, as in a matrix product with whole tiles only",
    "for without type": "a loop over a variable that was declared before",
    "granularity": "a serial loop over iterations of a thread",
    "guard": "affine conditions",
    "hand-cut": "loops of blocks and threads written in the source",
    "hexadecimal": "integer literals in other notations and with suffixes",
    "host if": "a condition of the host around a region",
    "host else": "another region in the else branch of a condition of the host",
    "host loop": "a loop of the host around regions",
    "host scalars": "scalars of the host before and between regions",
    "integer data": "data of type int, unsigned, long, and of integer types of 8 and 16 bits",
    "integer division": "/ and % of integers",
    "library math": "functions that are rounded differently on devices: exp, log, sin, cos, tanh, pow",
    "linearised": "a[i*n + j] behind a pointer",
    "local array": "arrays of constant length in a region",
    "local scalar": "scalars in a region",
    "logic": "&& || !",
    "non-affine guard": "conditions with % and products",
    "odd names": "names that generated code might use itself",
    "odd subscript": "subscripts such as i*j, i/2, (i + 1) % 7, n - 1 - i",
    "moving range": "parallel loops that begin at an iterator of the host, as in an elimination",
    "order of parameters": "block sizes and data in any order",
    "product": "the shape of a matrix product",
    "race": "iterations that are in conflict",
    "row pointer": "data as (*a)[n] or a[][n]",
    "serial for": "serial loops",
    "shifts": "<< and >>",
    "stencil": "neighbours at constant distances",
    "step": "statements such as x++",
    "strided": "serial loops with steps other than 1",
    "strided parallel": "parallel loops with other types or directions, in hand-cut regions",
    "size types": "sizes of type long and unsigned",
    "sweeps": "the shape of time tiles",
    "tiled product": "a product in tiles, with a serial loop between grid and threads",
    "triangular": "serial loops whose bounds depend on iterators",
    "uniform scalar": "scalars and conditions of a whole block",
    "two regions": "several regions in one function",
    "three coordinates": "three loops of the grid and three of the block",
    "while": "while loops",
}
"""The meaning of each construct, by name."""

LEFT_OUT = 0.2
"""The probability that a program does without a construct."""


class Draw:
    """The choices of one program, the same for the same seed."""

    def __init__(self, seed: str, without: frozenset[str] = frozenset()) -> None:
        self.random = random.Random(seed)
        self.left_out = {name for name in CONSTRUCTS if self.random.random() < LEFT_OUT} | without
        self.used: set[str] = set()

    def on(self, construct: str, probability: float) -> bool:
        """Whether to use a construct here; notes it."""
        assert construct in CONSTRUCTS, construct
        wanted = self.random.random() < probability
        if not wanted or construct in self.left_out:
            return False
        self.used.add(construct)
        return True

    def chance(self, probability: float) -> bool:
        return self.random.random() < probability

    def pick(self, choices: Sequence[Choice]) -> Choice:
        return self.random.choice(choices)

    def number(self, low: int, high: int) -> int:
        """Return a number from low to high, both included."""
        return self.random.randint(low, high)
