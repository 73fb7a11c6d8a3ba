"""The text of the wrapper that nvcc calls as ``ptxas``.

In: the real ptxas, a Python, a script and passes.  Out: a shell script.  Without passes it becomes ptxas at once, so
that such a build does not pay for the start of a Python.
"""

from __future__ import annotations

import shlex
from pathlib import Path

PASSES = "COMPREHENSIVE_PTXAS_PASSES"

_TEXT = """\
#!/bin/sh
# Written by `comprehensive ptxas --install`: ptxas with passes over its input.
# {variable} has the passes; where it is not set these are taken, and none where it is empty.
default={passes}
passes=${{{variable}-$default}}
ptxas={ptxas}
python={python}
script={script}
[ -n "$passes" ] || exec "$ptxas" "$@"
if [ ! -x "$python" ] || [ ! -f "$script" ]; then
  echo "comprehensive ptxas: $python or $script is gone; PTX is not rewritten until you install again" >&2
  exec "$ptxas" "$@"
fi
exec "$python" -I "$script" "$ptxas" "$passes" "$@"
"""


def wrapper_text(ptxas: Path, python: Path, script: Path, passes: str) -> str:
    """Return the text of a script that calls ``script`` with ptxas, the passes, and the arguments of ptxas."""
    return _TEXT.format(
        variable=PASSES,
        passes=shlex.quote(passes),
        ptxas=shlex.quote(str(ptxas)),
        python=shlex.quote(str(python)),
        script=shlex.quote(str(script)),
    )
