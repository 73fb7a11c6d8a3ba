"""The distribution of tests by pytest-xdist: those that share what they compile go to one worker, one after the other.

By the names of tests alone, which is all that the process knows that distributes them.  Units with many tests come
first, so that there are small ones left in the end.
"""

from __future__ import annotations

from pathlib import Path, PurePosixPath

from xdist.scheduler import LoadScopeScheduling

from comprehensive.data import spec_directory

_PTX = Path(__file__).resolve().parent / "ptx"

EXAMPLES = {path.stem for path in spec_directory().glob("*.mf")}
OF_ONE_SOURCE = {"test_lower_tile", "test_overlap", "test_split_reduction", "test_windows"}
"""Modules of `tests/unit/schedule` in which all tests with the same parameters compile the same source."""

CORPUS = {path.stem for kind in ("cuda/*.cu", "shuffles/*.cu", "assembly/*.ptx") for path in _PTX.glob(kind)}
"""Sources that several modules of `tests/ptx` compile, each for all architectures."""

EXAMPLE_OF = {
    "tests/browser/test_page.py": "jacobi1d",
    "tests/browser/test_selection.py": "jacobi1d",
    "tests/cli/test_leaf.py": "jacobi1d",
    "tests/cli/test_picture.py": "transpose",
    "tests/cli/test_region.py": "jacobi1d",
    "tests/cli/test_report.py": "jacobi1d",
    "tests/specs/test_documents.py": "transpose",
    "tests/specs/test_emitted.py": "matmul",
    "tests/specs/test_resources.py": "matvec",
    "tests/specs/test_soundness.py": "jacobi1d",
    "tests/unit/benchmarks/test_selection.py": "jacobi1d",
    "tests/unit/codegen/test_defaults.py": "matmul",
    "tests/unit/codegen/test_machines.py": "matadd",
    "tests/unit/embedding/test_embedded.py": "jacobi1d",
    "tests/unit/model/test_work.py": "gemm",
    "tests/unit/report/test_page.py": "jacobi1d",
    "tests/unit/soundness/test_rewritten.py": "jacobi1d",
    "tests/unit/tuning/test_baked.py": "gemm",
    "tests/unit/tuning/test_candidates.py": "matmul",
    "tests/unit/tuning/test_observed.py": "gemm",
}
"""The example that tests of a module compile where their parameters name none."""


def unit(nodeid: str) -> str:
    """Return the common part of tests: an example, a source of the corpus or of a module, or the module."""
    path, _, name = nodeid.partition("::")
    parameters = name.partition("[")[2].removesuffix("]")
    for word in parameters.split("-"):
        if word in EXAMPLES:
            return word
    source = parameters.partition("-")[0]
    if path.startswith("tests/ptx/") and source in CORPUS:
        return f"tests/ptx[{source}]"
    if parameters and PurePosixPath(path).stem in OF_ONE_SOURCE:
        return f"{path}[{parameters}]"
    return EXAMPLE_OF.get(path, path)


class Together(LoadScopeScheduling):
    def _split_scope(self, nodeid: str) -> str:
        return unit(nodeid)
