"""Facts that stand with a result: without them a figure can't be read or repeated.

Knows where Linux keeps them; must not know who records them. A fact that this machine doesn't tell
is None, never a guess.
"""

from __future__ import annotations

import os
import platform
import resource
import sys
from pathlib import Path
from typing import Any

import psutil

from wiretrial import __version__
from wiretrial.machine import tracking

SYSCTLS = (
    "fs.file-max",
    "fs.nr_open",
    "kernel.randomize_va_space",
    "net.core.busy_poll",
    "net.core.rmem_max",
    "net.core.somaxconn",
    "net.core.wmem_max",
    "net.ipv4.ip_local_port_range",
    "net.ipv4.tcp_congestion_control",
    "net.ipv4.tcp_fin_timeout",
    "net.ipv4.tcp_max_syn_backlog",
    "net.ipv4.tcp_rmem",
    "net.ipv4.tcp_tw_reuse",
    "net.ipv4.tcp_wmem",
    "vm.overcommit_memory",
)
"""Settings that have been seen to change a result."""

_CAP_SYS_ADMIN = 1 << 21
_CPU = Path("/sys/devices/system/cpu")


def collect() -> dict[str, Any]:
    """Everything, as it is now."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    memory = psutil.virtual_memory()
    return {
        "cpu": {
            "model": _cpu_model(),
            "architecture": platform.machine(),
            "logical": os.cpu_count(),
            "physical": psutil.cpu_count(logical=False),
            "usable": sorted(os.sched_getaffinity(0)),
            "governor": _read(_CPU / "cpu0/cpufreq/scaling_governor"),
            "boost": _read(_CPU / "cpufreq/boost"),
            "smt": _read(_CPU / "smt/control"),
            "mitigations": _mitigations(),
            "virtualised": "hypervisor" in _cpu_flags(),
        },
        "kernel": platform.release(),
        "boot": boot(),
        "system": system(),
        "clock_source": _read(
            Path("/sys/devices/system/clocksource/clocksource0/current_clocksource")
        ),
        "memory_bytes": memory.total,
        "swap_bytes": psutil.swap_memory().total,
        "descriptors": {"soft": soft, "hard": hard},
        "tracks_connections": tracking.table() is not None,
        "sysctls": {name: sysctl(name) for name in SYSCTLS},
        "versions": {
            "wiretrial": __version__,
            "python": ".".join(str(part) for part in sys.version_info[:3]),
            "libc": " ".join(platform.libc_ver()).strip() or None,
        },
    }


def boot() -> str | None:
    """What tells this boot of this machine from all others."""
    return _read(Path("/proc/sys/kernel/random/boot_id"))


def administers() -> bool:
    """Whether the machine's own limits, as that of open files, don't bind this process.

    They don't where CAP_SYS_ADMIN is effective in the namespace of users that all others are in.
    """
    status = _read(Path("/proc/self/status")) or ""
    users = (_read(Path("/proc/self/uid_map")) or "").split()
    effective = next((line[7:] for line in status.splitlines() if line.startswith("CapEff:")), "0")
    return users == ["0", "0", "4294967295"] and bool(int(effective, 16) & _CAP_SYS_ADMIN)


def steal_ticks() -> int | None:
    """Ticks that a hypervisor took from this machine since its start, over all CPUs."""
    first = _read(Path("/proc/stat"))
    fields = first.splitlines()[0].split() if first else []
    return int(fields[8]) if len(fields) > 8 else None


def throttles() -> int | None:
    """How often the CPUs were slowed down for their heat since the machine's start."""
    counts = [_read(path) for path in _CPU.glob("cpu[0-9]*/thermal_throttle/core_throttle_count")]
    known = [int(count) for count in counts if count and count.isdigit()]
    return sum(known) if known else None


def oom_kills() -> int | None:
    """Processes that the kernel ended for want of memory since its start."""
    words = (_read(Path("/proc/vmstat")) or "").split()
    counts = dict(zip(words[::2], words[1::2], strict=False))
    return int(counts["oom_kill"]) if "oom_kill" in counts else None


def sysctl(name: str) -> str | None:
    """One kernel setting, blanks normalised."""
    text = _read(Path("/proc/sys") / name.replace(".", "/"))
    return " ".join(text.split()) if text is not None else None


def _cpu_model() -> str | None:
    return _cpuinfo("model name") or platform.processor() or None


def _cpu_flags() -> list[str]:
    return (_cpuinfo("flags") or "").split()


def _cpuinfo(key: str) -> str | None:
    for line in (_read(Path("/proc/cpuinfo")) or "").splitlines():
        name, _, value = line.partition(":")
        if name.strip() == key:
            return value.strip()
    return None


def _mitigations() -> dict[str, str]:
    folder = _CPU / "vulnerabilities"
    if not folder.is_dir():
        return {}
    states = {path.name: _read(path) or "" for path in sorted(folder.iterdir())}
    return {name: state for name, state in states.items() if state != "Not affected"}


def system() -> str | None:
    """The system's own name, such as `Debian GNU/Linux 12 (bookworm)`."""
    for line in (_read(Path("/etc/os-release")) or "").splitlines():
        if line.startswith("PRETTY_NAME="):
            return line.partition("=")[2].strip('"')
    return None


def _read(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return None
