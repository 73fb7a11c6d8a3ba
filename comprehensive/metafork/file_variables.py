"""Variables of the file that are not constant: declarations at file level in, what launchers are passed for them out.

::

    #define N 1024
    float a[N][N], *b;  int steps = 4;    -->   Parameter a with dims [1024][1024], pointer b, scalar steps

A program that keeps its data at file level has them behind the parameters of each function that speaks of them: the
caller of a launcher says which device memory it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from comprehensive.metafork.ast import IntLiteral, Parameter, ScalarType
from comprehensive.metafork.constant_arrays import lengths_of
from comprehensive.metafork.items import Item, declarators
from comprehensive.metafork.named_constants import Constants
from comprehensive.metafork.tokens import Token

_OTHERS = frozenset(("const", "extern", "typedef", "volatile"))
"""The words that exclude a variable: constants are known as numbers, what is defined elsewhere has no size, and what is
volatile no single value."""


def file_variables(declarations: Iterable[Item], constants: Constants) -> dict[str, Parameter]:
    """Scalars, arrays of constant extents, and pointers, in the order of the file."""
    found: dict[str, Parameter] = {}
    for item in declarations:
        declared = None if item.has_body or item.is_prototype else declarators(item.tokens)
        if declared is not None and _OTHERS.isdisjoint(declared[0]):
            variables = (_variable(declarator, declared[1], constants) for declarator in declared[2])
            found |= {variable.name: variable for variable in variables if variable is not None}
    return found


def _variable(words: Sequence[Token], kind: ScalarType, constants: Constants) -> Parameter | None:
    """``n = 4``, ``a[N][M]``, ``*b``; None for anything else."""
    equals = next((k for k, token in enumerate(words) if token.type == "ASSIGN"), len(words))
    plain = [token for token in words[:equals] if "restrict" not in token.text]
    if not plain:
        return None
    if plain[0].type == "STAR" and len(plain) == 2 and plain[1].type == "NAME":
        return Parameter(plain[1].text, kind, pointer=True, span=plain[1].span, of_file=True)
    name = plain[0]
    if name.type != "NAME":
        return None
    if len(plain) == 1:
        return Parameter(name.text, kind, span=name.span, of_file=True)
    lengths = lengths_of(plain[1:], constants)
    if lengths is None:
        return None
    sizes = [length for length in lengths if length is not None and length > 0]
    if len(sizes) < len(lengths):
        return None
    return Parameter(name.text, kind, dims=tuple(map(IntLiteral, sizes)), span=name.span, of_file=True)
