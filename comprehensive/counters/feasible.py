"""Whether any known device runs a region at all: a nest with its tree in, a warning for a hopeless one out.

A leaf is hopeless where a condition of its system on one limit alone, such as ``2048 <= T_B``, holds on no device of
the table. Only the case that every leaf is hopeless is reported (CF0602).
"""

from __future__ import annotations

from comprehensive.algebra import Atom
from comprehensive.diagnostics import DiagnosticSink
from comprehensive.loops.ir import Nest, Variant
from comprehensive.machine.device import devices
from comprehensive.machine.parameters import MACHINE_PARAMETERS
from comprehensive.optimize.tree import Tree


def warn_of_hopeless(nest: Nest, tree: Tree[Variant], sink: DiagnosticSink) -> None:
    """Warns where every leaf has a condition that no known device meets."""
    machines = [device.parameters() for device in devices()]
    refused: list[Atom] = []
    for leaf in tree.leaves:
        hopeless = (
            atom
            for atom in leaf.system.atoms
            if machines[0].keys() >= set(atom.symbols)
            and not any(atom.holds(machine) for machine in machines)
        )
        found = next(hopeless, None)
        if found is None:
            return
        refused.append(found)
    if not refused:
        return
    first = refused[0]
    largest = ", ".join(
        f"the largest {symbol} ({MACHINE_PARAMETERS[symbol].meaning}) is {max(m[symbol] for m in machines)}"
        for symbol in first.symbols
    )
    sink.warning(
        "CF0602",
        f"no known device runs region '{nest.name}': {first.format(tree.order, tree.limits)}, but {largest}",
        nest.span,
        help="make the extents of its loops smaller, or parameters",
    )
