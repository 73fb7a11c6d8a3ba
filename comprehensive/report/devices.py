"""The report of ``devices``: the table of known devices, or all limits of one.

In: nothing, or a name.  Out: text for a terminal, or a JSON document.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from comprehensive.machine.device import Device, device_names, devices, load_device
from comprehensive.machine.parameters import MACHINE_PARAMETERS
from comprehensive.machine.speeds import SPEEDS


def device_document(name: str | None) -> dict[str, Any]:
    """One document with the chosen devices, every field and the values of the machine parameters."""
    chosen = devices() if name is None else (load_device(name),)
    return {
        "schema": 1,
        "devices": [{**asdict(device), "parameters": dict(device.parameters())} for device in chosen],
    }


def device_text(name: str | None) -> str:
    """A line a device, with how many of its speeds were measured on it; for one device every limit with its unit."""
    if name is not None:
        return _limits(load_device(name))
    names, known = device_names(), devices()
    width = max(map(len, names))
    head = (
        f"{'device':<{width}} {'arch':<7} {'SMs':>4} {'GB/s':>5} {'R_B':>4} {'Z_B words':>9} {'T_B':>5}  "
        "per SM: threads registers shared bytes  speeds measured"
    )
    rows = [
        f"{given:<{width}} {device.arch:<7} {device.multiprocessors or '-':>4} {device.dram_gb_per_s or '-':>5} "
        f"{device.max_registers_per_thread:>4} {device.parameters()['Z_B']:>9} {device.max_threads_per_block:>5}  "
        f"{device.max_threads_per_sm:>15} {device.registers_per_sm:>9} {device.shared_bytes_per_sm:>12}  "
        f"{len(device.measured) or 'none'}{f' of {len(device.speeds)}' if device.measured else ''}"
        for given, device in zip(names, known, strict=True)
    ]
    return "\n".join([head, *rows]) + "\n"


def _limits(device: Device) -> str:
    lines = [f"{device.name} ({device.arch})", "machine parameters of a case discussion:"]
    for symbol, value in device.parameters().items():
        parameter = MACHINE_PARAMETERS[symbol]
        lines.append(f"  {symbol:<5} {value:>8}  {parameter.meaning} ({parameter.unit})")
    lines.append("limits:")
    for field, value in asdict(device).items():
        if field not in ("name", "arch", "speeds", "measured") and value not in (None, {}):
            lines.append(f"  {field} = {value}")
    lines.append("speeds, for predictions:")
    for field, value in device.machine().items():
        if field in SPEEDS:
            how = "measured on one of these" if field in device.measured else "not measured"
            lines.append(f"  {field:<24} {value:>9}  {SPEEDS[field].meaning} ({SPEEDS[field].unit}; {how})")
    return "\n".join(lines) + "\n"
