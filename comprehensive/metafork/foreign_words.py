"""Words of CUDA and C++ that people write into regions out of habit: what to write instead.

In: the tokens of a region.  Out: an error for the first use of each such word (CF0129), and for each line of the
preprocessor that a region cannot have (CF0118); whether there was one.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from comprehensive.metafork.tokens import Token

_BARRIER = (
    "remove it: threads of a region are independent, and the tool places the barriers that its copies need"
)
_SHARED = (
    "remove it: name the array in cache(...) and the tool keeps what a block needs of it in shared memory"
)
_INDICES = "remove it: the iterators of the meta_for loops say where a thread is"
_FUNCTION = "remove it: the tool makes the kernels of a region"
_LANES = (
    "write it as serial C: the pass 'synthesize-shuffles' makes shuffles of loads where that is asked for"
)
_HALVES = "write operators of C, and functions of float such as fmaxf: one computes with half in float"
_CONST = "write 'const', as in 'const int k = 3'"

_WORDS: tuple[tuple[str, str, str], ...] = (
    (r"__sync(threads|warp)\w*|__threadfence\w*", "CUDA", _BARRIER),
    (r"__(shared|constant|managed)__", "CUDA", _SHARED),
    (r"__(device|global|host|launch_bounds|forceinline|noinline)__", "CUDA", _FUNCTION),
    (r"__(shfl|ballot|any|all|activemask|match|reduce)\w*", "CUDA", _LANES),
    (r"__h(add|sub|mul|div|fma|neg|abs|max|min|eq|ne|lt|le|gt|ge)\w*", "CUDA", _HALVES),
    (r"__ldg|__ldcg|__ldcs|__stcs", "CUDA", "read and write the array itself: a[i]"),
    (r"threadIdx|blockIdx|blockDim|gridDim|warpSize", "CUDA", _INDICES),
    (r"constexpr|consteval|constinit", "C++", _CONST),
    (r"static_cast|const_cast|reinterpret_cast", "C++", "write a cast of C, as in (float)x"),
)
_PATTERNS = tuple((re.compile(pattern), language, help) for pattern, language, help in _WORDS)


def report_foreign_words(inside: Sequence[Token]) -> bool:
    """Report words and lines that are not of the language; whether there were any.

    A pragma is a warning only: what it asks of a compiler of serial C has no meaning for the tool.
    """
    found = _report_directives(inside)
    reported: set[str] = set()
    for token in inside:
        if token.type != "NAME" or token.text in reported:
            continue
        for pattern, language, help in _PATTERNS:
            if pattern.fullmatch(token.text):
                reported.add(token.text)
                message = f"'{token.text}' is {language}, and a region is serial C"
                token.origin.sink.error("CF0129", message, token.span, help=help)
    return found or bool(reported)


def _report_directives(inside: Sequence[Token]) -> bool:
    """Report lines of the preprocessor; whether there were any but pragmas."""
    found = False
    for token in inside:
        if token.type != "DIRECTIVE":
            continue
        # The text of a directive ends with its comments: the span is that of its first line only.
        length = len(token.text.split("\n")[0].rstrip())
        span = token._replace(end=token.start + length).span
        if re.match(r"#\s*pragma\b", token.text):
            text = "a pragma has no effect on a region, and is ignored"
            help = "remove it: block(...) and cache(...) behind meta_schedule say what the tool may be told"
            token.origin.sink.warning("CF0118", text, span, help=help)
            continue
        found = True
        text = "a region can have macros and conditions, and no other lines of the preprocessor"
        token.origin.sink.error("CF0118", text, span, help="move it out of the function")
    return found
