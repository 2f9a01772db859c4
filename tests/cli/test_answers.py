"""What a study found, in one sentence: here, and kept with the study."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from wiretrial.errors import EXIT_GOOD
from wiretrial.results import answers
from wiretrial.results.answers import Answer
from wiretrial.results.store import ResultsFolder

STUDY = """
title = "Which of them?"
question = "Which echoes most?"
subjects = ["reference"]
trials = 5
duration = "1s"

[[workload]]
name = "echo"
protocol = "ws"
contract = "ws-echo"
connections = 4
"""
KEPT = {
    "date": "2026-01-02",
    "machine": "2 CPUs",
    "sentences": ["One is fastest. The other is not.", "The bottleneck was the server."],
}
FIRST_PAGE = """
# Which of them?

## In short

**Take One, unless you need
the other.**

1. One is fastest.
"""


@pytest.mark.parametrize(
    ("paragraph", "first"),
    [
        ("One is fastest.", "One is fastest."),
        ("One takes 1.5 ms. The other 2.", "One takes 1.5 ms."),
        ("ws.js reaches 17.5 k/s; v0.14 less. CPU: ws.js.", "ws.js reaches 17.5 k/s; v0.14 less."),
        ("One stops (stalled). Others go on.", "One stops (stalled)."),
        ("It is “at most”. In 1 case it is less.", "It is “at most”."),
        ("CPU: ws 30.3. In all cases less.", "CPU: ws 30.3."),
        ("", ""),
    ],
)  # fmt: skip
def test_the_first_sentence_ends_where_a_reader_ends_it(paragraph: str, first: str) -> None:
    assert answers.first_sentence(paragraph) == first


def test_the_list_says_what_is_kept_and_what_came_out_here_else_nothing(
    tmp_path: Path, wiretrial: Run
) -> None:
    study, results = tmp_path / "studies" / "which", tmp_path / "results"
    study.mkdir(parents=True)
    (study / "study.toml").write_text(STUDY)

    def listed(*more: str) -> str:
        done = wiretrial("study", "list", *more, WIRETRIAL_STUDIES=str(study.parent))
        assert (done.returncode, done.stderr) == (EXIT_GOOD, "")
        return done.stdout

    assert "not run here yet" in listed()

    (study / "results").mkdir()
    (study / answers.KEPT).write_text("{")
    assert "not run here yet" in listed()

    (study / answers.KEPT).write_text(json.dumps(KEPT))
    text = listed()
    assert "One is fastest. (1 occasion, 2026-01-02)" in text
    assert "The other" not in text

    (study / answers.README).write_text(FIRST_PAGE)
    assert "Take One, unless you need the other. (1 occasion," in listed()
    (row,) = json.loads(listed("--format", "json"))["studies"]
    assert row["answer"] is None
    assert row["kept"] == {
        "answer": "Take One, unless you need the other.",
        "at": "2026-01-02",
        "machine": "2 CPUs",
        "occasions": 1,
    }

    own = Answer(study="which", sentence="The other is. By far.", trials=5, at="2026-02-03T04:05")
    answers.keep(ResultsFolder.create(results, "which", "{}"), own)
    text = listed()
    assert "Take One, unless you need the other. (1 occasion," in text
    assert "Here, 2026-02-03: The other is." in text
    assert "By far" not in text

    (study / answers.KEPT).unlink()
    assert "Take One" not in listed()
    assert "Here, 2026-02-03: The other is." in listed()


def test_the_list_of_ours_is_no_wider_than_the_terminal(wiretrial: Run) -> None:
    text = wiretrial("study", "list", COLUMNS="72").stdout
    assert max(map(len, text.splitlines())) <= 72
