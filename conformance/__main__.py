"""`python -m conformance`: runs the suites, says what is not as it must be.

Exit code 0: all as written down, or skipped on a machine that lacks a part; 1: not; 2: usage.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from itertools import product
from pathlib import Path

from conformance import document, tables
from conformance.autobahn import cases as autobahn_cases
from conformance.autobahn import runs as autobahn_runs
from conformance.autobahn import suite as autobahn_suite
from conformance.connect import cases as connect_cases
from conformance.connect import report as connect_report
from conformance.connect import runs as connect_runs
from conformance.connect import suite as connect_suite
from conformance.http2 import cases as http2_cases
from conformance.http2 import runs as http2_runs
from conformance.http2 import suite as http2_suite
from conformance.http3 import cases as http3_cases
from conformance.http3 import malformed
from conformance.http3 import runs as http3_runs
from conformance.http3 import suite as http3_suite
from conformance.process import ProcessFailed, Unavailable

ROOT = Path(__file__).resolve().parent.parent
RELEASE = ROOT / "target" / "release"
ENGINE = RELEASE / "wiretrial-engine"
TESTEE = RELEASE / "wiretrial-testee"
AUTOBAHN = ROOT / "build" / "autobahn"
HTTP2 = ROOT / "build" / "tools" / "h2spec"
HTTP3 = ROOT / "build" / "tools" / "h3spec"
CONNECT = ROOT / "build" / "tools" / "connectconformance"
REPORTS = ROOT / "build" / "conformance"

# Still 128 windows of 32 KiB, and every message up to 4 KiB a thousand times.
BYTES_PER_CASE = 4 * 1024 * 1024
MOST_LINES = 20
ONLY_WHERE_ASKED = {"h3i"}
"""What takes long to build, or parts that few machines have."""
USAGE = 2
GROUP_LIMIT_S = 240.0
FULL_GROUP_LIMIT_S = 1800.0

told_wrong: list[str] = []
"""What was said to be wrong, in its order."""


def main() -> int:
    """Runs what is asked for; the exit code."""
    suites: dict[str, Callable[[argparse.Namespace], int]] = {
        "autobahn": _autobahn,
        "http2": _http2,
        "http3": _http3,
        "h3i": _h3i,
        "grpc": _grpc,
    }
    parser = argparse.ArgumentParser(prog="conformance", description=__doc__)
    parser.add_argument(
        "suites", nargs="*", metavar="SUITE", help=f"only these of {', '.join(suites)} (all)"
    )
    parser.add_argument(
        "--update", action="store_true", help="write down what was found, and the table of it"
    )
    parser.add_argument(
        "--full", action="store_true", help="every compression case with all of its messages"
    )
    parser.add_argument(
        "--tables", action="store_true", help="only write the tables of the page anew"
    )
    flags = parser.parse_args()
    if unknown := [name for name in flags.suites if name not in suites]:
        return fail(f"there is no suite {unknown[0]}: known are {', '.join(suites)}", USAGE)
    if flags.tables:
        tables.write()
        return 0
    # All of them, whatever one says.
    usual = [name for name in suites if name not in ONLY_WHERE_ASKED]
    chosen = flags.suites or usual
    codes = [_twice_if_wrong(suites[name], flags) for name in chosen]
    if told_wrong and len(chosen) > 1:
        # The last suite's lines may be a thousand after the first one's.
        told = "\n".join(f"conformance:   {line}" for line in told_wrong)
        print(f"conformance: all that was wrong:\n{told}", file=sys.stderr)
    return max(codes)


def _twice_if_wrong(suite: Callable[[argparse.Namespace], int], flags: argparse.Namespace) -> int:
    """The suite's exit code; its second one where the first is bad.

    The suites have time limits of their own, and their parts are downloaded: beside other work a
    right answer can come too late for them. What was wrong at first is told in any case.
    """
    if (code := suite(flags)) != 1 or flags.update:
        return code
    print("conformance: the suite is run once more, and that run decides", file=sys.stderr)
    return suite(flags)


def _autobahn(flags: argparse.Namespace) -> int:
    try:
        suite = autobahn_suite.Suite.install(AUTOBAHN, None if flags.full else BYTES_PER_CASE)
    except autobahn_suite.Misnamed as misnamed:
        return fail(str(misnamed), USAGE)
    except Unavailable as missing:
        return _missing(f"the Autobahn suite is not run: {missing}")
    bench = autobahn_runs.Bench(
        suite=suite,
        engine=ENGINE,
        testee=TESTEE,
        folder=REPORTS,
        group_limit_s=FULL_GROUP_LIMIT_S if flags.full else GROUP_LIMIT_S,
    )
    began = time.monotonic()
    try:
        found = autobahn_runs.run_all(bench)
    except (ProcessFailed, OSError) as failure:
        return fail(str(failure))
    if flags.update:
        autobahn_cases.write_expected(found)
        document.write("autobahn", autobahn_cases.table(found))
    expected = autobahn_cases.read_expected()
    wrong = 0
    for side in autobahn_cases.SIDES:
        told = f"{len(found[side])} cases: {autobahn_cases.summary(found[side])}"
        print(f"conformance: Autobahn {autobahn_suite.VERSION}, {side}: {told}")
        wrong += _tell(side, autobahn_cases.problems(expected[side], found[side]))
    return _end(wrong, time.monotonic() - began, REPORTS)


def _http2(flags: argparse.Namespace) -> int:
    began = time.monotonic()
    try:
        suite = http2_suite.Suite.build(HTTP2)
        built = time.monotonic() - began
        bench = http2_runs.Bench(
            suite=suite, engine=ENGINE, testee=TESTEE, folder=REPORTS / "http2"
        )
        found = http2_runs.run_all(bench)
    except Unavailable as missing:
        return _missing(f"h2spec and h2specd are not run: {missing}")
    except (ProcessFailed, OSError) as failure:
        return fail(str(failure))
    if flags.update:
        http2_cases.write_expected(found)
        document.write("http2", http2_cases.table(found))
    expected = http2_cases.read_expected()
    wrong = 0
    for side, way in product(http2_cases.SIDES, http2_cases.WAYS):
        results = found[side][way]
        # What one side does not claim is no case of the other.
        spared = http2_cases.NOT_CLAIMED[way]
        told = http2_cases.summary(results, spared)
        print(f"conformance: {http2_cases.NAMES[side]}, {way}: {len(results)} cases: {told}")
        lines = http2_cases.problems(expected[side][way], results, spared)
        wrong += _tell(f"{side}, {way}", lines)
    return _built_and_end(wrong, began, built, bench.folder)


def _http3(flags: argparse.Namespace) -> int:
    began = time.monotonic()
    try:
        suite = http3_suite.Suite.install(HTTP3)
        found = http3_runs.run_all(http3_runs.Bench(suite, ENGINE, REPORTS / "http3"))
    except Unavailable as missing:
        return _missing(f"h3spec is not run: {missing}")
    except (ProcessFailed, OSError) as failure:
        return fail(str(failure))
    if flags.update:
        http3_cases.write_expected(found)
        document.write("http3", http3_cases.table(found))
    expected = http3_cases.read_expected()
    wrong = 0
    for side, way in product(http3_cases.SIDES, http3_cases.WAYS):
        results = found[side][way]
        told = http3_cases.summary(results)
        print(f"conformance: {http3_cases.NAME}: {len(results)} cases: {told}")
        wrong += _tell(f"{side}, {way}", http3_cases.problems(expected[side][way], results))
    return _end(wrong, time.monotonic() - began, REPORTS / "http3")


def _h3i(flags: argparse.Namespace) -> int:
    began = time.monotonic()
    try:
        malformed.build()
        built = time.monotonic() - began
        rows = malformed.run(ENGINE, REPORTS / "h3i")
    except Unavailable as missing:
        return _missing(f"h3i's requests are not sent: {missing}")
    except (ProcessFailed, OSError) as failure:
        return fail(str(failure))
    if flags.update:
        document.write("h3i", malformed.table(rows))
    print(f"conformance: h3i: {len(rows)} cases: {malformed.summary(rows)}")
    wrong = [f"{row.section}, {row.what}: {row.came}" for row in rows if not row.is_good]
    return _built_and_end(_tell("h3i", wrong), began, built, REPORTS / "h3i")


def _grpc(flags: argparse.Namespace) -> int:
    began = time.monotonic()
    try:
        suite = connect_suite.Suite.build(CONNECT)
        built = time.monotonic() - began
        bench = connect_runs.Bench(suite=suite, testee=TESTEE, folder=REPORTS / "grpc")
        found = connect_runs.run_all(bench)
    except Unavailable as missing:
        return _missing(f"connectconformance is not run: {missing}")
    except (ProcessFailed, OSError) as failure:
        return fail(str(failure))
    if flags.update:
        connect_cases.write_expected(found)
        document.write("connect", connect_cases.table(found))
    expected = connect_cases.read_expected()
    wrong = 0
    for side, way in product(connect_cases.SIDES, connect_report.WAYS):
        results = found[side][way]
        told = f"{len(results)} cases: {connect_cases.summary(side, results)}"
        print(f"conformance: connectconformance: {connect_cases.NAMES[side]}, {way}: {told}")
        lines = connect_cases.problems(side, expected[side][way], results)
        wrong += _tell(f"{side}, {way}", lines)
    return _built_and_end(wrong, began, built, bench.folder)


def _built_and_end(wrong: int, began: float, built: float, folder: Path) -> int:
    """Says how long it took, and how much of that the suite's build, where that was not at once."""
    if built >= 1:
        print(f"conformance: {built:.0f} s of it to build the suite")
    return _end(wrong, time.monotonic() - began, folder)


