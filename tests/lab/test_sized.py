"""`cpus` and `shares` in a workload: sizes of machine, and lower loads beside what each carries."""

from __future__ import annotations

from pathlib import Path

import pytest

from wiretrial.errors import UsageProblem
from wiretrial.machine import pinning
from wiretrial.plan import ClosedLoop, OpenLoop
from wiretrial.studies import document, matrix, rates, targets
from wiretrial.studies.spec import Study

STUDY = """\
title = "t"
question = "q?"
subjects = ["a", "b:tuned"]
[[workload]]
name = "echo"
protocol = "ws"
contract = "ws-echo"
%s
"""
SIZED = "cpus = [0.5, 2]\nshares = [0.2, 0.6]"


def expanded(folder: Path, rest: str = SIZED, **more: object) -> Study:
    (folder / "study.toml").write_text(STUDY % rest, encoding="utf-8")
    return matrix.expand("s", document.read(folder), command="c", seed=1, **more)  # type: ignore[arg-type]


def of_sessions(folder: Path, rest: str = "") -> Study:
    (folder / "s.hurl").write_text("GET {{base}}/\nHTTP 200\n", encoding="utf-8")
    (folder / "study.toml").write_text(
        'title = "t"\nquestion = "q?"\nsubjects = ["a"]\n[[workload]]\nname = "session"\n'
        f'traffic = "s.hurl"\nusers = 7\ncpus = 0.5\nshares = 0.4\n{rest}',
        encoding="utf-8",
    )
    return matrix.expand("s", document.read(folder), command="c", seed=1)


def test_a_level_takes_its_rate_from_its_own_top_in_the_same_place(tmp_path: Path) -> None:
    study = expanded(tmp_path)
    case = study.case("b:tuned: 0.5 CPUs, at 60% of its capacity")
    assert case.rate_from is not None
    assert case.rate_from.scenarios == ("b:tuned: 0.5 CPUs",)
    assert case.rate_from.share == 0.6
    assert case.scenario.level_of == "b:tuned: 0.5 CPUs"
    assert isinstance(case.load.executor, OpenLoop)
    assert case.stage == 2
    at = rates.at_rate(case, 1200.0)
    assert at.scenario.levels["rate"] == 1200.0
    assert at.scenario.name == case.scenario.name


def test_the_top_is_a_closed_loop_and_no_level_of_anything(tmp_path: Path) -> None:
    top = expanded(tmp_path).case("a: 2 CPUs")
    assert isinstance(top.load.executor, ClosedLoop)
    assert top.scenario.level_of is None
    assert "share" not in top.scenario.levels


def test_shares_of_a_search_are_asked_once_that_has_ended(tmp_path: Path) -> None:
    study = expanded(tmp_path, SIZED + '\nknee = { first = 100, objective = "20ms" }')
    (top,) = (case for case in study.stage(3) if case.scenario.name == "a: 0.5 CPUs")
    assert top.knee is not None
    assert top.rate_from is None
    below = [case for case in study.stage(4) if case.scenario.level_of == top.scenario.name]
    assert [case.rate_from.share for case in below if case.rate_from] == [0.2, 0.6]
    assert all(case.knee is None and isinstance(case.load.executor, OpenLoop) for case in below)
    assert study.stage(2) == ()
    assert len(study.stage(4)) == 8


def test_sessions_are_searched_for_and_have_shares_of_that(tmp_path: Path) -> None:
    study = of_sessions(tmp_path, "knee = {}\n")
    (top,), (level,) = study.stage(3), study.stage(4)
    assert level.scenario.level_of == top.scenario.name
    assert (top.knee is None, level.knee) == (False, None)
    assert isinstance(level.load.executor, OpenLoop)


def test_a_server_has_no_fewer_threads_than_cpus(tmp_path: Path) -> None:
    study = expanded(tmp_path)
    assert study.threads_of(study.case("a: 2 CPUs")) == 2
    assert study.threads_of(study.case("a: 0.5 CPUs")) == 1


def test_what_is_measured_twice_is_a_top(tmp_path: Path) -> None:
    twins = [case.scenario for case in expanded(tmp_path).cases if case.scenario.twin_of]
    assert [twin.twin_of for twin in twins] == ["a: 0.5 CPUs"]


def test_studies_without_sizes_are_what_they_were(tmp_path: Path) -> None:
    # Their digests are kept with their trials.
    plain = expanded(tmp_path, "")
    assert all(case.cpus is None for case in plain.cases)
    limited = plain.cases[0].model_copy(update={"cpus": 0.5})
    assert plain.model_copy(update={"cases": (limited,)}).digest() != plain.digest()


def test_sessions_of_a_file_have_levels_too(tmp_path: Path) -> None:
    study = of_sessions(tmp_path)
    top, level, _ = study.cases
    assert level.scenario.level_of == top.scenario.name
    assert isinstance(level.load.executor, OpenLoop)
    # The rate is not known yet; whoever carries the top carries a part of it.
    assert level.load.connections == top.load.connections == 7


@pytest.mark.parametrize(
    ("rest", "told"),
    [
        ("cpus = 0", "0.05"),
        ("shares = [1.0]", "less than 1"),
        ("shares = [0.5]\nrequests = 100", "`shares` are of a rate over time"),
        ("shares = [0.5]\nrate = 100", "`shares` is for workloads with"),
    ],
)
def test_what_makes_no_sense_is_refused(tmp_path: Path, rest: str, told: str) -> None:
    with pytest.raises(UsageProblem, match=told):
        expanded(tmp_path, rest)


def test_a_level_without_its_top_is_refused_with_what_helps(tmp_path: Path) -> None:
    with pytest.raises(UsageProblem, match="which is left out"):
        expanded(tmp_path, only=("a: 0.5 CPUs, at 60*",))


def test_a_server_that_somebody_else_runs_has_its_own_size(tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text(STUDY % SIZED, encoding="utf-8")
    written = document.read(tmp_path)
    aimed = targets.aimed(written, {"ws": "127.0.0.1:1"})
    study = targets.put(matrix.expand("s", aimed, command="c", seed=1), {"ws": "127.0.0.1:1"})
    assert [case.cpus for case in study.cases] == [None] * 4


def test_pinning_gives_each_whole_cpu() -> None:
    assert pinning.split([0, 1, 2], 2, 1).server == (0, 1)
