"""h3i's malformed requests against the reference server: built, run, read.

Knows our program that sends them (`conformance/h3i`) and its lines; must not know what is wrong in
a case. It stands on BoringSSL, which takes minutes to build, cmake, a C++ compiler and libclang:
it is run where it is asked for, and not with the other suites.
"""

from __future__ import annotations

import shutil
import subprocess
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from conformance.http3.runs import serving
from conformance.process import ProcessFailed, Unavailable

MANIFEST = Path(__file__).resolve().parent.parent / "h3i" / "Cargo.toml"
PROGRAM = MANIFEST.parent / "target" / "release" / "wiretrial-h3i"
BUILD_LIMIT_S = 1800.0
RUN_LIMIT_S = 300.0
PASSED = "passed"


@dataclass(frozen=True)
class Row:
    """One case: the section of an RFC, what is wrong, and what the server made of it."""

    verdict: str
    section: str
    what: str
    came: str

    @property
    def is_good(self) -> bool:
        """Whether it came as the section wants."""
        return self.verdict == PASSED


def build() -> None:
    """Builds the program; raises Unavailable where that can't be."""
    cargo = shutil.which("cargo")
    if not cargo:
        raise Unavailable("there is no cargo")
    command = [cargo, "build", "--release", "--locked", "--manifest-path", str(MANIFEST)]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=BUILD_LIMIT_S, check=False
    )
    if done.returncode:
        lines = [line for line in done.stderr.splitlines() if line.startswith("error")]
        raise Unavailable(f"it can't be built: {(lines or ['without a word'])[0]}")


def run(engine: Path, folder: Path) -> list[Row]:
    """Every case against the reference server."""
    with serving(engine, folder) as address:
        command = [str(PROGRAM), address]
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=RUN_LIMIT_S, check=False
        )
    (folder / "h3i.log").write_text(done.stdout + done.stderr, encoding="utf-8")
    rows = read(done.stdout)
    if not rows:
        told = done.stderr.strip().splitlines() or ["without a word"]
        raise ProcessFailed(f"wiretrial-h3i ended with {done.returncode}: {told[-1]}")
    return rows


def read(text: str) -> list[Row]:
    """The lines of the program."""
    return [Row(*line.split("\t")) for line in text.splitlines() if line.count("\t") == 3]


def table(rows: Sequence[Row]) -> list[str]:
    """The table of `docs/conformance.md`, in its lines."""
    lines = ["| RFC, section | what is sent | what the server makes of it |", "|---|---|---|"]
    for row in rows:
        wrong = "" if row.is_good else " (**not as wanted**)"
        lines.append(f"| {row.section} | {row.what} | {row.came}{wrong} |")
    return lines


def summary(rows: Sequence[Row]) -> str:
    """How many cases passed, and how many did not."""
    counted = Counter(row.verdict for row in rows)
    return ", ".join(f"{count} {what}" for what, count in counted.most_common())
