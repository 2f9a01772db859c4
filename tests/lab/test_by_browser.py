"""`study.toml` where a browser asks: which scenarios its ways come to, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.lab.test_matrix import expanded, written
from wiretrial.engine import Engine
from wiretrial.errors import UsageProblem
from wiretrial.studies import prepare, ways

ASKED = """
title = "Which?"
question = "Which way is quickest?"
subjects = ["reference"]

[[workload]]
name = "page, one by one"
family = "page"
label = "{subject}"
browser = "chromium"
contract = "rpc"
way = "HTTP/1.1, a URL each"
pattern = "one by one"
requests = 20
compare = ["way"]
environment = ["loopback", "vpn"]

[[workload]]
name = "page, at once"
family = "page"
label = "{subject}"
browser = "chromium"
contract = "rpc"
way = ["HTTP/1.1, one URL", "HTTP/1.1, a URL each", "HTTP/2, one URL, no-store", "Socket.IO"]
compare = ["way"]
baseline = "HTTP/1.1, a URL each"
environment = ["loopback", "vpn"]
quick = { way = ["Socket.IO"], requests = [10] }
"""


def test_each_way_is_a_scenario_beside_the_others_of_its_place(tmp_path: Path) -> None:
    study = expanded(tmp_path, ASKED)
    near = [
        case
        for case in study.cases
        if case.scenario.group == "page, reference, at once, 50 messages, over loopback"
    ]
    assert [case.scenario.label for case in near] == [
        way.label for way in (ways.SAME, ways.UNIQUE, ways.NO_STORE_2, ways.SOCKET_IO)
    ]
    assert [case.scenario.protocol for case in near] == ["http", "http", "http/2", "socketio+ws"]
    # What the front asks the subject for, without TLS.
    assert [case.protocol for case in near] == ["http", "http", "http", "socketio+ws"]
    assert {case.path for case in near} == {"/messages/testing"}
    assert {case.scenario.baseline for case in near} == {None, near[1].scenario.name}
    asked = near[2].browsing
    assert asked is not None
    assert (asked.http, asked.urls, asked.cache) == ("2", "same", "no-store")
    assert (asked.pattern, near[2].requests) == ("parallel", 50)


def test_one_by_one_crosses_the_link_once_for_each(tmp_path: Path) -> None:
    floors = {
        (case.scenario.levels["pattern"], case.scenario.environment): case.scenario.floor_formula
        for case in expanded(tmp_path, ASKED).cases
    }
    assert floors["one by one", "vpn"] == "20 RTT"
    assert floors["at once", "vpn"] == "1 RTT"
    assert floors["at once", "loopback"] is None


def test_quick_may_have_fewer_ways(tmp_path: Path) -> None:
    study = expanded(tmp_path, ASKED, quick=True)
    at_once = {
        (case.scenario.label, case.requests)
        for case in study.cases
        if case.scenario.levels["pattern"] == "at once"
    }
    assert at_once == {("Socket.IO", 10)}


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ('way = "HTTP/1.1, a URL each"', 'way = "HTTP/3"', "no way 'HTTP/3'"),
        ('way = ["Socket.IO"]', 'way = ["HTTP/3"]', "no way 'HTTP/3'"),
        ("requests = 20", 'requests = 20\nprotocol = "http"', "leave `protocol` out"),
        ("requests = 20", "requests = 20\nconnections = 4", "`connections` is for workloads"),
        ('contract = "rpc"', 'contract = "ws-echo"', "ws-echo is not kept over http"),
    ],
)
def test_what_makes_no_sense_of_a_browser_is_refused(
    tmp_path: Path, old: str, new: str, told: str
) -> None:
    assert old in ASKED
    with pytest.raises(UsageProblem, match=told):
        written(tmp_path, ASKED.replace(old, new))


def test_without_the_browser_its_scenarios_alone_are_left_out(
    tmp_path: Path, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = expanded(tmp_path, ASKED.replace("[[workload]]", LOADED, 1))
    monkeypatch.setattr("wiretrial.browser.programs.BINARIES", {"chromium": ()})
    refused = prepare.no_browser(study.cases, engine)
    assert refused.keys() == {case.scenario.name for case in study.cases if case.browsing}
    (why,) = {words.partition(" is not measured: ")[2] for words in refused.values()}
    assert why == "chromium is not installed: install Debian's chromium"


LOADED = """[[workload]]
name = "load"
protocol = "http"
contract = "rpc"

[[workload]]"""
