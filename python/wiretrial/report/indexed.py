"""Trials in short: what places each in time, and its figures. For series over days and commits.

Knows a trial, its figures and where they are in a folder; must not know how else they are stored.
Figures are those of `results export --format csv` under the same names: nanoseconds, messages per
second, bytes. A team's store in PostgreSQL keeps the same rows and gives them for the same
`Filter` (`team.stored.trials`).
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any

from wiretrial.report.measures import Measured
from wiretrial.report.metrics import METRICS
from wiretrial.results.index import Index, Row
from wiretrial.results.model import Trial
from wiretrial.results.store import read_trial

_DATE_LENGTH = len("2026-01-31")


@dataclass(frozen=True)
class Filter:
    """Which trials or results are wanted."""

    since: date | None = None
    """Of this day or later ones."""
    study: str | None = None

    @property
    def is_open(self) -> bool:
        """Whether all are."""
        return self.since is None and self.study is None


@dataclass(frozen=True)
class Indexed:
    """One trial, in short."""

    study: str
    study_digest: str
    occasion: int
    block: int
    position: int
    scenario: str
    subject: str
    configuration: str
    protocol: str
    workload: str
    environment: str
    twin_of: str | None
    """It is another scenario measured again."""
    machine: str
    """Digest of the facts that tell one kind of machine from another."""
    started_at: str
    """As the trial has it: ISO 8601 with the zone of the machine."""
    day: date
    """On that machine's own calendar."""
    versions: Mapping[str, str]
    commit: str | None
    verdict: str
    bottleneck: str
    ok: int
    errors: int
    figures: Mapping[str, float] = field(default_factory=dict)
    bounds: Mapping[str, str] = field(default_factory=dict)
    """The figures that are `at least` or `at most`, because the generator was the limit."""


def in_folder(base: Path, wanted: Filter) -> Iterator[Indexed]:
    """The rows of all trials below a folder that are wanted, oldest day first.

    Files that can't be read are left out: `results list` names them.
    """
    found = [
        one
        for one in Index(base).rows(wanted.study)
        if wanted.since is None or day(one.started_at) >= wanted.since
    ]
    for one in sorted(found, key=_place):
        yield row(read_trial(base / one.path))


def _place(one: Row) -> tuple[date, str, int, int, str]:
    return day(one.started_at), one.started_at, one.block, one.position, one.study


def day(started_at: str) -> date:
    """The day on the calendar of the machine that wrote the time."""
    return date.fromisoformat(started_at[:_DATE_LENGTH])


def row(trial: Trial) -> Indexed:
    """The row of one trial."""
    scenario, counters, facts = trial.scenario, trial.summary.counters, trial.machine.facts
    measured = Measured(trial)
    told = ((metric, metric.of(measured)) for metric in METRICS)
    known = {metric: value for metric, value in told if value is not None and math.isfinite(value)}
    is_bound = trial.judgement.verdict == "client-bound"
    return Indexed(
        study=trial.study,
        study_digest=trial.study_digest,
        occasion=trial.occasion,
        block=trial.block,
        position=trial.position,
        scenario=scenario.name,
        subject=scenario.subject,
        configuration=scenario.configuration,
        protocol=scenario.protocol,
        workload=scenario.workload,
        environment=scenario.environment,
        twin_of=scenario.twin_of,
        machine=machine(facts),
        started_at=trial.started_at,
        day=day(trial.started_at),
        versions=_versions(trial),
        commit=trial.named.get("commit"),
        verdict=trial.judgement.verdict,
        bottleneck=trial.judgement.bottleneck,
        ok=counters.ok,
        errors=sum(counters.errors.values()),
        figures={metric.key: float(value) for metric, value in known.items()},
        bounds={m.key: m.bound for m in known if is_bound and m.bound != "exact"},
    )


def machine(facts: Mapping[str, Any]) -> str:
    """A digest that two boots of one machine share, and two kinds of machine do not."""
    cpu = facts.get("cpu")
    cpu = cpu if isinstance(cpu, dict) else {"model": cpu}
    lasting = [cpu.get(name) for name in ("model", "architecture", "logical", "physical")]
    return hashlib.sha256(json.dumps(lasting).encode()).hexdigest()[:16]


def _versions(trial: Trial) -> dict[str, str]:
    """Of the parts of wiretrial, of the subject and of the kernel."""
    facts = trial.machine.facts
    parts = facts.get("versions")
    found = dict(parts) if isinstance(parts, dict) else {}
    found |= {"engine": trial.start.engine, "kernel": facts.get("kernel")}
    if trial.subject:
        found["subject"] = trial.subject.version
    return {name: str(value) for name, value in found.items() if value is not None}
