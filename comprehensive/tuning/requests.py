"""The user's request: values by name in, sizes to tune at, domains of program parameters, other scalars out.

request(compilation, [("n", 1024), ("n", 2048), ("B", 16)], [])     # n = 1024 and 2048, blocks of 16
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import product

from comprehensive.driver import Compilation
from comprehensive.metafork.ast import ScalarType
from comprehensive.plan.interface import interface
from comprehensive.soundness.signs import any_sign
from comprehensive.tuning.problems import size_names
from comprehensive.values import Rational, value_error


@dataclass(frozen=True, slots=True)
class Request:
    """A request; ``domains`` and ``scalars`` are as in :class:`comprehensive.tuning.choices.Choices`."""

    sizes: tuple[Mapping[str, int], ...]
    domains: Mapping[str, Sequence[int]] = field(default_factory=dict[str, Sequence[int]])
    scalars: Mapping[str, float] = field(default_factory=dict[str, float])


@dataclass(frozen=True, slots=True)
class _Known:
    """A scalar argument: what it is, and the least value of it."""

    type: ScalarType
    is_size: bool
    least: int | None


def request(
    compilation: Compilation,
    definitions: Iterable[tuple[str, Rational]],
    rows: Sequence[Mapping[str, Rational]],
    domains: Mapping[str, Sequence[int]] | None = None,
) -> Request:
    """All combinations of the values that sizes have in ``definitions``, or of these and each of the ``rows``.

    Raises CommandLineError: CF0906 for what no function takes, CF0907 for sizes without a value, CF0908 for a value
    that an argument cannot have.
    """
    known = _known(compilation)
    given: dict[str, list[Rational]] = {}
    for name, value in definitions:
        given.setdefault(name, []).append(_demanded(known, name, value))
    for row in rows:
        for name, value in row.items():
            _demanded(known, name, value)
            if not known[name].is_size or name in given:
                raise value_error(
                    "CF0906", f"{name} in --sizes is no size, or has a value from -D", "give every size once"
                )
    for name, values in (domains or {}).items():
        for value in values:
            _demanded(known, name, value)
    names = [name for name, argument in known.items() if argument.is_size]
    fixed = [name for name in names if name in given]
    sizes: dict[tuple[int, ...], Mapping[str, int]] = {}
    for row in rows or [{}]:
        missing = [name for name in names if name not in given and name not in row]
        if missing:
            raise value_error(
                "CF0907",
                f"{', '.join(missing)} {'has' if len(missing) == 1 else 'have'} no value",
                f"say at which sizes to tune: {' '.join(f'-D {name}=1024' for name in missing)}",
            )
        for chosen in product(*(given[name] for name in fixed)):
            values = {**dict(zip(fixed, chosen, strict=True)), **row}
            size = {name: int(values[name]) for name in names}
            sizes[tuple(size.values())] = size
    integers = {
        name: sorted(map(int, values)) for name, values in given.items() if known[name].type.is_integer
    }
    program = {name: values for name, values in integers.items() if not known[name].is_size}
    numbers = {name: float(values[-1]) for name, values in given.items() if not known[name].type.is_integer}
    return Request(tuple(sizes.values()), {**(domains or {}), **program}, numbers)


def _known(compilation: Compilation) -> dict[str, _Known]:
    """Scalar arguments of all functions, in the order of the program."""
    known: dict[str, _Known] = {}
    for plan in compilation.plan.functions:
        host, free = interface(plan), any_sign(plan)
        for argument in host.everything:
            if argument.pointer:
                continue
            least = None if argument.name in free else int(argument.name in host.program_names)
            known.setdefault(argument.name, _Known(argument.type, argument.name in size_names(plan), least))
    return known


def _demanded(known: Mapping[str, _Known], name: str, value: Rational) -> Rational:
    if name not in known:
        raise value_error("CF0906", f"no function takes {name}", f"the arguments are {', '.join(known)}")
    argument = known[name]
    if not argument.type.is_integer:
        return value
    low, high = argument.type.lowest, argument.type.highest
    low = low if argument.least is None else max(low, argument.least)
    if isinstance(value, Fraction) or not low <= value <= high:
        raise value_error(
            "CF0908",
            f"{name} cannot be {value}: its type is {argument.type.value}",
            f"give {name} an integer from {low} to {high}",
        )
    return value
