"""The normal form of a nest: the same computation in the one way of writing that every later stage expects.

In: a nest as :func:`comprehensive.loops.build.build` has made it.  Out: a nest that computes the same, to the bit.
How a programmer has written a nest must not decide how fast it runs; so each file here removes one difference of
spelling, and the stages behind it have one case instead of many:

``constants``         constant expressions of integers are numbers
``local_scalars``     scalars are declared where they get their values, iterators by their loops
``tests_in_headers``  loops end where their headers say
``unrolled``          loops that are unrolled by hand, with the loops for what is left of them, are one
``held_sums``         what loops add up in a scalar of a strip is added to its element
``strips``            loops that are cut into strips by hand are one
``carried_elements``  what a loop has stored in the turn before is in a scalar
``first_iterations``  iterations taken out of a loop by hand are put back
``serial_loops``      serial loops count from 0 upward in steps of 1, as parallel loops do (``counting``, which
                      ``build`` uses)
``small_arrays``      local arrays of a few elements are scalars

What is done at a point of a register tile has further steps (``points``): ``if_conversion``, ``delinearize`` and
``invariant_reads``.

The source form of the nest stays what diagnostics and the leaves' ``.mf`` speak of.
"""

from __future__ import annotations

from comprehensive.loops.ir import Nest
from comprehensive.loops.normalize.carried_elements import with_carried_elements_held
from comprehensive.loops.normalize.constants import with_numbers_for_constants
from comprehensive.loops.normalize.first_iterations import with_first_iterations
from comprehensive.loops.normalize.held_sums import with_sums_in_elements
from comprehensive.loops.normalize.local_scalars import with_late_declarations
from comprehensive.loops.normalize.serial_loops import with_counted_loops
from comprehensive.loops.normalize.small_arrays import with_small_arrays_as_scalars
from comprehensive.loops.normalize.strips import with_joined_strips
from comprehensive.loops.normalize.tests_in_headers import with_tests_in_headers
from comprehensive.loops.normalize.unrolled import with_rolled_loops


def normalize(nest: Nest) -> Nest:
    """The normal form of a nest; a nest that is in normal form is returned as it is."""
    declared = with_tests_in_headers(with_late_declarations(with_numbers_for_constants(nest)))
    strips = with_sums_in_elements(with_rolled_loops(declared))
    whole = with_carried_elements_held(with_joined_strips(strips))
    counted = with_counted_loops(with_first_iterations(whole))
    return with_small_arrays_as_scalars(counted)
