"""A Grafana dashboard of the metrics, as JSON to import.

Pure. Knows Grafana's panels and PromQL; must not know how metrics come into a Prometheus. Names are
taken from `families`, so that a panel can't ask for a metric that is not sent.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from wiretrial.metrics import families
from wiretrial.metrics.families import Family

TITLE: Final = "wiretrial"
UID: Final = "wiretrial-live"
SCHEMA: Final = 38
"""Of dashboards, Grafana 10; later ones read it."""
WIDTH, HEIGHT = 8, 8
"""Of a panel; a row is 24 wide."""
SOURCE: Final = {"type": "prometheus", "uid": "${datasource}"}
STEP: Final = "1s"
"""Metrics come once a second; with this `$__rate_interval` is 4 s, not a minute."""
VARIABLES: Final = ("study", "scenario", "subject", "trial")
_CHOSEN: Final = ",".join(f'{name}=~"${name}"' for name in VARIABLES)


@dataclass(frozen=True)
class Target:
    """One query, and how its lines are called."""

    query: str
    legend: str


@dataclass(frozen=True)
class Panel:
    """A picture. `unit`: one of Grafana's."""

    title: str
    unit: str
    targets: tuple[Target, ...]
    kind: str = "timeseries"
    words: str = ""


def dashboard() -> dict[str, Any]:
    """The whole of it."""
    return {
        "uid": UID,
        "title": TITLE,
        "tags": ["wiretrial", "load"],
        "schemaVersion": SCHEMA,
        "editable": True,
        "refresh": "5s",
        "time": {"from": "now-15m", "to": "now"},
        "templating": {"list": [_datasource(), *map(_variable, VARIABLES)]},
        "panels": [_placed(place, panel) for place, panel in enumerate(panels())],
    }


def panels() -> Sequence[Panel]:
    """What is shown, from left to right and down."""
    return (
        Panel(
            "Throughput",
            "reqps",
            (Target(f"sum by (scenario) ({_rate(families.OK)})", "{{scenario}}"),),
            words="Verified replies per second.",
        ),
        Panel(
            "Errors by class",
            "reqps",
            (
                Target(
                    f"sum by (scenario, class) ({_rate(families.FAILED)})",
                    "{{scenario}} {{class}}",
                ),
            ),
            words="Failed messages per second.",
        ),
        Panel(
            "Sent, and due but not sent",
            "short",
            (
                Target(f"sum by (scenario) ({_rate(families.SENT)})", "{{scenario}} sent/s"),
                Target(f"sum by (scenario) ({_now(families.WAITING)})", "{{scenario}} waiting"),
            ),
        ),
        _times("Service time", families.SERVICE_QUANTILE, "From a message's first byte on."),
        _times(
            "Response time (open loop)",
            families.RESPONSE_QUANTILE,
            "From the instant at which a message was due: what clients see.",
        ),
        Panel(
            "Service time, share of replies",
            "s",
            (
                Target(
                    f"sum by (le) (rate({families.SERVICE_TIME.prometheus}_bucket{{{_CHOSEN}}}"
                    "[$__rate_interval]))",
                    "{{le}}",
                ),
            ),
            kind="heatmap",
        ),
        Panel(
            "Connections",
            "short",
            (
                Target(f"sum by (scenario) ({_now(families.OPEN)})", "{{scenario}} open"),
                Target(
                    f"sum by (scenario, class) ({_rate(families.CLOSED)})",
                    "{{scenario}} closed/s {{class}}",
                ),
                Target(
                    f"sum by (scenario, class) ({_rate(families.REFUSED)})",
                    "{{scenario}} failed/s {{class}}",
                ),
            ),
        ),
        Panel(
            "CPU of server and generator",
            "short",
            (
                Target(f"sum by (scenario) ({_rate(families.SERVER_CPU)})", "{{scenario}} server"),
                Target(
                    f"sum by (scenario) ({_rate(families.GENERATOR_CPU)})",
                    "{{scenario}} generator",
                ),
            ),
            words="CPUs in use. A server on another host is not known here.",
        ),
        Panel(
            "Server CPU per reply",
            "s",
            (
                Target(
                    f"sum by (scenario) ({_rate(families.SERVER_CPU)})"
                    f" / sum by (scenario) ({_rate(families.OK)})",
                    "{{scenario}}",
                ),
            ),
        ),
        Panel(
            "Generator busy",
            "percentunit",
            (
                Target(f"max by (scenario) ({_now(families.GENERATOR_BUSY)})", "{{scenario}}"),
                Target(f"max by (agent) ({_now(families.AGENT_BUSY)})", "agent {{agent}}"),
            ),
            words="Near 100 %, the load generator is the limit, not the server.",
        ),
        Panel(
            "Network",
            "Bps",
            (
                Target(f"sum by (scenario) ({_rate(families.BYTES_SENT)})", "{{scenario}} sent"),
                Target(
                    f"sum by (scenario) ({_rate(families.BYTES_RECEIVED)})",
                    "{{scenario}} received",
                ),
            ),
        ),
        Panel(
            "Agents of a fleet",
            "reqps",
            (Target(f"sum by (agent) ({_now(families.AGENT_RATE)})", "{{agent}}"),),
        ),
    )


def queries() -> Iterator[str]:
    """Every query of the dashboard."""
    for panel in panels():
        yield from (target.query for target in panel.targets)


def _times(title: str, family: Family, words: str) -> Panel:
    query = f"max by (scenario, quantile) ({_now(family)})"
    return Panel(title, "s", (Target(query, "{{scenario}} {{quantile}}"),), words=words)


def _rate(family: Family) -> str:
    return f"rate({_now(family)}[$__rate_interval])"


def _now(family: Family) -> str:
    return f"{family.prometheus}{{{_CHOSEN}}}"


def _placed(place: int, panel: Panel) -> dict[str, Any]:
    across = 24 // WIDTH
    made: dict[str, Any] = {
        "id": place + 1,
        "type": panel.kind,
        "title": panel.title,
        "description": panel.words,
        "datasource": SOURCE,
        "interval": STEP,
        "gridPos": {
            "x": place % across * WIDTH,
            "y": place // across * HEIGHT,
            "w": WIDTH,
            "h": HEIGHT,
        },
        "targets": [
            {
                "refId": chr(ord("A") + number),
                "datasource": SOURCE,
                "expr": target.query,
                "legendFormat": target.legend,
                "range": True,
                **({"format": "heatmap"} if panel.kind == "heatmap" else {}),
            }
            for number, target in enumerate(panel.targets)
        ],
    }
    if panel.kind == "heatmap":
        made["options"] = {"calculate": False, "yAxis": {"unit": panel.unit}}
    else:
        made["fieldConfig"] = {"defaults": {"unit": panel.unit, "min": 0}, "overrides": []}
    return made


def _datasource() -> dict[str, Any]:
    return {
        "name": "datasource",
        "label": "Prometheus",
        "type": "datasource",
        "query": "prometheus",
    }


def _variable(name: str) -> dict[str, Any]:
    return {
        "name": name,
        "type": "query",
        "datasource": SOURCE,
        "query": {
            "query": f"label_values({families.SENT.prometheus}, {name})",
            "refId": name,
        },
        "includeAll": True,
        "multi": True,
        "allValue": ".*",
        "current": {"text": "All", "value": "$__all"},
        # When the range of time changes: trials come and go.
        "refresh": 2,
        "sort": 3 if name == "trial" else 1,
    }
