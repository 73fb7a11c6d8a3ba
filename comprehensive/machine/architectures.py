"""Names of architectures as nvcc takes them: a name from the command line in, nothing or an error out.

    demand_architecture("sm_90a")       # nothing
    demand_architecture("sm_12")        # CommandLineError (CF0808) that lists what is known

Every architecture of the table of devices is known, with the suffix ``a`` from sm_90 on and ``f`` from sm_100 on.
"""

from __future__ import annotations

import re

from comprehensive.diagnostics import CommandLineError
from comprehensive.machine.device import device_names


def demand_architecture(name: str, *, virtual: bool = False) -> None:
    """Raises CommandLineError (CF0808) for a name that is not known; ``virtual`` admits ``compute_90`` too."""
    known = [device for device in device_names() if device.startswith("sm_")]
    match = re.fullmatch(r"(sm|compute)_(\d+)([af]?)", name, re.ASCII)
    if (
        match is None
        or (match[1] == "compute" and not virtual)
        or f"sm_{match[2]}" not in known
        or int(match[2]) < {"": 0, "a": 90, "f": 100}[match[3]]
    ):
        raise CommandLineError.of(
            "CF0808", f"architecture '{name}' is not known", help=f"name one of {', '.join(known)}"
        )
