"""The files that a host program builds with: the header, and the CUDA source or the C source with compiled kernels.

In: a :class:`ProgramPlan`, and for the source the text of every kernel.  Out: complete texts::

    header_text(plan, "0.1.0")                       matmul.h: selection in plain C, declarations of the launchers
    source_text(plan, {"matmul_leaf1": ...}, "0.1.0")  matmul.cu: kernels and launchers
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from comprehensive.codegen.environment import render_template
from comprehensive.codegen.header_view import (
    INTERFACE_VERSION,
    LARGEST_EXPONENT,
    architecture_speeds,
    header_view,
    machine_fields,
)
from comprehensive.codegen.image import Image
from comprehensive.codegen.plan import ProgramPlan
from comprehensive.codegen.source_lines import resolved
from comprehensive.codegen.source_view import source_view
from comprehensive.kernel_ir.staircase import ALONE, LARGEST, MOST_COLUMNS, MOST_ROWS
from comprehensive.machine import cost, sites
from comprehensive.machine.speeds import SPEEDS


def header_text(plan: ProgramPlan, version: str) -> str:
    """The header; ``version`` is the tool's. Raises CompileError (CF0610) for data that is not on the device."""
    return render_template("host/header.h.j2", view=header_view(plan, version), **shared_part())


def shared_part() -> dict[str, Any]:
    """Return the values from which the part that headers share is printed."""
    return {
        "interface_version": INTERFACE_VERSION,
        "machine_fields": machine_fields(),
        "speeds": tuple(SPEEDS.values()),
        "speeds_of": architecture_speeds(),
        "most_value": 1 << LARGEST_EXPONENT,
        "warp_threads": cost.WARP_THREADS,
        "many_turns": cost.MANY_TURNS,
        "dependent_cycles": cost.DEPENDENT_CYCLES,
        "least_starts": cost.LEAST_STARTS,
        "hindrance": cost.HINDRANCE,
        "line_bytes": sites.LINE_BYTES,
        "sector_bytes": sites.SECTOR_BYTES,
        "word_bytes": sites.WORD_BYTES,
        "banks": sites.BANKS,
        "lines_together": sites.LINES_TOGETHER,
        "most_loops": sites.MOST_LOOPS,
        "most_deep": sites.MOST_DEEP,
        "most_apart": sites.MOST_APART,
        "lines_a_wait": sites.LINES_A_WAIT,
        "shared_instructions": sites.SHARED_INSTRUCTIONS,
        "global_instructions": sites.GLOBAL_INSTRUCTIONS,
        "most_rows": MOST_ROWS,
        "most_columns": MOST_COLUMNS,
        "largest": LARGEST,
        "alone": ALONE,
    }


def source_text(plan: ProgramPlan, kernels_text: Mapping[str, str], version: str) -> str:
    """The CUDA source, which includes the header; ``kernels_text`` has the definition of every kernel by name.

    Raises CompileError as :func:`header_text` does, KeyError for a kernel without a text.
    """
    text = render_template("cuda/source.cu.j2", view=source_view(plan, kernels_text, version))
    return resolved(text, plan.source_path, f"{plan.stem}.cu")


def image_text(plan: ProgramPlan, image: Image, version: str) -> str:
    """The C source with compiled kernels, which stands in the place of the CUDA source; errors as of the header."""
    text = render_template("launcher/image.c.j2", view=source_view(plan, {}, version, image))
    return resolved(text, plan.source_path, image.file)
