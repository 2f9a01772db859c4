"""All of the suite's cases against each side of the engine.

Knows who starts whom; must not know what the results should be.
"""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

from conformance import together
from conformance.connect import report
from conformance.connect.cases import SIDES, Found
from conformance.connect.suite import Side, Suite
from conformance.process import ProcessFailed

LIMIT_S = 180.0


@dataclass(frozen=True)
class Bench:
    """What is tested, with what, and where logs go."""

    suite: Suite
    testee: Path
    folder: Path


def run_all(bench: Bench) -> Found:
    """Every case on both sides at once."""
    shutil.rmtree(bench.folder, ignore_errors=True)
    bench.folder.mkdir(parents=True)

    def run(side: Side) -> report.Results:
        log = bench.folder / f"{side}.log"
        testee = [str(bench.testee), "grpc", side]
        with bench.suite.try_side(side, testee, log) as suite:
            suite.end(LIMIT_S)
        text = log.read_text(encoding="utf-8", errors="replace")
        if "Total cases:" not in text:
            raise ProcessFailed(f"the suite did not end as it does; see {log}")
        return report.read(text)

    return dict(together.run(run, SIDES))
