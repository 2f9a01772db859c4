"""What a workload and its levels are called, as people say it.

Pure. Knows factors; must not know what becomes of a scenario.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from wiretrial.machine import links
from wiretrial.studies import behind, environments
from wiretrial.studies.fields import COMMON, KEPT, OPENED, STEADY

Level = int | float | str

BEFORE = (
    *("call", "payload", "messages_per_call", "http", "congestion", "header_profile"),
    *("connections", "streams", "depth", "pack", "requests_per_connection", "handshake"),
    *("requests", "requests_each", "table_size"),
)
BEHIND = ("lobby", "deflate", "delay_ms", "environment", "cpus", "idle_states", "backend")
"""Factors that a workload's description names before and behind how it is sent."""
_UNTOLD = {
    "http": "1.1",
    "lobby": "off",
    "delay_ms": 0,
    "environment": environments.LOOPBACK,
    "idle_states": "on",
}
"""Levels that are no news."""

CARRIED: dict[Level, str] = {
    "styx": "binary over TCP",
    "styx+json": "JSON over TCP",
    "styx+ws": "binary over WebSocket",
    "styx+json+ws": "JSON over WebSocket",
    "styx+wss": "binary over WebSocket and TLS",
    "styx+json+wss": "JSON over WebSocket and TLS",
}
"""Protocols whose names don't say what they are."""


def told(levels: Mapping[str, Any], factors: Sequence[str]) -> list[str]:
    """Those of the levels that are worth a word, in the order of these factors."""
    return [
        words(factor, levels[factor])
        for factor in factors
        if levels.get(factor, _UNTOLD.get(factor)) != _UNTOLD.get(factor)
    ]


def placeholders(label: str | None) -> tuple[str, ...]:
    """What stands in braces there: the subject, and factors."""
    return tuple(re.findall(r"\{(\w+)\}", label or ""))


def labelled(label: str, values: Mapping[str, Any]) -> str:
    """The label with a value in each such place: `HTTP/2, 4 x 8`."""
    return re.sub(r"\{(\w+)\}", lambda place: str(values[place[1]]), label)


def words(factor: str, level: Level | None) -> str:
    """A level as people say it."""
    if level is None:
        return ""
    if said := _LEVELS.get(factor, {}).get(level):
        return said
    if factor == "environment":
        return f"over {str(level).removeprefix(links.PREFIX)}"
    return _FACTORS.get(factor, "{}").format(level)


_LEVELS: dict[str, dict[Level, str]] = {
    "protocol": CARRIED,
    "call": {
        "unary": "unary calls",
        "server": "streams from the server",
        "client": "streams from the client",
        "bidi": "streams both ways",
    },
    "http": {"1.1": "HTTP/1.1", "2": "HTTP/2", "3": "HTTP/3"},
    "handshake": {
        "whole": "whole handshakes",
        "resumed": "resumed sessions",
        "early": "early data",
    },
    "streams": {1: "1 stream on each"},
    "messages_per_call": {1: "1 message per call"},
    "payload": {"json": "64 bytes of JSON"},
    "pack": {1: "one at a time"},
    "pattern": {STEADY: "steady", "random-burst": "random bursts"},
    "deflate": {"on": "compressed", "off": "as they are"},
    "requests_per_connection": {OPENED: "connections opened in the time", KEPT: "kept connections"},
    "mode": {"kept": "a kept connection", "fresh": "a new one each"},
    "ipv6": {"refused": "::1 refuses", "silent": "::1 is silent"},
    "rate": {COMMON: "at a common rate"},
    "requests_each": {1: "1 message each"},
    "pacing": {"phased": "each at a phase of its own", "after-response": "each after its response"},
    "delay_ms": {0: "no work"},
    "cpus": {1: "1 CPU"},
    "idle_states": {"on": "CPUs that may sleep", "off": "CPUs kept awake"},
    "backend": {behind.RIGHT: "a backend that is right"},
}
"""Levels with words of their own."""
_FACTORS = {
    "payload": "{:,} bytes",
    "connections": "{:,} connections",
    "messages_per_call": "{:,} messages per call",
    "header_profile": "header profile {}",
    "congestion": "congestion control {}",
    "streams": "{:,} streams on each",
    "depth": "depth {:,}",
    "pack": "packs of {:,}",
    "requests_per_connection": "{:,} per connection",
    "iterations": "{:,} iterations",
    "rate": "{:,.10g}/s",
    "users": "{:,} users",
    "arrivals": "{:,} sessions/s",
    "requests": "{:,} messages",
    "requests_each": "{:,} messages each",
    "table_size": "tables of {:,}",
    "lobby": "lobby {}",
    "delay_ms": "{} ms of work",
    "server_threads": "{} server threads",
    "cpus": "{:g} CPUs",
    "share": "at {:.0%} of its capacity",
    "backend": "a backend with {}",
    "publish": "{:g} events/s",
}
"""All others."""
