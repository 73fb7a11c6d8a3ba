"""The one Jinja environment: a template below `templates/` and frozen views in, text out.

    render_template("host/header.h.j2", view=view)

Templates print, they do not decide: an undefined name is an error, and there are no filters beyond Jinja's own. Text is
escaped in templates of HTML (`.html.j2`) and nowhere else.  What Jinja makes of a template is kept in the cache, under
the hash of its text.
"""

from __future__ import annotations

import sys
from functools import lru_cache
from importlib.metadata import version
from typing import TYPE_CHECKING

from comprehensive.data import template_directory
from comprehensive.toolchain.cache import Cache, cache_key

if TYPE_CHECKING:
    from jinja2 import Environment

ENTRY_FORMAT = "template 2"
"""Part of every key: to be changed with the options of the environment, which decide what becomes of a template."""


def render_template(name: str, /, **views: object) -> str:
    """The text of a template; raises jinja2.UndefinedError for a name that no view gives."""
    return _environment().get_template(name).render(**views)


@lru_cache(maxsize=1)
def _environment() -> Environment:
    # Imported here: `comprehensive --help` needs no templates.
    from jinja2 import BytecodeCache, Environment, FileSystemLoader, StrictUndefined
    from jinja2.bccache import Bucket

    class Compiled(BytecodeCache):
        """Templates as Python code; what another Python or Jinja has made of them has another key."""

        cache = Cache.default()
        maker = (sys.version, version("jinja2"))

        def load_bytecode(self, bucket: Bucket) -> None:
            code = self.cache.load(self._key(bucket))
            if code is not None:
                bucket.bytecode_from_string(code)

        def dump_bytecode(self, bucket: Bucket) -> None:
            self.cache.store(self._key(bucket), bucket.bytecode_to_string())

        def _key(self, bucket: Bucket) -> str:
            return cache_key(ENTRY_FORMAT, *self.maker, bucket.key, bucket.checksum)

    return Environment(
        loader=FileSystemLoader(template_directory(), encoding="utf-8"),
        undefined=StrictUndefined,
        bytecode_cache=Compiled(),
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=lambda name: name is not None and name.endswith(".html.j2"),
    )
