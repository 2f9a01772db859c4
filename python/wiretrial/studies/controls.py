"""How a server comes to the congestion control that a study asks for.

The generator's side is the plan's. A server is told where its configuration says how; the TCP of
any other one follows its namespace, which may have only what the machine allows to everybody. Over
loopback a server that can't be told keeps the machine's, and over QUIC its library's.

Knows cases and configurations; must not know what the kernel allows, or how a namespace is made.
"""

from __future__ import annotations

from wiretrial.machine import congestion
from wiretrial.plan import KERNEL_NAMES, Congestion
from wiretrial.studies import environments
from wiretrial.studies.spec import Case
from wiretrial.subjects.process import Server
from wiretrial.subjects.spec import Configuration
from wiretrial.warnings.controls import SETTING


def settings(wanted: Congestion | None) -> dict[str, str]:
    """Those of the server's namespace beside those inherited."""
    return {SETTING: KERNEL_NAMES[wanted]} if wanted else {}


def refusal(case: Case, configuration: Configuration) -> str | None:
    """Why TCP can't have the case's on one of both sides; None: it can, or nothing is asked for."""
    wanted = case.http.congestion
    if wanted is None or case.http.over_udp:
        return None
    scenario, name = case.scenario, KERNEL_NAMES[wanted]
    if why := congestion.of_sockets(name):
        return f"{scenario.name} is not measured: {why}"
    if configuration.congestion or scenario.environment == environments.LOOPBACK:
        return None
    if why := congestion.of_namespaces(name):
        mute = f"{scenario.subject} can't be told to use {name}"
        return f"{scenario.name} is not measured: {mute}, and {why}"
    return None


def of_server(server: Server, case: Case) -> Congestion | None:
    """Which one it was given, itself or by its namespace; None: its own, or the kernel's."""
    wanted = case.http.congestion
    if wanted is None or server.congestion == wanted:
        return wanted
    if case.http.over_udp or server.isolation is None:
        return None
    inside = server.isolation.settings.get(SETTING)
    return wanted if inside == KERNEL_NAMES[wanted] else None
