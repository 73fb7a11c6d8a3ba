"""Compilers read what is about to be written: a file that none of them takes never comes into the world.

In: the texts of the header and of the CUDA source, and the file that they come from.  Out: the names of those that a
compiler has accepted; CompileError (CF0631) where host code of the user is not C++, GeneratedCodeError (CF0630) where
anything else does not compile, which is a bug.

The C compiler reads the header as C99, and the C source with compiled kernels where there is one; the C++ compiler
reads the source with the stand-in for CUDA that `check` runs kernels with. Nothing is built, and a compiler that is
missing, or that lacks a header of the user's, accepts nothing. The text that the C++ compiler sees has no ``#line``: so
it is known whether a line that is wrong is the user's own, which all stand at the end, or one that the tool has made of
them.
"""

from __future__ import annotations

import tempfile
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from comprehensive.codegen.source_lines import HOST_CODE, origins
from comprehensive.diagnostics import (
    CompileError,
    Diagnostic,
    GeneratedCodeError,
    Note,
    Severity,
    SourceFile,
    Span,
)
from comprehensive.records import replace
from comprehensive.toolchain.compiled import SourceRejectedError
from comprehensive.toolchain.find import Missing, find_tool
from comprehensive.toolchain.host import cuda_on_cpu, find_c_compiler, find_cxx_compiler
from comprehensive.toolchain.nvcc import Tool, compile_ptx, include_directories, load_tool
from comprehensive.toolchain.process import ToolError
from comprehensive.toolchain.syntax import Complaint, complaint_in, first_complaint


def accepted(
    stem: str,
    texts: Mapping[str, str],
    source: SourceFile,
    arch: str,
    cuda_path: str | None,
    include_flags: Sequence[str] = (),
) -> tuple[str, ...]:
    """The files among ``<stem>.h`` and ``<stem>.cu`` that a compiler has accepted; ``texts`` has what they include.

    Where the C++ compiler rejects host code, nvcc for ``arch`` has the last word if it is found: host code may use more
    of CUDA than the stand-in has.
    """
    with tempfile.TemporaryDirectory(prefix="comprehensive-") as name:
        directory = Path(name)
        header, cuda = directory / f"{stem}.h", directory / f"{stem}.cu"
        plain, places = origins(texts[cuda.name])
        for each, text in texts.items():
            (directory / each).write_text(plain if each == cuda.name else text, encoding="utf-8")
        found: list[str] = []
        if _header_compiles(header, texts):
            found.append(header.name)
        beside = ("-I", str(Path(source.path).absolute().parent), *include_flags)
        if _source_compiles(cuda, places, texts, source, arch, cuda_path, beside):
            found.append(cuda.name)
        return tuple(found)


def accepts_image(
    name: str, texts: Mapping[str, str], beside: Path, nvcc: Tool, include_flags: Sequence[str] = ()
) -> bool:
    """Whether the C compiler accepts the C source with compiled kernels, beside the header that it includes.

    What it says of the user's lines, and of what they include, is no answer. GeneratedCodeError (CF0630) for others.
    """
    compiler = find_c_compiler()
    if compiler is None:
        return False
    with tempfile.TemporaryDirectory(prefix="comprehensive-") as scratch:
        for each, text in texts.items():
            (Path(scratch) / each).write_text(text, encoding="utf-8")
        image = Path(scratch) / name
        headers = [word for directory in include_directories(nvcc) for word in ("-isystem", str(directory))]
        flags = ("-std=gnu99", *headers, "-I", str(beside), *include_flags, "-x", "c")
        complaint = first_complaint(compiler, flags, image)
        if complaint is None:
            return True
        if complaint.is_fatal or not _is_among(complaint, texts, Path(scratch)):
            return False
        raise _bug(complaint, image, None, texts)


@contextmanager
def kernels_compile(text: str) -> Generator[None]:
    """Raise GeneratedCodeError (CF0630) where nvcc rejects the kernels' text within this context."""
    try:
        yield
    except SourceRejectedError as error:
        complaint = complaint_in(error.log)
        if complaint is None:
            raise
        unit = Path("kernels.cu")
        raise _bug(replace(complaint, file=unit.name), unit, None, {unit.name: text}) from error


def _header_compiles(header: Path, texts: Mapping[str, str]) -> bool:
    compiler = find_c_compiler()
    if compiler is None:
        return False
    complaint = first_complaint(compiler, ("-std=c99", "-x", "c"), header)
    if complaint is None:
        return True
    if complaint.is_fatal or not _is_among(complaint, texts, header.parent):
        return False
    raise _bug(complaint, header, None, texts)


def _source_compiles(
    cuda: Path,
    places: tuple[int | None, ...],
    texts: Mapping[str, str],
    source: SourceFile,
    arch: str,
    cuda_path: str | None,
    include_flags: Sequence[str],
) -> bool:
    compiler = find_cxx_compiler()
    if compiler is None:
        return False
    # The dialect of nvcc is that of GNU, too.
    flags = ("-std=gnu++17", *cuda_on_cpu(), *include_flags, "-x", "c++")
    complaint = first_complaint(compiler, flags, cuda)
    if complaint is None:
        return True
    if complaint.is_fatal or not _is_among(complaint, texts, cuda.parent):
        return False
    place = places[complaint.line - 1] if complaint.file == str(cuda) else None
    span = None if place is None else _line(source, place)
    if complaint.file != str(cuda) or complaint.line < _first_of_host_code(cuda):
        raise _bug(complaint, cuda, span, texts)
    if _nvcc_compiles(cuda, include_flags, arch, cuda_path):
        return True
    raise CompileError.of(
        "CF0631",
        f"this host code does not compile as C++: {complaint.message}",
        span,
        help="it becomes part of a CUDA C++ source: write what both languages have, such as a cast of what "
        "malloc returns; --no-verify writes the files all the same",
    )


def _nvcc_compiles(cuda: Path, include_flags: Sequence[str], arch: str, cuda_path: str | None) -> bool:
    found = find_tool("nvcc", cuda_path)
    if isinstance(found, Missing):
        return False
    try:
        compile_ptx(load_tool(found), cuda, arch, tuple(include_flags))
    except ToolError:
        return False
    return True


def _is_among(complaint: Complaint, texts: Mapping[str, str], folder: Path) -> bool:
    """Whether what a compiler complains of is in one of the texts, which are in a folder."""
    place = Path(complaint.file)
    return place.name in texts and place.parent in (folder, Path())


def _first_of_host_code(cuda: Path) -> int:
    lines = cuda.read_text(encoding="utf-8").split("\n")
    return next(
        (number for number, line in enumerate(lines, 1) if line.startswith(HOST_CODE)), len(lines) + 1
    )


def _line(source: SourceFile, number: int) -> Span:
    """The text of a line without the space around it."""
    text = source.line(number)
    start = source.offset(number, len(text) - len(text.lstrip()) + 1)
    return Span(source, start, start + max(1, len(text.strip())))


def _bug(
    complaint: Complaint, compiled: Path, span: Span | None, texts: Mapping[str, str]
) -> GeneratedCodeError:
    where = f"{Path(complaint.file).name}:{complaint.line}"
    return GeneratedCodeError(
        Diagnostic(
            Severity.ERROR,
            "CF0630",
            f"the generated {compiled.name} does not compile: {complaint.message}",
            span,
            notes=(Note(f"at {where}; nothing is written"),),
            help="this is a bug of the tool; another name or form of what stands here may avoid it, and --no-verify "
            "writes the files all the same",
        ),
        texts,
    )
