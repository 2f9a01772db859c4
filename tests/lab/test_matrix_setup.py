"""Handshakes, congestion control, layouts and labels that say factors: what they multiply to."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.lab.test_matrix import expanded, written
from wiretrial.errors import UsageProblem
from wiretrial.plan import SequencePayload
from wiretrial.studies import calibration, floors
from wiretrial.studies.spec import Case, Study
from wiretrial.subjects.spec import Protocol

SETUP = """
title = "t"
question = "q"
subjects = ["one"]
trials = 2

[[workload]]
name = "fresh"
protocol = "https"
contract = "static"
connections = 8
requests_per_connection = 1
"""
OVER_3 = 'http = "3"\n'


def plain(study: Study) -> list[Case]:
    return [case for case in study.cases if case.scenario.twin_of is None]


def test_each_way_of_a_handshake_is_a_scenario(tmp_path: Path) -> None:
    ways = 'handshake = ["whole", "resumed", "early"]\ncompare = ["handshake"]\n'
    study = expanded(tmp_path, SETUP + OVER_3 + ways)
    found = {
        case.scenario.label: (case.tls.resumption, case.http.early_data) for case in plain(study)
    }
    assert found == {
        "whole handshakes": (False, False),
        "resumed sessions": (True, False),
        "early data": (True, True),
    }
    (group,) = {case.scenario.group for case in plain(study)}
    assert group == "fresh, one"
    told = {case.scenario.workload for case in plain(study)}
    begin = "fresh: HTTP/3, 8 connections, depth 1, one at a time, 1 per connection"
    assert told == {
        f"{begin}, whole handshakes, closed loop",
        f"{begin}, resumed sessions, closed loop",
        f"{begin}, early data, closed loop",
    }


def test_whose_congestion_control_it_is_stands_in_what_is_sent(tmp_path: Path) -> None:
    study = expanded(tmp_path, SETUP + OVER_3 + 'congestion = ["cubic", "bbr"]\n')
    found = {case.scenario.name: case.http.congestion for case in plain(study)}
    assert found == {
        "one: congestion control cubic": "cubic",
        "one: congestion control bbr": "bbr",
    }


@pytest.mark.parametrize("more", ["", 'http = ["1.1", "2", "3"]\n'])
def test_congestion_control_is_of_tcp_too(tmp_path: Path, more: str) -> None:
    study = expanded(tmp_path, f'{SETUP}{more}congestion = "new-reno"\n')
    assert {case.http.congestion for case in plain(study)} == {"new-reno"}
    # One for all tells no scenario apart.
    assert not any("new-reno" in case.scenario.name for case in plain(study))


def test_byte_streams_have_congestion_control_as_well(tmp_path: Path) -> None:
    text = SETUP.replace('"https"', '"tcp"').replace('"static"', '"raw-echo"')
    text = text.replace("requests_per_connection = 1\n", 'congestion = ["cubic", "bbr"]\n')
    found = {case.http.congestion for case in plain(expanded(tmp_path, text))}
    assert found == {"cubic", "bbr"}


def test_a_study_that_says_nothing_of_either_is_what_it_was(tmp_path: Path) -> None:
    (case,) = plain(expanded(tmp_path, SETUP + OVER_3))
    assert not {"handshake", "congestion"} & case.scenario.levels.keys()
    assert not {"early_data", "congestion"} & case.http.model_dump().keys()
    assert case.tls.resumption


def test_early_data_waits_for_no_set_up(tmp_path: Path) -> None:
    far = 'environment = "broadband-far"\nrequests = 80\n'
    ways = 'handshake = ["resumed", "early"]\n'
    resumed, early = plain(expanded(tmp_path, SETUP + OVER_3 + far + ways))
    assert floors.round_trips(resumed) == 2
    assert floors.round_trips(early) == 1


@pytest.mark.parametrize(
    ("protocol", "trips"),
    [("http", 1), ("https", 2), ("h3", 1), ("grpc", 2), ("grpcs", 3), ("wss", 3)],
)
def test_a_set_up_crosses_the_path_so_often(protocol: Protocol, trips: int) -> None:
    assert floors.setup_round_trips(protocol) == trips


def test_the_generator_s_ceiling_is_that_of_the_same_handshakes(tmp_path: Path) -> None:
    study = expanded(tmp_path, SETUP + 'handshake = ["whole", "resumed"]\n')
    whole, resumed = plain(study)
    (usual,) = plain(expanded(tmp_path, SETUP))
    assert calibration.load_of(study, resumed) == calibration.load_of(study, usual)
    assert calibration.load_of(study, whole) != calibration.load_of(study, usual)


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ('handshake = "early"', 'handshake = "early" is of requests over HTTP/3'),
        ('http = ["2", "3"]\nhandshake = ["whole", "early"]', "is of requests over HTTP/3"),
        ('handshake = "cold"', "handshake"),
        ('congestion = "vegas"', "congestion"),
    ],
)
def test_what_makes_no_sense_is_refused(tmp_path: Path, more: str, words: str) -> None:
    with pytest.raises(UsageProblem) as refused:
        written(tmp_path, f"{SETUP}{more}\n")
    assert words in refused.value.line()


def test_handshakes_without_tls_are_refused(tmp_path: Path) -> None:
    text = SETUP.replace('"https"', '"http"')
    with pytest.raises(UsageProblem) as refused:
        written(tmp_path, f'{text}handshake = "whole"\n')
    assert "`handshake` is of TLS" in refused.value.line()


def test_a_rate_is_said_as_it_is_written(tmp_path: Path) -> None:
    text = SETUP.replace("requests_per_connection = 1", "rate = [0.5, 1000, 25000]")
    names = [case.scenario.name for case in plain(expanded(tmp_path, text))]
    assert names == ["one: 0.5/s", "one: 1,000/s", "one: 25,000/s"]


LAYOUTS = """
title = "t"
question = "q"
subjects = ["one", "two:tuned"]
trials = 2
baseline = "{subject}, HTTP/1.1, 32 x 1"

