"""Values of parameters as a user gives them: a compilation and values in, nothing or a CommandLineError out."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from fractions import Fraction
from typing import TypeAlias

from comprehensive.algebra import is_integer_symbol
from comprehensive.counters.limits import given_limits
from comprehensive.diagnostics import CommandLineError, Diagnostic, Note, Severity
from comprehensive.driver import Compilation
from comprehensive.loops.access import names_read
from comprehensive.loops.arithmetic import UndefinedBehaviour
from comprehensive.loops.interpreter import c_value
from comprehensive.loops.ir import Nest, Role, Scalar, Variant
from comprehensive.metafork.ast import Cast
from comprehensive.optimize.tree import Tree

Rational: TypeAlias = int | Fraction
"""A value given by a user: an integer, and for shares also a fraction."""


def demand_known(
    compilation: Compilation, values: Mapping[str, Rational], besides: Collection[str] = ()
) -> None:
    """Raise CommandLineError for a value that no parameter can have.

    It is raised for a name that no region, no tree and not `besides` knows (CF0701), for too small a value
    (CF0702) and for one that the parameter cannot have (CF0704).

    Program parameters are at least 1, everything else is not negative; all are integers but performance levels, which
    are shares from 0 to 1.
    """
    scalars = _scalars(compilation)
    besides = (*besides, *limits_to_give(compilation.trees))
    for name, value in values.items():
        if name not in scalars and name not in besides:
            known = ", ".join([*sorted(scalars), *besides])
            raise value_error("CF0701", f"no region has a parameter {name}", f"the parameters are {known}")
        lower = 1 if name in scalars and scalars[name].role is Role.PROGRAM else 0
        if value < lower:
            raise value_error(
                "CF0702", f"{name} = {value} is below {lower}", f"give {name} a value of at least {lower}"
            )
        if not is_integer_symbol(name):
            if value > 1:
                raise value_error(
                    "CF0704", f"{name} = {value} is no share", f"give {name} a value from 0 to 1"
                )
        elif value.denominator != 1:
            help = "parameters and limits are integers; only shares (P_...) may be fractions"
            raise value_error("CF0704", f"{name} = {value} is no integer", help)
        elif name in scalars:
            _demand_representable(scalars[name], int(value))


def demand_values(
    compilation: Compilation, values: Mapping[str, Rational], besides: Collection[str] = ()
) -> None:
    """Raise CommandLineError as `demand_known`, and as `demand_computed` of each nest."""
    demand_known(compilation, values, besides)
    for nest in compilation.nests:
        demand_computed(nest, values)


def limits_to_give(trees: Iterable[Tree[Variant]]) -> tuple[str, ...]:
    """The limits that trees depend on and no device has: performance levels `P_...`, and limits of third parties."""
    return given_limits(name for tree in trees for name in tree.limits)


def demand_levels(compilation: Compilation, levels: Mapping[str, Rational]) -> None:
    """Raise CommandLineError unless the levels are those that the trees depend on.

    There must be each (CF0706), no other (CF0701), and with a value that the limit can have (CF0702, CF0704).
    """
    wanted = limits_to_give(compilation.trees)
    for name, value in levels.items():
        if name not in wanted:
            known = ", ".join(wanted) or "none: --counters asks for them"
            raise value_error(
                "CF0701",
                f"no counter of the run has the limit {name}",
                f"the limits that take a value are {known}",
            )
        _demand_limit(name, value)
    missing = [name for name in wanted if name not in levels]
    if missing:
        options = " ".join(f"-D {name}={'64' if is_integer_symbol(name) else '1/2'}" for name in missing)
        message = f"code is generated for limits with a value, and {', '.join(missing)} has none"
        help = f"add the values to be demanded, as in {options}; from Python, program.with_limits(...)"
        raise value_error("CF0706", message, help)


def demand_no_quotients(compilation: Compilation) -> None:
    """Raise CommandLineError (CF0709) for trees with values that are rounded, which have no exact boundaries."""
    if any(tree.quotients for tree in compilation.trees):
        raise value_error(
            "CF0709",
            "--region and --leaf do not go with --counters occupancy or latency_hiding, whose values are rounded",
            "leave the counters out, or ask at a point: `comprehensive explain`, from Python .explain(...)",
        )


def _demand_limit(name: str, value: Rational) -> None:
    """Raise CommandLineError (CF0702, CF0704) for a share that is none and for a count that is none."""
    if is_integer_symbol(name):
        if value < 0:
            raise value_error("CF0702", f"{name} = {value} is below 0", f"give {name} a value of at least 0")
        if value.denominator != 1:
            raise value_error("CF0704", f"{name} = {value} is no integer", f"give {name} an integer")
    elif not 0 <= value <= 1:
        code = "CF0702" if value < 0 else "CF0704"
        raise value_error(code, f"{name} = {value} is no share", f"give {name} a value from 0 to 1")


def demand_computed(nest: Nest, values: Mapping[str, Rational]) -> None:
    """Raise CommandLineError (CF0705) for a value of a host scalar that contradicts host code.

    Host code computes another one from other values.
    """
    known: dict[str, int | float] = {}
    types = {s.name: s.type for s in nest.scalars}
    for scalar in nest.scalars:
        given = values.get(scalar.name)
        if scalar.value is None or not names_read(scalar.value) <= known.keys():
            if given is not None:
                known[scalar.name] = int(given)
            continue
        try:
            computed = c_value(Cast(scalar.type, scalar.value), known, types)
        except UndefinedBehaviour as error:
            message = f"host code cannot compute {scalar.name} from the values given: {error}"
            raise value_error("CF0705", message, "give other values") from None
        if given not in (None, computed):
            raise value_error(
                "CF0705",
                f"{scalar.name} = {given}, but host code computes {computed} from the other values",
                f"leave out -D {scalar.name}={given}, or give other values",
            )
        known[scalar.name] = computed


def _demand_representable(scalar: Scalar, value: int) -> None:
    if scalar.type.is_integer:
        low, high = scalar.type.lowest, scalar.type.highest
        if not low <= value <= high:
            raise value_error(
                "CF0704",
                f"{scalar.name} = {value} is no value of type {scalar.type.value}",
                f"give {scalar.name} a value from {low} to {high}",
            )


def value_error(code: str, message: str, help: str, notes: tuple[Note, ...] = ()) -> CommandLineError:
    """One error of the command line, without a place in the source."""
    return CommandLineError((Diagnostic(Severity.ERROR, code, message, None, notes, help),))


def _scalars(compilation: Compilation) -> Mapping[str, Scalar]:
    """The scalars of all regions, and those of loops around them on which several sweeps in one launch depend."""
    regions = [region for function in compilation.plan.functions for region in function.regions]
    nests = (*compilation.nests, *(nest for region in regions for nest in region.nests))
    found: dict[str, Scalar] = {}
    for scalar in (s for nest in nests for s in nest.scalars if s.role is not Role.TILE):
        # A parameter of one region may be an argument of another one.
        if scalar.name not in found or scalar.role is Role.PROGRAM:
            found[scalar.name] = scalar
    return found
