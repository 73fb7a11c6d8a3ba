"""Host code in the generated source: the user's text, with a launch where a region stood.

In: the plan of a function and the language of the source.  Out: texts.  The body of a host function stays as it is,
marked with its lines, except for::

    meta_schedule { ... }   -->   { if (!cf_continues(cf_state, matmul_run(cf_state, n, a, B0))) return; }
    assert(B0 <= n);        -->   { if (!cf_require(cf_state, cf_le(B0, n), "B0 <= n", B0, n)) return; }
    if (n == 0) return 0;   -->   if (n == 0) return (void)( 0);
    float (*row)[n] = u[1]; -->   float *row = (u + (long long)(1) * (n));

A launcher returns no value, and all data is behind plain pointers.  Host code is C.  In C++ it is kept to what it means
in C (:mod:`~comprehensive.codegen.host_calls`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from enum import Enum
from itertools import pairwise

from comprehensive.codegen.dispatch import guard
from comprehensive.codegen.host_calls import HostCalls, using
from comprehensive.codegen.launchers import available_to, given, parameter_list
from comprehensive.codegen.source_lines import GENERATED_LINE, source_line
from comprehensive.diagnostics import DiagnosticSink, Span
from comprehensive.kernel_ir.c_expr import c_string, is_wide, wide
from comprehensive.loops.ir import Nest
from comprehensive.loops.types import with_prototypes
from comprehensive.metafork.ast import HostAssert, MetaSchedule, Parameter, ScalarType
from comprehensive.metafork.file_scope import Kind, Piece
from comprehensive.metafork.printer import assert_words, print_expr
from comprehensive.metafork.tokens import Origin, tokens
from comprehensive.plan.interface import Argument, Interface, host_name, interface
from comprehensive.plan.plan import FunctionPlan, RegionPlan


class Language(Enum):
    """The language of the source that host code stands in."""

    C = "C"
    CPLUSPLUS = "C++"


def settings_lines(macros: Iterable[tuple[str, str | None]]) -> tuple[str, ...]:
    """Return the preprocessor lines that give macros the texts they had when the program was read; None is no macro."""
    lines: list[str] = []
    for name, text in macros:
        bare = name.partition("(")[0]
        lines += [f"#undef {bare}", *([] if text is None else [f"#define {name} {text}".rstrip()])]
    return tuple(lines)


def written(
    functions: Sequence[FunctionPlan], pieces: Sequence[Piece], calls: HostCalls, language: Language
) -> tuple[str, ...]:
    """Return what the user wrote outside regions, so that macros and helpers mean what they did there.

    It comes last in the file: no macro of the program changes kernels and launchers.
    """
    outside = [(piece.span.start, _outside(piece, calls, language)) for piece in pieces]
    hosts = [(plan.function.span.start, _host_code(plan, calls, language)) for plan in functions]
    return tuple(text for _, text in sorted([*outside, *hosts], key=lambda placed: placed[0]))


def _outside(piece: Piece, calls: HostCalls, language: Language) -> str:
    """A piece of the file outside its functions with regions; the linker sees nothing that is defined there."""
    cplusplus = language is Language.CPLUSPLUS
    text = calls.declared_in(piece) if cplusplus else piece.span.text.rstrip()
    if piece.kind is Kind.OWN and not cplusplus and piece.is_linked:
        text = f"static {text}"
    text = f"{source_line(piece.span.position[0])}{text}\n{GENERATED_LINE}"
    match piece.kind:
        case Kind.DIRECTIVE:
            return text.rstrip("\n")
        case Kind.OWN:
            return f"namespace {{\n{text}}}" if cplusplus else text.rstrip("\n")
        case Kind.FOREIGN:
            return f'extern "C" {{\n{text}}}' if cplusplus else text.rstrip("\n")


def _host_code(plan: FunctionPlan, calls: HostCalls, language: Language) -> str:
    """The definition of the function that runs the host code.

    It returns nothing, whatever the type of the user's function.
    """
    host = interface(plan)
    body = _body(plan, host)
    parameters = parameter_list("cf_call *cf_state", host.everything, body)
    hidden = using(calls.in_function(plan.function)) if language is Language.CPLUSPLUS else ""
    block = f"{{ {hidden} {{{body}}} }}" if hidden else f"{{{body}}}"
    return f"static void {host.name}_host({parameters})\n{block}"


def _body(plan: FunctionPlan, host: Interface) -> str:
    types = {s.name: s.type for region in plan.regions for s in region.nest.scalars}
    types |= {a.name: a.type for a in host.everything if not a.pointer}
    pending = iter(plan.regions)
    pieces: list[str] = []
    parts = plan.function.parts
    for before, part, after in zip((None, *parts), parts, (*parts[1:], None), strict=False):
        match part:
            case Span():
                # The last line of what stands here instead of a region is no line of the source.
                text = without_values(part, plan.function.rewritten)
                pieces.append(_marked(text if after else text.rstrip(), part.position[0]))
            case HostAssert():
                pieces.append(f"{{ if (!cf_require(cf_state, {_requirement(part, types)})) return; }}")
            case MetaSchedule():
                # Parts of one nest are one statement.
                first, last = (
                    not (isinstance(p, MetaSchedule) and p.span == part.span) for p in (before, after)
                )
                region = next(pending)
                pieces.append("{ " + _prepared(region, part, host, plan.function.memory) if first else "  ")
                pieces.append(f"if (!cf_continues(cf_state, {_call(region, host)})) return;")
                pieces.append(" }" if last else "")
    return "".join(pieces) + "\n" + GENERATED_LINE


def _marked(text: str, line: int) -> str:
    """Return host code that begins in a line of the source, with the mark of its first line that is not empty."""
    while "\n" in text and not text.partition("\n")[0].strip():
        text, line = text.partition("\n")[2], line + 1
    return f"\n{source_line(line)}{text}" if text else ""


def _requirement(assertion: HostAssert, types: Mapping[str, ScalarType]) -> str:
    """Value, text and the two sides of an assertion; what is no integer expression is left to the compiler."""
    condition = assertion.condition
    if condition is not None and is_wide(condition, types):
        view = guard(with_prototypes(condition, types), types)
        return f"{view.condition}, {c_string(view.text)}, {view.needed}, {view.available}"
    text = assert_words(assertion)
    return f"({text}) ? 1 : 0, {c_string(' '.join(text.split()))}, 0, 0"


def _memory(nest: Nest, memory: Sequence[Parameter]) -> tuple[Argument, ...]:
    """Return the data of a region that nobody passes: memory that the launcher has for it."""
    names = {p.name for p in memory}
    return tuple(Argument(a.name, a.type, pointer=True) for a in nest.arrays if a.pointer in names)


def _prepared(region: RegionPlan, part: MetaSchedule, host: Interface, memory: Sequence[Parameter]) -> str:
    """Return the host code that stands before the first of several regions which one nest was made of.

    It computes the scalars and allocates the memory that lie between these regions.
    """
    types = {s.name: s.type for s in region.nest.scalars}
    types |= {a.name: a.type for a in host.everything if not a.pointer}
    pieces: list[str] = []
    for scalar in part.scalars:
        if scalar.pointer is not None:
            pieces.append(f"const {host_name(scalar.type)} {scalar.name} = {scalar.pointer} != 0;\n  ")
        if scalar.added and scalar.value is not None:
            types[scalar.name] = scalar.type
            value = wide(with_prototypes(scalar.value, types), types)
            pieces.append(
                f"const long long cf_wide_{scalar.name} = {value}; "
                f"{host_name(scalar.type)} {scalar.name} = ({host_name(scalar.type)})cf_wide_{scalar.name}; "
                f"if (!cf_fits(cf_state, cf_wide_{scalar.name}, (long long){scalar.name}, "
                f"{c_string(print_expr(scalar.value))})) return;\n  "
            )
    for each in _memory(region.nest, memory):
        (elements,) = region.nest.array(each.name).dims or (None,)
        assert elements is not None
        type = host_name(each.type)
        number = [p.name for p in memory].index(region.nest.array(each.name).pointer)
        pieces.append(
            f"{each.declaration} = ({type} *)cf_take_memory(cf_state, {number}, {wide(elements, types)}, "
            f"sizeof({type})); if (cf_state->status != CF_OK) return;\n  "
        )
    return "".join(pieces)


def _call(region: RegionPlan, host: Interface) -> str:
    """Return the call that stands in host code where the region stood."""
    passed = given(region, available_to(region, host))
    arguments = ", ".join(("cf_state", *(a.name for a in passed)))
    return f"{region.name}_run({arguments})"


def without_values(host: Span, rewritten: Sequence[tuple[Span, str]]) -> str:
    """The text of a piece of host code, on the same lines; some of the spans that are ``rewritten`` are in it."""
    changes = [(span.start, span.end, text) for span, text in rewritten if _is_within(span, host)]
    found = list(tokens(Origin(host.file, DiagnosticSink()), host.start, host.end))
    opened = False
    for token, after in pairwise(found):
        if token.type == "RETURN" and after.type != "SEMI":
            changes.append((token.end, token.end, " (void)("))
            opened = True
        elif after.type == "SEMI" and opened:
            changes.append((token.end, token.end, ")"))
            opened = False
    pieces: list[str] = []
    copied = host.start
    for start, end, text in sorted(changes):
        lines = host.file.text.count("\n", start, end)
        pieces += [host.file.text[copied:start], text, "\n" * lines]
        copied = end
    return "".join((*pieces, host.file.text[copied : host.end]))


def _is_within(span: Span, host: Span) -> bool:
    return span.file == host.file and host.start <= span.start and span.end <= host.end
