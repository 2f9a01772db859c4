"""What a workload and its levels are called, as people say it.

Pure. Knows factors; must not know what becomes of a scenario.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from wiretrial.machine import links
from wiretrial.studies import environments
from wiretrial.studies.fields import COMMON, KEPT, OPENED, STEADY

Level = int | float | str

BEFORE = (
    *("payload", "connections", "depth", "pack"),
    *("requests_per_connection", "requests", "requests_each", "table_size"),
)
BEHIND = ("lobby", "deflate", "delay_ms", "environment")
"""Factors that a workload's description names before and behind how it is sent."""
_UNTOLD = {"lobby": "off", "delay_ms": 0, "environment": environments.LOOPBACK}
"""Levels that are no news."""

CARRIED = {
    "styx": "binary over TCP",
    "styx+json": "JSON over TCP",
    "styx+ws": "binary over WebSocket",
    "styx+json+ws": "JSON over WebSocket",
    "styx+wss": "binary over WebSocket and TLS",
    "styx+json+wss": "JSON over WebSocket and TLS",
}
"""Protocols whose names don't say what they are."""

PACINGS = {
    "phased": "each at a phase of its own",
    "after-response": "each after its response",
}


def told(levels: Mapping[str, Any], factors: Sequence[str]) -> list[str]:
    """Those of the levels that are worth a word, in the order of these factors."""
    return [
        words(factor, levels[factor])
        for factor in factors
        if levels.get(factor, _UNTOLD.get(factor)) != _UNTOLD.get(factor)
    ]


def words(factor: str, level: Level | None) -> str:
    """A level as people say it."""
    if level is None:
        return ""
    match factor:
        case "protocol":
            return CARRIED.get(str(level), str(level))
        case "payload":
            return "64 bytes of JSON" if level == "json" else f"{level:,} bytes"
        case "connections":
            return f"{level:,} connections"
        case "depth":
            return f"depth {level:,}"
        case "pack":
            return "one at a time" if level == 1 else f"packs of {level:,}"
        case "pattern":
            return "steady" if level == STEADY else "random bursts"
        case "deflate":
            return "compressed" if level == "on" else "as they are"
        case "requests_per_connection":
            if level == OPENED:
                return "connections opened in the time"
            return "kept connections" if level == KEPT else f"{level:,} per connection"
        case "mode":
            return "a kept connection" if level == "kept" else "a new one each"
        case "iterations":
            return f"{level:,} iterations"
        case "ipv6":
            return f"::1 {'refuses' if level == 'refused' else 'is silent'}"
        case "rate":
            return "at a common rate" if level == COMMON else f"{level:,}/s"
        case "requests":
            return f"{level:,} messages"
        case "requests_each":
            return "1 message each" if level == 1 else f"{level:,} messages each"
        case "environment":
            return f"over {str(level).removeprefix(links.PREFIX)}"
        case "table_size":
            return f"tables of {level:,}"
        case "lobby":
            return f"lobby {level}"
        case "pacing":
            return PACINGS.get(str(level), str(level))
        case "delay_ms":
            return f"{level} ms of work" if level else "no work"
        case _:
            return f"{level} server threads"
