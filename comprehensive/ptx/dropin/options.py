"""The options of ptxas, as its ``--help`` lists them.

In: nothing.  Out: :data:`OPTIONS`, by each of their names::

    OPTIONS["-arch"]        # Option(name="gpu-name", takes_value=True)
    OPTIONS["--gpu-name"]   # the same

Union of ptxas 12.9.86, 13.0.88 and 13.5.37, which agree on the options that they share, and ``regAllocOptLevel``,
which is not listed but accepted (Triton passes it).  That of ptxas 13.0.88 are the forms, by trying each: a long name
after two hyphens and a short one after one, never otherwise and never abbreviated; a value behind ``=`` or in the next
word; ``-O3`` and ``-m64`` joined, too, but never ``-O 3``, while ``--opt-level 3`` and ``-m 64`` are right.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Option:
    """An option of ptxas by its long ``name``.

    ``takes_value`` says whether the next word is the value where there is no ``=``.
    """

    name: str
    takes_value: bool


# Long name, short name.
_WITH_VALUE = """
Ofast-compile Ofc
allow-expensive-optimizations allow-expensive-optimizations
def-load-cache dlcm
def-store-cache dscm
device-function-maxrregcount func-maxrregcount
device-stack-protector device-stack-protector
enable-func-clone-sc enable-func-clone-sc
entry e
fmad fmad
force-load-cache flcm
force-store-cache fscm
gpu-name arch
input-as-string ias
machine m
maxntid maxntid
maxrregcount maxrregcount
minnctapersm minnctapersm
opt-level O
options-file optf
output-file o
position-independent-code pic
regAllocOptLevel regAllocOptLevel
register-usage-level regUsageLevel
sanitize sanitize
split-compile split-compile
"""
_WITHOUT_VALUE = """
apply-controls apply-controls
compile-as-tools-patch astoolspatch
compile-only c
compiler-annotations annotate
device-debug g
disable-optimizer-constants disable-optimizer-consts
disable-warnings w
dont-merge-basicblocks no-bb-merge
extensible-whole-program ewp
g-tensor-memory-access-check g-tmem-access-check
generate-line-info lineinfo
gno-fabric-access-check gno-fabric-access-check
gno-tensor-memory-access-check gno-tmem-access-check
help h
jobserver jobserver
legacy-bar-warp-wide-behavior legacy-bar-warp-wide-behavior
list-arch arch-ls
list-version version-ls
make-errors-visible-at-exit make-errors-visible-at-exit
optimize-float-atomics opt-fp-atomics
override-directive-values override-directive-values
preserve-relocs preserve-relocs
return-at-end ret-end
sp-bounds-check sp-bounds-check
suppress-async-bulk-multicast-advisory-warning suppress-async-bulk-multicast-advisory-warning
suppress-debug-info suppress-debug-info
suppress-double-demote-warning suppress-double-demote-warning
suppress-position-independent-code-warning suppress-position-independent-code-warning
suppress-sparse-mma-advisory-info suppress-sparse-mma-advisory-info
suppress-stack-size-warning suppress-stack-size-warning
verbose v
verbose2 v2
version V
warn-on-double-precision-use warn-double-usage
warn-on-local-memory-usage warn-lmem-usage
warn-on-spills warn-spills
warning-as-error Werror
"""


def _table() -> dict[str, Option]:
    options: dict[str, Option] = {}
    for takes_value, lines in ((True, _WITH_VALUE), (False, _WITHOUT_VALUE)):
        for line in lines.split("\n"):
            if line:
                name, short = line.split()
                options[f"--{name}"] = options[f"-{short}"] = Option(name, takes_value)
    options["-O"] = Option("opt-level", False)
    return options


OPTIONS: Mapping[str, Option] = _table()
