"""A file to the tokens that a C compiler would see.

In: the tokens of a file with its preprocessor lines, and a :class:`Configuration`.  Out: a :class:`Preprocessed`::

    #ifdef SMALL          -->   (nothing)
    #define N 16
    #else
    #define N 1024
    #endif
    float a[N];           -->   float a[1024];

Conditions are decided here, as a C compiler decides them, unless they ask for the compiler itself (``__CUDACC__``,
``_OPENMP``, ``NDEBUG``): host code is compiled by another one later on, so that all its branches are kept, with their
lines.  What a C compiler without extensions would leave out of them is marked, for regions do not have it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from msgspec import Struct, field

from comprehensive.diagnostics import CompileError, Note, SourceFile
from comprehensive.metafork.preprocessor.conditions import (
    NoValueError,
    names_in,
    value_of,
    without_defined,
)
from comprehensive.metafork.preprocessor.configuration import Configuration
from comprehensive.metafork.preprocessor.directives import CONDITIONALS, Directive, directive, name_of
from comprehensive.metafork.preprocessor.expansion import Expander
from comprehensive.metafork.preprocessor.includes import included, is_stand_in, named_file
from comprehensive.metafork.preprocessor.macros import Macro, macro
from comprehensive.metafork.reserved import is_of_compilers
from comprehensive.metafork.tokens import Origin, Token, tokens

MAXIMUM_INCLUDES = 40
"""Files that include each other."""
_PREDEFINED = (("__STDC__", "1"), ("__STDC_VERSION__", "201112L"), ("__STDC_HOSTED__", "1"))
_COMMAND_LINE = "<command line>"
_OPENING = ("if", "ifdef", "ifndef")
_DONE = frozenset((*CONDITIONALS, "define", "undef", "error", "warning", "ident", "line", ""))
"""Lines of which nothing is left in a region."""


class Preprocessed(Struct, frozen=True):
    """``tokens`` are those of the file itself, macros expanded; those of files that it includes are ``included``."""

    tokens: tuple[Token, ...]
    skipped: frozenset[int]
    """Positions of tokens that a C compiler would leave out."""
    included: tuple[Token, ...]
    macros: Mapping[str, Macro]
    """The macros that are defined at the end."""
    uncertain: tuple[Token, ...]
    """Lines that define macros where the compiler of the host code decides whether they are there."""
    settings: tuple[tuple[str, str | None], ...]
    """Macros of the command line with their texts, and None for those that are tested and not defined."""
    files: tuple[SourceFile, ...]
    """The files that are included."""
    missing: tuple[str, ...]
    """The names of files that are included and were not found."""

    def inside(self, first: int, last: int) -> list[Token]:
        """The tokens from ``first`` to before ``last`` as a region has them.

        A region that is skipped as a whole is read for the compilers that take it.
        """
        skipped = frozenset[int]() if first in self.skipped else self.skipped
        return [
            self.tokens[k] for k in range(first, last) if k not in skipped and not _is_done(self.tokens[k])
        ]


def _is_done(token: Token) -> bool:
    return token.type == "DIRECTIVE" and name_of(token) in _DONE


def preprocess(text: Sequence[Token], configuration: Configuration) -> Preprocessed:
    """The tokens of a file, which are at least one; errors and warnings go to their sink (CF0130 to CF0140)."""
    return _Preprocessor(text[0].origin, configuration).run(text)


class _Group(Struct):
    """An ``#if`` that is open.  ``dropped`` and ``skipped`` hold for all of it, whatever its conditions are."""

    line: Token
    uncertain: bool
    dropped: bool
    skipped: bool
    active: bool = False
    taken: bool = False
    in_else: bool = False


class _Output(Struct):
    tokens: list[Token] = field(default_factory=lambda: [])
    skipped: set[int] = field(default_factory=lambda: set())