[[workload]]
name = "old"
family = "layouts"
label = "{subject}, HTTP/1.1, {connections} x {depth}"
protocol = "https"
contract = "static"
path = "/bytes/{payload}"
payload = [64, 4096]
connections = 32

[[workload]]
name = "new"
family = "layouts"
label = "{subject}, HTTP/{http}, {connections} x {streams}"
protocol = "https"
http = ["2", "3"]
contract = "static"
path = "/bytes/{payload}"
payload = [64, 4096]
connections = 4
streams = 8
environment = ["loopback", "vpn"]
quick = { environment = "loopback" }
"""


def test_what_a_label_says_is_compared_within_a_family(tmp_path: Path) -> None:
    study = expanded(tmp_path, LAYOUTS)
    groups: dict[str, set[str | None]] = {}
    for case in plain(study):
        groups.setdefault(case.scenario.group, set()).add(case.scenario.label)
    rows = {
        f"{subject}, {row}"
        for subject in ("one", "two:tuned")
        for row in ("HTTP/1.1, 32 x 1", "HTTP/2, 4 x 8", "HTTP/3, 4 x 8")
    }
    far = {row for row in rows if "1.1" not in row}
    assert groups == {
        "layouts, 64 bytes, over loopback": rows,
        "layouts, 4,096 bytes, over loopback": rows,
        "layouts, 64 bytes, over vpn": far,
        "layouts, 4,096 bytes, over vpn": far,
    }
    assert {case.load.connections * case.load.depth for case in plain(study)} == {32}
    case = study.case("two:tuned, HTTP/3, 4 x 8: layouts, 64 bytes, over loopback")
    assert case.scenario.levels["streams"] == 8
    assert case.scenario.baseline == "two:tuned, HTTP/1.1, 32 x 1: layouts, 64 bytes, over loopback"


PAIRS = SETUP.replace("connections = 8\nrequests_per_connection = 1\n", "")


def test_layouts_are_pairs_of_connections_and_streams(tmp_path: Path) -> None:
    pairs = 'http = ["2", "3"]\nlayout = ["32 x 1", "4 x 8", "1 x 32"]\n'
    study = expanded(tmp_path, f'{PAIRS}{pairs}compare = ["layout"]\n')
    found = {
        (case.scenario.label, case.http.version, case.load.connections, case.load.depth)
        for case in plain(study)
    }
    assert found == {
        (f"{many} x {each}", version, many, each)
        for version in ("2", "3")
        for many, each in ((32, 1), (4, 8), (1, 32))
    }
    levels = study.cases[1].scenario.levels
    told = (levels["layout"], levels["connections"], levels["streams"])
    assert told in {("32 x 1", 32, 1), ("4 x 8", 4, 8), ("1 x 32", 1, 32)}
    described = {case.scenario.workload for case in plain(study)}
    assert "fresh: HTTP/3, 4 connections, 8 streams on each, closed loop" in described
    assert len(described) == 6


def test_without_streams_a_layout_is_of_connections(tmp_path: Path) -> None:
    (case,) = plain(expanded(tmp_path, f'{PAIRS}layout = "32 x 1"\n'))
    assert (case.load.connections, case.load.depth, case.load.pack) == (32, 1, 1)
    assert "streams" not in case.scenario.levels
    assert case.scenario.levels["depth"] == 1


def test_calls_have_layouts_too(tmp_path: Path) -> None:
    text = PAIRS.replace('"https"', '"grpcs"').replace('"static"', '"grpc-echo"')
    (case,) = plain(expanded(tmp_path, f'{text}layout = "4 x 8"\n'))
    assert (case.load.connections, case.load.depth) == (4, 8)


def test_a_quick_run_keeps_the_first_layout_and_the_last(tmp_path: Path) -> None:
    pairs = 'http = "2"\nlayout = ["32 x 1", "4 x 8", "1 x 32"]\n'
    study = expanded(tmp_path, PAIRS + pairs, quick=True)
    assert [case.scenario.levels["layout"] for case in plain(study)] == ["32 x 1", "1 x 32"]


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ('layout = "4x8"', "layout"),
        ('layout = "0 x 8"', "layout"),
        ('layout = "4 x 8"', "a `layout` of several streams is of HTTP/2 and HTTP/3"),
        ('http = ["1.1", "2"]\nlayout = ["32 x 1", "4 x 8"]', "a `layout` of several streams"),
        ('layout = "4 x 1"\nconnections = 4', "`layout` takes the place of `connections`"),
        ('http = "2"\nlayout = "4 x 8"\nstreams = 8', "leave these out"),
        ('layout = "4 x 1"\nhold = "1s"', "`layout` is for workloads with"),
    ],
)
def test_layouts_that_make_no_sense_are_refused(tmp_path: Path, more: str, words: str) -> None:
    with pytest.raises(UsageProblem) as refused:
        written(tmp_path, f"{PAIRS}{more}\n")
    assert words in refused.value.line()


def test_a_path_asks_for_so_many_bytes(tmp_path: Path) -> None:
    study = expanded(tmp_path, LAYOUTS)
    assert {case.path for case in study.cases} == {"/bytes/64", "/bytes/4096"}
    assert not any(isinstance(case.message.source, SequencePayload) for case in study.cases)


def test_a_quick_run_may_leave_environments_out(tmp_path: Path) -> None:
    quick = expanded(tmp_path, LAYOUTS, quick=True)
    assert {case.scenario.environment for case in quick.cases} == {"loopback"}


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("{depth}", "{streams}", "`{streams}` in `label` is no factor that this workload has"),
        ("{streams}", "{depth}", "`{depth}` in `label` is no factor"),
        ("{http}, {connections}", "{sort}, {connections}", "`{sort}` in `label` is no factor"),
        ("payload = [64, 4096]\n", "", "write `payload`, too"),
        ("payload = [64, 4096]\n", 'payload = "json"\n', "`{payload}` in `path` is a number"),
    ],
)
def test_what_stands_for_nothing_is_refused(tmp_path: Path, old: str, new: str, words: str) -> None:
    assert old in LAYOUTS
    with pytest.raises(UsageProblem) as refused:
        written(tmp_path, LAYOUTS.replace(old, new, 1))
    assert words in refused.value.line()
