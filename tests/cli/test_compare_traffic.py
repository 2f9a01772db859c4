"""`compare --traffic FILE`: the same sessions to each server, told apart route by route."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.cli.test_load_traffic import ROUTES, Start, start, write
from tests.cli.test_runs import MEASURED, results_of
from wiretrial.errors import EXIT_GOOD, EXIT_INVALID

__all__ = ["start"]

BRIEFLY = ("-d", "400ms", "--warmup", "100ms", "--seed", "1", "-c", "2")


def test_each_route_is_compared(wiretrial: Run, start: Start, tmp_path: Path) -> None:
    write(tmp_path, 1, '[load]\nusers = 5\n[goal]\nerrors = "< 1%"\n')
    quick, slow = (f"http://127.0.0.1:{start(*more)}" for more in ((), ("--item-ms", "20")))
    done = wiretrial(
        "compare", "--traffic", "shop.toml", quick, f"{slow}/", *BRIEFLY, "--trials", "3"
    )
    assert done.returncode in MEASURED, done.stderr
    first = done.stderr.splitlines()[0]
    assert first == (
        "sends shop.toml, 2 users: 4 routes in sessions of 1 flow; every reply is checked"
    )
    trials = results_of(tmp_path).trials()
    assert {trial.plan.target.url for trial in trials} == {f"{quick}/", f"{slow}/"}
    for trial in trials:
        assert trial.start.traffic is not None
        assert trial.start.traffic.routes == ROUTES
        assert trial.plan.load.connections == 2
        assert trial.scenario.file == "shop.toml"
        assert [str(goal) for goal in trial.scenario.goals] == ["errors < 1%"]
        assert not any(trial.summary.counters.errors.values())
    answer = " ".join(done.stdout.split())
    assert "lowest route: item" in answer
    report = wiretrial("report", *map(str, tmp_path.glob("results/*")), "--format", "markdown")
    for route in ROUTES:
        assert report.stdout.count(f"| {route} | http") == 2
    assert "as a multiple of" in report.stdout
    gate = wiretrial("gate", *map(str, tmp_path.glob("results/*")))
    assert gate.returncode in (EXIT_GOOD, EXIT_INVALID), gate.stderr
    assert gate.stdout.count("errors < 1%") == 2


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (("http://127.0.0.1:1", "--payload", "5"), "--payload is of one message"),
        (("ws://127.0.0.1:1",), "unknown scheme"),
        (("reference", "--protocol", "ws"), "traffic goes over http and https"),
        (("http://127.0.0.1:1", "--protocol", "http"), "--protocol is for subjects"),
    ],
)
def test_what_is_at_odds_with_a_file_is_refused(
    wiretrial: Run, tmp_path: Path, flags: tuple[str, ...], words: str
) -> None:
    write(tmp_path, 1)
    done = wiretrial("compare", "--traffic", "shop.toml", *flags)
    assert done.returncode == 2
    assert words in done.stderr
    assert "Traceback" not in done.stderr


def test_a_variable_is_of_a_file(wiretrial: Run) -> None:
    done = wiretrial("compare", "http://127.0.0.1:1/", "--variable", "a=b")
    assert done.returncode == 2
    assert "--variable is of traffic files" in done.stderr


def test_a_study_with_traffic_has_a_table_per_route(
    wiretrial: Run, start: Start, tmp_path: Path
) -> None:
    write(tmp_path, 1, "[load]\nusers = 2\n")
    (tmp_path / "study.toml").write_text(STUDY, encoding="utf-8")
    target = f"127.0.0.1:{start()}"
    done = wiretrial("study", "run", "./study.toml", "--target", target, "--seed", "1")
    assert done.returncode in MEASURED, done.stderr
    assert "lowest route: " in " ".join(done.stdout.split())
    (result,) = tmp_path.glob("results/*")
    for form in ("text", "markdown", "compact"):
        shown = wiretrial("report", str(result), "--format", form).stdout
        for words in ("Routes", "Sessions", *ROUTES):
            assert words in shown, form
    page = (result / "report.html").read_text(encoding="utf-8")
    assert "<h2>Routes</h2>" in page


STUDY = """\
title = "Shop"
question = "How fast is the shop?"
subjects = ["reference"]
trials = 1
duration = "300ms"
warmup = "100ms"
twin = "reference"
[[workload]]
name = "shop"
traffic = "shop.toml"
"""
