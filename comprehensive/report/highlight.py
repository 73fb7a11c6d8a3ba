"""C and CUDA source as HTML: text in, a line of markup for each line out.

    highlighted("int n; // size\\n")    # ('<span class="t">int</span> n; <span class="c">// size</span>',)

Classes are `c` for comments, `s` for strings, `p` for directives, `k` for words of the language, `t` for types, `m` for
MetaFork's words, and `n` for numbers.
"""

from __future__ import annotations

import re

from markupsafe import Markup, escape

_TOKEN = re.compile(
    r"""(?P<c>/\*.*?(?:\*/|\Z)|//[^\n]*)
      | (?P<s>"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')
      | (?P<p>^[ \t]*\#[^\n]*)
      | (?P<m>\b(?:meta_schedule|meta_for|meta_atomic|cache|__global__|__launch_bounds__|__syncthreads|__restrict__
               |__shared__|__device__|blockIdx|blockDim|threadIdx|gridDim)\b)
      | (?P<k>\b(?:if|else|for|while|do|return|break|continue|switch|case|default|extern|static|template|struct|sizeof
               |const|goto|assert)\b)
      | (?P<t>\b(?:void|int|long|short|char|float|double|unsigned|signed|bool|half|bfloat16)\b)
      | (?P<n>\b(?:0[xX][0-9a-fA-F]+|\d+(?:\.\d*)?(?:[eE][-+]?\d+)?)[uUlLfF]*\b)""",
    re.DOTALL | re.MULTILINE | re.VERBOSE,
)


def highlighted(text: str) -> tuple[Markup, ...]:
    """The lines of a text, each closed in itself: a comment over several lines is one on each of them."""
    marked: list[Markup] = []
    at = 0
    for found in _TOKEN.finditer(text):
        marked.append(escape(text[at : found.start()]))
        marked.append(_spans(found[0], found.lastgroup or ""))
        at = found.end()
    marked.append(escape(text[at:]))
    lines = Markup().join(marked).split("\n")
    return tuple(Markup(line) for line in (lines[:-1] if text.endswith("\n") else lines))


def _spans(token: str, kind: str) -> Markup:
    spans = (
        Markup('<span class="{}">{}</span>').format(kind, part) if part else "" for part in token.split("\n")
    )
    return Markup("\n").join(spans)
