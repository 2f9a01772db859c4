"""Who pays for receiving: the CPUs that take in what comes over an interface.

Over loopback and a plain veth pair the sender's CPU runs the receiver's TCP, because the packet is
handed over where it was sent. Receive packet steering (RPS; the kernel's
Documentation/networking/scaling.rst) hands it to a CPU of the receiver's instead. Knows the setting
and how a namespace's is reached; must not know who sends.
"""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from wiretrial.errors import UsageProblem

LIMIT_S = 10.0
_QUEUES = "/sys/class/net/{}/queues"
_WRITE = """
mount -t sysfs sysfs /sys
for file in /sys/class/net/"$1"/queues/rx-*/rps_cpus; do echo "$2" > "$file"; done
"""


@dataclass(frozen=True)
class Steering:
    """The CPUs of each side, which take in what comes to that side."""

    ours: tuple[int, ...]
    server: tuple[int, ...]


def here(interface: str, cpus: Sequence[int]) -> None:
    """Has these CPUs take in what comes over an interface of ours; needs root."""
    try:
        for queue in Path(_QUEUES.format(interface)).glob("rx-*"):
            (queue / "rps_cpus").write_text(mask(cpus), encoding="ascii")
    except OSError as error:
        raise _refused(str(error.strerror)) from error


def inside(pid: int, interface: str, cpus: Sequence[int]) -> None:
    """The same of an interface in the network namespace of `pid`.

    Its settings stand in a sysfs that is mounted there, so it is done in a mount namespace that
    ends at once.
    """
    words = ["nsenter", f"--net=/proc/{pid}/ns/net", "unshare", "--mount"]
    words += ["sh", "-euc", _WRITE, "sh", interface, mask(cpus)]
    try:
        done = subprocess.run(words, capture_output=True, text=True, timeout=LIMIT_S, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise _refused(str(error)) from error
    if done.returncode:
        raise _refused(done.stderr.strip() or f"exit status {done.returncode}")


def mask(cpus: Sequence[int]) -> str:
    """CPUs as the kernel writes a set of them: hexadecimal, 32 to a group."""
    bits = sum(1 << cpu for cpu in set(cpus))
    groups = [f"{bits & 0xFFFFFFFF:x}"]
    while bits := bits >> 32:
        groups.append(f"{bits & 0xFFFFFFFF:x}")
    first, *rest = reversed(groups)
    return ",".join([first, *(group.zfill(8) for group in rest)])


def _refused(why: str) -> UsageProblem:
    return UsageProblem(
        f"the CPUs that receive can't be chosen here ({why})",
        "run it as root on a kernel with CONFIG_RPS, or choose another environment",
    )
