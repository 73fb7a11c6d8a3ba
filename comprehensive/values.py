"""Values of parameters as a user gives them: a compilation and values in, nothing or a CompileError out."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from comprehensive.diagnostics import CompileError, Diagnostic, Severity
from comprehensive.driver import Compilation
from comprehensive.loops.ir import Nest


def demand_known(compilation: Compilation, values: Mapping[str, int], besides: Collection[str] = ()) -> None:
    """CompileError for a name that neither a region nor `besides` knows (CF0701) and for too small a value (CF0702).

    Program parameters are at least 1, everything else is not negative.
    """
    scalars = {s.name for nest in compilation.nests for s in nest.scalars}
    for name, value in values.items():
        if name not in scalars and name not in besides:
            known = ", ".join([*sorted(scalars), *besides])
            raise value_error("CF0701", f"no region has a parameter {name}", f"the parameters are {known}")
        lower = _lower_bound(compilation.nests, name)
        if value < lower:
            raise value_error(
                "CF0702", f"{name} = {value} is below {lower}", f"give {name} a value of at least {lower}"
            )


def value_error(code: str, message: str, help: str) -> CompileError:
    """One error without a place in the source."""
    return CompileError((Diagnostic(Severity.ERROR, code, message, None, help=help),))


def _lower_bound(nests: tuple[Nest, ...], name: str) -> int:
    bounds = (1 if s.role.value == "program" else 0 for nest in nests for s in nest.scalars if s.name == name)
    return max(bounds, default=0)
