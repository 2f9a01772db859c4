"""Help, completion and versions. WIRETRIAL_UPDATE_GOLDEN=1 writes the help texts anew."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from wiretrial import __version__
from wiretrial.cli import screen
from wiretrial.studies import registry

RIDDLES = (
    # A person where a thing is meant, and words that stand for an unnamed one.
    *(
        r"\b[Ww]ho(m|ever)\b",
        r"(?<!Anyone )\b[Ww]ho\b",
        r"\b[Ss]omebody\b",
        r"\b[Nn]obody\b",
        r"\bSo many\b",
    ),
    # A description that only goes on with the option's name.
    *(r"[A-Z]+ (Of|Until|Where|In) (?!all\b)", r"\bhow readiness\b", r"\bthe limit\b"),
)
"""Turns of phrase that a reader has to solve."""

GOLDEN = Path(__file__).parent / "golden"

COMMANDS: list[tuple[str, ...]] = [
    (),
    ("load",),
    ("limit",),
    ("advise",),
    ("compare",),
    ("demo",),
    ("report",),
    ("machine",),
    ("fleet",),
    ("fleet", "certificates"),
    ("fleet", "scheduler"),
    ("fleet", "agent"),
    ("fleet", "status"),
    ("fleet", "demo"),
    ("subject",),
    ("subject", "list"),
    ("subject", "show"),
    ("subject", "new"),
    ("subject", "install"),
    ("subject", "verify"),
    ("subject", "run"),
    ("traffic",),
    ("traffic", "check"),
    ("traffic", "from"),
    ("study",),
    ("study", "list"),
    ("study", "show"),
    ("study", "run"),
    ("gate",),
    ("trend",),
    ("link",),
    ("link", "list"),
    ("link", "run"),
    ("link", "measure"),
    ("serve",),
    ("site",),
    ("browser",),
    ("results",),
    ("results", "list"),
    ("results", "show"),
    ("results", "compare"),
    ("results", "export"),
    ("results", "import"),
    ("results", "push"),
    ("results", "pull"),
    ("metrics",),
    ("metrics", "dashboard"),
    ("metrics", "list"),
]


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_help_is_as_committed(wiretrial: Run, command: tuple[str, ...]) -> None:
    done = wiretrial(*command, "--help", TERM="dumb")
    assert done.returncode == 0
    assert done.stderr == ""
    golden = GOLDEN / f"{'-'.join(('help', *command))}.txt"
    if "WIRETRIAL_UPDATE_GOLDEN" in os.environ:
        golden.parent.mkdir(exist_ok=True)
        golden.write_text(done.stdout, encoding="utf-8")
    assert done.stdout == golden.read_text(encoding="utf-8")


@pytest.mark.parametrize("command", [c for c in COMMANDS if len(c) == 1], ids=" ".join)
def test_every_command_shows_examples(wiretrial: Run, command: tuple[str, ...]) -> None:
    shown = wiretrial(*command, "--help").stdout
    assert f"  wiretrial {command[0]}" in shown.partition("Examples:")[2]


def test_load_shows_the_common_options_first(wiretrial: Run) -> None:
    shown = wiretrial("load", "--help").stdout.partition("\nOptions:\n")[2]
    common = shown.partition("\n\n")[0]
    options = re.findall(r"^  (-\S+)", common, re.MULTILINE)
    assert options == [
        *("-c,", "-d,", "-n,", "-r,", "--payload", "--json", "-X,", "-H,", "--expect"),
        *("--format", "-o,", "--report", "-h,"),
    ]
    headings = re.findall(r"^(\w.*):$", shown, re.MULTILINE)
    assert headings[:4] == [screen.LOAD, screen.STYX, screen.GRPC, screen.SOCKETS]
    assert screen.FLEET in headings


def test_the_version_names_both_halves(wiretrial: Run) -> None:
    done = wiretrial("--version")
    assert done.stdout == f"wiretrial {__version__}, engine {__version__}\n"
    assert done.returncode == 0


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_shell_can_complete(wiretrial: Run, shell: str) -> None:
    done = wiretrial(_WIRETRIAL_COMPLETE=f"source_{shell}")
    assert done.returncode == 0
    assert "wiretrial" in done.stdout


@pytest.mark.parametrize("group", [(), ("study",)], ids=" ".join)
def test_a_group_without_a_command_shows_its_help(wiretrial: Run, group: tuple[str, ...]) -> None:
    done = wiretrial(*group, TERM="dumb")
    assert done.stderr == wiretrial(*group, "--help", TERM="dumb").stdout
    # A pipe that waits for a result gets none.
    assert done.stdout == ""
    assert done.returncode == 2


def test_the_first_screen_fits_and_groups_every_command(wiretrial: Run) -> None:
    shown = wiretrial("--help", TERM="dumb").stdout
    assert max(map(len, shown.splitlines())) <= 80
    assert len(shown.splitlines()) <= 45
    for heading in screen.HEADINGS:
        assert f"\n{heading}:\n" in shown
    begun = shown.partition("Start here:")[2].partition("\n\n")[0].strip().splitlines()
    assert [line.split()[1] for line in begun] == ["demo", "load", "compare"]
    for command in {names[0] for names in COMMANDS if names}:
        assert re.search(rf"^  {command} +[A-Z]", shown, re.MULTILINE), command


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_examples_name_what_there_is(command: tuple[str, ...]) -> None:
    shown = (GOLDEN / f"{'-'.join(('help', *command))}.txt").read_text(encoding="utf-8")
    known = {found.name for found in registry.catalogue()}
    for name in re.findall(r"wiretrial study (?:run|show) ([a-z][a-z-]*)", shown):
        assert name in known


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_help_says_what_the_reader_gets(command: tuple[str, ...]) -> None:
    shown = (GOLDEN / f"{'-'.join(('help', *command))}.txt").read_text(encoding="utf-8")
    words = " ".join(shown.split())
    for riddle in RIDDLES:
        assert not re.search(riddle, words), riddle
    arguments = shown.partition("Arguments:\n")[2].partition("\n\n")[0]
    assert not re.search(r">  ?\[required\]", arguments), "an argument says nothing of itself"
