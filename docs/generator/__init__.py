"""The documentation as a site: `python -m docs.generator build/docs`, or `make docs`.

Pages by hand, READMEs, and pages generated from the code are put together in one folder (`sources.py`), Sphinx makes
HTML of it, in which a warning is an error, and all links of the result are checked (`links.py`).
"""
