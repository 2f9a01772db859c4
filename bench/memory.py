"""What a held WebSocket connection takes: of the generator's memory, and of the kernel's.

The engine with each of its pollers, and a bare epoll client that opens as many and does nothing
else, each with few and with many connections to a reference server of their own. What is told are
slopes, bytes per connection: of the generator's resident size while nothing is said, and of the
kernel's slabs, which hold both ends of a connection, so that only differences are the generator's.
Of the engine's resident size the peak is told as well, which has what opening and asking take.

Usage: python -m bench.memory [--few N] [--many N] [--rounds N]. Exit code 0: within what is
allowed; 1: more, or something failed; 2: usage.
"""

from __future__ import annotations

import argparse
import random
import re
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import psutil

from bench import crowds, measure, places
from wiretrial.engine import Engine, EngineRun
from wiretrial.snapshot import Interval, Summary

BARE = "bare epoll"
POLLERS: Mapping[str, crowds.Poller] = {"engine/uring": "uring", "engine/epoll": "epoll"}
FEW, MANY, ROUNDS = 10_000, 110_000, 3
IDLE_INTERVALS = 10
"""Of 100 ms, in which nothing is said, before the kernel is asked."""
TIME_WAIT_BYTES = 256
"""A connection that is over: crowds leave them behind for a minute."""
SETTLING_S, PAUSE_S, STEADY_BYTES = 20.0, 0.5, 1 << 20
ALLOWED_USER, ALLOWED_KERNEL = 300, 600
"""Bytes per connection: of user space, and of the kernel above the bare client."""


@dataclass(frozen=True)
class Taken:
    """Bytes, with a crowd held and idle."""

    user: float
    kernel: float
    peak: float
    """Of user space, from the start on."""


def main() -> int:
    """Measures each as often as it was asked to; the exit code."""
    flags = _flags()
    if not 0 < flags.few < flags.many:
        print("memory: --few must be above zero and below --many", file=sys.stderr)
        return 2
    descriptors = crowds.most_descriptors()
    crowds.limit_descriptors(descriptors)
    # The same for both sizes: what a thread has is no part of what a connection takes.
    threads = crowds.threads_for(flags.many, descriptors)
    engine = places.engine_and_floor()
    slopes: dict[str, list[Taken]] = {who: [] for who in (*POLLERS, BARE)}
    for number in range(flags.rounds):
        for who in random.Random(number).sample(list(slopes), len(slopes)):
            few, many = (_held(who, engine, n, threads) for n in (flags.few, flags.many))
            more = flags.many - flags.few
            slopes[who].append(
                Taken(
                    (many.user - few.user) / more,
                    (many.kernel - few.kernel) / more,
                    (many.peak - few.peak) / more,
                )
            )
    return _tell(slopes)


def _held(who: str, engine: Engine, connections: int, threads: int) -> Taken:
    with crowds.server(engine, threads) as port:
        before = _settled()
        if who == BARE:
            return _of_floor(port, connections, threads, before)
        return _of_engine(engine, POLLERS[who], port, connections, threads, before)


def _of_engine(
    engine: Engine, poller: crowds.Poller, port: int, connections: int, threads: int, before: int
) -> Taken:
    user, kernel, answered, idle = 0, 0, 0, 0
    plan = crowds.plan(port, connections, threads, poller=poller)
    with EngineRun(engine.binary, plan) as run:
        for snapshot in run:
            if not isinstance(snapshot, Interval) or snapshot.phase != "measure":
                continue
            answered += snapshot.counters.ok
            idle += answered >= connections
            if idle == IDLE_INTERVALS:
                user, kernel = psutil.Process(run.pid).memory_info().rss, _kernel() - before
                run.stop()
    assert isinstance(snapshot, Summary)
    if snapshot.counters.errors or snapshot.counters.ok < connections:
        raise measure.RunFailed(
            f"the engine, {poller}: not every one of {connections:,} connections answered"
        )
    return Taken(user, kernel, snapshot.generator.peak_rss_bytes)


def _of_floor(port: int, connections: int, threads: int, before: int) -> Taken:
    command = crowds.of_floor("watch", port, connections, threads)
    client = psutil.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        if not client.stdout.readline():
            raise measure.RunFailed("the bare client ended before its connections stood")
        user = client.memory_info().rss
        return Taken(user, _kernel() - before, user)
    finally:
        client.stdin.close()
        try:
            client.wait(timeout=measure.CLOSING_S)
        except psutil.TimeoutExpired:
            client.kill()
            client.wait()


def _kernel() -> int:
    """Bytes that the kernel has in slabs (sockets, files, what watches them), without TIME_WAIT."""
    slabs = _number("/proc/meminfo", r"^Slab:\s+(\d+) kB")
    waiting = _number("/proc/net/sockstat", r"^TCP:.* tw (\d+)")
    return slabs * 1024 - waiting * TIME_WAIT_BYTES


def _number(path: str, pattern: str) -> int:
    found = re.search(pattern, Path(path).read_text(encoding="utf-8"), re.MULTILINE)
    if not found:
        raise measure.RunFailed(f"{path} does not say what it says elsewhere")
    return int(found[1])


def _settled() -> int:
    """The same when what went before is freed, which the kernel does later."""
    last = _kernel()
    for _ in range(round(SETTLING_S / PAUSE_S)):
        time.sleep(PAUSE_S)
        now = _kernel()
        if abs(now - last) < STEADY_BYTES:
            return now
        last = now
    return last


def _tell(slopes: Mapping[str, Sequence[Taken]]) -> int:
    heads = f"{'user space':>12}{'at its peak':>13}{'kernel':>10}{'above bare epoll':>18}"
    print(f"{'bytes per connection':24}{heads}")
    bare = median(one.kernel for one in slopes[BARE])
    worst_user, worst_kernel = 0.0, 0.0
    for who, found in slopes.items():
        user, kernel = median(one.user for one in found), median(one.kernel for one in found)
        peak = median(one.peak for one in found)
        above = "" if who == BARE else f"{kernel - bare:,.0f}"
        print(f"  {who:22}{user:12,.0f}{peak:13,.0f}{kernel:10,.0f}{above:>18}")
        if who != BARE:
            worst_user, worst_kernel = max(worst_user, user), max(worst_kernel, kernel - bare)
    print(f"{ALLOWED_USER} of user space and {ALLOWED_KERNEL} above bare epoll are allowed")
    return 0 if worst_user <= ALLOWED_USER and worst_kernel <= ALLOWED_KERNEL else 1


def _flags() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="bench.memory", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--few", type=int, default=FEW, help=f"connections [{FEW:,}]")
    parser.add_argument("--many", type=int, default=MANY, help=f"connections [{MANY:,}]")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help=f"slopes of each [{ROUNDS}]")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(places.ended("memory", main))
