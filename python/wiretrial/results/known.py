"""What kept trials say of servers, a row per trial: read from the figures that stand beside it.

Knows the form of the file (`results.kept`); must not know what a row is used for. The records
themselves are not read: a study's rows are there in a fraction of a second.
"""

from __future__ import annotations

import base64
import json
import lzma
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wiretrial.errors import StoreError
from wiretrial.results.kept import unpacked


@dataclass(frozen=True)
class Row:
    """One trial of a server that answers. Rates are messages per second, times nanoseconds."""

    study: str
    subject: str
    configuration: str
    version: str
    protocol: str
    workload: str
    date: str
    occasion: int
    """Trials of one boot of one machine have one number."""
    payload: int | None
    """Bytes that a message carries; None: it carries none, or what it carries is made."""
    connections: int
    """Of each copy of the server."""
    copies: int
    threads: int
    """Of the server; 0: as many as it takes by itself."""
    cpus: float
    """CPUs that the server was pinned to, or the part of them that a limit left; 0: neither."""
    is_plain: bool
    """One message at a time on connections that stay, over loopback, each with one reply that no
    work or pause stands before: what other messages can be laid beside. Events that a server sends
    by itself come at its own pace, and tell no highest rate."""
    rate: float | None
    """As it was offered; None: each message was sent after the reply to the one before."""
    throughput: float | None
    is_at_least: bool
    """The generator was the limit: the server may answer more."""
    is_valid: bool
    cpu_ns: float | None
    """The server's, per message."""
    p99_ns: float | None
    memory_bytes: float | None
    """User and kernel memory together, per connection."""

    @property
    def server(self) -> str:
        """`ws:tuned`; without its configuration where that is the usual one."""
        usual = self.configuration in ("", "default")
        return self.subject if usual else f"{self.subject}:{self.configuration}"


def rows(path: Path) -> Iterator[Row]:
    """Those of one file of kept trials; raises `StoreError` where it is none."""
    try:
        lines = unpacked(path.read_bytes()).decode().splitlines()[1:]
        for line in lines:
            told = json.loads(line)
            trial, figures = told["trial"], told["figures"]
            if trial.get("driven") or trial.get("browsed") or not trial.get("subject"):
                continue
            yield _row(trial, figures)
    except OSError as error:
        raise StoreError(f"{path} can't be read: {error.strerror}", _REMEDY) from error
    except (EOFError, lzma.LZMAError, KeyError, TypeError, ValueError) as error:
        raise StoreError(f"{path} holds no kept trials ({error})", _REMEDY) from error


_REMEDY = "name a file that `wiretrial results export --format kept` wrote"
MANY = 500
"""Messages on each connection that is opened in the time: its set-up is little beside them."""


def _row(trial: dict[str, Any], figures: dict[str, Any]) -> Row:
    scenario, subject, plan = trial["scenario"], trial["subject"], trial["plan"]
    executor = plan["load"]["executor"]
    copies = subject.get("copies") or 1
    user, kernel = figures.get("user_memory"), figures.get("kernel_memory")
    return Row(
        study=trial["study"],
        subject=scenario["subject"],
        configuration=scenario.get("configuration", ""),
        version=subject["version"],
        protocol=scenario["protocol"],
        workload=scenario["levels"].get("workload", scenario["workload"]),
        date=trial["started_at"][:10],
        occasion=figures["occasion"],
        payload=_payload(plan["target"]["message"]["source"]),
        connections=plan["load"]["connections"] // copies,
        copies=copies,
        threads=scenario["levels"].get("server_threads") or 0,
        cpus=(subject.get("limit") or {}).get("cpus") or len(subject.get("cpus", ())),
        is_plain=_is_plain(scenario, plan),
        rate=executor.get("rate") if executor["kind"] == "open" else None,
        throughput=figures.get("throughput"),
        is_at_least="throughput at least" in (figures.get("bounds") or ""),
        is_valid=figures.get("verdict") in ("valid", "client-bound"),
        cpu_ns=figures.get("server"),
        p99_ns=figures.get("p99"),
        memory_bytes=None if user is None or kernel is None else user + kernel,
    )


def _is_plain(scenario: dict[str, Any], plan: dict[str, Any]) -> bool:
    levels, load, target = scenario["levels"], plan["load"], plan["target"]
    kept = levels.get("requests_per_connection")
    return (
        plan.get("traffic") is None
        and scenario.get("environment", "loopback") == "loopback"
        and not levels.get("delay_ms")
        and levels.get("pattern", "steady") == "steady"
        and (load.get("depth"), load.get("pack")) == (1, 1)
        and (kept in (None, "kept") or (kept == "opened" and levels["requests_each"] >= MANY))
        and target["expect"]["content"]["is"] not in ("auto", "broadcast")
        and not scenario["protocol"].startswith("styx")
        and target["websocket"].get("deflate") is None
    )


def _payload(source: dict[str, Any]) -> int | None:
    match source.get("from"):
        case "sequence":
            return int(source["bytes"])
        case "fixed":
            return len(base64.b64decode(source["base64"]))
    return None
