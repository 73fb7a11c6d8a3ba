"""A module of PTX: its text in, functions and what stands between them out.

    module = parse(SourceFile("kernel.ptx", text))
    module.functions["matmul"].body            # its statements, parsed when they are first asked for
    print_module(module) == text               # to the byte

Nothing is lost: an item is a part of the text, with white space and comments before it.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from types import MappingProxyType
from typing import Any

from comprehensive.diagnostics import CompileError, SourceFile, Span
from comprehensive.ptx.body import COMMENT, LINE_DIRECTIVES, STRING, TRIVIA, statements_of
from comprehensive.ptx.statements import Statement


@dataclass(frozen=True)
class Parameter:
    """A parameter of a function: ``bytes`` in all; ``space`` and ``pointee_align`` are what ``.ptr`` says."""

    name: str
    type: str
    bytes: int
    align: int
    is_pointer: bool = False
    space: str | None = None
    pointee_align: int = 1
    is_register: bool = False


@dataclass(frozen=True)
class Item:
    """A part of the text from ``start`` to ``end``; ``name`` is that of a directive, such as ``.version``."""

    name: str
    start: int
    end: int


@dataclass(frozen=True)
class Rewritten(Item):
    """A directive that a pass has written anew; ``text`` is in the place of what stood there."""

    text: str


@dataclass(frozen=True)
class Variable(Item):
    """A variable of the module: ``.global .align 4 .b8 table[64] = {...};``. ``text`` is without comments."""

    symbol: str
    text: str


@dataclass(frozen=True)
class MadeVariable(Variable):
    """A variable that a pass has added; ``start`` and ``end`` are where it stands."""


@dataclass(frozen=True)
class Function(Item):
    """A kernel (``.entry``) or function (``.func``), with its body or only declared.

    ``header`` is what stands before the body; the body is the text from ``open`` to ``close``, the braces not
    included, or ``changed`` where a pass has made another one.
    """

    file: SourceFile
    symbol: str
    header: str
    linkage: tuple[str, ...]
    returns: tuple[Parameter, ...]
    parameters: tuple[Parameter, ...]
    open: int | None
    close: int
    changed: tuple[Statement, ...] | None = None

    @property
    def is_kernel(self) -> bool:
        return self.name == ".entry"

    @cached_property
    def kernel_parameters(self) -> Mapping[str, Parameter]:
        """The parameters of a kernel by name; those of other functions lie elsewhere, and are none of them."""
        return {p.name: p for p in self.parameters} if self.is_kernel else {}

    @property
    def is_declaration(self) -> bool:
        return self.open is None

    @cached_property
    def body(self) -> tuple[Statement, ...]:
        """The statements of the function. CompileError (CF1002) where one is not understood."""
        if self.changed is not None or self.open is None:
            return self.changed or ()
        return statements_of(self.file, self.open, self.close)

    @cached_property
    def results(self) -> dict[Hashable, Any]:
        """The results of analyses of the function, by analysis: it never changes, and many passes ask the same."""
        return {}

    def with_body(self, body: Sequence[Statement]) -> Function:
        return replace(self, changed=tuple(body))

    def with_header(self, header: str) -> Function:
        """Return the function with another header, with other tunings for instance; the body stays."""
        return replace(self, header=header, changed=self.body)

    def tuning(self, name: str) -> tuple[int, ...]:
        """The numbers behind a directive such as ``.maxntid``; empty where it is not there."""
        found = re.search(
            rf"\.{name}\b\s*(\d{{1,9}}(?:\s*,\s*\d{{1,9}})*)(?![\d.])", _uncommented(self.header)
        )
        return tuple(int(number) for number in found[1].split(",")) if found else ()


@dataclass(frozen=True)
class Module:
    """A module: ``version`` is that of the language.

    ``target`` has the architecture first (``sm_90a``, then ``debug``). What stands in the file from ``tail`` on, behind
    all items, is white space and comments.
    """

    file: SourceFile
    items: tuple[Item, ...]
    tail: int
    version: tuple[int, int]
    target: tuple[str, ...]
    address_bits: int

    @cached_property
    def functions(self) -> Mapping[str, Function]:
        """The functions that have a body, by name."""
        found = (item for item in self.items if isinstance(item, Function) and not item.is_declaration)
        return MappingProxyType({item.symbol: item for item in found})

    @cached_property
    def declarations(self) -> Mapping[str, Function]:
        """All functions, by name; of those without a body the declaration."""
        found = {item.symbol: item for item in self.items if isinstance(item, Function)}
        return MappingProxyType({**found, **self.functions})

    @cached_property
    def variables(self) -> Mapping[str, Variable]:
        return MappingProxyType({item.symbol: item for item in self.items if isinstance(item, Variable)})

    @cached_property
    def names(self) -> frozenset[str]:
        """All words of what stands between functions, and functions: what is not among them is declared nowhere."""
        texts = (
            item.text if isinstance(item, MadeVariable) else self.file.text[item.start : item.end]
            for item in self.items
            if not isinstance(item, Function) and item.name != ".section"
        )
        return frozenset((*self.declarations, *(word for text in texts for word in _NAME.findall(text))))

    @property
    def kernels(self) -> Mapping[str, Function]:
        return MappingProxyType({name: f for name, f in self.functions.items() if f.is_kernel})

    @property
    def sm(self) -> int:
        """Ten times the compute capability: 90 for ``sm_90a``, and 0 for what is no name of a target."""
        found = re.match(r"(?:sm|compute)_(\d{2,4})[a-z]?\Z", self.target[0])
        return int(found[1]) if found is not None else 0

    def with_version(self, version: tuple[int, int]) -> Module:
        items = tuple(
            Rewritten(item.name, item.start, item.end, self._with_number(item, version))
            if item.name == ".version"
            else item
            for item in self.items
        )
        return replace(self, items=items, version=version)

    def _with_number(self, item: Item, version: tuple[int, int]) -> str:
        """Comments before the directive stay."""
        text = self.file.text[item.start : item.end]
        return f"{text[: text.rindex('.version')]}.version {version[0]}.{version[1]}"

    def with_variable(self, symbol: str, text: str) -> Module:
        """The module with another variable before its functions: ``.extern .shared .align 16 .b8 all[];``."""
        place = next(n for n, item in enumerate(self.items) if isinstance(item, Function))
        start = self.items[place].start
        space = next(word for word in text.split() if word in (".shared", ".global", ".const", ".local"))
        made = MadeVariable(space, start, start, symbol, text)
        return replace(self, items=(*self.items[:place], made, *self.items[place:]))

    def with_variables(self, texts: Mapping[str, str]) -> Module:
        """The module with other declarations, by symbol, in the places of those of variables that it has."""
        items = (
            replace(item, text=texts[item.symbol])
            if isinstance(item, MadeVariable) and item.symbol in texts
            else MadeVariable(item.name, item.start, item.end, item.symbol, texts[item.symbol])
            if isinstance(item, Variable) and item.symbol in texts
            else item
            for item in self.items
        )
        return replace(self, items=tuple(items))

    def with_functions_before(self, symbol: str, added: Sequence[Function]) -> Module:
        """The module with more functions right before the one of that name that has a body."""
        place = next(n for n, item in enumerate(self.items) if item is self.functions[symbol])
        return replace(self, items=(*self.items[:place], *added, *self.items[place:]))

    def with_functions(self, changed: Mapping[str, Function]) -> Module:
        """The module with other functions in the place of those that :attr:`functions` has by these names."""
        items = (
            changed.get(item.symbol, item)
            if isinstance(item, Function) and self.functions.get(item.symbol) is item
            else item
            for item in self.items
        )
        return replace(self, items=tuple(items))


_WORD = r"[%$A-Za-z_][\w$]*+"
_NAME = re.compile(_WORD)
_TEXT = rf"(?:[^;/\"{{}}]++|{COMMENT}|/|{STRING})*+"
# Of a function; a pragma there ends with a semicolon of its own.
_HEAD = rf"(?:\.pragma{TRIVIA}[^;/{{}}]++;|[^;/\"{{}}.]++|\.|{COMMENT}|/|{STRING})*+"
_LINKAGE = rf"(?:\.(?:visible|extern|weak|common){TRIVIA})*+"
_ITEM = re.compile(
    rf"""{TRIVIA}(?:
    (\.version){TRIVIA}(\d++)\.(\d++)                                   # 1 2 3
    |(\.target){TRIVIA}(\w++(?:{TRIVIA},{TRIVIA}\w++)*+)                 # 4 5
    |(\.address_size){TRIVIA}(\d++)                                     # 6 7
    |({LINE_DIRECTIVES})                                                # 8
    |(\.section)\s++[.\w$]++{TRIVIA}\{{(?:[^}}"/]++|{STRING}|{COMMENT}|/)*+\}} # 9
    |({_LINKAGE})(\.(?:entry|func)\b)({_HEAD})(?:(;)|(\{{))             # 10 11 12 13 14
    |{_LINKAGE}(\.(?:global|const|shared|local|param|reg|tex|texref|samplerref|surfref)\b)
        ((?:[^;/"]++|{COMMENT}|/|{STRING})*+);                          # 15 16
    |(\.[a-z_]\w*+)({_TEXT});                                           # 17 18
    )""",
    re.VERBOSE,
)
_BRACES = re.compile(rf"{COMMENT}|{STRING}|([{{}}])")
_COMMENTS = re.compile(COMMENT)
_LEADING = re.compile(TRIVIA)
_TYPE_BYTES = {"8": 1, "16": 2, "32": 4, "64": 8, "128": 16, "16x2": 4, "pred": 1}
_PARAMETER = re.compile(
    rf"""\.(param|reg)\b(.*?)({_WORD})\s*(?:\[\s*(\d*)\s*\])?\s*$""", re.VERBOSE | re.DOTALL
)
_HEADER = re.compile(
    rf"\s*(?:\.noreturn\s*)?(?:\((?P<returns>[^()]*)\))?\s*(?P<name>{_WORD})"
    r"\s*(?:\((?P<parameters>[^()]*)\))?"
)


def parse(file: SourceFile) -> Module:
    """The module. CompileError: CF1001 where a body has no end, CF1002 for what is not understood, CF1003 for what
    is no PTX."""
    text = file.text
    items = tuple(_items(file))
    version = _first(text, items, _VERSION)
    target = _first(text, items, _TARGET)
    if version is None or target is None:
        missing = ".version" if version is None else ".target"
        raise _error(
            "CF1003", f"this is no PTX: {missing} is missing", file, 0, "give the output of nvcc -ptx"
        )
    size = _first(text, items, _ADDRESS_SIZE)
    words = tuple(word.strip() for word in target[1].split(","))
    return Module(
        file,
        items,
        items[-1].end,
        (int(version[1]), int(version[2])),
        words,
        64 if size is None else int(size[1]),
    )


_VERSION = re.compile(r"\.version\s+(\d{1,9})\.(\d{1,9})")
_TARGET = re.compile(r"\.target\s+(\w+(?:\s*,\s*\w+)*)")
_ADDRESS_SIZE = re.compile(r"\.address_size\s+(\d{1,9})")


def _first(text: str, items: Sequence[Item], pattern: re.Pattern[str]) -> re.Match[str] | None:
    """The first directive of this form."""
    texts = (_uncommented(text[item.start : item.end]).strip() for item in items if type(item) is Item)
    return next((found for each in texts if (found := pattern.fullmatch(each))), None)


def _items(file: SourceFile) -> Iterator[Item]:
    text, position = file.text, 0
    while True:
        match = _ITEM.match(text, position)
        if match is None:
            break
        start, position = match.span()
        index = match.lastindex
        assert index is not None
        if index in (13, 14):
            close = _closing(file, match.end(), match.start(11)) if index == 14 else position
            position = close + 1 if index == 14 else position
            yield _function(file, match, start, position, close)
        elif index == 16:
            symbol = _symbol(match[16])
            yield Variable(
                match[15], start, position, symbol, _uncommented(text[match.start(15) : position]).strip()
            )
        else:
            name = next(match[number] for number in (1, 4, 6, 8, 9, 17) if match[number] is not None)
            yield Item(name.split()[0], start, position)
    left = _LEADING.match(text, position)
    assert left is not None
    if left.end() != len(text):
        line_end = text.find("\n", left.end())
        shown = Span(file, left.end(), min(len(text) if line_end < 0 else line_end, left.end() + 200))
        raise CompileError.of(
            "CF1002",
            "this is not understood as PTX",
            shown,
            help="see that the file is whole, and that ptxas accepts it",
        )


def _closing(file: SourceFile, start: int, head: int) -> int:
    """Return where the brace stands that closes a body which begins at ``start``.

    CompileError where none does.
    """
    depth = 1
    for match in _BRACES.finditer(file.text, start):
        if match[1] == "{":
            depth += 1
        elif match[1] == "}":
            depth -= 1
            if depth == 0:
                return match.start()
    raise _error("CF1001", "the body of this function has no end", file, head, "see that the file is whole")


def _function(file: SourceFile, match: re.Match[str], start: int, end: int, close: int) -> Function:
    header = _uncommented(match[12])
    found = _HEADER.match(header)
    if found is None:
        raise _error(
            "CF1002", "the head of this function is not understood", file, match.start(11), "name it"
        )
    try:
        returns, parameters = _parameters(found["returns"]), _parameters(found["parameters"])
    except (ValueError, IndexError):
        message = "the parameters of this function are not understood"
        raise _error("CF1002", message, file, match.start(11), "see that ptxas accepts them") from None
    has_body = match[14] is not None
    return Function(
        match[11],
        start,
        end,
        file,
        found["name"],
        file.text[start : match.end()] if has_body else file.text[start:end],
        tuple(word.removeprefix(".") for word in _uncommented(match[10]).split()),
        returns,
        parameters,
        match.end() if has_body else None,
        close,
    )


def _parameters(text: str | None) -> tuple[Parameter, ...]:
    return tuple(_parameter(part.strip()) for part in (text or "").split(",") if part.strip())


def _parameter(text: str) -> Parameter:
    found = _PARAMETER.match(text)
    if found is None:
        return Parameter(text, "b8", 0, 1)
    words = found[2].split()
    type_, align, pointee, space, is_pointer = "b8", 0, 1, None, False
    position = 0
    while position < len(words):
        word = words[position].removeprefix(".")
        if word == "align":
            value = int(words[position + 1])
            align, pointee = (align, value) if is_pointer else (value, pointee)
            position += 1
        elif word == "ptr":
            is_pointer = True
        elif word in ("global", "shared", "local", "const"):
            space = word
        elif word:
            type_ = word
        position += 1
    each = bytes_of(type_)
    count = int(found[4]) if found[4] else (0 if found[4] == "" else 1)
    return Parameter(
        found[3], type_, each * count, align or each, is_pointer, space, pointee, found[1] == "reg"
    )


def bytes_of(type_: str) -> int:
    """Return the bytes of a value of a type such as ``f32`` or ``b8``; a predicate counts as 1."""
    digits = type_.lstrip("busfe")
    return _TYPE_BYTES.get(digits if type_ != "pred" else type_, 8)


def _symbol(text: str) -> str:
    """The name that a variable's declaration gives."""
    head = _uncommented(text).split("=")[0]
    head = re.sub(
        r"\.(?:attribute)\s*\([^()]*(?:\([^()]*\)[^()]*)*\)|\.align\s+\d+|\.v[248]\b|\.\w+", " ", head
    )
    found = re.search(_WORD, head)
    return found[0] if found else ""


def _uncommented(text: str) -> str:
    return _COMMENTS.sub(" ", text) if "/" in text else text


def _error(code: str, message: str, file: SourceFile, offset: int, help: str) -> CompileError:
    line_end = file.text.find("\n", offset)
    end = min(len(file.text) if line_end < 0 else line_end, offset + 200)
    return CompileError.of(code, message, Span(file, offset, end), help=help)
