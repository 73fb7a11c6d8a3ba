"""A generated header read for what a call needs: the launcher's arguments and the members of its parameters."""

from __future__ import annotations

import ctypes
import re
from dataclasses import dataclass

C_TYPES = {
    "char": ctypes.c_char,
    "signed char": ctypes.c_byte,
    "unsigned char": ctypes.c_ubyte,
    "short": ctypes.c_short,
    "unsigned short": ctypes.c_ushort,
    "int": ctypes.c_int,
    "unsigned": ctypes.c_uint,
    "unsigned int": ctypes.c_uint,
    "long": ctypes.c_long,
    "unsigned long": ctypes.c_ulong,
    "long long": ctypes.c_longlong,
    "unsigned long long": ctypes.c_ulonglong,
    "float": ctypes.c_float,
    "double": ctypes.c_double,
    "size_t": ctypes.c_size_t,
    "ptrdiff_t": ctypes.c_ssize_t,
    **{f"int{bits}_t": getattr(ctypes, f"c_int{bits}") for bits in (8, 16, 32, 64)},
    **{f"uint{bits}_t": getattr(ctypes, f"c_uint{bits}") for bits in (8, 16, 32, 64)},
}


@dataclass(frozen=True, slots=True)
class Declared:
    """A name and its C type without const; pointers are ``"*"``."""

    name: str
    type: str

    @property
    def ctype(self) -> type:
        return ctypes.c_void_p if self.type == "*" else C_TYPES[self.type]


@dataclass(frozen=True, slots=True)
class Launcher:
    """The launcher ``<function>_launch_explained``.

    The machine stands before ``arguments``, and params, stream and why after them; these are left out.
    """

    function: str
    arguments: tuple[Declared, ...]
    parameters: tuple[Declared, ...]


def launcher(header: str, function: str) -> Launcher:
    """Return the launcher of a function. ValueError where the header declares none."""
    call = re.search(rf"^int {function}_launch_explained\(([^)]*)\);", header, re.MULTILINE)
    members = re.search(rf"typedef struct {function}_params {{(.*?)}} {function}_params;", header, re.DOTALL)
    if call is None:
        raise ValueError(f"{function}_launch_explained is not declared")
    _, *arguments, _, _, _ = (declared(text) for text in call[1].split(","))
    texts = re.sub(r"/\*.*?\*/", "", members[1], flags=re.DOTALL).split(";") if members else []
    return Launcher(function, tuple(arguments), tuple(declared(text) for text in texts if text.strip()))


def declared(text: str) -> Declared:
    """Return what is declared by ``const float *a`` or ``long long n``."""
    found = re.fullmatch(r"(.*?)(\**)\s*(\w+)", text.strip(), re.DOTALL)
    if found is None:
        raise ValueError(f"no declaration: {text!r}")
    words = [word for word in found[1].split() if word != "const"]
    return Declared(found[3], "*" if found[2] else " ".join(words))
