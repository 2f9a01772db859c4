"""`python -m bench.traffic`: a session of four requests by the engine and its peers, interleaved.

Parts: `cost` (requests per second of the generator's CPU), `own` (sessions beside a plain GET, five
routes beside one), `memory` (users who think), `faults` (which of those put in are named).
Exit code 0: it ran; 1: a part gave no figure; 2: usage.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import psutil

from bench import measure, places, sessions, shopping, table, traffic_table
from bench.places import GENERATOR_CPU, SERVER_CPU, ended
from bench.sessions import Ask, Counted, EngineSessions, PlainGet, Sessions, Whole
from bench.shopping import Shop
from wiretrial.engine import Engine

SECONDS, ROUNDS, USERS = 8, 5, 64
FEW, MANY, THINK_S, CROWD_SECONDS = 1_000, 10_000, 10.0, 20
FAULT_SECONDS = 20
STARTING_S = 60.0
"""What a generator may take besides its load."""
SAMPLING_S = 0.4
MOST_WRONG = 0.001
"""Of the replies in a run without faults: one that has more of them measures something else."""


def main() -> int:
    """Runs the parts that were asked for; the exit code."""
    flags = _flags()
    engine = Engine.find().binary
    own: list[Sessions] = [
        EngineSessions(engine, "uring"),
        EngineSessions(engine, "epoll"),
        Whole(),
    ]
    asked = [*own, *sessions.peers()]
    if flags.generator:
        asked = [one for one in asked if one.name in flags.generator]
    present = [one for one in asked if one.is_here()]
    for one in asked:
        if one not in present:
            print(f"bench: no {one.name} here; to have it: {one.remedy}")
    with tempfile.TemporaryDirectory(prefix="wiretrial-bench-") as scratch:
        shopping.lay_out(Path(scratch))
        parts = {
            "cost": lambda: _cost("session", present, flags, Path(scratch)),
            "own": lambda: _cost("own", _compared(engine), flags, Path(scratch)),
            "memory": lambda: _memory(present, flags, Path(scratch)),
            "faults": lambda: _faults(present, flags, Path(scratch)),
        }
        told = [parts[name]() for name in flags.part or parts]
    return 0 if all(told) else 1


def _compared(engine: Path) -> list[Sessions]:
    """What the engine is compared with itself on."""
    compared: list[Sessions] = [PlainGet(engine, "uring")]
    files = {
        "one route": f"{shopping.PLAIN[0]}.hurl",
        "five routes": "five.toml",
        "capture": "capture.hurl",
        "session": "traffic.toml",
    }
    for name, file in files.items():
        one = EngineSessions(engine, "uring", file)
        one.name = name
        compared.append(one)
    return compared


def _cost(part: str, all_of: Sequence[Sessions], flags: argparse.Namespace, folder: Path) -> bool:
    """Every generator once in each round, in an order drawn anew, on one start of the shop."""
    samples: dict[str, list[table.Sample | None]] = {one.name: [] for one in all_of}
    order = random.Random(part)
    with shopping.opened(SERVER_CPU) as shop:
        ask = Ask(shop.url, USERS, flags.seconds, 0.0, folder, GENERATOR_CPU)
        for _ in range(flags.rounds):
            for one in order.sample(list(all_of), len(all_of)):
                samples[one.name].append(_sample(one, ask, shop))
    rows = table.rows(samples, flags.seconds)
    print(traffic_table.cost_text(f"\n{part}, {USERS} users", rows), flush=True)
    if flags.output:
        head = {"machine": places.machine(), "users": USERS, "seconds": flags.seconds}
        traffic_table.write(flags.output, head, "cost" if part == "session" else part, rows)
    return bool(rows)


def _sample(one: Sessions, ask: Ask, shop: Shop) -> table.Sample | None:
    before = measure.cpu_s(shop.pid)
    ran = _ran(one, ask)
    if ran is None:
        return None
    run, counted = ran
    wrong = sum(counted.wrong.values())
    if wrong > MOST_WRONG * counted.right:
        print(f"bench: {one.name}: {wrong} wrong replies: {counted.wrong}", file=sys.stderr)
        return None
    return table.Sample(
        messages=counted.right,
        wall_s=run.wall_s,
        user_s=run.user_s,
        system_s=run.system_s,
        peak_bytes=run.peak_bytes,
        server_cpu_s=measure.cpu_s(shop.pid) - before,
    )


def _memory(present: Sequence[Sessions], flags: argparse.Namespace, folder: Path) -> bool:
    crowds: dict[str, Mapping[int, list[traffic_table.Crowd | None]]] = {
        one.name: {FEW: [], MANY: []} for one in present
    }
    order = random.Random("memory")
    with shopping.opened(SERVER_CPU) as shop:
        ask = Ask(shop.url, FEW, CROWD_SECONDS, THINK_S, folder, GENERATOR_CPU)
        for _ in range(flags.rounds):
            for one in order.sample(list(present), len(present)):
                for users, found in crowds[one.name].items():
                    found.append(_crowd(one, replace(ask, users=users)))
    every = (traffic_table.memory(name, found) for name, found in crowds.items())
    rows = [row for row in every if row]
    print(f"\n{traffic_table.memory_text(rows)}", flush=True)
    if flags.output:
        head = {"machine": places.machine(), "seconds": CROWD_SECONDS, "think_s": THINK_S}
        traffic_table.write(flags.output, head, "memory", rows)
    return bool(rows)


def _crowd(one: Sessions, ask: Ask) -> traffic_table.Crowd | None:
    peak, looked = 0, 0.0

    def look(pid: int) -> None:
        nonlocal peak, looked
        if time.monotonic() - looked < SAMPLING_S:
            return
        looked = time.monotonic()
        peak = max(peak, measure.memory_bytes(pid))

    ran = _ran(one, ask, look)
    return traffic_table.Crowd(peak, ran[1].right) if ran else None


def _faults(present: Sequence[Sessions], flags: argparse.Namespace, folder: Path) -> bool:
    rows = []
    for one in present:
        with shopping.opened(SERVER_CPU, *shopping.FAULTS) as shop:
            ask = Ask(shop.url, USERS, FAULT_SECONDS, 0.0, folder, GENERATOR_CPU)
            ran = _ran(one, ask)
            if ran is None:
                continue
            counted = ran[1]
            named = {kind: counted.wrong.get(word, 0) for kind, word in one.names.items()}
            rows.append(traffic_table.Seen(one.name, shop.planted(), named, counted.list_p99_ms))
    print(f"\n{traffic_table.faults_text(rows)}", flush=True)
    if flags.output:
        head = {"machine": places.machine(), "users": USERS, "seconds": FAULT_SECONDS}
        traffic_table.write(flags.output, head, "faults", rows)
    return bool(rows)


def _ran(
    one: Sessions, ask: Ask, watch: Callable[[int], None] | None = None
) -> tuple[measure.Run, Counted] | None:
    """One run; None, and why, where it gave no figures."""
    try:
        started = one.start(ask)
        run = measure.run(
            started.command,
            cpu=ask.cpu,
            seconds=ask.seconds + STARTING_S,
            folder=ask.folder,
            told=started.told,
            environment=started.environment,
            watch=watch,
        )
        return run, one.counted(run.text, ask.folder)
    except (measure.RunFailed, ValueError, KeyError, OSError, psutil.NoSuchProcess) as failure:
        print(f"bench: {one.name}: {failure}", file=sys.stderr)
        return None


def _flags() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="bench.traffic", description=__doc__)
    parser.add_argument(
        "part", nargs="*", choices=["cost", "own", "memory", "faults", []], help="all of them"
    )
    parser.add_argument("--seconds", type=int, default=SECONDS, help="of a run of cost and own [8]")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="runs of each generator [5]")
    parser.add_argument("--generator", action="append", help="only this one; may be given again")
    parser.add_argument("-o", "--output", type=Path, help="keep the figures here, as JSON")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(ended("bench.traffic", main))
