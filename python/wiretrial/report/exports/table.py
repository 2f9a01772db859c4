"""One row per trial, one column per figure: for spreadsheets and data frames.

Times are nanoseconds, rates messages per second, sizes bytes; a figure that can't be told is empty.
`withheld` says which quantiles have too few values, and how many they need.
`bounds` names the figures that are only "at least" or "at most", as the generator was the limit.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence

from wiretrial.report.measures import Measured
from wiretrial.report.metrics import METRICS
from wiretrial.results import quantiles
from wiretrial.results.adoption import Adopted
from wiretrial.results.model import Trial

Cell = str | int | float | None
IDENTITY = (
    "study",
    "occasion",
    "block",
    "position",
    "scenario",
    "group",
    "subject",
    "version",
    "configuration",
    "protocol",
    "environment",
    "twin_of",
    "started_at",
    "verdict",
    "bottleneck",
    "bounds",
    "sent",
    "ok",
    "errors",
    "floor",
    "warnings",
)


def rows(trials: Sequence[Trial], adopted: Sequence[Adopted] = ()) -> list[dict[str, Cell]]:
    """The trials in the order in which they ran, all with the same columns.

    What a study weighed of its subjects (`adopted`) stands in each of their trials' rows.
    """
    levels = sorted({name for trial in trials for name in trial.scenario.levels})
    weighed = {row.subject: row for row in adopted}
    fields = [name for name in Adopted.model_fields if name != "subject"] if adopted else []
    routes = dict.fromkeys(
        name for trial in trials if trial.start.traffic for name in trial.start.traffic.routes
    )
    return [
        _row(trial, levels, list(routes)) | _adoption(weighed.get(trial.scenario.subject), fields)
        for trial in trials
    ]


def as_csv(trials: Sequence[Trial], adopted: Sequence[Adopted] = ()) -> str:
    """The rows as CSV (RFC 4180, with plain line ends), the columns' names first."""
    found = rows(trials, adopted)
    text = io.StringIO()
    writer = csv.DictWriter(text, fieldnames=list(found[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(found)
    return text.getvalue()


def _row(trial: Trial, levels: Sequence[str], routes: Sequence[str]) -> dict[str, Cell]:
    scenario, counters = trial.scenario, trial.summary.counters
    known: dict[str, Cell] = {
        "study": trial.study,
        "occasion": trial.occasion,
        "block": trial.block,
        "position": trial.position,
        "scenario": scenario.name,
        "group": scenario.group,
        "subject": scenario.subject,
        "version": trial.subject.version if trial.subject else None,
        "configuration": scenario.configuration,
        "protocol": scenario.protocol,
        "environment": scenario.environment,
        "twin_of": scenario.twin_of,
        "started_at": trial.started_at,
        "verdict": trial.judgement.verdict,
        "bottleneck": trial.judgement.bottleneck,
        "bounds": None,
        "sent": counters.sent,
        "ok": counters.ok,
        "errors": sum(counters.errors.values()),
        "floor": scenario.floor_ns,
        "warnings": " ".join(warning.code for warning in trial.warnings),
    }
    measured = Measured(trial)
    figures = {metric.key: metric.of(measured) for metric in METRICS}
    if trial.judgement.verdict == "client-bound":
        known_bounds = (metric for metric in METRICS if metric.bound != "exact")
        told = (f"{m.key} {m.bound}" for m in known_bounds if figures[m.key] is not None)
        known["bounds"] = "; ".join(told)
    return {
        **{name: known[name] for name in IDENTITY},
        **{f"level.{name}": scenario.levels.get(name) for name in levels},
        **figures,
        **_routes(measured, routes),
        "withheld": "; ".join(filter(None, (metric.withheld(measured) for metric in METRICS))),
    }


def _routes(measured: Measured, names: Sequence[str]) -> dict[str, Cell]:
    """Four columns for each route of traffic; empty where the trial did not have it."""
    known = {route.name: route for route in measured.routed.routes}
    found: dict[str, Cell] = {}
    for name in names:
        route = known.get(name)
        found |= {
            f"route.{name}.rate": route.rate if route else None,
            f"route.{name}.p50": quantiles.told(route.times, 0.5) if route else None,
            f"route.{name}.p99": quantiles.told(route.times, 0.99) if route else None,
            f"route.{name}.errors": route.failed if route else None,
        }
    return found


def _adoption(row: Adopted | None, fields: Sequence[str]) -> dict[str, Cell]:
    known = {} if row is None else row.model_dump(mode="json")
    return {f"adoption.{name}": known.get(name) for name in fields}
