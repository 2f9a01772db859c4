"""Results over time: made-up figures in real records, with the scatter of trials that are kept.

The noise is drawn from the trials of the study of client libraries, which ran on a real machine:
each one's time per round trip over that of its scenario, on the first occasion.
"""

from __future__ import annotations

import math
import random
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from statistics import fmean
from typing import Any

from tests.report.synthetic import DEMO, one_trial
from wiretrial.report import metrics
from wiretrial.report.measures import Measured
from wiretrial.results import kept
from wiretrial.results.ceiling import Ceiling
from wiretrial.results.model import Judgement, Machine, Trial
from wiretrial.results.store import ResultsFolder
from wiretrial.snapshot import Interval

ROOT = Path(__file__).resolve().parents[2]
KEPT = ROOT / "studies" / "client-libraries" / "results" / "trials.jsonl.xz"
SHAPE = DEMO[2]
COMMITS = 30
TRIALS = 10
"""Of each result: as many as ranks ask for."""
FACTS: dict[str, Any] = {
    "cpu": {"model": "Example CPU", "usable": [0, 1]},
    "kernel": "6.1.0",
    "boot": "boot-1",
    "memory_bytes": 8 << 30,
}


@cache
def residuals() -> tuple[float, ...]:
    """Logarithms of kept trials over the mean of their scenario, nothing left out."""
    found: dict[str, list[float]] = {}
    for trial in kept.read(KEPT).trials:
        measured = Measured(trial)
        value = metrics.WALL.of(measured) if measured.is_usable else None
        if value and trial.occasion == 1:
            found.setdefault(trial.scenario.name, []).append(math.log(value))
    return tuple(
        value - fmean(values) for values in found.values() if len(values) > 1 for value in values
    )


@cache
def template() -> Trial:
    """A record of the usual throughput."""
    judged = Judgement(verdict="valid", bottleneck="server", evidence="its core 99 % busy")
    draw = random.Random(1)
    return one_trial(SHAPE, 0, 0, 1, judged, 1.0, draw, warmup=1, measured=4)


def _scaled(interval: Interval, factor: float) -> Interval:
    """The interval with so many times the replies."""
    counters = interval.counters
    done = round(counters.ok * factor)
    changed = counters.model_copy(update={"ok": done, "sent": done})
    return interval.model_copy(update={"counters": changed})


def trial(
    block: int,
    factor: float,
    *,
    day: int,
    commit: str | None = None,
    facts: Mapping[str, Any] = FACTS,
    ceiling: float | None = None,
) -> Trial:
    """One record; `factor`: its throughput over the usual one."""
    made = template()
    return made.model_copy(
        update={
            "study": "compare",
            "block": block,
            "intervals": tuple(_scaled(one, factor) for one in made.intervals),
            "started_at": f"2026-{1 + day // 28:02}-{1 + day % 28:02}T08:{block:02}:00+00:00",
            "labels": {"commit": commit} if commit else {},
            "machine": Machine(facts=dict(facts)),
            "ceiling": Ceiling(reached=ceiling, loop_utilisation=1.0) if ceiling else None,
        }
    )


def store(base: Path, *, step: float = 0.0, at: int = 17, seed: int = 1) -> list[str]:
    """A folder of results per commit; from commit `at` on each message costs `step` more."""
    draw, names = random.Random(seed), []
    for day in range(COMMITS):
        folder = ResultsFolder.create(base, f"compare-{day:02}", "{}")
        for block in range(TRIALS):
            noise = draw.choice(residuals())
            factor = math.exp(noise) / (1 + step * (day >= at))
            folder.add(trial(block, factor, day=day, commit=f"c{day:06}"))
        names.append(folder.folder.name)
    return names
