"""What the Tab key offers, asked as a shell asks."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import LAUNCHER, LIMIT_S, ROOT, Run
from tests.cli.test_faces import HEAVY
from wiretrial.catalogues import STUDIES, SUBJECTS
from wiretrial.cli import app
from wiretrial.results.files import STUDY_FILE

Offered = Callable[..., list[str]]


def question(*words: str) -> dict[str, str]:
    """The environment in which bash asks for the last word."""
    typed = ("wiretrial", *words)
    return {
        "_WIRETRIAL_COMPLETE": "complete_bash",
        "COMP_WORDS": " ".join(typed),
        "COMP_CWORD": str(len(typed) - 1),
    }


@pytest.fixture
def offered(wiretrial: Run) -> Offered:
    """What bash is offered for the last word."""

    def ask(*words: str, **environment: str) -> list[str]:
        done = wiretrial(**question(*words), **environment)
        assert (done.returncode, done.stderr) == (0, "")
        return done.stdout.split()

    return ask


def names(folder: Path, document: str) -> list[str]:
    """The folders in it that hold a document, told in another way than the command does."""
    return sorted(one.name for one in folder.iterdir() if (one / document).exists())


def test_commands_are_offered(offered: Offered) -> None:
    assert offered("") == list(app.Commands.table)
    assert offered("s") == ["study", "subject", "serve", "site"]
    assert offered("study", "") == ["list", "show", "run"]
    assert offered("results", "ex") == ["export"]
    assert offered("nothing", "") == list(app.Commands.table)


@pytest.mark.parametrize("command", ["show", "run"])
def test_studies_are_offered(offered: Offered, command: str) -> None:
    assert offered("study", command, "") == names(ROOT / "studies", "study.toml")
    assert offered("study", command, "http-vs") == ["http-vs-websocket"]
    assert offered("study", command, "--quick", "http-vs") == ["http-vs-websocket"]


@pytest.mark.parametrize(
    "words",
    [
        ("subject", "show"),
        ("subject", "install", "ws"),
        ("subject", "verify", "--again"),
        ("subject", "run"),
        ("compare",),
        ("compare", "nginx", "-c", "100"),
        ("browser", "--subject"),
    ],
    ids=" ".join,
)
def test_subjects_are_offered(offered: Offered, words: tuple[str, ...]) -> None:
    found = offered(*words, "")
    assert found == names(ROOT / "subjects", "subject.toml")
    assert {"nginx", "reference", "ws"} <= set(found)


def test_names_come_from_the_folder_in_use(offered: Offered, tmp_path: Path) -> None:
    for catalogue in (STUDIES, SUBJECTS):
        for name in ("mine", "empty"):
            (tmp_path / "own" / name).mkdir(parents=True, exist_ok=True)
        # It need not even be right.
        (tmp_path / "own" / "mine" / catalogue.document).touch()
    own = str(tmp_path / "own")
    assert offered("study", "run", "", WIRETRIAL_STUDIES=own) == ["mine"]
    assert offered("subject", "run", "", WIRETRIAL_SUBJECTS=own) == ["mine"]
    assert offered("subject", "install", "--study", "", WIRETRIAL_STUDIES=own) == ["mine"]
    assert offered("study", "run", "", WIRETRIAL_STUDIES=str(tmp_path / "none")) == []


@pytest.mark.parametrize(
    "words",
    [
        ("report",),
        ("gate",),
        ("results", "show"),
        ("results", "compare", "one"),
        ("results", "export"),
        ("results", "push", "postgresql://db/lab"),
        ("demo", "--resume"),
        ("compare", "--resume"),
        ("study", "run", "--from"),
    ],
    ids=" ".join,
)
def test_folders_of_results_are_offered(
    offered: Offered, tmp_path: Path, words: tuple[str, ...]
) -> None:
    # Where there are none, the shell offers files.
    assert offered(*words, "") == []
    for name in ("demo-1", "echo-2", "not-one"):
        (tmp_path / "results" / name).mkdir(parents=True)
    for name in ("demo-1", "echo-2"):
        (tmp_path / "results" / name / STUDY_FILE).touch()
    assert offered(*words, "") == ["results/demo-1", "results/echo-2"]
    assert offered(*words, "results/e") == ["results/echo-2"]
    assert offered(*words, "load.j") == []


def test_fish_is_told_each_option_on_a_line_of_its_own(wiretrial: Run) -> None:
    done = wiretrial(
        _WIRETRIAL_COMPLETE="complete_fish",
        _TYPER_COMPLETE_FISH_ACTION="get-args",
        _TYPER_COMPLETE_ARGS="wiretrial load --p",
    )
    told = dict(line.split("\t") for line in done.stdout.splitlines())
    assert list(told) == [
        *("--pattern", "--pacing", "--pack", "--payload", "--proto", "--proto-path"),
        *("--publish", "--publish-rate", "--publish-size", "--publish-after", "--publish-header"),
        "--poller",
    ]
    assert told["--pack"].startswith("Messages per write")


def test_options_and_their_values_are_offered(offered: Offered) -> None:
    assert offered("load", "http://127.0.0.1:1/", "--fleet-") == [
        "--fleet-certificates",
        "--fleet-agents",
    ]
    assert offered("load", "http://127.0.0.1:1/", "--pacing", "p") == ["poisson", "phased"]
    # What stands before is not judged.
    assert offered("load", "-n", "some", "--seed", "-7", "--spi") == ["--spin"]
    assert offered("--vers") == ["--version"]


@pytest.mark.parametrize(
    "words",
    [
        ("",),
        ("study", "run", ""),
        ("subject", "verify", ""),
        ("load", "-c", "1", "--"),
        ("gate", ""),
    ],
    ids=" ".join,
)
def test_a_name_is_offered_without_long_imports(tmp_path: Path, words: tuple[str, ...]) -> None:
    asks = f"""
import runpy, sys
sys.argv = ["wiretrial"]
try:
    runpy.run_path({str(LAUNCHER)!r}, run_name="__main__")
except SystemExit as end:
    assert not end.code
print(*(name for name in {HEAVY!r} if name in sys.modules), file=sys.stderr)
"""
    done = subprocess.run(
        [sys.executable, "-c", asks],
        cwd=tmp_path,
        env={**os.environ, **question(*words), "PYTHONPATH": str(ROOT / "python")},
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )
    assert done.stderr.split() == []
    assert done.returncode == 0


def test_revisions_are_offered(offered: Offered, tmp_path: Path) -> None:
    assert offered("compare", ".", "--at", "") == []
    git = tmp_path / ".git"
    for name in ("heads/main", "heads/fix/one", "tags/v1"):
        (git / "refs" / name).parent.mkdir(parents=True, exist_ok=True)
        (git / "refs" / name).touch()
    packed = "# pack-refs with: peeled\n0f refs/tags/v0\n^0e\n0f refs/remotes/origin/main\n"
    (git / "packed-refs").write_text(packed, encoding="utf-8")
    found = offered("compare", ".", "--at", "")
    assert found == ["fix/one", "main", "origin/main", "v0", "v1"]
    assert offered("compare", ".", "--at", "v") == ["v0", "v1"]
