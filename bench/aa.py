"""How often a real suite shows a difference where there is none.

Runs short suites of four scenarios of the reference server, two of which are the same, and counts
in how many those two come out as different: after Holm over all pairs of the suite, as a report
does it, and by the pair's own p. Each suite is a line of FILE, so that it goes on where it was.
Usage: python -m bench.aa [SUITES [FILE]]
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from statistics import median

from bench.places import ended
from wiretrial.engine import Engine
from wiretrial.plan import Load, SequencePayload
from wiretrial.results import offered
from wiretrial.results.model import Trial
from wiretrial.results.store import ResultsFolder
from wiretrial.stats.compare import ALPHA, compare, holm, verdict
from wiretrial.studies import events, runner
from wiretrial.studies.contracts import case
from wiretrial.studies.spec import Case, Study
from wiretrial.subjects.spec import ContractName, Protocol

SUITES = 100
BLOCKS = 5
MEASURE_NS = 800_000_000
WARMUP_NS = 200_000_000
ALLOWED = 0.10
ONE, AGAIN = "one", "the same again"
LOADS: tuple[tuple[str, Protocol, ContractName], ...] = (
    (ONE, "ws", "ws-echo"),
    (AGAIN, "ws", "ws-echo"),
    ("HTTP", "http", "http-echo"),
    ("TCP", "tcp", "raw-echo"),
)


@dataclass(frozen=True)
class Outcome:
    """What one suite says of the two that are the same."""

    differs: bool
    differs_alone: bool
    """By its own p, before Holm."""
    equal: bool
    deviation: float
    """How far the ratio of the two is from 1."""
    worst: float
    """How far apart the two were in their worst block."""


def main() -> int:
    """Runs what is missing of the suites; 1 if too many show a difference."""
    suites = int(sys.argv[1]) if len(sys.argv) > 1 else SUITES
    kept = Path(sys.argv[2] if len(sys.argv) > 2 else "build/aa.jsonl")
    kept.parent.mkdir(parents=True, exist_ok=True)
    lines = kept.read_text(encoding="utf-8").splitlines() if kept.exists() else []
    engine = Engine.find()
    for number in range(len(lines), suites):
        rates = measured(engine, seed=number)
        lines.append(json.dumps(rates))
        with kept.open("a", encoding="utf-8") as file:
            file.write(lines[-1] + "\n")
        found = outcome(rates)
        print(f"{number + 1:>4}/{suites}  {found.deviation:>6.2%}  {found.differs}", flush=True)
    outcomes = [outcome(json.loads(line)) for line in lines[:suites]]
    different = sum(one.differs for one in outcomes)
    print(
        f"{different} of {len(outcomes)} suites show a difference between two that are the same"
        f" ({sum(one.differs_alone for one in outcomes)} before Holm); "
        f"{sum(one.equal for one in outcomes)} show that they are equal within 3 %."
        f" Their ratio is off by {median(one.deviation for one in outcomes):.1%} in the middle"
        f" suite, within a block by {median(one.worst for one in outcomes):.0%} at worst"
    )
    return 0 if different <= ALLOWED * len(outcomes) else 1


def measured(engine: Engine, seed: int) -> dict[str, list[float]]:
    """Messages per second of each scenario, by block; 0 where the trial is invalid."""
    study = Study(
        name="aa",
        title="Are two that are the same the same?",
        question="How often is there a difference where there is none?",
        command="python -m bench.aa",
        cases=tuple(_case(*load) for load in LOADS),
        trials=BLOCKS,
        seed=seed,
        duration_ns=MEASURE_NS,
        warmup_allowance_ns=WARMUP_NS,
    )
    with tempfile.TemporaryDirectory(prefix="wiretrial-aa-") as folder:
        results = ResultsFolder.create(
            Path(folder), study.name, study.model_dump_json(by_alias=True)
        )
        rates: dict[str, list[float]] = {name: [] for name, _, _ in LOADS}
        for event in runner.run(study, results, engine):
            if isinstance(event, events.TrialFailed | events.Unavailable):
                raise SystemExit(event.reason)
            if isinstance(event, events.TrialDone):
                # Blocks come one after the other, so each list is in their order.
                rates[event.trial.scenario.name].append(_rate(event.trial))
    return rates


def outcome(rates: Mapping[str, list[float]]) -> Outcome:
    """All pairs compared, as one family; what that says of the two."""
    pairs = list(combinations(rates, 2))
    compared = [compare(*_usable(rates[a], rates[b])) for a, b in pairs]
    adjusted = holm([one.p for one in compared])
    at = pairs.index((ONE, AGAIN))
    pair = compared[at]
    found = verdict(pair, adjusted[at], higher_is_better=True)
    ratios = [a / b for a, b in zip(*_usable(rates[ONE], rates[AGAIN]), strict=True)]
    return Outcome(
        differs=found in ("A faster", "B faster"),
        differs_alone=pair.p < ALPHA,
        equal=found == "equal within 3 %",
        deviation=abs(pair.ratio - 1),
        worst=max(max(ratio, 1 / ratio) - 1 for ratio in ratios),
    )


def _rate(trial: Trial) -> float:
    return 0.0 if trial.judgement.verdict == "invalid" else offered.achieved(trial)


def _usable(a: Sequence[float], b: Sequence[float]) -> tuple[list[float], list[float]]:
    """The blocks in which both trials count."""
    both = [(x, y) for x, y in zip(a, b, strict=True) if x and y]
    return [x for x, _ in both], [y for _, y in both]


def _case(name: str, protocol: Protocol, contract: ContractName) -> Case:
    return case(
        name=name,
        subject="reference",
        configuration="default",
        protocol=protocol,
        contract=contract,
        payload=SequencePayload(bytes=64),
        load=Load(connections=16),
        workload="64 bytes, 16 connections",
    )


if __name__ == "__main__":
    sys.exit(ended("aa", main))
