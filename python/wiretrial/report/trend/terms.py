"""What must be alike so that two results can be compared: the machine, and what was asked.

Knows a record's facts; must not know figures. A boot is no term: it is an occasion, whose part in
the scatter the test allows for.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

from wiretrial.results.model import Trial

Terms = Mapping[str, str]
GIB = 1 << 30
OF_MACHINE = frozenset(
    {
        *("CPU", "CPUs", "governor", "boost", "SMT", "mitigations", "kernel", "system"),
        *("memory", "clock source", "connection tracking", "engine", "agents"),
    }
)
"""The terms that say where it was measured; the others say what was asked."""
_NO_TERMS = ("seed",)
"""Of a load: what decides nothing that is compared."""


def of(trial: Trial) -> dict[str, str]:
    """The terms of a trial, by name. What is not known is left out."""
    found = {**_machine(trial), **_asked(trial)}
    return {name: str(value) for name, value in found.items() if value not in (None, "", [], {})}


def differences(before: Terms, after: Terms) -> list[str]:
    """What is not alike, in words: `kernel 6.1 → 6.5`."""
    names = sorted(before.keys() | after.keys())
    told = []
    for name in names:
        one, other = before.get(name), after.get(name)
        if one != other:
            told.append(f"{name} {one or 'not known'} → {other or 'not known'}")
    return told


def are_of_machine(before: Terms, after: Terms) -> bool:
    """Whether all that differs is where it was measured."""
    names = before.keys() | after.keys()
    changed = {name for name in names if before.get(name) != after.get(name)}
    return bool(changed) and changed <= OF_MACHINE


def boot(trial: Trial) -> str | None:
    """The boot that it was measured on; None: it is not known."""
    found = trial.machine.facts.get("boot")
    return str(found) if found else None


def _machine(trial: Trial) -> dict[str, Any]:
    facts = trial.machine.facts
    cpu = facts.get("cpu")
    cpu = cpu if isinstance(cpu, dict) else {"model": cpu}
    mitigations = cpu.get("mitigations")
    memory = facts.get("memory_bytes")
    return {
        "CPU": cpu.get("model"),
        "CPUs": len(cpu.get("usable") or ()) or cpu.get("logical"),
        "governor": cpu.get("governor"),
        "boost": cpu.get("boost"),
        "SMT": cpu.get("smt"),
        "mitigations": _short(mitigations) if mitigations else None,
        "kernel": facts.get("kernel"),
        "system": facts.get("system"),
        # A kernel keeps a little more or less of it for itself.
        "memory": f"{round(memory / GIB)} GiB" if isinstance(memory, int) else None,
        "clock source": facts.get("clock_source"),
        # Of an older result it is not known, which is no change.
        "connection tracking": "on" if facts.get("tracks_connections") else None,
        "engine": trial.driven.library if trial.driven else trial.start.engine,
        "agents": len(trial.fleet.agents) if trial.fleet else None,
    }


def _asked(trial: Trial) -> dict[str, Any]:
    plan, server = trial.plan, trial.server
    load = plan.load.model_dump(mode="json", exclude_none=True, exclude=set(_NO_TERMS))
    executor = load.pop("executor", {})
    stop, isolation = plan.stop, trial.scenario.environment
    return {
        **{name.replace("_", " "): value for name, value in load.items()},
        **{f"loop {name.replace('_', ' ')}": value for name, value in executor.items()},
        "header profile": plan.target.http.header_profile,
        "congestion control": plan.target.http.congestion,
        "payload": f"{trial.start.request_payload_bytes} bytes",
        "duration": f"{stop.duration_ns / 1e9:g} s" if stop.duration_ns else None,
        "messages": stop.requests,
        "traffic": _short(plan.traffic.model_dump(mode="json")) if plan.traffic else None,
        "environment": isolation,
        "poller": trial.start.poller,
        "generator threads": plan.generator.threads,
        "server threads": server.threads if server else None,
        "server CPUs": len(server.cpus) if server else None,
        "server CPU limit": server.limit.cpus if server and server.limit else None,
        "server copies": server.copies if server else None,
    }


def _short(value: Any) -> str:
    """Stands for something long: alike where it is."""
    return hashlib.sha256(repr(value).encode()).hexdigest()[:8]
