"""The text of a pipeline to passes: ``memory-space,vectorize-accesses{width=4}``.

    passes_of("dce,vectorize-accesses{width=2}")      # (DeadCodeElimination(), VectorizeAccesses(width=2))

Options stand in braces behind the name, several with a space or a comma between them; one without a value is true.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from comprehensive.diagnostics import CommandLineError, SourceFile, Span
from comprehensive.ptx.passes.ptx_pass import PtxPass
from comprehensive.ptx.passes.registry import OptionValueError, UnknownOptionError, UnknownPassError, make

_NAME = re.compile(r"\s*([A-Za-z][\w-]*)\s*", re.ASCII)
_OPTION = re.compile(r"\s*([A-Za-z][\w-]*)(?:=([\w.-]+))?", re.ASCII)
_BETWEEN = re.compile(r"\s*[,\s]")


def passes_of(text: str) -> tuple[PtxPass, ...]:
    """Return the passes of a pipeline.

    CommandLineError: CF1021 where the text is no pipeline, CF1022 for a pass, CF1023 for an option or a value
    that is not known.
    """
    return _Reader(SourceFile("-p", text)).passes()


def demand_same_launches(passes: Iterable[PtxPass]) -> None:
    """Raise CommandLineError (CF1028) for a pass with which a kernel is launched in another way than before."""
    for each in passes:
        if each.changes_launch:
            message = f"'{each.spelled}' changes how a kernel is launched, and its launcher is not ours"
            help = "leave it out here; `gen --passes` and `opt` have it, for launchers that know of it"
            raise CommandLineError.of("CF1028", message, help=help)


class _Reader:
    def __init__(self, file: SourceFile) -> None:
        self._file = file
        self._text = file.text
        self._at = 0

    def passes(self) -> tuple[PtxPass, ...]:
        if not self._text.strip():
            return ()
        found = [self._pass()]
        while self._at < len(self._text):
            if self._text[self._at] != ",":
                raise self._error(
                    "CF1021", "a comma is missing here", self._at, help="put one between passes"
                )
            self._at += 1
            found.append(self._pass())
        return tuple(found)

    def _pass(self) -> PtxPass:
        match = _NAME.match(self._text, self._at)
        if match is None:
            start = self._at + len(self._text[self._at :]) - len(self._text[self._at :].lstrip())
            raise self._error(
                "CF1021", "the name of a pass is missing", start, help="`opt --list` prints them"
            )
        self._at = match.end()
        options = self._options()
        places = {option: place for option, _, place in options}
        name, (start, end) = match[1], match.span(1)
        try:
            return make(name, {option: value for option, value, _ in options})
        except UnknownPassError as error:
            raise self._error("CF1022", f"there is no pass '{name}'", start, end, help=str(error)) from None
        except UnknownOptionError as error:
            option, near = error.args
            raise self._error(
                "CF1023", f"'{name}' has no option '{option}'", *places[option], help=near
            ) from None
        except OptionValueError as error:
            place = (start, end) if error.option is None else places[error.option]
            help = "`opt --list` prints the options of all passes"
            raise self._error("CF1023", f"'{name}': {error}", *place, help=help) from None

    def _options(self) -> list[tuple[str, str, tuple[int, int]]]:
        """Names, values and places of what stands in braces."""
        if self._text[self._at : self._at + 1] != "{":
            return []
        opened = self._at
        self._at += 1
        found: dict[str, tuple[str, str, tuple[int, int]]] = {}
        while True:
            self._skip_space()
            if self._text[self._at : self._at + 1] == "}":
                self._at += 1
                self._skip_space()
                return list(found.values())
            match = _OPTION.match(self._text, self._at)
            if match is None:
                if self._at >= len(self._text):
                    raise self._error("CF1021", "this brace is not closed", opened, help="close it")
                help = "write them as in vectorize-accesses{width=4}"
                raise self._error("CF1021", "an option is missing here", self._at, help=help)
            option = match[1].replace("-", "_")
            if option in found:
                raise self._error(
                    "CF1023", f"'{match[1]}' is given twice", *match.span(), help="leave one of them"
                )
            found[option] = (option, match[2] or "true", match.span())
            self._at = match.end()
            between = _BETWEEN.match(self._text, self._at)
            if between is not None:
                self._at = between.end()
            elif self._text[self._at : self._at + 1] not in ("}", ""):
                raise self._error("CF1021", "this is no option", self._at, help="write name=value")

    def _skip_space(self) -> None:
        while self._text[self._at : self._at + 1].isspace():
            self._at += 1

    def _error(
        self, code: str, message: str, start: int, end: int | None = None, *, help: str
    ) -> CommandLineError:
        span = Span(self._file, start, start + 1 if end is None else end)
        return CommandLineError.of(code, message, span, help=help)
