"""Names that C allows and that generated code cannot have.

In: a name of the user's.  Out: why it cannot stand in the header or in the CUDA source, or None::

    why_reserved("class")  ->  "is a keyword of C++"
    why_reserved("n")      ->  None

The tool's own names either begin with ``cf_`` or ``CF_``, or are made fresh beside those of the user
(:mod:`comprehensive.metafork.fresh`), or are what a function with regions gives to its callers
(:func:`generated_names`).
"""

from __future__ import annotations

import re
from functools import cache

from comprehensive.data import fact_table
from comprehensive.diagnostics import DiagnosticSink, Span

_C_AND_CPP = """
auto break case char const continue default do double else enum extern float for goto if inline int long
register restrict return short signed sizeof static struct switch typedef union unsigned void volatile while
alignas alignof and and_eq asm bitand bitor bool catch char8_t char16_t char32_t class co_await co_return
co_yield compl concept consteval constexpr constinit const_cast decltype delete dynamic_cast explicit export
false friend mutable namespace new noexcept not not_eq nullptr operator or or_eq private protected public
reinterpret_cast requires static_assert static_cast template this thread_local throw true try typeid typename
typeof typeof_unqual using virtual wchar_t xor xor_eq
"""

_KEYWORDS = frozenset(_C_AND_CPP.split())
"""Keywords of C and of C++; ``typeof`` is one in the C++ of GNU, which nvcc compiles."""

_CUDA = frozenset(["threadIdx", "blockIdx", "blockDim", "gridDim", "warpSize"])

MACHINE_SYMBOLS = frozenset(
    ["R_B", "Z_B", "T_B", "R_SM", "Z_SM", "T_SM", "W_SM", "B_SM", "R_U", "Q_SM", "Z_U", "Z_0", "O_W", "F_SM"]
)
"""The names of the machine's limits in conditions and trees."""

_OF_FUNCTIONS = (
    "params",
    "defaults",
    "tuned",
    "launch",
    "launch_on",
    "launch_explained",
    "choose",
    "machine",
    "strerror",
    "call",
    "host",
    "leaves_out",
    "expected",
    "value",
)
_OF_REGIONS = (
    "select",
    "explain",
    "block",
    "nearest",
    "tile",
    "tile_cost",
    "leaf_cost",
    "left_out",
    "tile_run",
    "time_run",
    "run",
    "leaf0",
    "leaf0_run",
)


def is_own(name: str) -> bool:
    """Whether the name is one of those that only the tool gives."""
    return name.startswith(("cf_", "CF_"))


def why_reserved(name: str) -> str | None:
    """Return why a name cannot stand in generated code, as the end of a sentence about it; None where it can."""
    if is_own(name):
        return "begins as the names of generated code do"
    if name in _KEYWORDS:
        return "is a keyword of C++"
    if name in _CUDA:
        return "is a variable of CUDA"
    if name.startswith("__") or re.match("_[A-Z]", name):
        return "begins as the names of compilers do"
    if name in _macros():
        return "is a macro of a standard header"
    return None


def is_of_compilers(name: str) -> bool:
    """Whether compilers and standard headers define macros of this name, each as it sees fit."""
    return name == "NDEBUG" or re.match("_[_A-Z]", name) is not None or name in _macros()


def report_reserved(name: str, reason: str, span: Span, sink: DiagnosticSink) -> None:
    """Says that a name of the program cannot stand in generated code, and why."""
    text = f"'{name}' {reason}: it cannot stand in the generated header and CUDA source"
    sink.error("CF0219", text, span, help="rename it")


def is_machine_symbol(name: str) -> bool:
    """Whether the name has a meaning of its own in the conditions of a tree; ``P_...`` are performance levels."""
    return name in MACHINE_SYMBOLS or name.startswith("P_")


def generated_names(function: str, regions: int) -> frozenset[str]:
    """Return the names that the header and the CUDA source define at file level for a function with so many regions.

    Leaves stand for one another: all are number 0 here, see :func:`with_leaf_zero`.
    """
    of_regions = [function] if regions == 1 else [f"{function}_{k + 1}" for k in range(regions)]
    return frozenset(
        [f"{function}_{name}" for name in _OF_FUNCTIONS]
        + [f"{region}_{name}" for region in of_regions for name in _OF_REGIONS]
    )


def with_leaf_zero(name: str) -> str:
    """The name with the number of a leaf in it made 0: ``f_leaf12_run`` is ``f_leaf0_run``."""
    return re.sub(r"_leaf\d+(?=_run\Z|\Z)", "_leaf0", name)


@cache
def _macros() -> frozenset[str]:
    return frozenset(name for names in fact_table("standard_macros.toml").values() for name in names.split())
