"""PTX, executed: a whole grid on numpy arrays."""

from comprehensive.ptx.interpreter.run import Report, run

__all__ = ["Report", "run"]
