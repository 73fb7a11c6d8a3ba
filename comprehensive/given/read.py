"""Files of counter values, TOML or JSON: a path in, checked values out.

``specs/schema/counter_values.json`` describes the form; `specs/paper/*.toml` are files of it::

    schema = 1
    source = "where the values were published"

    [counters.registers_per_thread]
    limit = "R_B"
    strategies = ["granularity"]              # sigma, in the order in which they are tried
    values = [
      { after = ["granularity"], value = "10" },
      { value = "14" },
    ]

Every fault is a diagnostic with its place: CF1301 no such file, CF1302 neither TOML nor JSON, CF1303 a field that is
missing, unknown or of another kind, CF1304 a text that is no value.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn, cast

from comprehensive.diagnostics import CompileError, SourceFile, Span
from comprehensive.given.expression import value_of
from comprehensive.given.values import GivenCounter, GivenValues, Row, Words
from comprehensive.optimize.protocols import Kind

SCHEMA = 1
_TOP = {"schema", "source", "region", "counters", "strategies", "remarks"}
_COUNTER = {"limit", "kind", "strategies", "values"}
_ROW = {"after", "value", "says"}
_WORDS = {"taken", "otherwise"}


def read_values(path: Path) -> GivenValues:
    """The values of a file; a name that ends in ``.json`` is read as JSON, any other as TOML."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as problem:
        reason = problem.strerror if isinstance(problem, OSError) else "it is not UTF-8 text"
        message = f"cannot read the counter values in '{path}': {reason}"
        raise CompileError.of("CF1301", message, help="check the path; specs/paper has such files") from None
    file = SourceFile(str(path), text)
    return _Reader(file).values(_table_of(file, is_json=path.suffix == ".json"))


def _table_of(file: SourceFile, *, is_json: bool) -> object:
    try:
        return json.loads(file.text) if is_json else tomllib.loads(file.text)
    except json.JSONDecodeError as problem:
        start, what, reason = problem.pos, "JSON", problem.msg
    except tomllib.TOMLDecodeError as problem:
        # Python 3.11 gives the place only in the message: "... (at line 3, column 7)" or "(at end of document)".
        at = re.search(r" \(at (?:line (\d+), column (\d+)|end of document)\)$", str(problem))
        start = file.offset(int(at[1]), int(at[2])) if at and at[1] else len(file.text)
        what, reason = "TOML", str(problem)[: at.start()] if at else str(problem)
    except RecursionError:
        start, what, reason = 0, "JSON" if is_json else "TOML", "it is nested too deeply"
    message = f"not a {what} file: {reason[:1].lower()}{reason[1:]}"
    help = "write the values as the files in specs/paper do; a name that ends in .json is read as JSON"
    raise CompileError.of("CF1302", message, Span(file, start, start + 1), help=help)


