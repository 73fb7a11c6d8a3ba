"""The GPUs that this process may use: an environment in, name, compute capability, driver and identifier of each out.

    visible(os.environ)      # [Gpu("NVIDIA H200", "9.0", "580.159", "GPU-7f...")]

Asks nvidia-smi, which starts no context on any of them.  Imports the standard library alone.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, replace

TIMEOUT_S = 60.0


class NoGpuError(Exception):
    """An error where there is no GPU; the message says how one knows."""


@dataclass(frozen=True, slots=True)
class Gpu:
    """A GPU; ``identifier`` is what CUDA_VISIBLE_DEVICES takes."""

    name: str
    compute_capability: str
    driver: str
    identifier: str


def visible(environment: Mapping[str, str]) -> list[Gpu]:
    """Return the GPUs that CUDA_VISIBLE_DEVICES names, in its order; all where it is not set.

    NoGpuError where there is none.
    """
    tool = shutil.which("nvidia-smi", path=environment.get("PATH", ""))
    if tool is None:
        raise NoGpuError("no nvidia-smi on the PATH")
    query = "--query-gpu=index,uuid,name,compute_cap,driver_version"
    try:
        answer = subprocess.run(
            [tool, query, "--format=csv,noheader"],
            capture_output=True,
            text=True,
            timeout=TIMEOUT_S,
            check=False,
            env=dict(environment),
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise NoGpuError(f"{tool} cannot be asked: {error}") from error
    if answer.returncode != 0:
        raise NoGpuError(f"nvidia-smi says: {(answer.stdout + answer.stderr).strip()}")
    gpus: dict[str, Gpu] = {}
    for line in answer.stdout.splitlines():
        fields = [field.strip() for field in line.split(",")]
        if len(fields) == 5:
            index, identifier, name, capability, driver = fields
            gpus[index] = Gpu(name, capability, driver, identifier)
    wanted = environment.get("CUDA_VISIBLE_DEVICES")
    if wanted is None:
        found = list(gpus.values())
    else:
        found = [gpu for word in wanted.split(",") if (gpu := _named(word.strip(), gpus)) is not None]
    if not found:
        raise NoGpuError(f"none of {len(gpus)} is visible (CUDA_VISIBLE_DEVICES={wanted})")
    return found


def _named(word: str, gpus: Mapping[str, Gpu]) -> Gpu | None:
    """Return the GPU with a number, or with an identifier that begins so; None where there is none.

    A part of a GPU (MIG) goes by its own identifier.
    """
    if word.startswith("MIG-") and gpus:
        return replace(next(iter(gpus.values())), identifier=word)
    if word.startswith("GPU-"):
        return next((gpu for gpu in gpus.values() if gpu.identifier.startswith(word)), None)
    return gpus.get(word)
