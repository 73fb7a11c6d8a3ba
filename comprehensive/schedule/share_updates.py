"""Share updates: a loop that does nothing with an array but update its elements, as one whose steps any thread may do.

::

    for (p < n) h[y0][x[y0][p]] += 1     -->    for (p < n) atomic h[y0][x[y0][p]] += 1

Sums of integers wrap around, so that they and operations on bits have one result in any order, whichever elements data
names.  Legal where no two operators meet in the array and nothing else in the loop comes to it; what other loops of the
point do with the array comes before or behind all steps.  Elements have 32 or 64 bits, as a GPU updates in one step.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from comprehensive.loops.types import type_of
from comprehensive.metafork.ast import Assign, Binary, For, Index, ScalarType, Stmt
from comprehensive.metafork.atomic_check import ATOMIC_OPERATORS, SUMS
from comprehensive.metafork.rewrite import replace_statements
from comprehensive.metafork.walk import elements, own_expressions, statements_in
from comprehensive.records import replace


def with_shared_updates(
    loop: For, types: Mapping[str, ScalarType], storage: Callable[[str], str], arrays: Sequence[str]
) -> For:
    """The loop with atomic updates of those ``arrays`` that it does nothing else with; ``storage`` is the name of an
    array's data."""
    updates = {id(s): made for s in statements_in(loop.body) if (made := _update(s, types)) is not None}
    kinds: dict[str, set[str | None]] = {}
    for statement in statements_in(loop.body):
        made = updates.get(id(statement))
        own = [e for expression in own_expressions(made or statement) for e in elements(expression)]
        for element in own:
            is_target = made is not None and element is made.target
            kind = None if made is None or not is_target else "+" if made.operator in SUMS else made.operator
            kinds.setdefault(storage(element.array), set()).add(kind)
    shared = {
        name
        for name in map(storage, arrays)
        if None not in (found := kinds.get(name, {None})) and len(found) == 1
    }

    def changed(statement: Stmt) -> tuple[Stmt, ...]:
        made = _update(statement, types)
        is_shared = (
            made is not None and isinstance(made.target, Index) and storage(made.target.array) in shared
        )
        return (replace(made, atomic=True),) if made is not None and is_shared else (statement,)

    return replace(loop, body=replace_statements(loop.body, changed)) if shared else loop


def _update(statement: Stmt, types: Mapping[str, ScalarType]) -> Assign | None:
    """The statement as an update by an operator of its own, if it is one with the same result in any order."""
    match statement:
        case Assign(
            target=Index() as target, operator="=", value=Binary(operator="+", left=left, right=value)
        ) if left == target:
            made = replace(statement, operator="+=", value=value)
        case Assign(target=Index() as target, operator=operator) if operator in ATOMIC_OPERATORS:
            made = statement
        case _:
            return None
    type = types[target.array]
    is_exact = type.is_integer and type.bits in (32, 64) and type_of(made.value, types).is_integer
    return made if is_exact else None
