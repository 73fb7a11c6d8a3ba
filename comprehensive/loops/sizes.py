"""Arguments that are sizes: known not to be negative, because the launcher refuses a negative one.

In: a nest.  Out: names of its integer scalars of role SCALAR that shape the grid, host definitions followed::

    int dim = (n + s*B - 1) / (s*B);  grid i < dim      -->  {"n"}

Definition 1 of the paper assumes that every parameter is non-negative.  Only sizes are held to it here: an offset or
a step of the host may well be negative.
"""

from __future__ import annotations

from comprehensive.loops.access import names_read
from comprehensive.loops.definitions import names_behind
from comprehensive.loops.ir import Nest, Role


def sizes(nest: Nest) -> frozenset[str]:
    """The integer SCALARs that the extents of the grid read, through definitions of the host."""
    scalars = {s.name: s for s in nest.scalars}
    found = names_behind((name for loop in nest.grid for name in names_read(loop.extent)), nest.scalars)
    return frozenset(
        n for n in found & scalars.keys() if scalars[n].role is Role.SCALAR and scalars[n].type.is_integer
    )
