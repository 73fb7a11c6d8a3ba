"""The setting that makes a version of a kernel, and its occupancy level: values that everything here is about.

    Setting("register-cap{registers=64}", 128)                  # at most 64 registers, blocks of 128 threads
    Setting("grid-stride{warps=32}", 256, resident=4)           # four blocks on a multiprocessor at a time

Source: Hayes et al., *Orion: A Framework for GPU Occupancy Tuning*, Middleware 2016, section 3.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from comprehensive.machine.occupancy import Occupancy
from comprehensive.sass.predict import Prediction


@dataclass(frozen=True, slots=True)
class Setting:
    """The setting of a version: how it is made, and how it is launched."""

    pipeline: str
    """Passes over the kernel as it is compiled; empty for none."""
    threads: int
    """Threads of a block."""
    resident: int | None = None
    """Blocks on a multiprocessor at a time, where the grid says so (persistent blocks); None for as many as fit."""

    def __str__(self) -> str:
        return f"{self.pipeline or 'as compiled'}, blocks of {self.threads}"


@dataclass(frozen=True, slots=True)
class Level:
    """The resources that a version takes of a multiprocessor, and its predicted time."""

    setting: Setting
    registers: int
    """The registers of a thread, as ptxas counts them."""
    spill_bytes: int
    """Bytes of a thread stored to local memory and loaded again."""
    shared_bytes: int
    """The shared memory of a block, static and dynamic."""
    occupancy: Occupancy
    prediction: Prediction | str
    """The prediction, or why there is none."""

    @property
    def resident(self) -> int:
        """Blocks that a multiprocessor holds at a time."""
        most = self.occupancy.blocks_per_sm
        return most if self.setting.resident is None else min(most, self.setting.resident)

    @property
    def warps(self) -> int:
        """Warps that a multiprocessor holds at a time: the occupancy level."""
        return self.resident * self.occupancy.warps_per_block

    @property
    def fraction(self) -> Fraction:
        """The occupancy: resident warps over those that can be resident, in [0, 1]."""
        return Fraction(self.warps, self.occupancy.max_warps_per_sm)

    @property
    def registers_held(self) -> int:
        """Registers of a multiprocessor that are taken, without rounding: what other kernels cannot have."""
        return self.resident * self.setting.threads * self.registers

    @property
    def cycles(self) -> float | None:
        """The predicted cycles; None where nothing is predicted."""
        return None if isinstance(self.prediction, str) else self.prediction.cycles


@dataclass(frozen=True, slots=True)
class Timed:
    """The measurement of a level: the time of a call of the whole function, or why there is none."""

    microseconds: float | None
    reason: str = ""
