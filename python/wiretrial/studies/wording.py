"""What a workload and its levels are called, as people say it.

Pure. Knows documents and their factors; must not know what becomes of a scenario.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from wiretrial.machine import links
from wiretrial.studies import environments
from wiretrial.studies.document import COMMON, KEPT, OPENED, STEADY, Workload

Level = int | float | str

_TOLD = (
    *("payload", "connections", "depth", "pack"),
    *("requests_per_connection", "requests", "requests_each", "table_size"),
)
"""Factors that a workload's description names."""

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


def description(workload: Workload, levels: Mapping[str, Any]) -> str:
    """The workload in words, whole."""
    told = [words(name, level) for name in _TOLD if (level := levels.get(name)) is not None]
    if workload.server:
        told += [words("mode", levels["mode"]), f"{workload.repetitions} times"]
        told += [words("iterations", levels["iterations"]), f"against {workload.server}"]
        told += [f"as {workload.host}"] if workload.host else []
    elif workload.knee:
        objective = workload.knee.objective / 1e6
        told.append(f"knee at p{100 * workload.knee.quantile:g} of {objective:g} ms")
    elif workload.rate_each:
        pacing = levels.get("pacing", workload.pacing[0])
        told.append(f"{workload.rate_each:g}/s from each, {words('pacing', pacing)}")
    elif workload.hold:
        told.append(f"held idle for {workload.hold / 1e9:g} s, then a message each")
    elif levels.get("pattern", STEADY) != STEADY:
        told.append("closed loop, random bursts")
    elif levels["rate"] is not None:
        told.append(f"open loop {words('rate', levels['rate'])}")
    else:
        told.append("closed loop")
    if levels.get("lobby") == "on":
        told.append(words("lobby", "on"))
    if levels.get("deflate"):
        told.append(words("deflate", levels["deflate"]))
    if levels.get("delay_ms"):
        told.append(words("delay_ms", levels["delay_ms"]))
    if levels["environment"] != environments.LOOPBACK:
        told.append(words("environment", levels["environment"]))
    return f"{workload.name}: {', '.join(told)}"


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
