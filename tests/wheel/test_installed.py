"""An installed wheel: all that it needs is in it, whatever folder and home it is used from.

The engine that is built already stands in for the wheel's own, which takes minutes to build;
`make wheel` builds that, and runs these tests with it.
"""

from __future__ import annotations

import json
import os
import struct
import subprocess
from pathlib import Path

import pytest

import wiretrial
from tests.wheel.installed import ROOT, WHEEL, Installed
from wiretrial.catalogues import STUDIES, SUBJECTS
from wiretrial.engine import BINARY
from wiretrial.errors import EXIT_FAILED, EXIT_GOOD, EXIT_INVALID, EXIT_USAGE

MEASURED = (EXIT_GOOD, EXIT_FAILED, EXIT_INVALID)
"""A busy machine may have no answer; what is kept is there all the same."""
PT_LOAD, PT_INTERP = 1, 3
BRIEFLY = ("-c", "2", "-d", "300ms", "--warmup", "100ms")


def good(laboratory: Installed, home: Path, *words: str) -> str:
    """What a command that has to succeed prints."""
    done = laboratory.run(home, "wiretrial", *words)
    assert done.returncode == EXIT_GOOD, done.stderr
    return done.stdout


def refused(laboratory: Installed, *words: str) -> str:
    """The one line of a command that can't be done."""
    done = laboratory.run(laboratory.home(), "wiretrial", *words)
    assert (done.returncode, done.stdout) == (EXIT_USAGE, ""), done.stderr
    (line,) = done.stderr.splitlines()
    return line


def test_both_halves_are_installed_outside_of_the_checkout(laboratory: Installed) -> None:
    home = laboratory.home()
    version = wiretrial.__version__
    assert good(laboratory, home, "--version") == f"wiretrial {version}, engine {version}\n"
    where = "import sys, wiretrial; print(wiretrial.__file__, *sys.path)"
    told = laboratory.run(home, "python", "-c", where).stdout.split()
    assert told[0] == str(laboratory.packages / "wiretrial" / "__init__.py")
    assert str(ROOT / "python") not in told


def test_the_engine_of_a_wheel_needs_no_library(laboratory: Installed) -> None:
    if WHEEL not in os.environ:
        pytest.skip("the engine is the one of this tree's build, which needs the system's libc")
    program = (laboratory.bin / BINARY).read_bytes()
    # ELF of 64 bits: where the program headers begin, their size and number. A header begins with
    # its kind.
    begin, size, count = (
        *struct.unpack_from("<Q", program, 32),
        *struct.unpack_from("<HH", program, 54),
    )
    kinds = [struct.unpack_from("<I", program, begin + size * at)[0] for at in range(count)]
    assert PT_LOAD in kinds
    assert PT_INTERP not in kinds


def test_every_study_and_subject_is_there(laboratory: Installed) -> None:
    home = laboratory.home()
    studies = good(laboratory, home, "study", "list")
    subjects = good(laboratory, home, "subject", "list")
    for listed, catalogue in ((studies, STUDIES), (subjects, SUBJECTS)):
        names = [folder.name for folder in catalogue.members()]
        assert names
        assert [name for name in names if name not in listed] == []
    assert "uwebsockets:tuned" in good(laboratory, home, "study", "show", "websocket-servers")


@pytest.mark.parametrize("folder", ["python/wiretrial", "studies", "subjects"])
def test_every_file_is_there(laboratory: Installed, folder: str) -> None:
    # Templates, scripts, style sheets, sources of subjects, what is kept of studies.
    listed = subprocess.run(
        ["git", "-C", str(ROOT / folder), "ls-files", "-z"],
        capture_output=True,
        text=True,
        check=True,
    )
    package = laboratory.packages / "wiretrial"
    there = package if folder.endswith("wiretrial") else package / f"_{folder}"
    names = [name for name in listed.stdout.split("\0") if (ROOT / folder / name).is_file()]
    assert names
    assert [name for name in names if not (there / name).is_file()] == []


def test_a_load_is_kept_and_told_again(laboratory: Installed, served: str) -> None:
    home = laboratory.home()
    url = f"{served}/message"
    done = laboratory.run(
        home, "wiretrial", "load", url, *BRIEFLY, "--format", "json", "-o", "load.json"
    )
    assert done.returncode in MEASURED, done.stderr
    good(laboratory, home, "report", "load.json", "--format", "html", "-o", "load.html")
    assert "<html" in (home / "load.html").read_text(encoding="utf-8")
    told = " ".join(good(laboratory, home, "report", "load.json").split())
    assert "no request failed" in told
    assert "service time" in told


def test_a_limit_is_looked_for(laboratory: Installed, served: str) -> None:
    done = laboratory.run(
        laboratory.home(),
        *("wiretrial", "limit", f"{served}/message", "--goal", "p99 < 10s"),
        *("-c", "2", "-d", "150ms", "--warmup", "0", "--searches", "1"),
    )
    assert done.returncode in MEASURED, done.stderr
    assert "Traceback" not in done.stderr


def test_a_comparison_is_kept_listed_and_published(laboratory: Installed, served: str) -> None:
    home = laboratory.home()
    url = f"{served}/message"
    done = laboratory.run(home, "wiretrial", "compare", url, url, "--trials", "2", *BRIEFLY)
    assert done.returncode in MEASURED, done.stderr
    (kept,) = (home / "results").glob("compare-*")
    assert (kept / "report.html").exists()
    assert served.removeprefix("http://") in good(laboratory, home, "report", str(kept))
    assert kept.name in good(laboratory, home, "results", "list")
    exported = good(laboratory, home, "results", "export", str(kept), "--format", "json")
    assert len(json.loads(exported)["trials"]) == 4
    good(laboratory, home, "site", "public", "--results", str(kept))
    assert (home / "public" / "index.html").exists()


@pytest.mark.parametrize(
    "words",
    [
        ("link", "run", "vpn", "--", "true"),
        ("link", "measure", "vpn", "-d", "1s"),
        ("compare", "reference", "--protocol", "ws", "--isolate", *BRIEFLY),
    ],
)
def test_what_needs_root_says_so_in_a_line(laboratory: Installed, words: tuple[str, ...]) -> None:
    if os.geteuid() == 0 and not laboratory.without_root:
        pytest.skip("we are root, and nobody may not read this Python")
    line = refused(laboratory, *words)
    assert "root" in line
