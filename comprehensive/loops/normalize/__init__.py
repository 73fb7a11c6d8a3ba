"""The normal form of a nest: the same computation in the one way of writing that every later stage expects.

In: a nest as :func:`comprehensive.loops.build.build` has made it.  Out: a nest that computes the same, to the bit.
How a programmer has written a nest must not decide how fast it runs; so each file here removes one difference of
spelling, and the stages behind it have one case instead of many:

``parallel_loops``  parallel loops count from 0 upward in steps of 1 (applied by ``build``)

``delinearize``     references through pointers become references to rows and columns (applied to the points of a tile)

The source form of the nest stays what diagnostics and the leaves' ``.mf`` speak of.
"""

from __future__ import annotations

from comprehensive.loops.ir import Nest


def normalize(nest: Nest) -> Nest:
    """The normal form of a nest; a nest that is in normal form is returned as it is."""
    return nest
