"""Writes a mini toolkit: a directory whose nvcc is the real one and calls the wrapper as its ptxas.

In: the nvcc of a toolkit and passes.  Out: the directory::

    install(Path("dropin"), real_toolkit(nvcc), "dce")
    # dropin/bin: nvcc -> the real one, crt -> the real one, nvcc.profile, ptxas

nvcc puts its own directories before PATH and has no option for ptxas' place, but it takes ``nvcc.profile`` from the
directory of the name by which it is called.  The profile written here is the real one, for the real places, with its
own directory before all others.
"""

from __future__ import annotations

import json
import os
import re
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from comprehensive.diagnostics import CommandLineError
from comprehensive.ptx.dropin.wrapper import wrapper_text
from comprehensive.toolchain.find import Found, Missing, Search
from comprehensive.toolchain.process import ToolError, run

# What says that a directory is ours, and which of its files are.
RECORD = "comprehensive-dropin.json"
SCRIPT = Path(__file__).with_name("__main__.py")
# Of a toolkit besides bin: where CUDA_HOME is set to the mini toolkit, builds look for these.
_LINKED = ("extras", "include", "lib", "lib64", "nvvm", "share", "targets")


@dataclass(frozen=True, slots=True)
class Toolkit:
    """A toolkit of CUDA: ``root`` has ``bin/nvcc``, ``bin/nvcc.profile`` and ``bin/ptxas``."""

    root: Path

    @property
    def ptxas(self) -> Path:
        return self.root / "bin" / "ptxas"


def real_toolkit(nvcc: Search) -> Toolkit:
    """The toolkit behind an nvcc that may be a script or belong to a mini toolkit.

    Raises ToolError where there is no nvcc or its toolkit is not complete.
    """
    if isinstance(nvcc, Missing):
        raise ToolError(f"a drop-in needs nvcc\n{nvcc.explain()}\nhelp: {nvcc.help}")
    # What nvcc would do shows where it takes things from; the file need not exist.
    answer = run((nvcc.path, "--dryrun", "-ptx", "none.cu"), timeout_s=60)
    top = re.search(r"^#\$ TOP=(.+)$", answer.stderr, re.MULTILINE)
    if top is None:
        raise ToolError(f"{nvcc.path} --dryrun does not say where its toolkit is: {answer.stderr.strip()}")
    root = Path(top[1].strip()).resolve()
    for name in ("nvcc", "nvcc.profile", "ptxas"):
        if not (root / "bin" / name).is_file():
            raise ToolError(f"the toolkit of {nvcc.path} is at {root}, and has no bin/{name}")
    return Toolkit(root)


def real_ptxas(ptxas: Search) -> Path:
    """The ptxas that was found, or the one behind it where that is a wrapper; raises ToolError where there is none."""
    if isinstance(ptxas, Found):
        record = _record(ptxas.path.parent.parent)
        return ptxas.path if record is None else Path(str(record["toolkit"])) / "bin" / "ptxas"
    raise ToolError(f"ptxas is not found\n{ptxas.explain()}\nhelp: {ptxas.help}")


def install(directory: Path, toolkit: Toolkit, passes: str, *, script: Path = SCRIPT) -> None:
    """Writes the mini toolkit at once: other processes see none of a new one or all of it, old files or new ones.

    The wrapper has this Python run ``script``, which is another one where passes are not those of this tool; its
    arguments are those of :func:`comprehensive.ptx.dropin.run.main`.  Raises CommandLineError where files that were
    not written here are in the way, OSError where the directory cannot be written.
    """
    directory = directory.absolute()
    directory.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=directory.parent, prefix=f".{directory.name}-") as scratch:
        new = Path(scratch) / "new"
        names = _write(new, toolkit, passes, script)
        _demand_ours(directory, names)
        try:
            # Onto nothing or an empty directory.
            os.rename(new, directory)
        except OSError:
            if not directory.is_dir():
                raise
            (directory / "bin").mkdir(exist_ok=True)
            for name in names:
                os.replace(new / name, directory / name)


def _write(directory: Path, toolkit: Toolkit, passes: str, script: Path) -> tuple[str, ...]:
    """All files of the mini toolkit, by name; the record comes last."""
    real = toolkit.root / "bin"
    (directory / "bin").mkdir(parents=True)
    links = {"bin/nvcc": real / "nvcc", "bin/crt": real / "crt"}
    links |= {name: toolkit.root / name for name in _LINKED}
    present = {name: place for name, place in links.items() if place.exists()}
    for name, place in present.items():
        (directory / name).symlink_to(place)
    profile = (real / "nvcc.profile").read_text(encoding="utf-8").replace("$(_HERE_)", str(real))
    # The last line is the first in PATH: `+=` puts before what is there. Results of nvcc are remembered by its profile,
    # so that other passes must make another one.
    profile += f"\nPATH += $(_HERE_):\n# passes: {json.dumps(passes)}\n"
    (directory / "bin/nvcc.profile").write_text(profile, encoding="utf-8")
    wrapper = directory / "bin/ptxas"
    wrapper.write_text(wrapper_text(toolkit.ptxas, Path(sys.executable), script, passes), encoding="utf-8")
    wrapper.chmod(0o755)
    names = (*present, "bin/nvcc.profile", "bin/ptxas", RECORD)
    record = {"schema": 1, "toolkit": str(toolkit.root), "passes": passes, "files": sorted(names)}
    (directory / RECORD).write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    return names


def _demand_ours(directory: Path, names: tuple[str, ...]) -> None:
    record = _record(directory)
    ours = [] if record is None else record["files"]
    strange = [name for name in names if name not in ours and os.path.lexists(directory / name)]
    if record is None and not strange and directory.is_dir() and any(directory.iterdir()):
        strange = sorted(path.name for path in directory.iterdir())[:3]
    if strange or (os.path.lexists(directory) and not directory.is_dir()):
        has = f" has {', '.join(strange)}," if strange else " is there,"
        message = f"{directory}{has} which comprehensive has not written"
        help = "name a directory that does not exist yet"
        raise CommandLineError.of("CF1091", message, help=help)


def _record(directory: Path) -> dict[str, list[str] | str] | None:
    try:
        return json.loads((directory / RECORD).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
