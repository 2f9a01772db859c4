"""Applications that `compare` starts itself: what is right is learned from them before any load."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.apps import installed
from tests.apps.running import Application
from tests.lab.own_servers import described
from wiretrial.errors import EXIT_GOOD, EXIT_INVALID
from wiretrial.results.model import Trial
from wiretrial.results.store import ResultsFolder
from wiretrial.studies import spec
from wiretrial.subjects import build

# Enough that the 50th account, which is another reader's, is asked for in each trial.
LONG = ("-d", "1500ms", "--warmup", "0", "-c", "20", "--seed", "1")


@dataclass(frozen=True)
class Place:
    """A folder with subjects, and files that do not say what is right."""

    application: Application

    def compare(self, *words: str) -> str:
        """Compares; what was said."""
        at = ("--traffic", "traffic/traffic.toml", *LONG)
        return self.application.wiretrial("compare", *words, *at).stderr

    @property
    def folder(self) -> Path:
        (found,) = (self.application.folder / "results").iterdir()
        return found

    @property
    def trials(self) -> Sequence[Trial]:
        return ResultsFolder.open(self.folder).trials()


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    monkeypatch.setenv(build.ENVIRONMENT, str(tmp_path / "cache"))
    program = installed.go_application("catalogue")
    shutil.copytree(installed.EXAMPLES / "catalogue" / "traffic", tmp_path / "traffic")
    for name, fault in (("sound", ""), ("leaky", "leak")):
        (tmp_path / name).mkdir()
        command = ("env", f"FAULT={fault}", "ADDRESS={host}:{port}", str(program))
        text = described(name, command, traffic="../traffic/traffic.toml", language="Go")
        (tmp_path / name / "subject.toml").write_text(text, encoding="utf-8")
    made = Application("catalogue", "", tmp_path)
    made.unsaid()
    return Place(made)


def errors(trials: Sequence[Trial], subject: str) -> list[dict[str, dict[str, int]]]:
    """Of each trial of a subject, the routes with failures."""
    found = []
    for trial in trials:
        assert trial.plan.traffic is not None
        assert trial.summary.traffic is not None
        if trial.scenario.subject == subject:
            names = [route.name for route in trial.plan.traffic.routes]
            routes = zip(names, trial.summary.traffic.routes, strict=True)
            found.append({name: dict(one.errors) for name, one in routes if one.errors})
    return found


def test_a_fault_of_one_is_named_and_what_was_learned_is_kept(place: Place) -> None:
    said = place.compare("./sound", "./leaky", "--trials", "1")
    lines = [line for line in said.splitlines() if line.startswith("learned from")]
    assert len(lines) == 5, said
    assert all(line.startswith("learned from 120 replies to ") for line in lines), said
    assert any("to getAccount: " in line and "$.reader {{reader}}" in line for line in lines), said
    assert "any 2xx reply is right" not in said
    trials = place.trials
    assert errors(trials, "./sound") == [{}]
    [leaks] = errors(trials, "./leaky")
    assert leaks.keys() == {"getAccount"}
    assert leaks["getAccount"].keys() == {"mismatch"}
    report = (place.folder / "report.html").read_text(encoding="utf-8")
    assert "5 routes, learned from 120 replies each; see Learned rules in Facts" in report
    assert "$.reader {{reader}}" in report
    # Whoever goes on with it is held to the same rules, without asking again.
    kept = spec.parse(ResultsFolder.open(place.folder).document())
    assert kept.learning is None
    words = ("compare", "--resume", str(place.folder), "--trials", "2")
    more = place.application.wiretrial(*words)
    assert "learn" not in more.stderr, more.stderr
    trials = place.trials
    assert len(trials) == 4, more.stderr
    assert len({trial.scenario.learned for trial in trials}) == 1
    assert errors(trials, "./sound") == [{}, {}]
    assert [one.keys() for one in errors(trials, "./leaky")] == [{"getAccount"}] * 2


def test_nothing_is_learned_where_that_is_not_wanted(place: Place) -> None:
    said = place.compare("./sound", "--trials", "1", "--no-learn")
    assert "has no response part" in said


def test_of_a_study_the_same_is_learned(place: Place) -> None:
    text = (
        'title = "C"\nquestion = "Which?"\nsubjects = ["./sound"]\ntrials = 1\n'
        'duration = "500ms"\nwarmup = "0ms"\n[[workload]]\nname = "c"\n'
        'traffic = "traffic/traffic.toml"\nusers = [20]\n'
    )
    (place.application.folder / "study.toml").write_text(text, encoding="utf-8")
    done = place.application.wiretrial("study", "run", "./study.toml", "--seed", "1")
    # A busy machine may make a trial of half a second invalid: what was learned stands.
    assert done.returncode in (EXIT_GOOD, EXIT_INVALID), done.stderr
    assert "learned from 60 replies to getAccount: " in done.stderr
    assert {len(trial.scenario.learned) for trial in place.trials} == {5}