def _tell(whose: str, lines: Sequence[str]) -> int:
    """Some of what is wrong; how much there is."""
    for line in lines[:MOST_LINES]:
        print(f"conformance: {whose} {line}")
        told_wrong.append(f"{whose} {line}")
    if len(lines) > MOST_LINES:
        print(f"conformance: {whose} and {len(lines) - MOST_LINES} more")
    return len(lines)


def _end(wrong: int, seconds: float, folder: Path) -> int:
    print(f"conformance: {seconds:.0f} s; reports in {folder.relative_to(ROOT)}/")
    if not wrong:
        return 0
    remedy = "mend it, or `python -m conformance --update` where the change is right"
    return fail(f"{wrong} cases are not as they must be: {remedy}")


def _missing(what: str) -> int:
    """Only a user's own machine may lack a part."""
    if os.environ.get("CI"):
        return fail(what)
    print(f"conformance: skipped: {what}")
    return 0


def fail(line: str, code: int = 1) -> int:
    """Says what is wrong, now and once more at the end; the exit code."""
    print(f"conformance: {line}", file=sys.stderr)
    told_wrong.append(line)
    return code


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        # Threads still wait for programs, which end when the threads do.
        os._exit(130)
    except subprocess.TimeoutExpired as late:
        sys.exit(fail(f"{late.cmd[0]} took more than {late.timeout:g} s"))
