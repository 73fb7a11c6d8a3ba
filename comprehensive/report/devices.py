"""The report of ``devices``: the table of known devices, or all limits of one.

In: nothing, or a name.  Out: text for a terminal, or a JSON document.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from comprehensive.machine.device import Device, devices, load_device
from comprehensive.machine.parameters import MACHINE_PARAMETERS


def device_document(name: str | None) -> dict[str, Any]:
    """One document with the chosen devices, every field and the values of the machine parameters."""
    chosen = devices() if name is None else (load_device(name),)
    return {
        "schema": 1,
        "devices": [{**asdict(device), "parameters": dict(device.parameters())} for device in chosen],
    }


def device_text(name: str | None) -> str:
    """A line a device; for one device every limit with its unit."""
    if name is not None:
        return _limits(load_device(name))
    known = devices()
    width = max(len(device.name) for device in known)
    head = f"{'device':<{width}}  {'R_B':>5} {'Z_B words':>10} {'T_B':>5}  per SM: threads  registers  shared bytes"
    rows = [
        f"{device.name:<{width}}  {device.max_registers_per_thread:>5} "
        f"{device.parameters()['Z_B']:>10} {device.max_threads_per_block:>5}  "
        f"{device.max_threads_per_sm:>15}  {device.registers_per_sm:>9}  {device.shared_bytes_per_sm:>12}"
        for device in known
    ]
    return "\n".join([head, *rows]) + "\n"


def _limits(device: Device) -> str:
    lines = [f"{device.name} ({device.arch})", "machine parameters of a case discussion:"]
    for symbol, value in device.parameters().items():
        parameter = MACHINE_PARAMETERS[symbol]
        lines.append(f"  {symbol:<5} {value:>8}  {parameter.meaning} ({parameter.unit})")
    lines.append("limits:")
    for field, value in asdict(device).items():
        if field not in ("name", "arch") and value not in (None, {}):
            lines.append(f"  {field} = {value}")
    return "\n".join(lines) + "\n"
