"""The configuration of Sphinx; `make docs` calls it through `docs/generator`, which puts the pages together."""

from comprehensive import __version__

project = "comprehensive"
author = "comprehensive contributors"
version = release = __version__
extensions = ["myst_parser", "sphinx.ext.autodoc"]
myst_heading_anchors = 3
suppress_warnings = [
    # Pages that are READMEs begin their headings where GitHub does; examples may be in no language in particular.
    "myst.header",
    "misc.highlighting_failure",
]
autodoc_member_order = "bysource"
# What users import comes from `comprehensive` itself, whatever module defines it.
add_module_names = False
# Two hyphens are the beginning of an option.
smartquotes = False
autodoc_typehints = "signature"
html_theme = "furo"
html_title = f"comprehensive {release}"
html_copy_source = False
html_show_sourcelink = False
html_show_copyright = False
html_theme_options = {"navigation_with_keys": True}
