"""Finds a CUDA tool or library and tells where it looked.

In: the name of a tool (``nvcc``, ``ptxas``, ``nvdisasm``, ``cuobjdump``, ``cicc``) or of a library (``nvJitLink``).
Out: :class:`Found` or :class:`Missing`, each with the :class:`Step` values tried, in this order: the directory that the
user names, ``CUDA_HOME``, ``CUDA_PATH``, the wheels of the extras in site-packages, and for a tool ``PATH``::

    match find_tool("ptxas"):
        case Found(path=path): ...
        case Missing() as missing: print(missing.explain())

A directory that the user names is the only one searched: a mistyped one must not silently select another version.
``python -m comprehensive.toolchain.find nvcc`` prints the steps and exits with 3 where the tool is missing.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TypeAlias

# cicc lives with the rest of libNVVM, everything else in bin/.
_SUBDIRECTORIES = ("bin", "nvvm/bin")
_LIBRARY_DIRECTORIES = ("lib64", "lib")


@dataclass(frozen=True, slots=True)
class Step:
    """One place of the search: where it comes from, and what was there."""

    origin: str
    outcome: str

    def __str__(self) -> str:
        return f"{self.origin}: {self.outcome}"


@dataclass(frozen=True, slots=True)
class Found:
    """A tool that was found.

    ``path`` is executable, or a library; the last of ``steps`` is the one that found it.
    """

    name: str
    path: Path
    steps: tuple[Step, ...]

    @property
    def origin(self) -> str:
        return self.steps[-1].origin

    def explain(self) -> str:
        """One line a step, for ``doctor``."""
        return "\n".join(str(step) for step in self.steps)


@dataclass(frozen=True, slots=True)
class Missing:
    """A tool that was not found; ``help`` says what to do about it."""

    name: str
    steps: tuple[Step, ...]
    help: str

    def explain(self) -> str:
        """One line a step, for ``doctor``."""
        return "\n".join(str(step) for step in self.steps)


Search: TypeAlias = Found | Missing


def find_tool(
    name: str,
    cuda_path: str | Path | None = None,
    *,
    environment: Mapping[str, str] | None = None,
    wheel_directories: Sequence[Path] | None = None,
) -> Search:
    """The executable of that name; never raises for one that is not there.

    ``environment`` stands for ``os.environ`` and ``wheel_directories`` for the ``nvidia`` directories of
    site-packages where they are given.
    """
    env = os.environ if environment is None else environment
    places = list(_places(lambda root: _under(root, name), "cuda", cuda_path, env, wheel_directories))
    if cuda_path is None:
        on_path = shutil.which(name, path=env.get("PATH", ""))
        hits = (Path(on_path).absolute(),) if on_path else ()
        places.append(("PATH", hits, f"no '{name}' in any of its directories"))
    help = (
        "install the wheels with pip install 'comprehensive[cuda]', or set CUDA_HOME to a toolkit that has "
        f"bin/{name}"
    )
    return _first(name, "executable", places, _is_executable, help)


def find_library(
    name: str,
    extra: str,
    cuda_path: str | Path | None = None,
    *,
    environment: Mapping[str, str] | None = None,
    wheel_directories: Sequence[Path] | None = None,
) -> Search:
    """The shared library ``lib<name>.so`` that the optional dependencies ``extra`` bring, as :func:`find_tool`."""
    env = os.environ if environment is None else environment
    places = _places(lambda root: _libraries(root, name), extra, cuda_path, env, wheel_directories)
    help = (
        f"install the wheel with pip install 'comprehensive[{extra}]', or set CUDA_HOME to a toolkit that has "
        f"lib64/lib{name}.so"
    )
    return _first(name, "library", places, Path.is_file, help)


_Place: TypeAlias = tuple[str, Sequence[Path], str]


def _first(
    name: str, kind: str, places: Iterable[_Place], is_one: Callable[[Path], bool], help: str
) -> Search:
    steps: list[Step] = []
    for origin, candidates, absent in places:
        hit = next((path for path in candidates if is_one(path)), None)
        if hit is not None:
            return Found(name, hit, (*steps, Step(origin, f"found {hit}")))
        looked = ", ".join(str(path) for path in candidates)
        steps.append(Step(origin, f"no {kind} at {looked}" if candidates else absent))
    return Missing(name, tuple(steps), help)


def _places(
    under: Callable[[Path], Sequence[Path]],
    extra: str,
    cuda_path: str | Path | None,
    env: Mapping[str, str],
    wheels: Sequence[Path] | None,
) -> Iterator[_Place]:
    """Origin, candidate files, and what to say where there is no candidate."""
    if cuda_path is not None:
        yield "--cuda-path", under(Path(cuda_path).absolute()), ""
        return
    for variable in ("CUDA_HOME", "CUDA_PATH"):
        value = env.get(variable)
        yield variable, under(Path(value).absolute()) if value else (), "not set"
    directories = _nvidia_directories() if wheels is None else wheels
    roots = [root for directory in directories for root in _wheel_roots(directory)]
    candidates = [path for root in roots for path in under(root)]
    yield "wheels in site-packages", candidates, f"none installed (extra '{extra}')"


def _under(root: Path, name: str) -> tuple[Path, ...]:
    return tuple(root / sub / name for sub in _SUBDIRECTORIES)


def _libraries(root: Path, name: str) -> tuple[Path, ...]:
    """The newest first; wheels hold a library only under the name with its version, ``libnvJitLink.so.13``."""
    directories = [root / sub for sub in _LIBRARY_DIRECTORIES]
    versions = [path for place in directories for path in sorted(place.glob(f"lib{name}.so.*"), reverse=True)]
    return (*versions, *(place / f"lib{name}.so" for place in directories))


def _nvidia_directories() -> tuple[Path, ...]:
    # `nvidia` is a namespace package: several site directories may hold a part of it.
    spec = find_spec("nvidia")
    locations = spec.submodule_search_locations if spec else None
    return tuple(Path(location) for location in locations or ())


def _wheel_roots(nvidia: Path) -> list[Path]:
    """Return ``nvidia/cu14`` before ``nvidia/cu13``, then CUDA 12's one-directory-a-wheel layout."""
    numbered = [p for p in nvidia.glob("cu*") if re.fullmatch(r"cu\d+", p.name)]
    newest_first = sorted(numbered, key=lambda p: int(p.name[2:]), reverse=True)
    return [*newest_first, *sorted(nvidia.glob("cuda_*"))]


def _is_executable(path: Path) -> bool:
    return path.is_file() and os.access(path, os.X_OK)


def _main(names: Sequence[str]) -> int:
    searches = [find_tool(name) for name in names]
    for search in searches:
        print(f"{search.name}:")
        print("\n".join(f"  {step}" for step in search.steps))
    return 3 if any(isinstance(search, Missing) for search in searches) else 0


if __name__ == "__main__":
    sys.exit(_main(sys.argv[1:]))
