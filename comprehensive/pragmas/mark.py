"""The loops that are regions: the tokens of a file in, the same with ``meta_schedule { ... }`` around these loops out.

::

    #pragma omp parallel for private(j)           meta_schedule {
    for (i = 0; i < n; i++) ...            -->      for (i = 0; i < n; i++) ...
                                                  }

The keyword stands in the place of the directive, and is the key of what is known of the region.  Directives inside of a
region leave its tokens, but are kept with the loops behind them; ``atomic`` becomes ``meta_atomic``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet

from msgspec import Struct, field

from comprehensive.diagnostics import DiagnosticSink, Span
from comprehensive.metafork.fresh import fresh
from comprehensive.metafork.tokens import Token
from comprehensive.pragmas.clauses import check_clauses, reductions
from comprehensive.pragmas.constructs import Construct, construct, report_refused
from comprehensive.pragmas.directives import Directive, directive, is_pragma, operator_directive
from comprehensive.pragmas.statements import statement_end
from comprehensive.pragmas.stores import read_again, returned_end, stores_end, with_elements, with_result


class Team(Struct, frozen=True):
    """A directive whose statement several threads run: what it lists or declares in there is private."""

    directive: Directive
    statement: Span

    def holds(self, place: int) -> bool:
        """Whether an offset is in its statement."""
        return self.statement.start <= place < self.statement.end


class Rest(Struct, frozen=True):
    """The rest of the function behind a region: the tokens from a position on, where so many braces are open."""

    tokens: Sequence[Token]
    position: int
    depth: int

    def reads(self, variables: AbstractSet[str]) -> Token | None:
        """Return the token where the function reads one of the variables before it gives it another value."""
        return read_again(self.tokens, self.position, self.depth, variables)


class Marked(Struct, frozen=True):
    """``regions`` has the offset of the first loop of each region by the offset of its keyword, ``results`` the name of
    the memory that it stores what the function returns to; ``behind`` has what comes after the region that begins with
    that loop, ``loops`` the directives before each loop by its offset; ``unproved`` are directives that leave it to the
    compiler which loops are parallel, and none is, each with the offsets of its loops; ``gone`` are all directives that
    were understood, in order."""

    tokens: tuple[Token, ...]
    regions: Mapping[int, int]
    results: Mapping[int, Token]
    behind: Mapping[int, Rest]
    loops: Mapping[int, tuple[Directive, ...]]
    teams: tuple[Team, ...]
    unproved: tuple[tuple[Directive, tuple[int, ...]], ...]
    gone: tuple[Span, ...]


def marked(
    tokens: Sequence[Token], models: AbstractSet[str], refuted: AbstractSet[int], sink: DiagnosticSink
) -> Marked:
    """``refuted`` are the offsets of loops that no proof shows to be parallel: they stay serial, and those in them are
    tried instead."""
    marker = _Marker(models, refuted, sink)
    marker.read(tokens)
    marker.associate()
    return marker.written()


class _Marker(Struct):
    models: AbstractSet[str]
    refuted: AbstractSet[int]
    sink: DiagnosticSink
    plain: list[Token] = field(default_factory=lambda: [])
    """The tokens without directives of the models."""
    before: dict[int, list[Directive]] = field(default_factory=lambda: {})
    """Directives by the position in ``plain`` of the token behind them."""
    loops: dict[int, list[Directive]] = field(default_factory=lambda: {})
    """The directives of a loop, by the position of its ``for``."""
    tried: list[tuple[Directive, range]] = field(default_factory=lambda: [])
    """The loops that may be regions, if they are proved to be parallel."""
    teams: list[Team] = field(default_factory=lambda: [])
    atomic: dict[int, Directive] = field(default_factory=lambda: {})
    gone: list[Span] = field(default_factory=lambda: [])

    def read(self, tokens: Sequence[Token]) -> None:
        position = 0
        while position < len(tokens):
            token = tokens[position]
            found, after = None, position + 1
            if token.type == "DIRECTIVE":
                found = directive(token)
            elif token.text == "_Pragma":
                found, after = operator_directive(tokens, position) or (None, after)
            if found is None:
                self.plain += tokens[position:after]
            else:
                self.gone.append(found.span)
                if found.model in self.models:
                    self.before.setdefault(len(self.plain), []).append(found)
            position = after

    # --- what directives stand before --------------------------------------------------------------------

    def associate(self) -> None:
        for position, directives in self.before.items():
            for each in directives:
                self._associate(each, self._behind(position))

    def _behind(self, position: int) -> int:
        """The position of the first token that is no preprocessor line."""
        while position < len(self.plain) and self.plain[position].type == "DIRECTIVE":
            position += 1
        return position

    def _associate(self, found: Directive, position: int) -> None:
        kind = construct(found)
        if kind is Construct.REFUSED:
            report_refused(found, self.sink)
            return
        if not check_clauses(found, self.sink):
            return
        is_loop = position < len(self.plain) and self.plain[position].type == "FOR"
        if kind in (Construct.LOOP, Construct.PROVED, Construct.SERIAL) and not is_loop:
            self.sink.error(
                "CF1104",
                f"no 'for' follows '{found.name}'",
                found.span,
                help="put the directive right before the loop, with nothing between them",
            )
            return
        if is_loop:
            self.loops.setdefault(position, []).append(found)
        if kind is Construct.KERNELS or (kind is Construct.PROVED and found.words[0] == "kernels"):
            end = self._end(found, position)
            if end is None:
                return
            self.tried.append((found, range(position, end)))
        elif kind is Construct.PROVED:
            self.tried.append((found, range(position, position + 1)))
        if kind is Construct.ATOMIC:
            self.atomic[position] = found
        if kind is Construct.HINT and found.words[0] in ("parallel", "target", "teams"):
            end = statement_end(self.plain, position)
            if end > position:
                self.teams.append(Team(found, self.plain[position].span.to(self.plain[end - 1].span)))

    def _end(self, found: Directive, position: int) -> int | None:
        """The position after the statements that a directive is about, one or all before ``#pragma endscop``; None
        after an error."""
        if found.model != "scop":
            return statement_end(self.plain, position)
        ends = (k for k, here in self.before.items() if any(each.words == ("endscop",) for each in here))
        end = min((k for k in ends if k >= position), default=None)
        if end is None:
            self.sink.error(
                "CF1104",
                f"no '#pragma endscop' follows '{found.name}'",
                found.span,
                help="put '#pragma endscop' behind the last loop that is meant",
            )
        return end

    # --- regions -----------------------------------------------------------------------------------------

    def written(self) -> Marked:
        result: list[Token] = []
        regions: dict[int, int] = {}
        results: dict[int, Token] = {}
        behind: dict[int, Rest] = {}
        position, depth = 0, 0
        while position < len(self.plain):
            token = self.plain[position]
            depth += (token.type == "LBRACE") - (token.type == "RBRACE")
            if token.type != "FOR" or not self._is_region(position):
                result.append(token)
                position += 1
                continue
            end = statement_end(self.plain, position)
            sums = self._sums(position)
            returned = returned_end(self.plain, end, depth, sums)
            end = returned or stores_end(self.plain, end, depth, sums)
            keyword = self._keyword(position, result)
            regions[keyword.start] = token.start
            behind[token.start] = Rest(self.plain, end, depth)
            last = self.plain[end - 1]
            inside = self._inside(position, end)
            if returned is not None:
                inside, results[keyword.start] = with_result(inside, self._free("result"))
            result += [keyword, _sign("LBRACE", token, token.start), *inside]
            result.append(_sign("RBRACE", last, last.end))
            position = end
        return Marked(
            tuple(result),
            regions,
            results,
            behind,
            {self.plain[k].start: tuple(directives) for k, directives in self.loops.items()},
            tuple(self.teams),
            tuple(self._unproved(frozenset(regions.values()))),
            tuple(self.gone),
        )

    def _free(self, wish: str) -> str:
        """A name that the file does not have."""
        return fresh(wish, {token.text for token in self.plain})

    def _sums(self, position: int) -> frozenset[str]:
        """The scalars that the directives of a loop add up."""
        found = (r for each in self.loops.get(position, ()) for r in reductions(each))
        return frozenset(name for reduction in found for name, section in reduction.items if not section)

    def _unproved(self, first: frozenset[int]) -> Iterator[tuple[Directive, tuple[int, ...]]]:
        """``first`` are the offsets of the loops of regions."""
        for found, positions in self.tried:
            own = tuple(self.plain[k].start for k in positions if self.plain[k].type == "FOR")
            if not first & set(own):
                yield found, own

    def _is_region(self, position: int) -> bool:
        kinds = {construct(found) for found in self.loops.get(position, ())}
        if Construct.SERIAL in kinds:
            return False
        if Construct.LOOP in kinds:
            return True
        tried = any(position in each for _, each in self.tried)
        return tried and self.plain[position].start not in self.refuted

    def _keyword(self, position: int, result: list[Token]) -> Token:
        """The keyword of a region in the place of its first directive; what else stands there leaves ``result``."""
        loop = self.plain[position]
        first = position
        while first > 0 and self.plain[first - 1].type == "DIRECTIVE":
            first -= 1
        own = [each for k in range(first, position + 1) for each in self.before.get(k, ())]
        start = min((each.span.start for each in own), default=loop.start)
        lines = self.plain[first:position]
        opened = _opened_before(lines, start)
        if opened is None:
            self.sink.error(
                "CF1105",
                f"conditional compilation stands between '{own[0].name}' and its loop",
                own[0].span,
                help="let '#ifdef' and '#endif' hold the directive alone, or the directive with its whole loop",
            )
            opened = loop.start
        kept = [line for line in lines if line.start < opened]
        if lines:
            del result[-len(lines) :]
        result += kept
        end = own[0].span.end if own else loop.end
        return loop._replace(type="META_SCHEDULE", text="meta_schedule", start=opened, end=max(opened, end))

    def _inside(self, first: int, last: int) -> list[Token]:
        """The tokens of a region; pragmas leave it, and ``atomic`` becomes the keyword."""
        found: list[Token] = []
        for position in range(first, last):
            token = self.plain[position]
            atomic = self.atomic.get(position)
            if position > first:
                self._report_misplaced(position)
            if atomic is not None and position > first:
                span = atomic.span
                found.append(Token("META_ATOMIC", "meta_atomic", span.start, span.end, token.origin))
            if not is_pragma(token):
                found.append(token)
        return with_elements(found)

    def _report_misplaced(self, position: int) -> None:
        for each in self.before.get(position, ()):
            if construct(each) is Construct.NOTHING and each.words[0] not in ("cache", "flush", "nothing"):
                self.sink.error(
                    "CF1101",
                    f"'{each.name}' has no place inside of a parallel loop",
                    each.span,
                    help="iterations wait for nothing: end the loop here and begin another one",
                )


_CONDITIONAL = re.compile(r"#\s*(if|ifdef|ifndef|elif\w*|else|endif)\b")


def _opened_before(lines: Sequence[Token], start: int) -> int | None:
    """Return where a region begins whose first directive is at ``start``: there, or at the ``#if`` around the
    directives alone; None where ``lines``, which stand before the loop, are torn apart."""
    open_lines: list[Token] = []
    begin = start
    for line in lines:
        found = _CONDITIONAL.match(line.text)
        if found is None:
            continue
        if found[1] in ("if", "ifdef", "ifndef"):
            open_lines.append(line)
        elif line.start < start:
            if found[1] == "endif" and open_lines:
                open_lines.pop()
        elif found[1] != "endif" or not open_lines:
            return None
        else:
            begin = min(begin, open_lines.pop().start)
    return begin if all(line.start < start for line in open_lines) else None


def _sign(kind: str, beside: Token, place: int) -> Token:
    """A brace that the text does not have."""
    return beside._replace(type=kind, text="{" if kind == "LBRACE" else "}", start=place, end=place)
