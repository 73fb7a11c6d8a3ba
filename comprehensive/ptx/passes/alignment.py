"""The power of two of which an address is a multiple, as far as it can be proved.

    alignment = Alignment(function, module, symbols, assumed=1)
    alignment.of(form)         # 16: of 4 * 4 * %tid.x + p, with .param .u64 .ptr .global .align 16 p

A sum is aligned as its least aligned term, a selection as the less aligned of both; that it wraps at 2^32 or 2^64
changes nothing.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from comprehensive.ptx.analysis.forms import Form
from comprehensive.ptx.analysis.symbols import Symbol
from comprehensive.ptx.module import Function, Module, bytes_of
from comprehensive.ptx.statements import Declaration

MOST = 1 << 8
"""More is never asked for; allocations of the driver are multiples of it."""

_ALIGN = re.compile(r"\.align\s+(\d+)")
_ELEMENT = re.compile(r"(?:\.v([248])\s+)?\.([bsuf]\d+\w*)\s+([\w$%]+)")


class Alignment:
    """The alignments of addresses.

    ``assumed`` is the alignment, in bytes, of what kernels are given as pointers; 1 for none.
    """

    def __init__(
        self, function: Function, module: Module, symbols: Sequence[Symbol], assumed: int = 1
    ) -> None:
        self._symbols = symbols
        self._assumed = assumed
        self._parameters = function.kernel_parameters
        self._has_marks = any(p.is_pointer for p in function.parameters)
        self._variables = _variable_alignments(function, module)

    def of(self, form: Form) -> int:
        """Return the power of two of which the form is proved to be a multiple, at most :data:`MOST`."""
        found = _of_number(form.constant)
        for symbol, coefficient in form.terms:
            found = min(found, self._of_symbol(symbol) * _of_number(coefficient))
        return min(found, MOST)

    def _of_symbol(self, number: int) -> int:
        symbol = self._symbols[number]
        match symbol.kind, symbol.key:
            case "parameter", (str() as name, 0, 64):
                return self._of_parameter(name)
            case "address", (str() as name, *_):
                return self._variables.get(name, 1)
            case "product", factors:
                found = 1
                for factor in factors:
                    assert isinstance(factor, int)
                    found *= self._of_symbol(factor)
                return min(found, MOST)
            case (("signed" | "unsigned"), (Form() as form,)):
                return self.of(form)
            case "operation", (str() as operation, Form() as one, Form() as other, *_) if (
                operation.startswith("selp.")
            ):
                return min(self.of(one), self.of(other))
            case _:
                return 1

    def _of_parameter(self, name: str) -> int:
        parameter = self._parameters.get(name)
        if parameter is None or parameter.bytes != 8:
            return 1
        if parameter.is_pointer:
            return max(parameter.pointee_align, self._assumed)
        # nvcc marks pointers with .ptr, or none of them.
        return 1 if self._has_marks else self._assumed


def _variable_alignments(function: Function, module: Module) -> Mapping[str, int]:
    texts = [variable.text for variable in module.variables.values()]
    texts += [f"{s.kind} {s.text}" for s in function.body if isinstance(s, Declaration) and s.kind != ".reg"]
    found: dict[str, int] = {}
    for text in texts:
        head = text.split("=")[0]
        element = _ELEMENT.search(head)
        if element is None:
            continue
        stated = _ALIGN.search(head)
        natural = int(element[1] or 1) * bytes_of(element[2])
        # The same name may stand for several variables, in different scopes.
        align = int(stated[1]) if stated else natural
        found[element[3]] = min(align, found.get(element[3], align))
    return found


def _of_number(value: int) -> int:
    return value & -value if value else MOST
