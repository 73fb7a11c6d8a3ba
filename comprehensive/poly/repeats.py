"""Iterations that meet in one element if the data is so: witnesses against writes through subscripts read from data.

In: a nest.  Out: for each :class:`Question` two iterations of a small run that touch one element through a subscript
that depends on data, with what the data must be for it.  Example: two iterations of ``h[x[i]] += 1`` meet if
``x[0] == x[1]``, and of ``h[i + x[i]] += 1`` if ``x[1] = 1, x[2] = 0``.

Data is supposed to be the same everywhere, and then to be 0 and 1 in turn.  Of plain stores alone it is assumed that
no two go to one place, which is for a warning to say: whatever the order, such a program has no meaning of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from msgspec import Struct

from comprehensive.loops.access import Access, Mode, accesses
from comprehensive.loops.ir import Nest
from comprehensive.metafork.ast import (
    Cast,
    Expr,
    Index,
    IntLiteral,
    Name,
)
from comprehensive.metafork.printer import print_expr
from comprehensive.metafork.rewrite import with_operands
from comprehensive.metafork.walk import children, reads_data
from comprehensive.poly.conflicts import Question
from comprehensive.poly.domains import term_text
from comprehensive.poly.memo import remembered
from comprehensive.poly.model import Witness
from comprehensive.poly.search import NotEvaluableError, Point, Runner, evaluate, python_text, runner
from comprehensive.poly.taint import data_dependent, tainted_names
from comprehensive.poly.witnesses import Witnesses, order_counts, refuted
from comprehensive.records import replace


class _Supposition(Struct, frozen=True):
    """Data is ``first``, or else ``first`` and ``1 - first`` in turn; ``names`` are what depends on data."""

    names: frozenset[str]
    first: int
    in_turn: bool

    def text(self, names: frozenset[str]) -> Callable[[Expr], str]:
        def unknown(expr: Expr) -> str:
            match expr:
                case Index() if expr.array in self.names:
                    subscripts = "".join(f"{python_text(s, names, unknown)}, " for s in expr.subscripts)
                    return f"_data({expr.array!r}, ({subscripts}))"
                case Cast() if expr.type.is_integer:
                    return python_text(expr.operand, names, unknown)
                case Name() if expr.identifier not in self.names:
                    raise NotEvaluableError(expr.identifier)
                case Index():
                    raise NotEvaluableError(expr.array)
                case _:
                    # The same where data is the same; what it is for other data nobody knows.
                    if self.in_turn:
                        raise NotEvaluableError(type(expr).__name__)
                    return f"_data({type(expr).__name__!r}, ())"

        return unknown

    def value(self, array: str, subscripts: tuple[int, ...]) -> int:
        return self.first ^ (sum(subscripts) % 2 if self.in_turn else 0)


@remembered
def repeats(nest: Nest) -> Witnesses:
    """Conflicts of which at least one side is a reference to a place that depends on data, in arrays so written."""
    depending = data_dependent(nest)
    every = accesses(nest)
    scattered = {a.array for a in every if a.ordinal in depending and a.mode.writes}
    if not scattered:
        return {}
    found: dict[Question, Witness] = {}
    names = tainted_names(nest)
    for in_turn in (False, True):
        for first in (1, 0):
            supposed = _Supposition(names, first, in_turn)
            active = list(_runners(nest, [a for a in every if a.array in scattered], depending, supposed))
            # A row of one element is left by an index of 1: what meets there need not meet in any other row.
            least = 2 if in_turn else 1
            for question, witness in refuted(nest, active, conflict=_meet, least=least).items():
                if question not in found:
                    one, other = (every[ordinal] for ordinal in witness.ordinals)
                    found[question] = replace(
                        witness, supposing=_supposing(nest, one, other, witness, supposed)
                    )
    return found


def _runners(
    nest: Nest, those: list[Access], depending: frozenset[int], supposed: _Supposition
) -> Iterator[Runner]:
    for access in those:
        try:
            yield replace(runner(nest, access, supposed), supposed=access.ordinal in depending)
        except NotEvaluableError:
            continue


def _meet(one: Runner, other: Runner) -> bool:
    if not (one.supposed or other.supposed):
        return False
    if one.supposed and other.supposed and one.access.mode is other.access.mode is Mode.WRITE:
        return False
    return order_counts(one, other)


def indices_of(nest: Nest, access: Access) -> tuple[str, ...]:
    """Return the names of arrays and local scalars from which the place of a reference is read.

    They stand in the order of the text.
    """
    found: dict[str, None] = {}
    for read in _sources(access, tainted_names(nest)):
        match read:
            case Name(identifier=name):
                found[name] = None
            case Index(array=array, subscripts=subscripts):
                nested = any(map(reads_data, subscripts))
                found[term_text(read) if nested else array] = None
    return tuple(found)


# --- what the data must be


def _supposing(nest: Nest, one: Access, other: Access, witness: Witness, supposed: _Supposition) -> str:
    here = _reads(nest, one, {**witness.parameters, **witness.first})
    there = _reads(nest, other, {**witness.parameters, **witness.second})
    if supposed.in_turn or len(here) != len(there):
        values = {text: supposed.value(text, (known or 0,)) for text, known in (*here, *there)}
        return ", ".join(f"{text} = {value}" for text, value in values.items())
    pairs = dict.fromkeys(
        (a, b) for (a, known), (b, _) in zip(here, there, strict=True) if a != b or known is None
    )
    return " and ".join(f"{a} == {b}" if a != b else f"both find the same {a}" for a, b in pairs)


def _reads(nest: Nest, access: Access, point: Point) -> list[tuple[str, int | None]]:
    """Return the data that a reference's subscripts read, each with the sum of its own subscripts.

    The sum is None where these are not known.

    Of local variables nothing is known: they may be others in each iteration.
    """
    found: list[tuple[str, int | None]] = []
    for read in _sources(access, tainted_names(nest)):
        place = concrete(read, point)
        is_data = isinstance(read, Index) and any(read.array == array.name for array in nest.arrays)
        found.append((print_expr(place), _sum_of_subscripts(place) if is_data else None))
    return found


def _sources(access: Access, names: frozenset[str]) -> Iterator[Index | Name]:
    """Yield what the subscripts of a reference read of these names, in order of the text.

    Nothing inside of an index is looked at.
    """
    waiting = list(reversed(access.subscripts))
    while waiting:
        expr = waiting.pop()
        match expr:
            case Index() if expr.array in names:
                yield expr
            case Name() if expr.identifier in names:
                yield expr
            case _:
                waiting += reversed(children(expr))


def _sum_of_subscripts(place: Expr) -> int | None:
    subscripts = place.subscripts if isinstance(place, Index) else ()
    numbers = [s.value for s in subscripts if isinstance(s, IntLiteral)]
    return sum(numbers) if len(numbers) == len(subscripts) else None


def concrete(expr: Expr, point: Point) -> Expr:
    """The expression with its parts that read no data replaced by their values: ``x[i + 1]`` is ``x[3]``."""
    try:
        return IntLiteral(evaluate(expr, point))
    except (NotEvaluableError, ZeroDivisionError, ValueError, OverflowError):
        pass
    return with_operands(expr, lambda operand: concrete(operand, point))
