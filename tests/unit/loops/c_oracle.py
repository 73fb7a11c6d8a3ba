"""C as the oracle: expressions printed as C text, compiled by gcc, called through ctypes."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from comprehensive.metafork.ast import (
    Binary,
    Call,
    Cast,
    Conditional,
    Expr,
    FloatLiteral,
    Index,
    IntLiteral,
    Name,
    ScalarType,
    Unary,
)

needs_gcc = pytest.mark.skipif(shutil.which("gcc") is None, reason="the oracle needs gcc")

_SUFFIX = {
    ScalarType.INT: "",
    ScalarType.UNSIGNED: "u",
    ScalarType.LONG: "l",
    ScalarType.UNSIGNED_LONG: "lu",
    ScalarType.LONG_LONG: "ll",
    ScalarType.UNSIGNED_LONG_LONG: "ull",
}


def c_text(expr: Expr) -> str:
    """Fully parenthesised C: independent of the printer under test."""
    match expr:
        case IntLiteral():
            return f"({expr.value}{_SUFFIX[expr.type]})"
        case FloatLiteral():
            return expr.text + ("f" if expr.type is ScalarType.FLOAT else "")
        case Name():
            return expr.identifier
        case Index():
            return expr.array + "".join(f"[{c_text(s)}]" for s in expr.subscripts)
        case Unary():
            return f"({expr.operator}{c_text(expr.operand)})"
        case Binary():
            return f"({c_text(expr.left)} {expr.operator} {c_text(expr.right)})"
        case Conditional():
            return f"({c_text(expr.condition)} ? {c_text(expr.then)} : {c_text(expr.otherwise)})"
        case Cast():
            return f"(({expr.type.value}){c_text(expr.operand)})"
        case Call():
            return f"{expr.function}({', '.join(c_text(a) for a in expr.arguments)})"


def compile_c(text: str, folder: Path) -> ctypes.CDLL:
    """A shared library from C text; floating arithmetic as written, integers wrap."""
    folder.mkdir(parents=True, exist_ok=True)
    source, library = folder / "oracle.c", folder / "oracle.so"
    source.write_text("#include <math.h>\n#include <stdlib.h>\ntypedef _Float16 __half;\n" + text)
    subprocess.run(
        [
            "gcc",
            "-O0",
            "-w",
            "-ffp-contract=off",
            "-fexcess-precision=standard",
            "-fwrapv",
            "-shared",
            "-fPIC",
            source,
            "-o",
            library,
            "-lm",
        ],
        check=True,
    )
    return ctypes.CDLL(str(library))


def pointer(array: np.ndarray) -> ctypes.c_void_p:
    return ctypes.c_void_p(array.ctypes.data)
