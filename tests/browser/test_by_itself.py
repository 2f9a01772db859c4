"""A real browser that measures by itself, through the front, in each version and transport."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from conformance.process import Process
from wiretrial.engine import Engine
from wiretrial.results import hdr
from wiretrial.results.model import Trial
from wiretrial.results.store import ResultsFolder
from wiretrial.studies import runner, ways
from wiretrial.studies.events import TrialFailed, Unavailable
from wiretrial.studies.spec import Study
from wiretrial.studies.ways import Target

pytestmark = pytest.mark.alone

REQUESTS = 24
MOST_CONNECTIONS = 6
DELAY = "100ms"
WAYS = (ways.SAME, ways.UNIQUE, ways.UNIQUE_2, ways.WEBSOCKET, ways.SOCKET_IO)


@pytest.fixture(scope="module")
def study(engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Study]:
    """The ways to ask a server that takes its time: so it is seen who sends what meanwhile."""
    line = [str(engine.binary), "respond", "--http", "127.0.0.1:0", "--delay", DELAY]
    with Process(line, log=tmp_path_factory.mktemp("server") / "log") as server:
        address = server.hear(r"ready http=(\S+)")
        target = Target.of_url(
            f"http://{address}", "/messages/testing", ("fetch", "websocket", "socket.io")
        )
        made = ways.study(
            target,
            "chromium",
            requests=REQUESTS,
            over=["loopback"],
            trials=1,
            seed=7,
            command="-",
            ways=WAYS,
        )
        at_once = tuple(case for case in made.cases if case.requests == REQUESTS)
        yield made.model_copy(update={"cases": at_once})


@pytest.fixture(scope="module")
def trials(
    study: Study,
    engine: Engine,
    chromium_binary: str,
    tmp_path_factory: pytest.TempPathFactory,
) -> dict[str, Trial]:
    """One trial of each way, by label."""
    assert chromium_binary
    base: Path = tmp_path_factory.mktemp("browser")
    folder = ResultsFolder.create(base, study.name, study.model_dump_json(by_alias=True))
    events = list(runner.run(study, folder, engine))
    assert [e for e in events if isinstance(e, TrialFailed | Unavailable)] == []
    return {trial.scenario.label or "": trial for trial in folder.trials()}


def test_every_way_answers_every_request(trials: dict[str, Trial]) -> None:
    assert set(trials) == {way.label for way in WAYS}
    for trial in trials.values():
        counters = trial.summary.counters
        assert (counters.sent, counters.ok, counters.errors) == (REQUESTS, REQUESTS, {})
        assert trial.judgement.verdict == "valid"
        assert trial.browsed is not None
        assert trial.browsed.program.startswith("Chromium ")
        assert trial.browsed.front.startswith("nginx ")


def test_the_full_distribution_is_kept_and_set_up_apart(trials: dict[str, Trial]) -> None:
    for trial in trials.values():
        times = hdr.decode(trial.summary.histograms["service_time"])
        assert times.count == REQUESTS
        # No request lasts longer than all of them together.
        elapsed = trial.summary.end_ns - trial.summary.first_send_ns
        assert times.max <= elapsed * 1.001
        assert hdr.decode(trial.summary.histograms["connect_time"]).count >= 1


def test_the_browser_speaks_what_it_was_asked_to(trials: dict[str, Trial]) -> None:
    spoken = {label: trial.browsed.protocol for label, trial in trials.items() if trial.browsed}
    assert spoken == {
        ways.SAME.label: "http/1.1",
        ways.UNIQUE.label: "http/1.1",
        ways.UNIQUE_2.label: "h2",
        ways.WEBSOCKET.label: "websocket",
        ways.SOCKET_IO.label: "websocket",
    }


def test_the_browser_s_limit_is_seen(trials: dict[str, Trial]) -> None:
    seen = {label: trial.browsed for label, trial in trials.items()}
    unique = seen[ways.UNIQUE.label]
    assert unique is not None
    assert 1 <= unique.under_way <= MOST_CONNECTIONS
    assert 1 <= unique.connections <= MOST_CONNECTIONS
    multiplexed = seen[ways.UNIQUE_2.label]
    assert multiplexed is not None
    assert multiplexed.under_way > MOST_CONNECTIONS
    socket = seen[ways.WEBSOCKET.label]
    assert socket is not None
    assert socket.under_way > MOST_CONNECTIONS
