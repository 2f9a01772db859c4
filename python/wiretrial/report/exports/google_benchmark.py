"""Google Benchmark's JSON and its console table: a scenario is a benchmark, a trial a repetition.

`real_time` is the mean service time of a message, `cpu_time` the CPU time of the client process per
message, both in nanoseconds; `iterations` are verified replies. The aggregates are over trials.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean, median, stdev
from typing import Any

from wiretrial.report.measures import Measured
from wiretrial.results.model import Trial

WIDTHS = (15, 15, 12)


@dataclass(frozen=True)
class _Repetition:
    real_ns: float
    cpu_ns: float
    iterations: int


def as_json(trials: Sequence[Trial]) -> dict[str, Any]:
    """The document that `--benchmark_format=json` would print."""
    facts = trials[0].machine.facts
    return {
        "context": {
            "date": trials[0].started_at,
            "host_name": "",
            "executable": "wiretrial",
            "num_cpus": facts.get("cpus", 0),
            "mhz_per_cpu": 0,
            "cpu_scaling_enabled": False,
            "caches": [],
            "load_avg": [],
            "library_build_type": "release",
        },
        "benchmarks": [
            entry
            for index, (name, runs) in enumerate(_by_scenario(trials).items())
            for entry in _entries(index, name, runs)
        ],
    }


def as_text(trials: Sequence[Trial]) -> str:
    """The console table: every trial, then mean, median and standard deviation."""
    rows = [
        (entry["name"], entry["real_time"], entry["cpu_time"], entry["iterations"])
        for entry in as_json(trials)["benchmarks"]
    ]
    widest = max(len("Benchmark"), *(len(row[0]) for row in rows))
    head = ("Time", "CPU", "Iterations")
    titles = "".join(f"{word:>{width}}" for word, width in zip(head, WIDTHS, strict=True))
    rule = "-" * (widest + sum(WIDTHS))
    lines = [rule, f"{'Benchmark':<{widest}}{titles}", rule]
    for name, real, cpu, iterations in rows:
        cells = (f"{real:.0f} ns", f"{cpu:.0f} ns", str(iterations))
        figures = "".join(f"{cell:>{width}}" for cell, width in zip(cells, WIDTHS, strict=True))
        lines.append(f"{name:<{widest}}{figures}")
    return "\n".join(lines) + "\n"


def _entries(family: int, name: str, runs: Sequence[_Repetition]) -> Iterator[dict[str, Any]]:
    common = {
        "run_name": name,
        "family_index": family,
        "per_family_instance_index": 0,
        "repetitions": len(runs),
        "threads": 1,
        "time_unit": "ns",
    }
    for index, run in enumerate(runs):
        yield {
            "name": name,
            **common,
            "run_type": "iteration",
            "repetition_index": index,
            "iterations": run.iterations,
            "real_time": run.real_ns,
            "cpu_time": run.cpu_ns,
        }
    for aggregate, of in (("mean", fmean), ("median", median), ("stddev", stdev)):
        if aggregate == "stddev" and len(runs) < 2:
            continue
        yield {
            "name": f"{name}_{aggregate}",
            **common,
            "run_type": "aggregate",
            "aggregate_name": aggregate,
            "aggregate_unit": "time",
            "iterations": len(runs),
            "real_time": of([run.real_ns for run in runs]),
            "cpu_time": of([run.cpu_ns for run in runs]),
        }


def _by_scenario(trials: Sequence[Trial]) -> dict[str, list[_Repetition]]:
    found: dict[str, list[_Repetition]] = {}
    for trial in trials:
        measured = Measured(trial)
        if not measured.is_usable or not measured.service_time.count:
            continue
        run = _Repetition(
            measured.service_time.mean,
            measured.client_ns or measured.generator_ns or 0.0,
            measured.ok,
        )
        found.setdefault(trial.scenario.name, []).append(run)
    return found
