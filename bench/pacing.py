"""How punctual the engine's open loop is: 20,000 messages per second over 1,000 connections.

The engine on one CPU, a reference server on the other, sleeping and spinning, with each poller.
Told are quantiles of the pacing lag (when a message was sent, less when it was due), of all
messages and without disturbed intervals, which do not count in a trial either. Beside them, on the
same CPU in the same round: how late a program was that only sleeps until as many instants, and what
a message that falls due at a random instant would have waited for a program that only reads the
clock. Nobody there can be more punctual, sleeping or spinning.

Usage: python -m bench.pacing [--seconds N] [--rounds N]. Exit code 0: it ran; 1: something failed;
2: usage.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import numpy as np

from bench import crowds, measure, places, servers
from bench.places import FLOOR, GENERATOR_CPU, SERVER_CPU
from wiretrial.engine import Engine
from wiretrial.plan import (
    GeneratorSettings,
    Load,
    Message,
    OpenLoop,
    Phases,
    Plan,
    SequencePayload,
    Stop,
    Target,
)
from wiretrial.results import hdr
from wiretrial.snapshot import Interval, Summary

RATE, CONNECTIONS = 20_000, 1_000
SECONDS, ROUNDS = 10, 5
QUANTILES = (0.5, 0.9, 0.99, 0.999)
TIMER, CLOCK = "only a timer", "only the clock"
BARE = (TIMER, CLOCK)
"""Programs that do nothing else: one sleeps until each instant, one never sleeps."""
KINDS: dict[str, tuple[crowds.Poller, bool]] = {
    f"{poller}, {'--spin' if spin else 'sleeping'}": (poller, spin)
    for spin in (False, True)
    for poller in ("uring", "epoll")
}


@dataclass(frozen=True)
class Lag:
    """One run: quantiles in nanoseconds, of all messages and of those that count."""

    all: tuple[float, ...]
    counted: tuple[float, ...]
    disturbed: float
    """Share of the intervals."""
    sent: float
    """Messages as a share of those that were due."""
    utilisation: float


def main() -> int:
    """Runs each kind in each round; the exit code."""
    flags = _flags()
    engine = places.engine_and_floor()
    found: dict[str, list[Lag]] = {kind: [] for kind in (*KINDS, *BARE)}
    with servers.reference(engine, "--cpus", str(SERVER_CPU)) as port:
        for number in range(flags.rounds):
            for kind in random.Random(number).sample(list(found), len(found)):
                if kind in BARE:
                    found[kind].append(_of_floor(kind, flags.seconds))
                else:
                    found[kind].append(_of_engine(engine, port, *KINDS[kind], flags.seconds))
    _tell(found)
    return 0


def _of_engine(engine: Engine, port: int, poller: crowds.Poller, spin: bool, seconds: int) -> Lag:
    plan = Plan(
        target=Target(
            url=f"ws://127.0.0.1:{port}/", message=Message(source=SequencePayload(bytes=20))
        ),
        load=Load(connections=CONNECTIONS, executor=OpenLoop(rate=RATE)),
        stop=Stop(duration_ns=seconds * 1_000_000_000),
        phases=Phases(warmup_ns=500_000_000),
        generator=GeneratorSettings(cpus=(GENERATOR_CPU,), poller=poller, spin=spin),
    )
    with engine.run(plan) as run:
        *others, summary = run
    assert isinstance(summary, Summary)
    intervals = [one for one in others if isinstance(one, Interval) and one.phase == "measure"]
    undisturbed = [one for one in intervals if not one.disturbed]
    measured_s = (summary.measure_end_ns - summary.measure_start_ns) / 1e9
    return Lag(
        all=_quantiles(intervals),
        counted=_quantiles(undisturbed),
        disturbed=1 - len(undisturbed) / len(intervals),
        sent=sum(one.counters.sent for one in intervals) / (RATE * measured_s),
        utilisation=summary.generator.loop_utilisation,
    )


def _quantiles(intervals: Sequence[Interval]) -> tuple[float, ...]:
    texts = [text for one in intervals if (text := one.histograms.get("pacing_lag"))]
    if not texts:
        return (float("nan"),) * len(QUANTILES)
    lag = hdr.merge(texts)
    return tuple(float(lag.quantile(quantile)) for quantile in QUANTILES)


def _of_floor(kind: str, seconds: int) -> Lag:
    question = ["timer", str(RATE)] if kind == TIMER else ["gaps"]
    words = [str(FLOOR), *question, str(seconds), str(GENERATOR_CPU)]
    with tempfile.TemporaryDirectory(prefix="wiretrial-pacing-") as folder:
        run = measure.run(words, cpu=GENERATOR_CPU, seconds=seconds, folder=Path(folder))
    told = json.loads(run.text)["ns"]
    if kind == TIMER:
        lags = tuple(float(lag) for lag in np.quantile(told, QUANTILES))
    else:
        lags = tuple(_waited(told, seconds * 1e9, quantile) for quantile in QUANTILES)
    return Lag(lags, lags, disturbed=0.0, sent=1.0, utilisation=0.0)


def _waited(gaps: Sequence[int], whole_ns: float, quantile: float) -> float:
    """How long something due at a random instant waits for the end of its gap, at that quantile."""
    low, high = 0.0, float(max(gaps, default=0))
    # The share that waits longer than x is the sum of what the gaps have beyond x; it falls with x.
    for _ in range(60):
        middle = (low + high) / 2
        longer = sum(gap - middle for gap in gaps if gap > middle) / whole_ns
        low, high = (middle, high) if longer > 1 - quantile else (low, middle)
    return high


def _tell(found: dict[str, list[Lag]]) -> None:
    print(f"pacing lag in microseconds: median of {len(found[CLOCK])} runs")
    heads = [f"p{100 * quantile:g}" for quantile in QUANTILES]
    print(
        f"{'':18}{'of all:':>8}{''.join(f'{head:>9}' for head in heads)}"
        f"{'counted:':>11}{''.join(f'{head:>9}' for head in heads)}"
        f"{'disturbed':>11}{'sent':>9}{'busy':>7}"
    )
    for kind, runs in found.items():
        of_all = [median(run.all[at] for run in runs) / 1e3 for at in range(len(QUANTILES))]
        counted = [median(run.counted[at] for run in runs) / 1e3 for at in range(len(QUANTILES))]
        line = f"  {kind:16}{'':8}{''.join(f'{value:9,.1f}' for value in of_all)}"
        if kind not in BARE:
            line += (
                f"{'':11}{''.join(f'{value:9,.1f}' for value in counted)}"
                f"{median(run.disturbed for run in runs):11.0%}"
                f"{median(run.sent for run in runs):9.2%}"
                f"{median(run.utilisation for run in runs):7.0%}"
            )
        print(line)


def _flags() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="bench.pacing", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--seconds", type=int, default=SECONDS, help=f"of a run [{SECONDS}]")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help=f"runs of each [{ROUNDS}]")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(places.ended("pacing", main))
