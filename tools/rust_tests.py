"""Builds the Rust tests once and runs them side by side, those of sockets with each poller.

Usage: python3 -m tools.rust_tests [--build]

cargo runs one binary after the other, though the longest of them wait for time limits, and builds
crates again where other packages are named. Knows binaries and their order; must not know what
they test. Of the standard library alone: it runs before anything is installed.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CARGO = ("cargo", "test", "--workspace", "--locked")
POLLER = "WIRETRIAL_TEST_POLLER"

SOCKETS = ("net", "respond")
"""Crates whose tests open sockets of ours; of the engine, those of `truth` do."""

COMPUTING = ("wiretrial_load", "allocations")
"""What takes a core for long and waits for nothing: it gives way to those that hold time limits."""
GIVING_WAY = ("nice", "-n", "10")

LONGEST_FIRST = ("wiretrial_load", "faults", "truth", "allocations")
"""What begins first, so that nothing long is left over at the end."""


@dataclass(frozen=True)
class Job:
    """A test binary that is run, in the folder of its crate as cargo does it."""

    crate: str
    """Its folder's name."""
    name: str
    command: tuple[str, ...]
    folder: Path
    changes: dict[str, str] = field(default_factory=dict)

    def words(self) -> str:
        """What is run, as a person repeats it."""
        changes = [f"{name}={value}" for name, value in self.changes.items()]
        return " ".join((*changes, *self.command))


@dataclass(frozen=True)
class Ended:
    """What a job said, and how it ended."""

    job: Job
    code: int
    output: str
    seconds: float


def main(arguments: list[str]) -> int:
    """Runs all of them, whatever one says; 0: each is right. With `--build` nothing is run."""
    if arguments not in ([], ["--build"]):
        print("usage: python3 -m tools.rust_tests [--build]", file=sys.stderr)
        return 2
    built = subprocess.run(
        (*CARGO, "--no-run", "--message-format", "json-render-diagnostics"),
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    if built.returncode or arguments:
        return built.returncode
    failed = []
    for ended in side_by_side(ordered(jobs(built.stdout))):
        job = ended.job
        with_poller = f", {job.changes[POLLER]}" if job.changes else ""
        print(f"--- {job.crate}: {job.name}{with_poller} ({ended.seconds:.1f} s)")
        print(ended.output.strip(), flush=True)
        if ended.code:
            failed.append(job)
    for job in failed:
        print(f"failed: cd {job.folder} && {job.words()}", file=sys.stderr)
    return 1 if failed else 0


def jobs(messages: str) -> Iterator[Job]:
    """What is to be run, of what cargo says that it built (a JSON object a line)."""
    for line in messages.splitlines():
        message = json.loads(line)
        if message["reason"] != "compiler-artifact" or not message["profile"]["test"]:
            continue
        if not message["executable"]:
            continue
        folder = Path(message["manifest_path"]).parent
        name = message["target"]["name"]
        before = GIVING_WAY if name in COMPUTING else ()
        job = Job(folder.name, name, (*before, message["executable"]), folder)
        yield job
        if "test" in message["target"]["kind"] and (folder.name in SOCKETS or name == "truth"):
            yield Job(job.crate, name, job.command, folder, {POLLER: "epoll"})
    yield Job("all", "examples of the documentation", (*CARGO, "--doc"), ROOT)


def ordered(found: Iterator[Job]) -> list[Job]:
    """The longest first, else as they were found."""

    last = len(LONGEST_FIRST)
    places = {name: place for place, name in enumerate(LONGEST_FIRST)}
    return sorted(found, key=lambda job: places.get(job.name, last))


def side_by_side(wanted: list[Job]) -> Iterator[Ended]:
    """Runs as many at a time as there are cores, and two at least: most of them wait."""
    with ThreadPoolExecutor(max(2, len(os.sched_getaffinity(0)))) as pool:
        for one in as_completed([pool.submit(run, job) for job in wanted]):
            yield one.result()


def run(job: Job) -> Ended:
    """Runs one to its end."""
    began = time.monotonic()
    done = subprocess.run(
        job.command,
        cwd=job.folder,
        env={**os.environ, **job.changes},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        errors="replace",
        check=False,
    )
    return Ended(job, done.returncode, done.stdout, time.monotonic() - began)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
