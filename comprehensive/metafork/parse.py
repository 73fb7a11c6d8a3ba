"""The front end: a file to a checked program.

In: a :class:`SourceFile` and a sink.  Out: a :class:`Program`; on errors the sink has them, and the program holds
what could be understood::

    parse(read_source("matmul.mf"), sink).functions[0].name == "matmul"

Stages: tokens, functions and regions (lexically), parameters, host code, regions, checks.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from comprehensive.diagnostics import DiagnosticSink, Edit, Fix, SourceFile, Span
from comprehensive.metafork.array_types import with_array_types
from comprehensive.metafork.ast import (
    ConstantArray,
    Expr,
    Function,
    HostAssert,
    IntLiteral,
    MetaSchedule,
    Parameter,
    Program,
    Stmt,
)
from comprehensive.metafork.check import HostNames, check_function, check_generated_names
from comprehensive.metafork.constant_arrays import constant_arrays, constant_arrays_inside, with_tables
from comprehensive.metafork.expression_check import NamesOutside
from comprehensive.metafork.file_scope import calls_of_regions, mutable_variables, names_spoken
from comprehensive.metafork.file_variables import file_variables
from comprehensive.metafork.host import HostCode, Surroundings, host_code
from comprehensive.metafork.host_pointers import AtRegion, HostPointers, host_pointers
from comprehensive.metafork.inlining import Helpers, Inliner, scope_of_tables
from comprehensive.metafork.items import Item, items
from comprehensive.metafork.literals import scalar_type
from comprehensive.metafork.local_pointers import without_pointers
from comprehensive.metafork.locate import FoundFunction, FoundRegion, locate
from comprehensive.metafork.named_constants import Constants, declared_names, named_constants, with_constants
from comprehensive.metafork.notation import MetaFork, Notation, RegionText
from comprehensive.metafork.null_tests import NullTests
from comprehensive.metafork.parameters import parameters_of
from comprehensive.metafork.preprocessor.configuration import Configuration
from comprehensive.metafork.preprocessor.stream import Preprocessed, preprocess
from comprehensive.metafork.region_body import region_body
from comprehensive.metafork.region_clauses import region_clauses
from comprehensive.metafork.scope import Scope, scope_of_region
from comprehensive.metafork.stability import Changes, changes, macro_names, names_in_macros
from comprehensive.metafork.structures import with_structures_as_arrays
from comprehensive.metafork.tokens import Origin, Token, tokens, unterminated_comment
from comprehensive.metafork.type_names import with_type_names
from comprehensive.metafork.walk import arrays
from comprehensive.records import replace

MAXIMUM_ERRORS = 100
"""Errors after which the rest of a file is left unread."""


METAFORK = MetaFork()


def parse(
    source: SourceFile,
    sink: DiagnosticSink,
    configuration: Configuration | None = None,
    notation: Notation = METAFORK,
) -> Program:
    """The checked program of a file, whose macros are those of a configuration; nothing is raised for wrong input."""
    configuration = configuration or Configuration()
    origin = Origin(source, sink)
    nothing = Program(source, ())
    comment = unterminated_comment(origin)
    if comment is not None:
        line_end = len(comment.file.line(comment.position[0])) - comment.position[1] + 1
        close = Span(source, comment.start + line_end, comment.start + line_end)
        fix = Fix("close it with '*/'", (Edit(close, " */"),))
        sink.error("CF0105", "this comment is never closed", comment, fix=fix)
        return nothing
    all_tokens = notation.marked(list(tokens(origin)))
    if all(token.type != "META_SCHEDULE" for token in all_tokens):
        notation.report_nothing(source, sink)
        return nothing
    before = sink.errors
    text = preprocess(all_tokens, configuration)
    if sink.errors > before:
        return nothing
    if all(token.type != "META_SCHEDULE" for token in text.tokens):
        keyword = next(token for token in all_tokens if token.type == "META_SCHEDULE")
        sink.error(
            "CF0104",
            f"every meta_schedule of '{source.path}' is switched off by a condition of the preprocessor",
            keyword.span,
            help="give the macro that the condition asks for with -D NAME, or remove the condition",
        )
        return nothing
    text, other_types = with_type_names(with_array_types(text))
    text, differing = with_structures_as_arrays(text)
    outside = [None if token.type == "DIRECTIVE" else token for token in (*text.included, *text.tokens)]
    declarations = list(items(outside))
    constants = named_constants(declarations)
    text, found = _with_constants(text, locate(text.tokens), constants)
    of_file = frozenset(name for item in declarations if not item.has_body for name in item.declared)
    names = NamesOutside(frozenset(), frozenset(text.macros), text.missing, of_file)
    taken = [token.text for token in (*text.included, *text.tokens) if token.type == "NAME"]
    helpers = Helpers.of(declarations, constants, constant_arrays(declarations, constants), names, taken)
    variables = file_variables(declarations, constants)
    reader = _FunctionReader(text, helpers, declarations, variables, other_types, differing, notation)
    functions: list[Function] = []
    for function in found:
        if sink.errors > MAXIMUM_ERRORS:
            break
        functions.append(reader.read(function))
    check_generated_names(functions, sink)
    _report_calls(functions, sink)
    _report_copies(functions, sink)
    return Program(source, tuple(functions), configuration, text.settings, text.files)


def _with_constants(
    text: Preprocessed, found: tuple[FoundFunction, ...], constants: Constants
) -> tuple[Preprocessed, tuple[FoundFunction, ...]]:
    """The text with the constants of the file as numbers in its functions with regions, and where these are then."""
    replaced, skipped = with_constants(text.tokens, text.skipped, found, constants)
    if len(replaced) == len(text.tokens) and tuple(replaced) == text.tokens:
        return text, found
    changed = replace(text, tokens=tuple(replaced), skipped=skipped)
    return changed, locate(changed.tokens)


class _FunctionReader:
    """Turns what the lexical finder found into trees."""

    def __init__(
        self,
        text: Preprocessed,
        helpers: Helpers,
        declarations: Sequence[Item],
        variables: Mapping[str, Parameter],
        other_types: Mapping[str, Token],
        differing: Mapping[str, Token],
        notation: Notation,
    ) -> None:
        self._text = text
        self._declarations = declarations
        self._variables = variables
        self._helpers = helpers
        self._other_types = other_types
        self._differing = differing
        self._notation = notation
        self._names = frozenset(token.text for token in text.tokens if token.type == "NAME")
        self._tokens = text.tokens
        self._macros = macro_names(text.uncertain)
        self._in_macros = names_in_macros(text.uncertain)
        self._origin = text.tokens[0].origin

    def read(self, found: FoundFunction) -> Function:
        sink = self._origin.sink
        parameters, understood = parameters_of(
            self._tokens, found, self._helpers.outside, self._other_types, self._differing
        )
        body, host, regions = self._body_tokens(found)
        own = declared_names(self._tokens[found.parameters.start : found.closing])
        parameters = (*parameters, *self._of_file(body, host, own), *self._results(found))
        _report_jumps(host)
        # Twice: which definitions there are decides which names change, and that which definitions count.
        definitions = host_code(body, regions, parameters, Changes(), self._host_value, {}).definitions
        changed = changes(host, definitions, self._macros, self._in_macros)
        pointers = self._pointers(
            host, regions, parameters, changed.anywhere | _hidden(host, definitions, parameters)
        )
        code = host_code(body, regions, parameters, changed, self._host_value, pointers.exchanges)
        _report_lost_values(parameters, host, changed)
        tables = {name: table for name, table in self._helpers.tables.items() if name not in own}
        tables |= constant_arrays_inside(host, self._helpers.constants)
        schedules: list[MetaSchedule] = []
        added: dict[str, Parameter] = {}
        tests = NullTests(self._helpers.fresh)
        readable = understood
        for region, around, at in zip(found.regions, code.surroundings, pointers.regions, strict=True):
            errors = sink.errors
            if errors > MAXIMUM_ERRORS:
                readable = False
                break
            found_here, more = self._regions(region, around, at, parameters, changed.names, tables, tests)
            schedules += found_here
            added |= {parameter.name: parameter for parameter in more}
            readable &= sink.errors == errors
        if len(schedules) > len(found.regions):
            # A turn of a host loop runs more regions than it has in the text.
            schedules = [
                replace(s, loops=tuple(replace(loop, regions=0) for loop in s.loops)) for s in schedules
            ]
        asked = tests.names.keys() | pointers.asked
        parameters = tuple(_asked_for(p) if p.is_data and p.name in asked else p for p in parameters)
        function = self._assemble(found, (*parameters, *added.values()), code, schedules, pointers)
        if readable:
            opaque = frozenset(n for around in code.surroundings for n in around.opaque if n not in tables)
            macros = self._macros | set(self._text.macros)
            names = HostNames(
                _first_mentions(host, definitions),
                tuple((host[position].span, bases) for position, bases in pointers.others.items()),
                opaque,
                macros,
                self._text.missing,
                self._helpers.outside.of_file,
            )
            check_function(function, names, sink)
        return function

    def _of_file(self, body: Sequence[Token], host: Sequence[Token], own: frozenset[str]) -> list[Parameter]:
        """The variables of the file that a function is passed: those that it uses, and hides by no name of its own.

        What host code changes and no region reads is not among them: the launcher has a copy that lives on.
        """
        spoken = names_spoken(body)
        alone = {
            token.text
            for before, token, after in zip((None, *host), host, (*host[1:], None), strict=False)
            if token.type == "NAME"
            and (
                (after is not None and after.type in _CHANGES)
                or (before is not None and before.type == "INCDEC")
            )
        } - names_spoken([token for token, left in zip(body, host, strict=True) if token is not left])
        return [v for name, v in self._variables.items() if name in spoken - alone and name not in own]

    def _results(self, found: FoundFunction) -> Iterator[Parameter]:
        """The memory for what the function returns behind its last region, where that is computed on the device."""
        kind = scalar_type(
            t.text for t in self._tokens[found.head : found.parameters.start] if t.type == "TYPE_WORD"
        )
        for region in found.regions:
            name = self._notation.result(self._tokens[region.keyword])
            if name is not None and kind is not None:
                yield Parameter(name.text, kind, pointer=True, span=name.span, is_result=True)

    def _pointers(
        self,
        host: Sequence[Token],
        regions: Sequence[FoundRegion],
        parameters: Sequence[Parameter],
        changed: frozenset[str],
    ) -> HostPointers:
        closings = {region.keyword: region.closing for region in regions}
        return host_pointers(host, closings, parameters, changed, self._declarations)

    # --- heads -------------------------------------------------------------------------------------------

    def _body_tokens(
        self, found: FoundFunction
    ) -> tuple[Sequence[Token], Sequence[Token], tuple[FoundRegion, ...]]:
        """The tokens of the body, the same with its regions blanked, and the regions relative to these."""
        first = found.opening + 1
        body = self._tokens[first : found.closing]
        host = list(body)
        regions: list[FoundRegion] = []
        for region in found.regions:
            relative = FoundRegion(region.keyword - first, region.opening - first, region.closing - first)
            for position in range(relative.keyword, relative.closing + 1):
                host[position] = host[position]._replace(type="SEMI")
            regions.append(relative)
        return body, host, tuple(regions)

    # --- regions -----------------------------------------------------------------------------------------

    def _regions(
        self,
        found: FoundRegion,
        around: Surroundings,
        at: AtRegion,
        parameters: tuple[Parameter, ...],
        changed: frozenset[str],
        constants: Mapping[str, ConstantArray],
        tests: NullTests,
    ) -> tuple[tuple[MetaSchedule, ...], tuple[Parameter, ...]]:
        """The region, several where the notation makes several nests of it; and what its function gets for it.

        ``constants`` are the constant arrays that it can read, ``tests`` what the function asks of pointers.
        """
        keyword = self._tokens[found.keyword]
        inside = self._text.inside(found.opening + 1, found.closing)
        errors = self._origin.sink.errors
        opaque = around.opaque - {pointer.name for pointer in at.pointers} - set(constants)
        around = replace(around, opaque=opaque, pointers=at.pointers)
        clauses = region_clauses(self._tokens, found)
        scalars = {p.name: p.type for p in parameters if not p.is_data}
        scalars |= {s.name: s.type for s in around.scalars}
        body = region_body(
            inside,
            self._tokens[found.closing],
            scalars,
            self._helpers.fresh,
            has_parallel=True,
            tables=constants.values(),
        )
        data = [p for p in parameters if p.is_data]
        types = {each.name: each.type for each in (*data, *around.arrays, *at.pointers, *constants.values())}
        body = without_pointers(body, types, self._helpers.fresh, self._origin.sink)
        body = self._inlined(body, around, parameters, constants)
        body, tables = with_tables(body, constants, self._origin.sink)
        body, asked = tests.replaced(body, _steady_pointers(parameters, around, at))
        around = replace(around, scalars=(*around.scalars, *asked))
        is_understood = self._origin.sink.errors == errors
        unsteady = changed | around.opaque | {item.name for item in (*around.scalars, *around.arrays)}
        tree = self._notation.region(
            RegionText(keyword, clauses.block, body, around, parameters, self._names, unsteady, is_understood)
        )
        several = len(tree.bodies) > 1
        schedules = tuple(
            MetaSchedule(
                _cached(clauses.cache, part) if several and clauses.cache is not None else clauses.cache,
                part,
                tree.scalars,
                around.arrays,
                (*around.preconditions, *tree.preconditions),
                around.facts,
                around.guards,
                around.loops,
                keyword.span.to(self._tokens[found.closing].span),
                around.is_certain,
                frozenset(changed),
                at.pointers,
                at.addresses,
                tables,
                tree.in_any_order,
                tree.is_checked,
                around.is_repeated,
            )
            for part in tree.bodies
        )
        return schedules, tree.added

    def _host_value(self, expression: Expr, scope: Scope) -> Expr:
        """An expression of host code with calls of functions of the file as what they return; no call is an error."""
        return Inliner(self._helpers, scope, DiagnosticSink()).expression(expression)

    def _inlined(
        self,
        body: tuple[Stmt, ...],
        around: Surroundings,
        parameters: Sequence[Parameter],
        constants: Mapping[str, ConstantArray],
    ) -> tuple[Stmt, ...]:
        """The body with calls of functions of the file as what they do."""
        function = Function("", tuple(parameters), ())
        region = MetaSchedule(None, (), around.scalars, around.arrays, pointers=around.pointers)
        scope = scope_of_region(function, region, around.opaque)
        scope.outer = scope_of_tables(constants)
        return Inliner(self._helpers, scope, self._origin.sink).body(body)

    # --- the whole ---------------------------------------------------------------------------------------

    def _assemble(
        self,
        found: FoundFunction,
        parameters: tuple[Parameter, ...],
        code: HostCode,
        schedules: Sequence[MetaSchedule],
        pointers: HostPointers,
    ) -> Function:
        first, last = self._tokens[found.opening].end, self._tokens[found.closing].start
        file = self._origin.file
        parts: list[Span | HostAssert | MetaSchedule] = []
        position = first
        known: list[HostAssert | MetaSchedule] = [*code.asserts, *schedules]
        for part in sorted(known, key=lambda part: part.span.start):
            if part.span.start > position:
                parts.append(Span(file, position, part.span.start))
            parts.append(part)
            position = part.span.end
        if last > position:
            parts.append(Span(file, position, last))
        return Function(
            found.name,
            parameters,
            tuple(parts),
            self._tokens[found.head].span.to(self._tokens[found.closing].span),
            Span(file, first, last),
            pointers.rewritten,
            pointers.spoken & {p.name for p in parameters if p.is_data},
        )


def _steady_pointers(
    parameters: Sequence[Parameter], around: Surroundings, at: AtRegion
) -> Mapping[str, str]:
    """The pointers that are at a region what the caller has passed, with the parameters that they are; an array of the
    file is always there."""
    hidden = {name for way in at.addresses for name, _ in way} | around.opaque
    hidden |= {each.name for each in (*around.arrays, *around.pointers)}
    steady = {
        p.name: p.name
        for p in parameters
        if p.is_data and not (p.of_file and p.dims) and p.name not in hidden
    }
    ways = [dict(way) for way in at.addresses]
    for pointer in at.pointers:
        address, *others = {way.get(pointer.name) for way in ways} or {None}
        if address is not None and not others and address.offset == IntLiteral(0) and address.base in steady:
            steady[pointer.name] = address.base
    return steady


def _asked_for(parameter: Parameter) -> Parameter:
    """The parameter of which a function asks whether it is there: its declaration promises no elements."""
    return replace(parameter, dims=(None, *parameter.dims[1:])[: len(parameter.dims)], may_be_null=True)


def _cached(names: tuple[str, ...], body: tuple[Stmt, ...]) -> tuple[str, ...]:
    """The arrays of a cache clause that a part of a region speaks of."""
    spoken = arrays(body)
    return tuple(name for name in names if name in spoken)


def _report_jumps(host: Sequence[Token]) -> None:
    """The function becomes a launcher that returns a status, 0 where all is well: host code may leave it so."""
    for token, after, end in zip(host, host[1:], host[2:], strict=False):
        if token.type == "GOTO":
            token.origin.sink.error(
                "CF0306",
                "goto in the host code of a function with a region",
                token.span,
                help="return, or put an if around what is passed over",
            )
        elif token.type == "RETURN" and after.type != "SEMI" and (after.text, end.type) != ("0", "SEMI"):
            token.origin.sink.warning(
                "CF0330",
                "the value of this return is dropped: the launcher returns a status of its own, 0 for success",
                token.span,
                help="write 'return;', and give values back through an array",
            )


def _report_calls(functions: Sequence[Function], sink: DiagnosticSink) -> None:
    """A function with a region becomes a launcher with another interface: host code cannot call it."""
    for token in calls_of_regions(functions):
        sink.error(
            "CF0319",
            f"host code calls '{token.text}', which has a region itself",
            token.span,
            help=f"'{token.text}' becomes a launcher of its own: let the program that launches call both",
        )


def _report_copies(functions: Sequence[Function], sink: DiagnosticSink) -> None:
    """Warn of variables that the emitted file cannot share with the program."""
    for token in mutable_variables(functions):
        sink.warning(
            "CF0320",
            f"host code uses the variable '{token.text}' of its file; the launcher has a copy of its own",
            token.span,
            help=f"pass '{token.text}' as a parameter, or make it const",
        )


_CHANGES = frozenset(("ASSIGN", "COMPOUND", "INCDEC"))
"""The tokens that stand behind a scalar that a statement changes."""


def _report_lost_values(parameters: Sequence[Parameter], host: Sequence[Token], changed: Changes) -> None:
    """Host code of a launcher changes what it was passed for a variable of the file, and not the variable."""
    for p in parameters:
        if not p.of_file or p.dims or p.name not in changed.names:
            continue
        places = [position for position, name in changed.at if name == p.name]
        places += [position for position, token in enumerate(host) if token.text == p.name]
        for token in [host[position] for position in places[:1]]:
            token.origin.sink.warning(
                "CF0320",
                f"host code changes the variable '{p.name}' of its file; the launcher changes a copy of its own",
                token.span,
                help=f"change '{p.name}' in the program that launches, or use a variable of the function",
            )


def _hidden(
    host: Sequence[Token], definitions: frozenset[int], parameters: Sequence[Parameter]
) -> frozenset[str]:
    """The names that stand for more than one variable of a function."""
    declared = [*(p.name for p in parameters), *(host[position].text for position in sorted(definitions))]
    return frozenset(name for name, count in Counter(declared).items() if count > 1)


def _first_mentions(host: Sequence[Token], definitions: frozenset[int]) -> dict[str, Span]:
    """Return the first mention of each name in host code, declarations of it and members of structures excepted."""
    found: dict[str, Span] = {}
    for position, token in enumerate(host):
        is_member = position > 0 and host[position - 1].type == "DOT"
        if token.type == "NAME" and position not in definitions and not is_member:
            found.setdefault(token.text, token.span)
    return found
