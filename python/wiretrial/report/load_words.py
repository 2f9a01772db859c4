"""One run in words: its answer.

Knows one trial; must not know what stands below the answer.
"""

from __future__ import annotations

from wiretrial import words
from wiretrial.plan import OpenLoop
from wiretrial.report import units
from wiretrial.report.measures import Measured
from wiretrial.results import quantiles
from wiretrial.results.model import Trial

TOLD = (0.5, 0.99)


def sent(trial: Trial) -> words.Noun:
    """What is sent."""
    return words.of_target(trial.plan.target)


def noun(trial: Trial) -> str:
    """Several of it."""
    return sent(trial).many


def place(trial: Trial) -> str:
    """What a run is headed by: the URL; of traffic the file, and where its requests went."""
    url, file = trial.plan.target.url, trial.scenario.file
    return f"{file} at {url}" if file else url


def stages(trial: Trial) -> str | None:
    """`0 to 100 in 30 s, to 500 in 2 min`: the load over time; None where it is even."""
    load = trial.plan.load
    if not load.stages:
        return None
    executor = load.executor
    most, per = (executor.rate, "/s") if isinstance(executor, OpenLoop) else (load.population, "")
    told = [f"{units.trimmed(most * load.stages[0].start)}{per}"]
    for stage in load.stages:
        level = f"to {units.trimmed(most * stage.to)}{per}"
        told.append(f"{level} in {units.length(stage.for_ns)}" if stage.for_ns else level)
    return ", ".join((f"{told[0]} {told[1]}", *told[2:]))


def found(trial: Trial) -> str:
    """`88,000 verified requests/s; service time p50 95.0 µs, p99 252 µs; no request failed.`"""
    measured, what = Measured(trial), sent(trial)
    errors = sum(trial.summary.counters.errors.values())
    least = "At least " if trial.judgement.verdict == "client-bound" else ""
    kind = waited(measured)
    told = [f"{least}{measured.throughput or 0:,.0f} verified {what.many}/s"]
    if measured.is_opening:
        told = [f"{measured.connect_rate or 0:,.0f} connections/s opened"]
    times = [
        f"{quantiles.name(q)} {units.duration(value)}"
        for q in TOLD
        if (value := quantiles.told(measured.waiting_time, q)) is not None
    ]
    if times:
        told.append(f"{kind} {', '.join(times)}")
    of = trial.summary.counters.sent
    failed = f"{errors:,} of {of:,} {what.many} failed" if errors else f"no {what.one} failed"
    return f"{'; '.join((*told, failed))}."


def waited(measured: Measured) -> str:
    """What the time is called that is told first."""
    if measured.hears_events:
        return "delivery time"
    return "response time" if measured.from_due else "service time"


def judged(trial: Trial) -> str:
    """`Verdict: valid. The server was the bottleneck (its core 100 % busy).`"""
    judgement = trial.judgement
    evidence = judgement.evidence[:1].upper() + judgement.evidence[1:]
    return f"Verdict: {judgement.verdict}. {evidence}."
