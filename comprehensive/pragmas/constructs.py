"""The construct that a directive is for the tool: a parallel loop, something that may stay away, or something refused.

In: the words of a directive.  Out: a :class:`Construct`::

    target teams distribute parallel for  -->  LOOP          barrier  -->  NOTHING (regions run one after the other)
    critical                              -->  REFUSED, with what to write instead
"""

from __future__ import annotations

from enum import Enum

from comprehensive.diagnostics import DiagnosticSink
from comprehensive.pragmas.directives import NAMES, Directive


class Construct(Enum):
    LOOP = "loop"
    """The iterations of the loop behind it are independent, says the directive."""
    PROVED = "proved"
    """A loop that is parallel if the tool proves it."""
    KERNELS = "kernels"
    """Statements all loops of which are parallel if the tool proves it."""
    SERIAL = "serial"
    """A loop that is said to be serial."""
    ATOMIC = "atomic"
    HINT = "hint"
    """It changes no result of the loop or block behind it."""
    NOTHING = "nothing"
    """It stands alone and has no meaning for serial C."""
    REFUSED = "refused"


_ATOMIC_ADVICE = "one update is '#pragma omp atomic' before 'a[i] += ...;', a sum is reduction(+: ...)"
_TASK_ADVICE = "write the tasks as iterations of a loop with '#pragma omp parallel for'"

_REFUSED: dict[str, dict[str, str]] = {
    "omp": {
        "critical": _ATOMIC_ADVICE,
        "ordered": "iterations run in any order: take the part that needs an order out of the loop",
        "sections": "put each section into a function of its own, or into a loop",
        "section": "put each section into a function of its own, or into a loop",
        "task": _TASK_ADVICE,
        "taskloop": _TASK_ADVICE,
        "taskgroup": _TASK_ADVICE,
        "scan": "a scan is no parallel loop: drop the directive",
        "cancel": "all iterations of a region run: guard the work with 'if'",
        "cancellation": "all iterations of a region run: guard the work with 'if'",
        "threadprivate": "pass the variable as a parameter, or declare it inside the loop",
        "metadirective": "write the directive that is meant for GPUs",
        "dispatch": "call the function that is meant for GPUs",
        "interop": "take it out of the function with the loops",
        "depobj": "take it out of the function with the loops",
        "workshare": "write the loops of the array assignments",
        "do": "the loops of C are 'for'",
    },
    "acc": {
        "serial": "drop the directive: what no directive parallelises is host code, or write 'parallel loop'",
        "routine": "drop the directive and write the body of the function into the loop",
        "declare": "pass the data as a parameter of the function",
    },
    "scop": {},
}

_NOTHING = {
    "omp": frozenset(
        [
            "barrier",
            "taskwait",
            "taskyield",
            "flush",
            "nothing",
            "requires",
            "error",
            "assume",
            "assumes",
            "allocate",
            "allocators",
            "end",
        ]
    ),
    "acc": frozenset(["update", "wait", "init", "shutdown", "set", "cache", "enter", "exit"]),
    "scop": frozenset(["endscop"]),
}
_HINTS = {
    "omp": frozenset(
        [
            "parallel",
            "target",
            "teams",
            "single",
            "master",
            "masked",
            "simd",
            "unroll",
            "tile",
            "scope",
            "declare",
        ]
    ),
    "acc": frozenset(("data", "host_data", "parallel")),
    "scop": frozenset[str](),
}
_LOOPS = frozenset(("for", "distribute", "loop"))
_FIRST_OF_LOOPS = _LOOPS | {"parallel", "target", "teams"}


def construct(directive: Directive) -> Construct:
    """Return the construct of a directive; words that there are not are refused."""
    words = directive.words
    first = words[0] if words else ""
    if words and advice_against(directive) is not None:
        return Construct.REFUSED
    if first == "atomic":
        return Construct.ATOMIC
    if first == "scop":
        return Construct.KERNELS
    if directive.model == "acc" and first in ("kernels", "parallel", "loop"):
        return _openacc(directive)
    if directive.model == "omp" and first in _FIRST_OF_LOOPS and _LOOPS & set(words):
        return Construct.LOOP
    if first in _NOTHING[directive.model] or words[:2] in _STANDALONE:
        return Construct.NOTHING
    return Construct.HINT if first in _HINTS[directive.model] else Construct.REFUSED


_STANDALONE = (("target", "update"), ("target", "enter"), ("target", "exit"), ("declare", "target"))


def _openacc(directive: Directive) -> Construct:
    first = directive.words[0]
    if "loop" not in directive.words:
        return Construct.KERNELS if first == "kernels" else Construct.HINT
    if directive.of("seq"):
        return Construct.SERIAL
    asserted = first == "parallel" or bool(directive.of("independent"))
    if directive.of("auto") or (first == "kernels" and not asserted):
        return Construct.PROVED
    return Construct.LOOP


def advice_against(directive: Directive) -> str | None:
    """Return what to write instead of a directive that is known and refused; None for any other one."""
    table = _REFUSED[directive.model]
    if directive.words[0] == "atomic":
        kinds = [c for c in directive.clauses if c.name in ("read", "write", "capture", "compare")]
        return f"'atomic {kinds[0].name}' has no place in a region: write the update alone" if kinds else None
    return next((table[word] for word in directive.words if word in table), None)


def report_refused(directive: Directive, sink: DiagnosticSink) -> None:
    """Says that a directive is not supported (CF1101)."""
    advice = advice_against(directive) if directive.words else None
    model = NAMES[directive.model]
    text = f"'{directive.name}' is not supported"
    if advice is None:
        text = (
            f"{model} has no directive '{' '.join(directive.words)}'"
            if directive.words
            else "this directive is empty"
        )
        parallel = "parallel for" if directive.model == "omp" else "parallel loop"
        advice = f"drop it; a parallel loop is '#pragma {directive.model} {parallel}'"
    sink.error("CF1101", text, directive.span, help=advice)
