"""The files that a host program builds with: the header, and the CUDA source or the C source with compiled kernels.

In: a :class:`ProgramPlan`, and for the source the text of every kernel.  Out: complete texts::

    header_text(plan, "1.0.0")                       matmul.h: selection in plain C, declarations of the launchers
    source_text(plan, {"matmul_leaf1": ...}, "1.0.0")  matmul.cu: kernels and launchers
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from comprehensive.codegen.environment import render_template
from comprehensive.codegen.header_view import header_view
from comprehensive.codegen.image import Image
from comprehensive.codegen.runtime_files import (
    included_files,
    runtime_digest,
    runtime_files,
    with_files_inside,
)
from comprehensive.codegen.source_lines import HOST_CODE, resolved
from comprehensive.codegen.source_view import source_view
from comprehensive.codegen.wrap import broken, laid_out
from comprehensive.plan.default_search import LARGEST_EXPONENT
from comprehensive.plan.plan import ProgramPlan

_MORE_BLANK_LINES = re.compile(r"\n{3,}")


def header_text(plan: ProgramPlan, version: str) -> str:
    """The header; ``version`` is the tool's. Raises CompileError (CF0610) for data that is not on the device."""
    text = render_template(
        "host/header.h.j2",
        view=header_view(plan, version),
        most_value=1 << LARGEST_EXPONENT,
        runtime=runtime_digest(),
    )
    return _finished(text, plan)


def source_text(plan: ProgramPlan, kernels_text: Mapping[str, str], version: str) -> str:
    """The CUDA source, which includes the header; ``kernels_text`` has the definition of every kernel by name.

    Raises CompileError as :func:`header_text` does, KeyError for a kernel without a text.
    """
    text = render_template("cuda/source.cu.j2", view=source_view(plan, kernels_text, version))
    return resolved(_finished(text, plan), plan.source_path, f"{plan.stem}.cu")


def image_text(plan: ProgramPlan, image: Image, version: str) -> str:
    """The C source with compiled kernels, which stands in the place of the CUDA source; errors as of the header."""
    text = render_template("launcher/image.c.j2", view=source_view(plan, {}, version, image))
    return resolved(_finished(text, plan), plan.source_path, image.file)


def shared_files(plan: ProgramPlan, texts: Iterable[str], version: str) -> Mapping[str, str]:
    """The files that all programs share, by name, which the ``texts`` of this one include."""
    if plan.single_file:
        return {}
    files = runtime_files(version)
    return {name: files[name] for text in texts for name in included_files(text)}


def _finished(text: str, plan: ProgramPlan) -> str:
    """The text with what it includes, where it is to stand alone; lines that the user has not written are short.

    In host code, which follows behind a heading, these are lines that speak of the state of a call.
    """
    generated, heading, below = text.partition(HOST_CODE)
    rest_of_heading, end_of_line, written = below.partition("\n")
    lines = (broken(line) if "cf_state" in line else [line] for line in written.split("\n"))
    code = "\n".join(part for parts in lines for part in parts)
    generated = _MORE_BLANK_LINES.sub("\n\n", laid_out(f"{generated}{heading}{rest_of_heading}"))
    text = f"{generated}{end_of_line}{code}"
    return with_files_inside(text) if plan.single_file else text
