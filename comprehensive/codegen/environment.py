"""The one Jinja environment: a template below `templates/` and frozen views in, text out.

    render_template("host/header.h.j2", view=view)

Templates print, they do not decide: an undefined name is an error, and there are no filters beyond Jinja's own.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from comprehensive.data import template_directory

if TYPE_CHECKING:
    from jinja2 import Environment


def render_template(name: str, /, **views: object) -> str:
    """The text of a template; raises jinja2.UndefinedError for a name that no view gives."""
    return _environment().get_template(name).render(**views)


@lru_cache(maxsize=1)
def _environment() -> Environment:
    # Imported here: `comprehensive --help` needs no templates.
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    return Environment(
        loader=FileSystemLoader(template_directory(), encoding="utf-8"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,
    )