class _Reader:
    """Checks one file; what is wrong is said with the first place where the word stands."""

    def __init__(self, file: SourceFile) -> None:
        self._file = file

    def values(self, given: object) -> GivenValues:
        top = self._table(given, "the file", _TOP, ("schema", "source", "counters"))
        if isinstance(top["schema"], bool) or top["schema"] != SCHEMA:
            self._fail(
                f"schema {top['schema']!r} is not known", "schema", f"this tool reads schema = {SCHEMA}"
            )
        tables = self._table(top["counters"], "'counters'", None)
        if not tables:
            self._fail("'counters' has no counter", "counters", "add a table [counters.NAME]")
        counters = tuple(self._counter(name, table) for name, table in tables.items())
        known = tuple(dict.fromkeys(name for counter in counters for name in counter.strategies))
        for counter in counters:
            for row in counter.rows:
                for name in sorted(row.after - set(known)):
                    help = f"they have {', '.join(known)}" if known else "list it where it serves"
                    self._fail(f"no counter has the strategy '{name}' that 'after' names", name, help)
        words = self._table(top.get("strategies", {}), "'strategies'", None)
        for name in words:
            if name not in known:
                self._fail(
                    f"no counter has the strategy '{name}'", name, "list it under a counter that it serves"
                )
        region = top.get("region")
        return GivenValues(
            self._file,
            self._text(top["source"], "source"),
            None if region is None else self._text(region, "region"),
            counters,
            {name: self._words(name, table) for name, table in words.items()},
            self._texts(top.get("remarks", []), "remarks"),
        )

    def _counter(self, name: str, given: object) -> GivenCounter:
        table = self._table(given, f"counter '{name}'", _COUNTER, ("limit", "strategies", "values"), name)
        kind = table.get("kind", Kind.RESOURCE.value)
        if kind not in {k.value for k in Kind}:
            self._fail(f"'kind' of '{name}' is {kind!r}", "kind", "it is 'resource' or 'performance'")
        limit = self._text(table["limit"], "limit")
        if not limit.isidentifier():
            self._fail(f"the limit '{limit}' of '{name}' is no name", "limit", "name it as in limit = 'Z_B'")
        rows = table["values"]
        if not isinstance(rows, list) or not rows:
            self._fail(
                f"'values' of '{name}' is no list of rows", "values", "as in values = [{ value = '14' }]"
            )
        found = tuple(self._row(name, row) for row in cast("list[object]", rows))
        if found[-1].after:
            help = "end with a row without 'after', for the program as it is written"
            self._fail(f"the values of '{name}' leave out the program as it is written", name, help)
        return GivenCounter(name, limit, Kind(kind), self._texts(table["strategies"], "strategies"), found)

    def _row(self, counter: str, given: object) -> Row:
        table = self._table(given, f"a row of '{counter}'", _ROW, ("value",), counter)
        value = table["value"]
        if isinstance(value, bool) or not isinstance(value, str | int):
            self._fail(f"a value of '{counter}' is {value!r}", counter, "write a text such as '2*s*B + 2'")
        try:
            parsed = value_of(str(value))
        except ValueError as problem:
            help = "values are sums, products and quotients of whole numbers and parameters"
            self._fail(str(problem), str(value), help, "CF1304")
        after = frozenset(self._texts(table.get("after", []), "after"))
        return Row(after, parsed, self._texts(table.get("says", []), "says"))

    def _words(self, name: str, given: object) -> Words:
        table = self._table(given, f"strategy '{name}'", _WORDS, (), name)
        return Words(*(self._text(table.get(key, ""), key) for key in ("taken", "otherwise")))

    def _table(
        self,
        given: object,
        what: str,
        known: set[str] | None,
        needed: Sequence[str] = (),
        word: str = "",
    ) -> Mapping[str, Any]:
        if not isinstance(given, dict):
            self._fail(f"{what} is no table", word or what.strip("'"), "see specs/schema/counter_values.json")
        table = cast("dict[str, Any]", given)
        for key in table:
            if known is not None and key not in known:
                self._fail(f"{what} has no field '{key}'", key, f"its fields are {', '.join(sorted(known))}")
        for key in needed:
            if key not in table:
                self._fail(f"{what} has no '{key}'", word, f"add {key} = ...")
        return table

    def _text(self, given: object, key: str) -> str:
        if not isinstance(given, str):
            self._fail(f"'{key}' is {given!r}, not a text", key, "write it in quotes")
        return given

    def _texts(self, given: object, key: str) -> tuple[str, ...]:
        if not isinstance(given, list):
            self._fail(f"'{key}' is {given!r}, not a list of texts", key, 'as in ["granularity"]')
        return tuple(self._text(each, key) for each in cast("list[object]", given))

    def _fail(self, message: str, word: str, help: str, code: str = "CF1303") -> NoReturn:
        start = self._file.text.find(word) if word else -1
        span = Span(self._file, start, start + len(word)) if start >= 0 else Span(self._file, 0, 0)
        raise CompileError.of(code, message, span, help=help)
