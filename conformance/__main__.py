"""`python -m conformance`: runs the suites, says what is not as it must be.

Exit code 0: all as written down, or skipped on a machine that lacks a part; 1: not; 2: usage.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from pathlib import Path

from conformance import document, tables
from conformance.autobahn import cases, runs
from conformance.autobahn.suite import VERSION, Misnamed, Suite, Unavailable
from conformance.process import ProcessFailed

ROOT = Path(__file__).resolve().parent.parent
RELEASE = ROOT / "target" / "release"
INSTALLED = ROOT / "build" / "autobahn"
REPORTS = ROOT / "build" / "conformance"

# Still 128 windows of 32 KiB, and every message up to 4 KiB a thousand times.
BYTES_PER_CASE = 4 * 1024 * 1024
MOST_LINES = 20
USAGE = 2
GROUP_LIMIT_S = 240.0
FULL_GROUP_LIMIT_S = 1800.0


def main() -> int:
    """Runs everything; the exit code."""
    parser = argparse.ArgumentParser(prog="conformance", description=__doc__)
    parser.add_argument(
        "--update", action="store_true", help="write down what was found, and the table of it"
    )
    parser.add_argument(
        "--full", action="store_true", help="every compression case with all of its messages"
    )
    parser.add_argument(
        "--tables", action="store_true", help="only write the tables of HTTP and faults anew"
    )
    flags = parser.parse_args()
    if flags.tables:
        tables.write()
        return 0
    try:
        suite = Suite.install(INSTALLED, None if flags.full else BYTES_PER_CASE)
    except Misnamed as wrong:
        return _fail(str(wrong), USAGE)
    except Unavailable as missing:
        return _missing(f"the Autobahn suite is not run: {missing}")
    bench = runs.Bench(
        suite=suite,
        engine=RELEASE / "wiretrial-engine",
        testee=RELEASE / "wiretrial-testee",
        folder=REPORTS,
        group_limit_s=FULL_GROUP_LIMIT_S if flags.full else GROUP_LIMIT_S,
    )
    began = time.monotonic()
    try:
        found = runs.run_all(bench)
    except (ProcessFailed, OSError) as failure:
        return _fail(str(failure))
    if flags.update:
        cases.write_expected(found)
        document.write("autobahn", cases.table(found))
    return _judge(found, time.monotonic() - began)


def _judge(found: dict[cases.Side, cases.Results], seconds: float) -> int:
    wrong = 0
    expected = cases.read_expected()
    for side in cases.SIDES:
        lines = cases.problems(expected[side], found[side])
        wrong += len(lines)
        told = f"{len(found[side])} cases: {cases.summary(found[side])}"
        print(f"conformance: Autobahn {VERSION}, {side}: {told}")
        for line in lines[:MOST_LINES]:
            print(f"conformance: {side} {line}")
        if len(lines) > MOST_LINES:
            print(f"conformance: {side} and {len(lines) - MOST_LINES} more")
    print(f"conformance: {seconds:.0f} s; reports in {REPORTS.relative_to(ROOT)}/")
    if not wrong:
        return 0
    remedy = "mend it, or `python -m conformance --update` where the change is right"
    return _fail(f"{wrong} cases are not as they must be: {remedy}")


def _missing(what: str) -> int:
    """Only a user's own machine may lack a part."""
    if os.environ.get("CI"):
        return _fail(what)
    print(f"conformance: skipped: {what}")
    return 0


def _fail(line: str, code: int = 1) -> int:
    print(f"conformance: {line}", file=sys.stderr)
    return code


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        # Threads still wait for programs, which end when the threads do.
        os._exit(130)
    except subprocess.TimeoutExpired as late:
        sys.exit(_fail(f"{late.cmd[0]} took more than {late.timeout:g} s"))
