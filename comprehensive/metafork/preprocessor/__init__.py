"""Macros, conditional code and included files of a program. See README.md."""
