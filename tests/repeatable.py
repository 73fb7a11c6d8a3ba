"""Property tests that draw the same examples whichever tests run beside them, in one worker or in several.

Now and then Hypothesis draws a constant that stands in the source of a module that is loaded at that time, so that a
test that is run alone would draw other values than in the whole suite, and others again with ``-n 2``.
"""

from __future__ import annotations

from hypothesis.internal.conjecture import providers


def draw_no_constants_of_modules() -> None:
    """Leaves Hypothesis only its own constants, which no setting does; older versions have no others anyway."""
    if hasattr(providers, "_get_local_constants"):
        providers._get_local_constants = providers.Constants
