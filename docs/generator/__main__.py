"""The site from its sources: an output folder in, HTML and an exit code out."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from time import perf_counter

from docs.generator.links import faults
from docs.generator.sources import write_sources

ROOT = Path(__file__).resolve().parents[2]


def main(output: Path) -> int:
    # Sphinx is an extra of its own, which tests of the rest of this package do without.
    from sphinx.cmd.build import build_main

    began = perf_counter()
    sources = output.with_name(f"{output.name}-sources")
    for folder in (sources, output):
        shutil.rmtree(folder, ignore_errors=True)
    write_sources(ROOT, sources)
    built = build_main(
        ["-q", "-W", "--keep-going", "-j", "auto", "-c", str(ROOT / "docs"), str(sources), str(output)]
    )
    if built:
        return built
    found = faults(output)
    for fault in found:
        print(fault, file=sys.stderr)
    pages = len(list(output.rglob("*.html")))
    print(f"{output}: {pages} pages, {len(found)} wrong links, {perf_counter() - began:.0f} s")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
