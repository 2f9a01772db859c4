"""A running study on the screen: a block on a terminal, a line per trial in a pipe."""

from __future__ import annotations

import io
import re
import sys
from functools import partial

import pytest

from tests.lab.trials import interval
from tests.report.later import Later
from tests.report.synthetic import demo_trials
from wiretrial.cli.board import RECENT, Board
from wiretrial.cli.live import Live
from wiretrial.plan import Load, Plan, Stop, Target
from wiretrial.results.starts import Start
from wiretrial.studies import demo, events
from wiretrial.studies.order import Slot
from wiretrial.studies.spec import Study

TRIALS = Later(partial(demo_trials, blocks=1))
ESCAPES = re.compile(r"\x1b\[[0-9;?]*[a-zA-Z]")


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.fixture
def study() -> Study:
    return demo.study(1, 7)


def slot_of(number: int, scenario: str) -> Slot:
    return Slot(scenario=scenario, block=0, position=number - 1, order_seed=7)


def show(study: Study) -> Board:
    """All trials of one block, the last one failed."""
    *measured, last = TRIALS
    board = Board(study)
    with board:
        board.see(events.Preparing("ws", "install"))
        for number, trial in enumerate(measured, start=1):
            slot = slot_of(number, trial.scenario.name)
            left_ns = (len(TRIALS) - number) * 10**9
            board.see(events.TrialBegun(slot, number, len(TRIALS), left_ns))
            board.see(events.TrialDone(trial, number, len(TRIALS)))
        name = last.scenario.name
        board.see(events.TrialBegun(slot_of(len(TRIALS), name), len(TRIALS), len(TRIALS), 0))
        board.see(events.TrialFailed(slot_of(len(TRIALS), name), "the server did not start", name))
    return board


def test_a_pipe_gets_a_line_per_trial(study: Study, capsys: pytest.CaptureFixture[str]) -> None:
    show(study)
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == len(TRIALS)
    for number, (line, trial) in enumerate(zip(lines, TRIALS[:-1], strict=False), start=1):
        assert line.startswith(f"{number}/{len(TRIALS)} ")
        assert line.endswith(trial.scenario.name)
        what = "requests/s" if trial.scenario.protocol == "http" else "messages/s"
        assert f" {what} " in line
    assert lines[-1] == f"failed: block 1, {TRIALS[-1].scenario.name}: the server did not start"


def test_a_pipe_gets_a_line_per_start(study: Study, capsys: pytest.CaptureFixture[str]) -> None:
    start = Start(
        subject="ws",
        configuration="tuned",
        number=2,
        contract="ws-echo",
        protocol="ws",
        first_reply_ns=38_400_000,
    )
    with Board(study) as board:
        board.see(events.Preparing("ws:tuned", "start 2 of 5"))
        board.see(events.StartDone(start, 5))
        board.see(events.StartFailed("echo", "it ended at its start: exit status 2"))
    assert capsys.readouterr().err.splitlines() == [
        "start 2 of 5   38.4 ms  ws:tuned",
        "failed: start of echo: it ended at its start: exit status 2",
    ]


@pytest.mark.parametrize(
    ("url", "what"), [("http://127.0.0.1:1/", "requests/s"), ("ws://127.0.0.1:1/", "messages/s")]
)
def test_the_block_of_a_load_names_what_is_sent(
    url: str, what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TERM", "xterm")
    stream = Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    plan = Plan(target=Target(url=url), load=Load(connections=1), stop=Stop(duration_ns=10**9))
    with Live.for_plan(plan) as shown:
        shown.see(interval(0))
    assert f" {what} " in stream.getvalue()


def test_a_terminal_gets_one_block(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "80")
    stream = Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    board = show(study)
    shown = stream.getvalue()
    text = ESCAPES.sub("", shown)
    assert f"demo: trial 1 of {len(TRIALS)}" in text
    assert re.search(r"trial 3 of \d+, about \S+.* left", text)
    assert board.left_s is not None
    # It is drawn over itself, and is gone at the end; what failed stays.
    assert "\x1b[1A" in shown
    last = text.rindex("failed: block 1")
    assert text.rindex("demo: trial 1 of") < last
    # No more than the last few trials stand in it.
    block = text[text.rindex(f"trial {len(TRIALS)} of") :]
    assert sum(f"{n}/{len(TRIALS)} " in block for n in range(1, len(TRIALS))) <= RECENT
    assert max(map(len, text.replace("\r", "\n").splitlines())) <= 80
