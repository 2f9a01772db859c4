"""Which congestion control TCP had where HTTP over TCP was compared with HTTP/3 over a link.

Knows records; must not know how a warning is shown.
"""

from __future__ import annotations

from collections.abc import Sequence

from wiretrial.results.model import Trial, Warning
from wiretrial.warnings.catalogue import Code, warn

SETTING = "net.ipv4.tcp_congestion_control"
OF_QUIC = "cubic"
"""The reference server's and, where nothing else is said, the generator's."""


def of_controls(trials: Sequence[Trial]) -> tuple[Warning, ...]:
    """That the algorithms differ, and not the versions of HTTP alone."""
    linked = [trial for trial in trials if _is_over_link(trial)]
    groups = {trial.scenario.group for trial in linked if trial.plan.target.http.over_udp}
    of_tcp = {
        _control(trial)
        for trial in linked
        if trial.scenario.group in groups and not trial.plan.target.http.over_udp
    }
    others = sorted(name for name in of_tcp if name and name != OF_QUIC)
    if not others:
        return ()
    return (
        warn(
            Code.UNLIKE_CONGESTION,
            f"over links TCP had the congestion control {' and '.join(others)}, and HTTP/3 "
            f"{OF_QUIC}: under loss the algorithms differ more than the versions of HTTP",
        ),
    )


def _is_over_link(trial: Trial) -> bool:
    isolation = trial.subject.isolation if trial.subject else None
    return isolation is not None and isolation.link is not None


def _control(trial: Trial) -> str | None:
    """Of TCP on the server's side, which sends the most; None: it is not recorded."""
    isolation = trial.subject.isolation if trial.subject else None
    inside = dict(isolation.settings).get(SETTING) if isolation else None
    sysctls = trial.machine.facts.get("sysctls") or {}
    return inside or sysctls.get(SETTING)
