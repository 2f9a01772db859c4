"""One `load` run as a JSON object, for scripts.

Knows the names that scripts rely on; must not know how they are printed. Times are nanoseconds.
Totals, bytes and the generator's cost are those of the whole run; rates and times those of the
window that counts.
"""

from __future__ import annotations

from typing import Any

from wiretrial import redaction
from wiretrial.report.measures import Measured
from wiretrial.results import quantiles
from wiretrial.results.fleet import Agent
from wiretrial.results.model import Trial
from wiretrial.snapshot import Counters

LOAD_SCHEMA = "wiretrial-load"
LOAD_VERSION = 1


def load_json(trial: Trial) -> dict[str, Any]:
    """The object that `load --format json` prints. A time that was not recorded is None."""
    measured, summary, plan = Measured(trial), trial.summary, trial.plan
    return {
        "schema": LOAD_SCHEMA,
        "version": LOAD_VERSION,
        "target": plan.target.model_dump(mode="json", by_alias=True),
        "load": plan.load.model_dump(mode="json", by_alias=True),
        "secrets": _secrets(trial),
        "learned": trial.start.learned.model_dump() if trial.start.learned else None,
        "duration_ns": measured.counted_ns,
        "totals": {
            "sent": summary.counters.sent,
            "ok": summary.counters.ok,
            "in_flight": summary.counters.in_flight,
            "errors": dict(summary.counters.errors),
        },
        "deliveries": summary.counters.deliveries.model_dump(),
        "lobby": summary.counters.lobby.model_dump(),
        "rate": measured.rate,
        "throughput": measured.throughput,
        "response_time": quantiles.document(measured.response_time),
        "service_time": quantiles.document(measured.service_time),
        "delivery_time": quantiles.document(measured.delivery_time),
        "pacing_lag": quantiles.document(measured.pacing_lag),
        "connect_time": quantiles.document(measured.connect_time, quantiles.CONNECTIONS),
        "bytes": summary.bytes.model_dump(),
        "generator": {
            "cpu_user_ns": summary.generator.cpu_user_ns,
            "cpu_system_ns": summary.generator.cpu_system_ns,
            "peak_rss_bytes": summary.generator.peak_rss_bytes,
            "loop_utilisation": summary.generator.loop_utilisation,
        },
        "agents": None if trial.fleet is None else [_agent(one) for one in trial.fleet.agents],
        "verdict": trial.judgement.verdict,
        "warnings": [
            {"code": warning.code, "message": warning.message, "advice": warning.advice}
            for warning in trial.warnings
        ],
    }


def _secrets(trial: Trial) -> str:
    """Whether the target above has its secrets: `none`, `redacted` or `kept`."""
    if trial.keeps_secrets:
        return "kept"
    target = trial.plan.target
    return "redacted" if redaction.redacted_parts(target.url, target.http.headers) else "none"


def _agent(agent: Agent) -> dict[str, Any]:
    """One machine of a fleet, with its own figures of the whole run."""
    own = agent.summary
    counters = own.counters if own else Counters()
    return {
        "name": agent.name,
        "host": agent.host,
        "connections": agent.part.connections,
        "rate": agent.part.rate,
        "totals": {
            "sent": counters.sent,
            "ok": counters.ok,
            "in_flight": counters.in_flight,
            "errors": dict(counters.errors),
        },
        "service_time": quantiles.document(agent.service_time),
        "loop_utilisation": own.generator.loop_utilisation if own else None,
        "clock": agent.clock.model_dump(),
        "lost": agent.loss.model_dump() if agent.loss else None,
    }
