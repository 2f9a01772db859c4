"""`study.toml` of client libraries: what is accepted, and which scenarios it multiplies out to."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.lab.test_matrix import BOTS, expanded, written
from wiretrial.errors import UsageProblem
from wiretrial.plan import FixedPayload, Load
from wiretrial.studies import document, matrix, registry, targets

DRIVEN = """
title = "Which?"
question = "Which library costs least?"
subjects = ["raw-client", "libcurl-client:tuned"]
baseline = "raw-client"

[[workload]]
name = "page"
server = "nginx:tuned"
contract = "static"
path = "/"
protocol = ["http", "https"]
mode = ["kept", "fresh"]
iterations = [50, 2000]
repetitions = 3
warmup_iterations = 500

[[workload]]
name = "echo"
server = "uwebsockets"
contract = "ws-echo"
protocol = "ws"
subjects = ["raw-client"]

[quick]
iterations = 100
warmup_iterations = 10

[[provocation]]
name = "by-name"
title = "What does the name cost?"
question = "What does `localhost` cost?"
subjects = ["raw-client"]
trials = 3

[[provocation.workload]]
name = "by name"
server = "nginx:keepalive-100"
contract = "static"
protocol = "http"
host = "localhost"
ipv6 = ["refused", "silent"]
"""


def test_a_workload_with_a_server_has_drivers_for_subjects(tmp_path: Path) -> None:
    study = expanded(tmp_path, DRIVEN)
    # Two subjects x two protocols x two modes x two lengths, one more, and an A/A pair each.
    assert len(study.cases) == 2 * 2 * 2 * 2 + 1 + 2
    name = "libcurl-client:tuned: page, https, a new one each, 2,000 iterations"
    case = study.case(name)
    assert case.driving is not None
    assert case.driving.model_dump() == {
        "server": "nginx",
        "configuration": "tuned",
        "mode": "fresh",
        "payload": 0,
        "iterations": 2000,
        "repetitions": 3,
        "warmup": 500,
        "host": None,
        "ipv6": "refused",
    }
    assert (case.scenario.subject, case.scenario.configuration) == ("libcurl-client", "tuned")
    assert case.scenario.levels == {
        "workload": "page",
        "protocol": "https",
        "mode": "fresh",
        "iterations": 2000,
        "server_threads": 1,
    }
    assert (case.load.connections, case.load.requests_per_connection) == (1, 1)
    assert (case.requests, case.path, case.sources) == (6000, "/", ())
    assert study.case("raw-client: page, http, a kept connection, 50 iterations").load == Load(
        connections=1
    )
    assert study.baselines[0].startswith("raw-client: page")


def test_a_baseline_that_is_compared_with_nothing_is_refused(tmp_path: Path) -> None:
    """It may be a subject, or what a family's scenarios or levels are called."""
    written(tmp_path, DRIVEN.replace('baseline = "raw-client"', 'baseline = "row-client"'))
    with pytest.raises(UsageProblem) as told:
        registry.find(f"{tmp_path}/")
    line = told.value.line()
    assert str(tmp_path / document.DOCUMENT) in line
    assert "baseline = 'row-client' is not among what is compared" in line
    assert "did you mean raw-client?" in line
    assert "libcurl-client:tuned" in line
    levels = BOTS.replace(
        "[[workload]]", 'baseline = "JSON over WebSocket, lobby on"\n[[workload]]'
    )
    assert len(expanded(tmp_path, levels).baselines) == 8
    assert registry.find(f"{tmp_path}/").document.baseline == "JSON over WebSocket, lobby on"
    # One that a pattern leaves out is no mistake.
    assert expanded(tmp_path, DRIVEN, only=["libcurl*"]).baselines == ()


def test_a_driver_s_message_is_as_long_as_its_contract_s(tmp_path: Path) -> None:
    case = expanded(tmp_path, DRIVEN).case("raw-client: echo")
    assert case.driving is not None
    assert case.driving.payload == 20
    assert case.message.source == FixedPayload(base64="ISIjJCUmJygpKissLS4vMDEyMzQ=")


def test_quick_makes_a_driver_s_repetitions_shorter(tmp_path: Path) -> None:
    cases = [case for case in expanded(tmp_path, DRIVEN, quick=True).cases if case.driving]
    lengths = {(c.driving.iterations, c.driving.warmup) for c in cases if c.driving}
    assert lengths == {(50, 10), (100, 10)}


def test_a_provocation_is_a_small_study_of_its_own(tmp_path: Path) -> None:
    found = written(tmp_path, DRIVEN).provoking("by-name")
    study = matrix.expand("mine", found, command="again", seed=7)
    assert (study.title, study.trials) == ("What does the name cost?", 3)
    first, second, twin = study.cases
    assert [case.scenario.name for case in (first, second)] == [
        "raw-client: ::1 refuses",
        "raw-client: ::1 is silent",
    ]
    assert twin.scenario.twin_of == first.scenario.name
    assert second.driving is not None
    assert (second.driving.host, second.driving.ipv6) == ("localhost", "silent")
    assert second.driving.configuration == "keepalive-100"
    with pytest.raises(UsageProblem, match="has no artefact 'nagle'"):
        written(tmp_path, DRIVEN).provoking("nagle")


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('name = "echo"\n', 'name = "echo"\nconnections = 5\n', "`connections` is for workloads"),
        ('server = "uwebsockets"\n', "mode = 'fresh'\n", "`mode` is for workloads with client"),
        ('"static"\npath = "/"', '"rest"\npath = "/"', "a client driver can ask for"),
        ("mode = [", 'mode = ["new", ', "mode"),
        ('host = "localhost"\n', "", "`ipv6` is about a name: give `host`"),
        ("iterations = [50", "iterations = [0", "iterations"),
    ],
)
def test_what_makes_no_sense_of_a_driver_is_refused(
    tmp_path: Path, old: str, new: str, words: str
) -> None:
    assert old in DRIVEN
    with pytest.raises(UsageProblem) as told:
        written(tmp_path, DRIVEN.replace(old, new, 1))
    assert words in told.value.line()


def test_a_study_of_client_drivers_has_no_place_for_a_target(tmp_path: Path) -> None:
    with pytest.raises(UsageProblem) as told:
        targets.parse(["http://192.0.2.7:80"], written(tmp_path, DRIVEN))
    assert told.value.line() == (
        "--target takes the place of servers, and this study measures client libraries:"
        " leave it out"
    )
