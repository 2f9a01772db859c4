"""Keeps the CPUs of this machine awake: idle, they poll in place of entering an idle state.

A request for a wake-up latency of 0, which the kernel honours for as long as a file is open ("PM
Quality Of Service Interface" in the kernel's documentation). A virtual machine may take longer to
leave an idle state than a server takes for a message. Must not know what is measured meanwhile.
"""

from __future__ import annotations

import contextlib
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from wiretrial.errors import UsageProblem

REQUESTS: Final = Path("/dev/cpu_dma_latency")
STATES: Final = Path("/sys/devices/system/cpu/cpuidle/current_driver")
"""Who enters them; without one the request changes nothing."""
REMEDY = 'run it as root on a kernel with cpuidle, or leave `idle_states = "off"` out'


@contextlib.contextmanager
def off(requests: Path = REQUESTS, states: Path = STATES) -> Iterator[None]:
    """No CPU enters one within. Raises `UsageProblem` where that can't be asked for."""
    with contextlib.ExitStack() as held:
        try:
            if states.read_text("ascii").strip() == "none":
                raise UsageProblem("this kernel enters no idle state", REMEDY)
            held.enter_context(requests.open("wb", buffering=0)).write(struct.pack("=i", 0))
        except OSError as error:
            what = f"CPUs can't be kept awake here: {error.filename or requests}: {error.strerror}"
            raise UsageProblem(what, REMEDY) from error
        yield


def refusal() -> UsageProblem | None:
    """Why CPUs can't be kept awake here; None: they can."""
    try:
        with off():
            pass
    except UsageProblem as problem:
        return problem
    return None
