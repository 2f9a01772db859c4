"""Conversations where servers are compared, in studies, and where a rate is searched for."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from tests.cli.conftest import Begin, Run
from tests.cli.test_load_conversations import CHAT, NAMES, write
from tests.cli.test_runs import MEASURED, results_of
from wiretrial.errors import EXIT_GATE, EXIT_GOOD, EXIT_INVALID, EXIT_USAGE
from wiretrial.results.limits import Limit

BRIEFLY = ("-d", "400ms", "--warmup", "100ms", "--seed", "1")
ECHO = """\
[[flow]]
url = "{{base}}/"
[[flow.step]]
name = "echo"
send = "number {{seq}}"
reply = {text = "number {{seq}}"}
[[flow.step]]
repeat = "from 1, 3 times"
[load]
users = 2
[goal]
"echo.p99" = "< 5s"
"""
STUDY = """\
title = "Chat"
question = "How fast is it?"
subjects = ["reference"]
trials = 1
duration = "300ms"
warmup = "100ms"
twin = "reference"
[[workload]]
name = "chat"
traffic = "chat.toml"
"""

Start = Callable[..., int]


@pytest.fixture
def start(begin: Begin) -> Start:
    """Starts the server and returns its port."""
    return partial(begin, CHAT)


def test_each_step_is_compared(wiretrial: Run, start: Start, tmp_path: Path) -> None:
    write(tmp_path, 1, load='users = 2\n[goal]\nerrors = "< 1%"')
    urls = [f"ws://127.0.0.1:{start()}" for _ in range(2)]
    done = wiretrial("compare", "--traffic", "chat.toml", *urls, *BRIEFLY, "--trials", "2")
    assert done.returncode in MEASURED, done.stderr
    first = done.stderr.splitlines()[0]
    assert first == (
        "sends chat.toml, 2 users: 6 steps in sessions of 1 flow; every reply is checked"
    )
    trials = results_of(tmp_path).trials()
    assert {trial.plan.target.url for trial in trials} == {f"{url}/" for url in urls}
    for trial in trials:
        assert trial.start.traffic is not None
        assert trial.start.traffic.routes == tuple(NAMES)
        assert not any(trial.summary.counters.errors.values())
    assert "lowest step" in " ".join(done.stdout.split())
    (result,) = tmp_path.glob("results/*")
    report = wiretrial("report", str(result), "--format", "markdown").stdout
    for words in ("## Steps", "| Step | ", "Steps/s"):
        assert words in report
    for name in NAMES:
        assert report.count(f"| {name} | ws") == 2
    gate = wiretrial("gate", str(result))
    assert gate.returncode in (EXIT_GOOD, EXIT_INVALID), gate.stderr
    assert gate.stdout.count("errors < 1%") == 2


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (("http://127.0.0.1:1",), "unknown scheme 'http'"),
        (("reference", "--protocol", "http"), "traffic goes over ws and wss"),
        (("ws://127.0.0.1:1", "--payload", "5"), "--payload is of one message"),
        (("ws://127.0.0.1:1", "--http", "2"), "conversations are had over HTTP/1.1"),
    ],
)
def test_what_is_at_odds_with_a_conversation_is_refused(
    wiretrial: Run, tmp_path: Path, flags: tuple[str, ...], words: str
) -> None:
    (tmp_path / "echo.toml").write_text(ECHO, encoding="utf-8")
    done = wiretrial("compare", "--traffic", "echo.toml", *flags)
    assert done.returncode == EXIT_USAGE
    assert words in done.stderr


def test_a_study_with_conversations_has_a_table_per_step(
    wiretrial: Run, start: Start, tmp_path: Path
) -> None:
    write(tmp_path, 1, load="users = 2")
    (tmp_path / "study.toml").write_text(STUDY, encoding="utf-8")
    target = f"127.0.0.1:{start()}"
    done = wiretrial("study", "run", "./study.toml", "--target", target, "--seed", "1")
    assert done.returncode in MEASURED, done.stderr
    (result,) = tmp_path.glob("results/*")
    page = (result / "report.html").read_text(encoding="utf-8")
    assert "<h2>Steps</h2>" in page
    trials = results_of(tmp_path).trials()
    assert {trial.scenario.protocol for trial in trials} == {"ws"}


def test_a_rate_of_conversations_is_found(wiretrial: Run, start: Start, tmp_path: Path) -> None:
    write(tmp_path, start())
    done = wiretrial(
        *("limit", "chat.toml", "--goal", "say.p50 < 5s", "--from", "60", "--to", "90", "-c", "4"),
        *("-d", "150ms", "--warmup", "0", "--searches", "1", "--format", "json"),
    )
    assert done.returncode in (EXIT_GOOD, EXIT_GATE, EXIT_INVALID), done.stderr
    found = Limit.model_validate_json(done.stdout)
    assert (found.unit, found.end) == ("sessions/s", "complete")
    for one in found.levels:
        assert [figure.goal for figure in one.figures] == ["say.p50 < 5000ms"]
        assert one.is_kept == (one.reason is None)
