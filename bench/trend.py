"""Is a regression of 5 % found at its commit, with a real server and real loads?

Thirty commits of `bench.busy`, which works for a set length on each request: from one of them on it
works 5 % longer. They are measured in random order, so that what the machine does over time is in
no order of theirs, each by `wiretrial load --label commit=…`. Then `wiretrial trend` is asked. With
`--step 0` all commits are equal, and none may be found. `--keep FILE` keeps the trials.
Usage: python -m bench.trend [--commits 30] [--step 0.05] [--at 18] [--seconds 2] [--keep FILE].
"""

from __future__ import annotations

import argparse
import random
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bench.places import GENERATOR_CPU, SERVER_CPU, ended
from wiretrial.cli import trending
from wiretrial.errors import WiretrialError
from wiretrial.report import coarse, merged
from wiretrial.report.exports import table
from wiretrial.report.trend import forms
from wiretrial.report.trend.found import Judged
from wiretrial.results import kept
from wiretrial.results.store import loads, read_trial

PORT = 18_381
LOOPS = 20_000
"""About a millisecond of work per request: what else a request costs is a small part."""
CONNECTIONS = 2
INTERVALS = 3
"""Of each trial that is kept; the window's histograms are kept whole."""
WIDTH = 100


def main() -> int:
    """Measures, asks, and says whether the answer is right: 0 it is, 1 it is not."""
    asked = _asked()
    draw = random.Random(asked.seed)
    with tempfile.TemporaryDirectory(prefix="wiretrial-trend-") as name:
        base = Path(name)
        order = list(range(asked.commits))
        draw.shuffle(order)
        for done, number in enumerate(order, 1):
            loops = round(LOOPS * (1 + asked.step * (number >= asked.at)))
            measure(base, number, loops, asked.seconds)
            print(f"{done:>3}/{asked.commits}  commit {commit(number)}", flush=True)
        if asked.keep:
            asked.keep.write_bytes(packed(base))
        right = True
        for metric in ("cpu", "throughput"):
            judged = follow(base, asked.commits, metric)
            print(f"\n{forms.text([judged], (), WIDTH)}")
            right &= metric != "cpu" or is_right(judged, asked.at if asked.step else None)
    print(f"\n{'right' if right else 'WRONG'}")
    return 0 if right else 1


def commit(number: int) -> str:
    """The name of a commit."""
    return f"c{number:06}"


def measure(base: Path, number: int, loops: int, seconds: float) -> None:
    """One load of one commit, kept in `base`."""
    with serving(loops):
        words = (
            *("taskset", "-c", str(GENERATOR_CPU)),
            *(str(Path(sys.executable).with_name("wiretrial")), "load"),
            *(f"http://127.0.0.1:{PORT}/", "-c", str(CONNECTIONS), "-d", f"{seconds}s"),
            *("--label", f"commit={commit(number)}"),
            *("--format", "json", "-o", str(base / f"{number:03}.json")),
        )
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        if done.returncode:
            raise WiretrialError(f"commit {commit(number)}: {done.stderr.strip()}")


@contextmanager
def serving(loops: int) -> Iterator[None]:
    """The server of one commit."""
    words = (sys.executable, "-m", "bench.busy", str(PORT), str(loops))
    pinned = ("taskset", "-c", str(SERVER_CPU), *words)
    with subprocess.Popen(pinned, stdout=subprocess.PIPE, text=True) as server:
        try:
            if server.stdout is None or not server.stdout.readline():
                raise WiretrialError("the server did not start", f"is port {PORT} free?")
            yield
        finally:
            server.terminate()


def follow(base: Path, commits: int, metric: str) -> Judged:
    """What `wiretrial trend` finds, in the commits' own order."""
    names = base / "commits"
    names.write_text("".join(f"{commit(number)}\n" for number in range(commits)), encoding="utf-8")
    typed = trending.Typed(metric=metric, commits=str(names))
    (judged,), _ = trending.follow(typed, str(base))
    return judged


def is_right(judged: Judged, at: int | None) -> bool:
    """Whether just this change was found, within one commit; None: that there is none."""
    found = [int((step.after.revision or "c0")[1:]) for step in judged.changes]
    if at is None:
        return not found
    return len(found) == 1 and abs(found[0] - at) <= 1 and judged.changes[0].kind == "worse"


def packed(base: Path) -> bytes:
    """The trials, small enough to be kept with a test."""
    trials = [read_trial(path) for path in loads(base)]
    # The command names a folder that is gone.
    small = [
        coarse.of(merged.of(trial), INTERVALS).model_copy(update={"command": None})
        for trial in trials
    ]
    study = {"name": "load"}
    rows = [dict(row) for row in table.rows(small)]
    return kept.pack(kept.Head(study=study, trials=len(small)), rows, small)


def _asked() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.trend")
    parser.add_argument("--commits", type=int, default=30)
    parser.add_argument("--step", type=float, default=0.05)
    parser.add_argument("--at", type=int, default=18)
    parser.add_argument("--seconds", type=float, default=2)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", type=Path)
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(ended("trend", main))
