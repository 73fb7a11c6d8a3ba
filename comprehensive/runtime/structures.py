"""The structures that generated functions are passed besides arguments, as ctypes has them.

params_type(interface)(B0=16, ub1=16, s=2, tile=-1)       # a matmul_params
machine_array({"Z_B": 12288})                             # a cf_machine with plenty of everything else
"""

from __future__ import annotations

import ctypes
from collections.abc import Mapping
from typing import Any

from comprehensive.machine.parameters import MACHINE_PARAMETERS, ample
from comprehensive.machine.speeds import SPEEDS
from comprehensive.plan.interface import Interface
from comprehensive.runtime.values import as_scalar, c_type

UNLIMITED = 1 << 40
"""The value of a machine's parameter that the caller does not give; a speed is then 1."""
MACHINE_NUMBERS = (*MACHINE_PARAMETERS, *SPEEDS)
"""The members of ``cf_machine``, in order."""


def params_type(interface: Interface) -> Any:
    """The type ``<function>_params``."""
    fields = [(a.name, c_type(a.type)) for a in interface.layout]
    return type("Params", (ctypes.Structure,), {"_fields_": fields or [("unused", ctypes.c_int)]})


def params(interface: Interface, values: Mapping[str, int]) -> ctypes.Structure:
    """A ``<function>_params``; without a value for the tile, that of the leaf. OverflowError as of `as_scalar`."""
    made = params_type(interface)()
    given = dict.fromkeys((option.name for option in interface.options), 0) | dict(values)
    for argument in interface.members:
        setattr(made, argument.name, as_scalar(argument, given[argument.name]).value)
    return made


def machine_values(machine: Mapping[str, int]) -> list[int]:
    """All members of a ``cf_machine``, from symbols (``Z_B``: words) and names of speeds."""
    return [machine.get(symbol, ample(symbol, UNLIMITED)) for symbol in MACHINE_PARAMETERS] + [
        machine.get(name, 1) for name in SPEEDS
    ]


def machine_array(machine: Mapping[str, int]) -> ctypes.Array[ctypes.c_longlong]:
    """A ``cf_machine``."""
    return (ctypes.c_longlong * len(MACHINE_NUMBERS))(*machine_values(machine))
