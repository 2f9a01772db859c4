"""One group of cases against one side of the engine, and all groups of both sides at once.

Knows who connects to whom; must not know what the results should be.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from conformance import together
from conformance.autobahn import suite
from conformance.autobahn.cases import GROUPS, SIDES, Results, Side
from conformance.autobahn.suite import AGENT, Suite
from conformance.process import Process


@dataclass(frozen=True)
class Bench:
    """What is tested, with what, and where reports go."""

    suite: Suite
    engine: Path
    testee: Path
    folder: Path
    group_limit_s: float
    """A group takes a fraction of this; only one that hangs takes it whole."""


def run_all(bench: Bench) -> dict[Side, Results]:
    """Every case on both sides."""
    jobs = [(side, cases) for cases in GROUPS for side in SIDES]
    found: dict[Side, Results] = {side: {} for side in SIDES}
    for (side, _), results in together.run(lambda job: run(bench, *job), jobs):
        found[side] |= results
    return found


def run(bench: Bench, side: Side, cases: Sequence[str]) -> Results:
    """Some cases on one side."""
    folder = bench.folder / side / cases[0].rstrip(".*")
    shutil.rmtree(folder, ignore_errors=True)
    runs: dict[Side, Callable[[Bench, Sequence[str], Path], None]] = {
        "server": _try_server,
        "client": _try_client,
    }
    runs[side](bench, cases, folder)
    return suite.results(folder)


def _try_server(bench: Bench, cases: Sequence[str], folder: Path) -> None:
    folder.mkdir(parents=True)
    command = [str(bench.engine), "respond", "--http", "127.0.0.1:0", "--deflate"]
    with Process(command, log=folder / "engine.log") as server:
        address = server.hear(r"ready http=(\S+)")
        with bench.suite.client(f"ws://{address}", cases, folder) as client:
            client.finish(bench.group_limit_s)


def _try_client(bench: Bench, cases: Sequence[str], folder: Path) -> None:
    folder.mkdir(parents=True)
    with bench.suite.server(cases, folder) as server:
        port = server.hear(r"listening (\d+)")
        command = [str(bench.testee), f"127.0.0.1:{port}", AGENT]
        with Process(command, log=folder / "testee.log") as testee:
            testee.finish(bench.group_limit_s)