class _Preprocessor:
    def __init__(self, origin: Origin, configuration: Configuration) -> None:
        self._configuration = configuration
        self._sink = origin.sink
        self._macros: dict[str, Macro] = {}
        self._expander = Expander(self._macros, self._sink)
        self._given = frozenset((*(n for n, _ in configuration.definitions), *configuration.undefined))
        self._settings: dict[str, str | None] = dict(configuration.definitions)
        self._settings |= dict.fromkeys(configuration.undefined)
        self._uncertain: list[Token] = []
        self._open: list[SourceFile] = []
        self._once: set[str] = set()
        self._files: dict[str, SourceFile] = {}
        self._missing: dict[str, None] = {}
        self._included = _Output()
        for name, text in (*_PREDEFINED, *configuration.definitions):
            self._predefine(name, text)
        for name in configuration.undefined:
            self._macros.pop(name, None)

    def _predefine(self, name: str, text: str) -> None:
        file = SourceFile(_COMMAND_LINE, f"#define {name} {text}")
        (line,) = tokens(Origin(file, self._sink))
        found = macro(directive(line))
        if found is not None:
            self._macros[found.name] = found

    def run(self, text: Sequence[Token]) -> Preprocessed:
        output = _Output()
        self._file(text, output)
        return Preprocessed(
            tuple(output.tokens),
            frozenset(output.skipped),
            tuple(self._included.tokens),
            self._macros,
            tuple(self._uncertain),
            tuple(self._settings.items()),
            tuple(self._files.values()),
            tuple(self._missing),
        )

    # --- one file ----------------------------------------------------------------------------------------

    def _file(self, text: Sequence[Token], output: _Output) -> None:
        self._open.append(text[0].origin.file)
        uncertain = self._uncertain_groups(text)
        groups: list[_Group] = []
        first = 0
        for position, token in enumerate(text):
            if token.type != "DIRECTIVE":
                continue
            self._text(text[first:position], groups, output)
            first = position + 1
            if name_of(token) in CONDITIONALS:
                self._conditional(directive(token), groups, position in uncertain, output)
            elif not _drops(groups):
                output.tokens.append(token)
                if _skips(groups):
                    output.skipped.add(len(output.tokens) - 1)
                self._line(directive(token), groups)
        self._text(text[first:], groups, output)
        for group in groups[:1]:
            self._sink.error(
                "CF0130",
                f"this #{name_of(group.line)} is never closed",
                group.line.span,
                help="add '#endif' where it ends",
            )
        self._open.pop()

    def _text(self, text: Sequence[Token], groups: Sequence[_Group], output: _Output) -> None:
        if not text or _drops(groups):
            return
        before = len(output.tokens)
        output.tokens += self._expander.expand(text)
        if _skips(groups):
            output.skipped |= set(range(before, len(output.tokens)))

    # --- conditions --------------------------------------------------------------------------------------

    def _uncertain_groups(self, text: Sequence[Token]) -> frozenset[int]:
        """The positions of the ``#if`` lines of which a condition asks for what compilers define."""
        open_groups: list[int] = []
        found: set[int] = set()
        for position, token in enumerate(text):
            name = name_of(token) if token.type == "DIRECTIVE" else ""
            if name in _OPENING:
                open_groups.append(position)
            if name in CONDITIONALS and open_groups and self._asks_for_compilers(directive(token)):
                found.add(open_groups[-1])
            if name == "endif" and open_groups:
                open_groups.pop()
        return frozenset(found)

    def _asks_for_compilers(self, line: Directive) -> bool:
        if line.name in ("else", "endif"):
            return False
        return any(is_of_compilers(name) and name not in self._given for name in names_in(line.words))

    def _conditional(self, line: Directive, groups: list[_Group], uncertain: bool, output: _Output) -> None:
        if line.name in _OPENING:
            dropped, skipped = _drops(groups), _skips(groups)
            groups.append(_Group(line.line, uncertain or skipped, dropped, skipped))
            self._branch(line, groups[-1])
        elif not groups:
            text = f"#{line.name} without an #if"
            self._sink.error("CF0130", text, line.line.span, help="remove it, or write the #if before it")
            return
        else:
            self._next_branch(line, groups)
        group = groups[-1]
        if group.uncertain and not group.dropped:
            output.tokens.append(line.line)
            if group.skipped:
                output.skipped.add(len(output.tokens) - 1)
        if line.name == "endif":
            groups.pop()

    def _next_branch(self, line: Directive, groups: Sequence[_Group]) -> None:
        group = groups[-1]
        if line.name == "endif":
            group.active = True
            return
        if group.in_else:
            self._sink.error(
                "CF0130",
                f"#{line.name} after the #else of the same group",
                line.line.span,
                notes=(Note("the group begins here", group.line.span),),
                help="close the group with '#endif' before it",
            )
        if line.name == "else":
            group.in_else = True
            group.active, group.taken = not group.taken, True
        else:
            self._branch(line, group)

    def _branch(self, line: Directive, group: _Group) -> None:
        """Decides whether the branch behind a condition is taken."""
        decides = not (group.taken or group.dropped or group.skipped)
        group.active = decides and self._holds(line, group)
        group.taken |= group.active

    def _holds(self, line: Directive, group: _Group) -> bool:
        if line.name.endswith("def"):
            if len(line.words) == 0 or not line.words[0].text.isidentifier():
                self._no_value(line, f"'#{line.name}' needs a name behind it")
                return False
            return self._is_defined(line.words[0], group) != line.name.endswith("ndef")
        try:
            words = without_defined(line.words, lambda name: self._is_defined(name, group))
            expanded = self._expander.expand(words)
            for name in names_in(expanded):
                self._tested(name, group)
            return value_of(expanded) != 0
        except NoValueError as error:
            self._no_value(line, str(error))
            return False

    def _no_value(self, line: Directive, reason: str) -> None:
        text = f"the condition of this #{line.name} is not understood: {reason}"
        help = "write a condition of integers, such as '#if N > 16' or '#if defined(SMALL)'"
        self._sink.error("CF0135", text, line.line.span, help=help)

    def _is_defined(self, name: Token, group: _Group) -> bool:
        if name.text in self._macros:
            return True
        self._tested(name.text, group)
        return False

    def _tested(self, name: str, group: _Group) -> None:
        """Takes down that a condition depends on a macro that is not defined."""
        if not group.uncertain and not is_of_compilers(name):
            self._settings.setdefault(name, None)

    # --- other lines -------------------------------------------------------------------------------------

    def _line(self, line: Directive, groups: Sequence[_Group]) -> None:
        if line.name == "define" and any(group.uncertain for group in groups):
            self._uncertain.append(line.line)
        if _skips(groups):
            return
        match line.name:
            case "define":
                self._define(line)
            case "undef":
                if line.words:
                    self._macros.pop(line.words[0].text, None)
            case "include":
                self._include(line)
            case "error" if not any(group.uncertain for group in groups):
                said = re.sub(r"\s+", " ", line.line.text.partition("error")[2]).strip()
                help = "give the macro that it asks for with -D NAME=VALUE, or correct the condition"
                self._sink.error("CF0137", f"#error {said}", line.line.span, help=help)
            case "pragma" if [word.text for word in line.words] == ["once"]:
                self._once.add(self._open[-1].path)
            case _:
                pass

    def _define(self, line: Directive) -> None:
        found = macro(line)
        if found is not None:
            self._demand_same(found)
            self._macros[found.name] = found

    def _demand_same(self, found: Macro) -> None:
        """Warns where a line takes a macro of the command line back, without a word about it in the text."""
        given = self._macros.get(found.name)
        if given is None or given.span.file.path != _COMMAND_LINE or _text(given) == _text(found):
            return
        text = f"this definition of '{found.name}' takes the place of -D {found.name}={_text(given)}"
        help = f"write '#ifndef {found.name}' before it and '#endif' behind it, or leave -D {found.name} out"
        self._sink.warning("CF0140", text, found.span, help=help)

    def _include(self, line: Directive) -> None:
        named = named_file(line.words) or named_file(self._expander.expand(line.words))
        if named is None:
            self._unreadable(line, "the file of this #include is not named", "write '#include \"name.h\"'")
            return
        name, beside = named
        try:
            file = included(name, beside, self._open[-1], self._configuration)
        except CompileError as error:
            self._unreadable(line, error.diagnostics[0].message, "correct the name, or the file")
            return
        if file is None:
            if beside:
                self._missing[name] = None
        elif file.path not in self._once:
            self._read(file, line)

    def _read(self, file: SourceFile, line: Directive) -> None:
        if len(self._open) >= MAXIMUM_INCLUDES:
            if self._open[-1].path in {opened.path for opened in self._open[:-1]}:
                text = f"'{file.path}' includes itself without an end"
                self._unreadable(line, text, "put '#ifndef NAME', '#define NAME' and '#endif' around it")
            return
        if not is_stand_in(file):
            self._files.setdefault(file.path, file)
        inside = list(tokens(Origin(file, self._sink)))
        for token in inside:
            if token.type == "META_SCHEDULE":
                text = f"the included file '{file.path}' has a region"
                help = "include files with macros and helper functions only, and give each program to the tool itself"
                self._sink.error("CF0139", text, line.line.span, notes=(Note("here", token.span),), help=help)
                return
        if inside:
            self._file(inside, self._included)

    def _unreadable(self, line: Directive, message: str, help: str) -> None:
        self._sink.error("CF0136", message, line.line.span, help=help)


def _text(macro: Macro) -> str:
    return " ".join(token.text for token in macro.body)


def _drops(groups: Sequence[_Group]) -> bool:
    """Whether text here is left out whatever compiler reads it."""
    return bool(groups) and (groups[-1].dropped or (not groups[-1].uncertain and not groups[-1].active))


def _skips(groups: Sequence[_Group]) -> bool:
    """Whether text here is left out by a C compiler without extensions."""
    return bool(groups) and (groups[-1].skipped or (groups[-1].uncertain and not groups[-1].active))
