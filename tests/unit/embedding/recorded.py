"""The C source with compiled kernels, compiled as strictly as C can be and linked with a runtime that writes down.

launches((image, texts), nvcc, folder, ["f_launch(10, 0, 0, 0)"])    # ["load ba55ed50", "launch f_leaf0 ..."]
"""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from comprehensive.embedding.embedded import Embedded
from comprehensive.toolchain.host import find_c_compiler
from comprehensive.toolchain.nvcc import Tool, include_directories

STRICT = ("-O1", "-Wall", "-Wextra", "-Wshadow", "-Wconversion", "-Werror")
RECORDER = Path(__file__).with_name("recorder.c")
MAIN = """
#include "{stem}.h"
#include <stdio.h>
int main(void)
{{
  cf_choice why = {{ 0, 0, 0, 0, 0, 0, 0, 0, 0 }};
  int status = why.status;
  {calls}
  return 0;
}}
"""


def launches(
    made: tuple[Embedded, dict[str, str]], nvcc: Tool, directory: Path, calls: Sequence[str], *flags: str
) -> list[str]:
    """Return the lines that the runtime writes for these calls, each of which leaves a status."""
    stem = made[0].name.removesuffix("_embedded.c")
    written = "\n  ".join(f'status = {call}; printf("status %d\\n", status);' for call in calls)
    program = built(made, nvcc, directory, MAIN.format(stem=stem, calls=written), *flags)
    return subprocess.run([program], capture_output=True, text=True, check=True).stdout.splitlines()


def built(made: tuple[Embedded, dict[str, str]], nvcc: Tool, directory: Path, main: str, *flags: str) -> Path:
    """The program of this ``main``, with the compiled kernels and the runtime that writes down."""
    compiler = find_c_compiler()
    assert compiler is not None
    image, texts = made
    for name, text in {**texts, image.name: image.text}.items():
        (directory / name).write_text(text, encoding="utf-8")
    (directory / "main.c").write_text(main, encoding="utf-8")
    headers = [word for directory in include_directories(nvcc) for word in ("-isystem", str(directory))]
    words = (
        "-std=c99",
        *STRICT,
        *headers,
        "-I.",
        *flags,
        image.name,
        "main.c",
        str(RECORDER),
        "-lm",
        "-lpthread",
        "-o",
        "run",
    )
    command = (*compiler.command, *words)
    done = subprocess.run(command, cwd=directory, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return directory / "run"


def demand_thread_sanitizer(directory: Path) -> None:
    """Skip a test where no program with ThreadSanitizer is built and runs."""
    compiler = find_c_compiler()
    assert compiler is not None
    (directory / "empty.c").write_text("int main(void) { return 0; }\n", encoding="utf-8")
    command = (*compiler.command, "-fsanitize=thread", "empty.c", "-o", "empty")
    for each in (command, (str(directory / "empty"),)):
        done = subprocess.run(each, cwd=directory, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            pytest.skip(
                f"no program with -fsanitize=thread is built and runs here: {done.stderr.strip()[:200]}"
            )
