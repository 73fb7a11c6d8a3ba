"""Annotated C loop nests in, CUDA headers with a case discussion out.

``comprehensive gen matmul.mf -o out/`` reads a loop nest in C with MetaFork annotations and writes kernels for
every case that machine and program parameters can bring, with the code that chooses among them at run time.
Start reading at ``comprehensive/driver.py``: the pipeline, one named line per stage.

Importing this package imports nothing else.
"""

from __future__ import annotations

__version__ = "0.1.0"
