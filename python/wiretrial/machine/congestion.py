"""Which congestion control TCP may have here: sockets of ours, and network namespaces.

Knows the option of a socket and the kernel's lists; must not know who wants one, or what for.
"""

from __future__ import annotations

import errno
import socket

from wiretrial.machine import facts

AVAILABLE = "net.ipv4.tcp_available_congestion_control"
"""Those that are loaded. Root may have each of them, and has others loaded by asking for them."""
ALLOWED = "net.ipv4.tcp_allowed_congestion_control"
"""Those that everybody may have. Only the machine's own namespace may have another as default."""


def of_sockets(name: str) -> str | None:
    """Why sockets of ours may not have it, and what to do; None: they may. The kernel is asked."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        try:
            probe.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, name.encode())
        except OSError as error:
            if error.errno == errno.EPERM:
                return f"the kernel keeps {name} of TCP for root: run as root, or {_allow(name)}"
            return (
                f"the kernel has no {name} for TCP ({AVAILABLE}: {facts.sysctl(AVAILABLE)}): "
                f"load it as root (modprobe tcp_{name})"
            )
    return None


def of_namespaces(name: str) -> str | None:
    """The same of a network namespace that is not the machine's."""
    allowed = facts.sysctl(ALLOWED)
    if allowed is None or name in allowed.split():
        return None
    return f"a namespace may only have what everybody may ({ALLOWED}: {allowed}): {_allow(name)}"


def _allow(name: str) -> str:
    allowed = facts.sysctl(ALLOWED)
    return f'allow it (sysctl -w {ALLOWED}="{allowed} {name}")'
