"""`compare` of servers of one's own: checkouts, revisions, commands; and a verdict for CI."""

from __future__ import annotations

import hashlib
import re
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.cli import checkouts
from tests.cli.checkouts import QUICK, SLOW_MS, commit, git, write
from tests.cli.conftest import Run
from tests.cli.test_runs import MEASURED, results_of, start
from wiretrial.errors import EXIT_FAILED, EXIT_GATE, EXIT_GOOD, EXIT_USAGE

LIMIT_S = 60.0
ONCE = (*QUICK, "--trials", "1")
"""For what a comparison says beside its figures."""


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where revisions and logs are kept in this test."""
    place = tmp_path / "cache"
    monkeypatch.setenv("WIRETRIAL_CACHE", str(place))
    return place


@pytest.fixture
def repository(tmp_path: Path) -> Iterator[Path]:
    """A server at the tags `quick` and `slow`, of which the second is checked out."""
    folder = write(tmp_path / "shop", extra="build = 'echo built >> ../builds'\n")
    # The build tells beside its tree in the cache that it ran.
    commit(folder, "quick")
    write(folder, busy_ms=SLOW_MS, extra="build = 'echo built >> ../builds'\n")
    commit(folder, "slow")
    yield folder
    assert checkouts.worktrees(folder) == 1
    assert checkouts.running(tmp_path) == []


def builds(cache: Path) -> int:
    """How often a revision was built."""
    return sum(len(path.read_text().splitlines()) for path in cache.glob("revisions/*/builds"))


@pytest.mark.alone
def test_the_slower_of_two_checkouts_is_named_and_fails(wiretrial: Run, tmp_path: Path) -> None:
    write(tmp_path / "a")
    write(tmp_path / "b", busy_ms=SLOW_MS, extra="build = ['true', 'echo ok > built']\n")
    files = ("--junit", "compare.xml", "--markdown", "summary.md")
    done = wiretrial("compare", "./a", "./b", *QUICK, "--margin", "20%", *files)
    assert done.returncode == EXIT_GATE, done.stderr
    assert "b: true" in done.stderr
    assert (tmp_path / "b" / "built").exists()
    assert re.search(r"^broken +\./b +throughput >= 0\.8x", done.stdout, re.MULTILINE)
    assert "server CPU" in done.stdout or "Server CPU" in done.stdout
    case = ElementTree.parse(tmp_path / "compare.xml").getroot().find("testcase")
    assert case is not None
    assert case.get("classname") == "./b"
    assert case.find("failure") is not None
    summary = (tmp_path / "summary.md").read_text(encoding="utf-8")
    assert "| server | revision | throughput" in summary
    assert "❌ broken" in summary
    assert checkouts.running(tmp_path) == []


@pytest.mark.alone
def test_a_server_that_is_quicker_than_the_first_is_no_fault(
    wiretrial: Run, tmp_path: Path
) -> None:
    write(tmp_path / "a", busy_ms=SLOW_MS)
    write(tmp_path / "b")
    done = wiretrial("compare", "./a", "./b", *QUICK, "--margin", "5%")
    assert done.returncode == EXIT_GOOD, done.stdout + done.stderr
    assert re.search(r"^kept +\./b", done.stdout, re.MULTILINE)


@pytest.mark.alone
def test_equal_checkouts_are_told_to_be_equal(wiretrial: Run, tmp_path: Path) -> None:
    write(tmp_path / "a", busy_ms=2)
    write(tmp_path / "b", busy_ms=2)
    done = wiretrial("compare", "./a", "./b", *QUICK, "--margin", "70%")
    assert done.returncode == EXIT_GOOD, done.stdout + done.stderr
    assert "kept: 1 of 1 bounds" in done.stdout


@pytest.mark.alone
def test_revisions_are_built_once_and_kept_with_the_results(
    wiretrial: Run, tmp_path: Path, repository: Path, cache: Path
) -> None:
    index = hashlib.sha256((repository / ".git" / "index").read_bytes()).hexdigest()
    words = ("compare", "./shop", "--at", "quick", "--at", "slow", *QUICK)
    done = wiretrial(*words, "--margin", "20%", "--markdown", "summary.md")
    assert done.returncode == EXIT_GATE, done.stdout + done.stderr
    assert re.search(r"^broken +slow ", done.stdout, re.MULTILINE)
    commits = {name: git(repository, "rev-parse", name) for name in ("quick", "slow")}
    for trial in results_of(tmp_path).trials():
        assert trial.subject is not None
        assert trial.subject.revision is not None
        assert trial.subject.revision.commit == commits[trial.scenario.name]
        assert not trial.subject.revision.dirty
    summary = (tmp_path / "summary.md").read_text(encoding="utf-8")
    assert f"| slow | `{commits['slow'][:10]}` |" in summary
    assert git(repository, "status", "--porcelain") == ""
    assert hashlib.sha256((repository / ".git" / "index").read_bytes()).hexdigest() == index
    assert builds(cache) == 2
    again = wiretrial(*words, "--trials", "1")
    assert again.returncode in MEASURED, again.stderr
    assert f"slow: {commits['slow'][:10]} is built already" in again.stderr
    assert builds(cache) == 2


def test_one_revision_is_compared_with_the_folder_as_it_stands(
    wiretrial: Run, tmp_path: Path, repository: Path
) -> None:
    write(repository, extra="# changed\n")
    done = wiretrial("compare", "./shop", "--at", "slow", *ONCE)
    assert done.returncode in MEASURED, done.stderr
    assert re.search(r"^\./shop is at \w{10}, with uncommitted changes$", done.stderr, re.MULTILINE)
    dirty = {
        trial.scenario.name: trial.subject.revision.dirty
        for trial in results_of(tmp_path).trials()
        if trial.subject and trial.subject.revision
    }
    assert dirty == {"slow": False, "./shop": True}
    done = wiretrial("compare", "./shop", "--at", "quick", "--at", "slow", *ONCE)
    assert "./shop has uncommitted changes, which are in none of these revisions" in done.stderr


def test_a_revision_without_the_file_is_started_as_the_folder_says(
    wiretrial: Run, tmp_path: Path
) -> None:
    folder = write(tmp_path / "shop", busy_ms=1)
    text = (folder / "wiretrial.toml").read_text(encoding="utf-8")
    (folder / "wiretrial.toml").unlink()
    commit(folder, "old")
    (folder / "wiretrial.toml").write_text(text, encoding="utf-8")
    commit(folder, "new")
    done = wiretrial("compare", "./shop", "--at", "old", "--at", "new", *ONCE)
    assert done.returncode in MEASURED, done.stderr
    assert "old has no wiretrial.toml: it is built and started as ./shop says" in done.stderr


def test_a_folder_within_a_repository_has_revisions_too(wiretrial: Run, tmp_path: Path) -> None:
    write(tmp_path / "mono" / "api")
    commit(tmp_path / "mono", "one")
    write(tmp_path / "mono" / "api", busy_ms=1)
    commit(tmp_path / "mono", "two")
    done = wiretrial("compare", "./mono/api", "--at", "one", "--at", "two", *ONCE)
    assert done.returncode in MEASURED, done.stderr


def test_commands_are_servers_by_themselves(wiretrial: Run, tmp_path: Path) -> None:
    write(tmp_path)
    (tmp_path / "wiretrial.toml").unlink()
    one, other = "python3 server.py {port}", "exec python3 server.py"
    done = wiretrial("compare", "--command", one, "--command", other, *ONCE)
    assert done.returncode in MEASURED, done.stderr
    assert {trial.scenario.name for trial in results_of(tmp_path).trials()} == {one, other}


def test_the_command_line_comes_before_the_file(wiretrial: Run, tmp_path: Path) -> None:
    write(tmp_path / "a", command="false")
    write(tmp_path / "b", command="false")
    told = ("--build", "cp server.py built.py", "--command", "python3 built.py {port}")
    done = wiretrial("compare", "./a", "./b", *told, *ONCE)
    assert done.returncode in MEASURED, done.stderr
    assert (tmp_path / "a" / "built.py").exists()


def test_a_file_s_traffic_goes_to_each_server(wiretrial: Run, tmp_path: Path) -> None:
    text = 'base = "http://127.0.0.1:1"\n\n[[flow]]\nfile = "look.hurl"\n'
    for name in ("a", "b"):
        write(tmp_path / name, extra='traffic = "look.toml"\n')
        (tmp_path / name / "look.toml").write_text(text, encoding="utf-8")
        (tmp_path / name / "look.hurl").write_text("GET {{base}}/\nHTTP 200\n", encoding="utf-8")
    done = wiretrial("compare", "./a", "./b", *ONCE)
    assert done.returncode in MEASURED, done.stderr
    assert {trial.scenario.file for trial in results_of(tmp_path).trials()} == {
        str(tmp_path / "a" / "look.toml")
    }


@pytest.mark.alone
@pytest.mark.usefixtures("repository")
def test_a_comparison_goes_on_with_the_same_servers(wiretrial: Run, tmp_path: Path) -> None:
    done = wiretrial("compare", "./shop", "--at", "quick", "--at", "slow", *QUICK, "--trials", "2")
    assert done.returncode in MEASURED, done.stderr
    folder = str(results_of(tmp_path).folder)
    more = wiretrial("compare", "--resume", folder, "--trials", "3", "--margin", "20%")
    assert more.returncode == EXIT_GATE, more.stderr
    assert len(results_of(tmp_path).trials()) == 6


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_build_that_is_interrupted_leaves_nothing(
    tmp_path: Path, repository: Path, cache: Path, number: signal.Signals
) -> None:
    started = tmp_path / "started"
    words = ("--build", f"touch {started}; sleep 60 & sleep 60")
    with start(tmp_path, "compare", "./shop", "--at", "quick", "--at", "slow", *words) as process:
        limit = time.monotonic() + LIMIT_S
        while not started.exists() and time.monotonic() < limit:
            time.sleep(0.02)
        assert checkouts.worktrees(repository) == 2
        process.send_signal(number)
        assert process.wait(LIMIT_S) == 128 + number
    assert checkouts.worktrees(repository) == 1
    assert list(cache.glob("revisions/*/tree*")) == []
    assert not (tmp_path / "results").exists()


def test_an_interrupted_comparison_leaves_no_server(tmp_path: Path, repository: Path) -> None:
    words = ("compare", "./shop", "--at", "quick", "--at", "slow", "-d", "30s", "-c", "2")
    with start(tmp_path, *words) as process:
        limit = time.monotonic() + LIMIT_S
        while not list(tmp_path.glob("results/*")) and time.monotonic() < limit:
            time.sleep(0.02)
        time.sleep(1)
        process.send_signal(signal.SIGINT)
        assert process.wait(LIMIT_S) == 128 + signal.SIGINT
    assert checkouts.running(tmp_path) == []
    assert checkouts.worktrees(repository) == 1


MISTAKES = [
    pytest.param(
        ("./empty", "./good"),
        EXIT_USAGE,
        "./empty has no wiretrial.toml: write it with command =",
        id="no-file",
    ),
    pytest.param(
        ("./good", "./unbuilt"),
        EXIT_FAILED,
        "unbuilt: `echo nonsense; exit 7` ended with 7: make",
        id="build-fails",
    ),
    pytest.param(
        ("./good", "./ends"),
        EXIT_FAILED,
        "ends ended at its start: exit status 5 (gone): run it by hand in",
        id="ends-at-once",
    ),
    pytest.param(
        ("./good", "./silent"), EXIT_FAILED, "silent does not answer on 127.0.0.1:", id="silent"
    ),
    pytest.param(
        ("./shop", "--at", "quick", "--at", "quick~0"),
        EXIT_USAGE,
        "quick and quick~0 are the same commit, ",
        id="equal-revisions",
    ),
    pytest.param(
        ("./shop", "--at", "quikc", "--at", "slow"),
        EXIT_USAGE,
        "--at quikc: ",
        id="unknown-revision",
    ),
    pytest.param(
        ("./good", "--at", "main"),
        EXIT_USAGE,
        "good is in no git repository, so it has no",
        id="no-repository",
    ),
    pytest.param(
        ("./typo", "./good"), EXIT_USAGE, "typo/wiretrial.toml: comand: ", id="misspelled-key"
    ),
    pytest.param(
        ("--command", "./server {prot}"),
        EXIT_USAGE,
        "--command: unknown placeholder {prot}",
        id="unknown-placeholder",
    ),
    pytest.param(
        ("http://127.0.0.1:1/", "--build", "make"),
        EXIT_USAGE,
        "--build is for servers of your own: name a folder",
        id="no-own-server",
    ),
    pytest.param(
        ("./good", "--margin", "5%"), EXIT_USAGE, "--margin is between two servers", id="alone"
    ),
    pytest.param(
        ("./good", "./good", "--junit", "x.xml"),
        EXIT_USAGE,
        "--junit tells whether a margin",
        id="junit-without-margin",
    ),
    pytest.param(
        ("./good", "reference"),
        EXIT_USAGE,
        "servers of your own are asked for a path, and",
        id="own-and-subject",
    ),
    pytest.param(
        ("good", "./good"), EXIT_USAGE, "there is no subject 'good': write ./good", id="no-slash"
    ),
    pytest.param(
        ("compose:compose.yml", "./good"),
        EXIT_USAGE,
        "'compose:compose.yml' names no service and port: write compose:compose.yml#SERVICE:PORT",
        id="compose-without-port",
    ),
]


@pytest.mark.parametrize(("words", "code", "told"), MISTAKES)
def test_a_mistake_is_one_line_and_leaves_nothing(
    wiretrial: Run, tmp_path: Path, words: tuple[str, ...], code: int, told: str
) -> None:
    write(tmp_path / "good")
    write(tmp_path / "unbuilt", extra="build = 'echo nonsense; exit 7'\n")
    write(tmp_path / "ends", command="echo gone; exit 5")
    write(tmp_path / "silent", command="sleep 60", extra="readiness.deadline_s = 0.5\n")
    write(tmp_path / "typo", extra="comand = 'x'\n")
    (tmp_path / "empty").mkdir()
    if "--at" in words and "./shop" in words:
        commit(write(tmp_path / "shop"), "quick")
        write(tmp_path / "shop", busy_ms=1)
        commit(tmp_path / "shop", "slow")
    done = wiretrial("compare", *words, *QUICK)
    assert done.returncode == code, done.stderr
    assert done.stdout == ""
    last = done.stderr.splitlines()[-1]
    assert last.startswith("wiretrial: ") or "the last lines of the build:" in done.stderr
    assert told in last, done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "results").exists()
    assert checkouts.running(tmp_path) == []
    if (tmp_path / "shop").exists():
        assert checkouts.worktrees(tmp_path / "shop") == 1


def test_the_last_lines_of_a_failed_build_are_shown(wiretrial: Run, tmp_path: Path) -> None:
    write(tmp_path / "a", extra="build = 'seq 100; false'\n")
    done = wiretrial("compare", "./a", *QUICK)
    lines = done.stderr.splitlines()
    assert lines[-9:-1] == [str(number) for number in range(93, 101)]
    log = lines[-1].rpartition(" ")[2]
    assert "\n1\n2\n3\n" in Path(log).read_text(encoding="utf-8")


def test_a_port_in_use_is_told(wiretrial: Run, tmp_path: Path) -> None:
    import socket

    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        write(tmp_path / "a", extra=f"port = {port}\n")
        done = wiretrial("compare", "./a", *QUICK)
    assert done.returncode == EXIT_FAILED
    assert f"port {port} of 127.0.0.1, on which a listens, is in use" in done.stderr


def test_readiness_asks_a_path(wiretrial: Run, tmp_path: Path) -> None:
    write(tmp_path / "a", extra='[readiness]\npath = "/health"\ndeadline_s = 1\n')
    done = wiretrial("compare", "./a", *QUICK)
    assert done.returncode == EXIT_FAILED
    assert "a answers GET /health with 404 after 1 s: raise [readiness] deadline_s" in done.stderr


def test_the_workers_of_a_server_count_as_its_own(wiretrial: Run, tmp_path: Path) -> None:
    write(tmp_path / "a", busy_ms=2, command="python3 server.py {port} & wait")
    done = wiretrial("compare", "./a", *ONCE)
    assert done.returncode in MEASURED, done.stderr
    for trial in results_of(tmp_path).trials():
        first, last = trial.subject_samples[0], trial.subject_samples[-1]
        # Asking for its CPU time, as it does while it is busy, is the kernel's part of it.
        used = last.cpu_user_ns + last.cpu_system_ns - first.cpu_user_ns - first.cpu_system_ns
        assert used > trial.summary.counters.ok * 1_000_000 > 0


def test_what_a_killed_build_left_is_swept_by_the_next(
    wiretrial: Run, tmp_path: Path, repository: Path
) -> None:
    started = tmp_path / "started"
    words = ("compare", "./shop", "--at", "quick", "--at", "slow")
    with start(tmp_path, *words, "--build", f"touch {started}; sleep 60") as process:
        limit = time.monotonic() + LIMIT_S
        while not started.exists() and time.monotonic() < limit:
            time.sleep(0.02)
        process.kill()
    assert checkouts.worktrees(repository) == 2
    done = wiretrial(*words, *ONCE)
    assert done.returncode in MEASURED, done.stderr
    assert checkouts.worktrees(repository) == 1
