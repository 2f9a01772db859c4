"""Which congestion control TCP had where HTTP over TCP was compared with HTTP/3 over a link.

Knows records; must not know how a warning is shown.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from wiretrial.plan import KERNEL_NAMES, Congestion
from wiretrial.results.model import Trial, Warning
from wiretrial.warnings.catalogue import Code, warn

SETTING = "net.ipv4.tcp_congestion_control"
OF_QUIC: Congestion = "cubic"
"""Where nothing is asked for: the generator's, and the reference server's."""


def of_controls(trials: Sequence[Trial]) -> tuple[Warning, ...]:
    """That the algorithms differ, and not the versions of HTTP alone."""
    of_quic: defaultdict[str, set[str]] = defaultdict(set)
    of_tcp: defaultdict[str, set[str]] = defaultdict(set)
    for trial in filter(is_over_link, trials):
        over_udp = trial.plan.target.http.over_udp
        known = of_server(trial)
        if known is None and over_udp:
            # Its library's own, which nothing tells: what the generator has stands for it.
            known = KERNEL_NAMES[trial.plan.target.http.congestion or OF_QUIC]
        if known is not None:
            (of_quic if over_udp else of_tcp)[trial.scenario.group].add(known)
    unlike = {group: of_tcp[group] - found for group, found in of_quic.items() if group in of_tcp}
    there = {group: of_quic[group] for group, others in unlike.items() if others}
    if not there:
        return ()
    return (
        warn(
            Code.UNLIKE_CONGESTION,
            f"over links TCP had the congestion control {_each(unlike.values())}, and HTTP/3 "
            f"{_each(there.values())}: under loss the algorithms differ more than the versions of "
            "HTTP",
        ),
    )


def is_over_link(trial: Trial) -> bool:
    """Whether a link was emulated between both sides: over loopback nothing is lost."""
    isolation = trial.subject.isolation if trial.subject else None
    return isolation is not None and isolation.link is not None


def of_server(trial: Trial) -> str | None:
    """The server's, which sends the most, by the kernel's name of it.

    None: over QUIC it is its library's own; over TCP, it is not recorded.
    """
    subject, http = trial.subject, trial.plan.target.http
    if subject is not None and subject.congestion is not None:
        return KERNEL_NAMES[subject.congestion]
    if http.over_udp:
        return None
    isolation = subject.isolation if subject else None
    inside = dict(isolation.settings).get(SETTING) if isolation else None
    sysctls = trial.machine.facts.get("sysctls") or {}
    return inside or sysctls.get(SETTING)


def _each(found: Iterable[set[str]]) -> str:
    return " and ".join(sorted({name for names in found for name in names}))
