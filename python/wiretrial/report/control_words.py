"""Congestion control in words: which one each side had, where that was asked for or can matter.

Knows trials; must not know where the lines are shown.
"""

from __future__ import annotations

from wiretrial.results.model import Trial
from wiretrial.warnings.controls import OF_QUIC, is_over_link, of_server

COLUMNS = ("Generator", "Server")
_UNKNOWN = "not known"


def is_told(trial: Trial) -> bool:
    """Whether it can matter: over loopback nothing is lost."""
    return is_over_link(trial) or trial.plan.target.http.congestion is not None


def cells(trial: Trial) -> tuple[str, str]:
    """As `COLUMNS` name them. Of TCP by the kernel's names, the generator's as it told them."""
    http = trial.plan.target.http
    if http.over_udp:
        told = trial.subject.congestion if trial.subject else None
        return f"{http.congestion or OF_QUIC} (QUIC)", told or "its library's"
    return f"{trial.start.congestion or _UNKNOWN} (TCP)", of_server(trial) or _UNKNOWN
