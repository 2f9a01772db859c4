"""Studies over HTTP/3, for real: the reference server under each kind of load, beside HTTP/2."""

from __future__ import annotations

from pathlib import Path

from tests.lab.test_called import measured, nothing_left, study, verified_elsewhere
from wiretrial.engine import Engine
from wiretrial.report import html
from wiretrial.report.model import build as reported
from wiretrial.results import hdr

__all__ = ["nothing_left", "verified_elsewhere"]

SUBJECT = "reference-http3"

GRID = """
[[workload]]
name = "grid"
protocol = "https"
http = ["2", "3"]
contract = "static"
connections = 2
streams = [1, 4]
compare = ["http"]
trials = 1
"""

LOADS = """
[[workload]]
name = "at a rate"
protocol = "https"
http = "3"
contract = "http-echo"
payload = 2000
connections = 2
rate = 200
trials = 1

[[workload]]
name = "fresh"
protocol = "https"
http = "3"
contract = "static"
connections = 2
requests_per_connection = 1
trials = 1

[[workload]]
name = "held"
protocol = "https"
http = "3"
contract = "static"
connections = 20
hold = "50ms"
trials = 1
"""

SET_UP = """
[[workload]]
name = "set-up"
protocol = "https"
http = "3"
contract = "static"
connections = 2
requests_per_connection = 1
handshake = ["whole", "resumed", "early"]
compare = ["handshake"]
trials = 1
"""

UPLOADS = """
[[workload]]
name = "uploads"
protocol = "https"
http = "3"
contract = "http-echo"
connections = 1
congestion = ["new-reno", "bbr"]
trials = 1
"""


OVER_EITHER = """
[[workload]]
name = "uploads"
protocol = "https"
http = ["2", "3"]
contract = "http-echo"
connections = 1
congestion = "new-reno"
compare = ["http"]
trials = 1
"""


def test_versions_are_compared_and_the_report_tells_datagrams(
    engine: Engine, tmp_path: Path
) -> None:
    wanted = study(tmp_path, GRID, SUBJECT)
    trials = measured(wanted, engine, tmp_path)
    for trial in trials:
        version = trial.plan.target.http.version
        assert trial.start.http is not None
        assert trial.start.http.version == version
        assert (trial.summary.http3 is not None) is (version == "3")
        assert (trial.summary.http2 is not None) is (version == "2")
        assert trial.plan.load.depth == trial.scenario.levels["streams"]
        assert trial.subject is not None
        assert trial.subject.name == SUBJECT
    told = reported(trials, question=wanted.question, title=wanted.title, command="again")
    assert "Packets lost" in html.render(told)
    (facts,) = (one for one in told.facts if one.title == "Datagrams over HTTP/3")
    over_quic = {trial.scenario.name for trial in trials if trial.summary.http3}
    assert {row[0] for row in facts.rows} == over_quic


def test_each_kind_of_load_is_measured(engine: Engine, tmp_path: Path) -> None:
    trials = measured(study(tmp_path, LOADS, SUBJECT), engine, tmp_path)
    found = {trial.scenario.workload.partition(":")[0]: trial for trial in trials}
    assert set(found) == {"at a rate", "fresh", "held"}
    assert found["at a rate"].summary.histograms["response_time"]
    assert found["held"].summary.counters.ok == 20
    opened = hdr.decode(found["fresh"].summary.histograms["connect_time"]).count
    assert opened >= found["fresh"].summary.counters.ok


def test_handshakes_are_whole_resumed_and_early(engine: Engine, tmp_path: Path) -> None:
    trials = measured(study(tmp_path, SET_UP, f"{SUBJECT}:early"), engine, tmp_path)
    found = {str(trial.scenario.levels["handshake"]): trial.summary for trial in trials}
    resumed = {
        way: hdr.merge(filter(None, [summary.histograms.get("resumed_time")])).count
        for way, summary in found.items()
    }
    assert resumed["whole"] == 0
    assert resumed["resumed"] > 0
    early = {way: summary.http3.early_accepted for way, summary in found.items() if summary.http3}
    assert early["whole"] == early["resumed"] == 0
    assert early["early"] > 0


def test_the_congestion_control_is_the_one_that_was_asked_for(
    engine: Engine, tmp_path: Path
) -> None:
    trials = measured(study(tmp_path, UPLOADS, SUBJECT), engine, tmp_path)
    assert {trial.plan.target.http.congestion for trial in trials} == {"new-reno", "bbr"}


def test_over_tcp_both_sides_have_it_too_and_the_report_tells(
    engine: Engine, tmp_path: Path
) -> None:
    wanted = study(tmp_path, OVER_EITHER, SUBJECT)
    trials = measured(wanted, engine, tmp_path)
    for trial in trials:
        over_tcp = trial.plan.target.http.version == "2"
        # Every kernel has Reno, and tells it of the generator's connections.
        assert trial.start.congestion == ("reno" if over_tcp else None)
        assert trial.subject is not None
        assert trial.subject.congestion == "new-reno"
    told = reported(trials, question=wanted.question, title=wanted.title, command="again")
    (facts,) = (one for one in told.facts if one.title == "Congestion control")
    sides = {row[1:] for row in facts.rows}
    assert sides == {("reno (TCP)", "reno"), ("new-reno (QUIC)", "new-reno")}
