"""`http` and `streams` of a study: its scenarios, and what subjects are verified over."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.lab.test_matrix import expanded, written
from wiretrial.errors import UsageProblem

VERSIONS = """
title = "t"
question = "q"
subjects = ["nginx"]
trials = 2

[[workload]]
name = "get"
protocol = "http"
contract = "static"
connections = [10, 100]
"""


def test_connections_and_streams_make_a_grid(tmp_path: Path) -> None:
    study = expanded(tmp_path, VERSIONS + 'http = "2"\nstreams = [1, 10]\n')
    grid = {
        case.scenario.name: (case.http.version, case.load.connections, case.load.depth)
        for case in study.cases
        if case.scenario.twin_of is None
    }
    assert grid == {
        "nginx: 10 connections, 1 stream on each": ("2", 10, 1),
        "nginx: 10 connections, 10 streams on each": ("2", 10, 10),
        "nginx: 100 connections, 1 stream on each": ("2", 100, 1),
        "nginx: 100 connections, 10 streams on each": ("2", 100, 10),
    }
    told = study.cases[1].scenario.workload
    assert told == "get: HTTP/2, 10 connections, 10 streams on each, closed loop"
    assert "depth" not in study.cases[1].scenario.levels
    assert {(case.protocol, case.spoken) for case in study.cases} == {("http", "h2c")}


def test_versions_of_http_are_compared_within_a_subject(tmp_path: Path) -> None:
    study = expanded(tmp_path, VERSIONS + 'http = ["1.1", "2"]\ncompare = ["http"]\n')
    told = {(case.scenario.label, case.http.version) for case in study.cases}
    assert told == {("HTTP/1.1", "1.1"), ("HTTP/2", "2")}
    groups = {case.scenario.group for case in study.cases if case.scenario.twin_of is None}
    assert groups == {"nginx, 10 connections", "nginx, 100 connections"}


SECURE = VERSIONS.replace('protocol = "http"', 'protocol = "https"')


def test_connections_and_streams_make_a_grid_over_http_3(tmp_path: Path) -> None:
    study = expanded(tmp_path, SECURE + 'http = "3"\nstreams = [1, 10]\n')
    cases = [case for case in study.cases if case.scenario.twin_of is None]
    assert {(case.load.connections, case.load.depth) for case in cases} == {
        *((10, 1), (10, 10), (100, 1), (100, 10))
    }
    assert {(case.http.version, case.protocol, case.spoken) for case in cases} == {
        ("3", "https", "h3")
    }
    told = study.cases[1].scenario.workload
    assert told == "get: HTTP/3, 10 connections, 10 streams on each, closed loop"


def test_http_2_and_http_3_are_compared_within_a_subject(tmp_path: Path) -> None:
    versions = 'http = ["2", "3"]\nstreams = [1, 10]\ncompare = ["http"]\n'
    study = expanded(tmp_path, SECURE + versions)
    told = {(case.scenario.label, case.http.version, case.spoken) for case in study.cases}
    assert told == {("HTTP/2", "2", "h2"), ("HTTP/3", "3", "h3")}
    groups = {case.scenario.group for case in study.cases if case.scenario.twin_of is None}
    assert groups == {
        f"nginx, {connections} connections, {streams} on each"
        for connections in (10, 100)
        for streams in ("1 stream", "10 streams")
    }


def test_header_profiles_are_compared_within_a_subject_and_a_version(tmp_path: Path) -> None:
    profiles = 'header_profile = ["constant", "partly", "unique"]\n'
    study = expanded(
        tmp_path, f'{VERSIONS}http = ["1.1", "2"]\n{profiles}compare = ["header_profile"]\n'
    )
    cases = [case for case in study.cases if case.scenario.twin_of is None]
    told = {(case.scenario.label, case.http.header_profile) for case in cases}
    assert told == {
        ("header profile constant", "constant"),
        ("header profile partly", "partly"),
        ("header profile unique", "unique"),
    }
    assert {case.scenario.group for case in cases} == {
        f"nginx, {version}, {connections} connections"
        for version in ("HTTP/1.1", "HTTP/2")
        for connections in (10, 100)
    }
    assert {case.scenario.levels["header_profile"] for case in cases} == {
        *("constant", "partly", "unique")
    }
    told_of = [case.scenario.workload for case in cases if case.http.version == "2"]
    begin = "get: HTTP/2, header profile unique, 10 connections"
    assert any(words.startswith(begin) for words in told_of)


def test_a_header_profile_is_in_what_is_sent_and_nowhere_else(tmp_path: Path) -> None:
    plain = expanded(tmp_path, VERSIONS)
    assert all("header_profile" not in case.scenario.levels for case in plain.cases)
    assert all("header_profile" not in case.http.model_dump() for case in plain.cases)
    one = expanded(tmp_path, VERSIONS + 'header_profile = "unique"\n')
    assert {case.http.model_dump()["header_profile"] for case in one.cases} == {"unique"}
    assert [case.scenario.name for case in one.cases] == [c.scenario.name for c in plain.cases]


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ("streams = [1, 10]", '`streams` are of HTTP/2 and HTTP/3: write http = "2" or http = "3"'),
        ('http = ["1.1", "2"]\nstreams = 10', "`streams` are of HTTP/2"),
        ('http = "2"\nstreams = 10\ndepth = 2', "leave these out"),
        ('http = "3"', '`http = "3"` is for https alone: QUIC is always encrypted'),
        ('http = "4"', "http"),
        ('header_profile = "some"', "header_profile"),
    ],
)
def test_streams_that_make_no_sense_are_refused(tmp_path: Path, more: str, words: str) -> None:
    with pytest.raises(UsageProblem) as refused:
        written(tmp_path, f"{VERSIONS}{more}\n")
    assert words in refused.value.line()


def test_header_profiles_of_other_protocols_are_refused(tmp_path: Path) -> None:
    text = VERSIONS.replace('protocol = "http"', 'protocol = "ws"').replace("static", "ws-echo")
    with pytest.raises(UsageProblem) as refused:
        written(tmp_path, f'{text}header_profile = "unique"\n')
    assert "`header_profile` is for http and https" in refused.value.line()


@pytest.mark.parametrize(("name", "version"), [("h2", "2"), ("h3", "3")])
def test_the_name_of_a_version_as_subjects_say_it_is_refused_with_the_words_to_write(
    tmp_path: Path, name: str, version: str
) -> None:
    text = VERSIONS.replace('protocol = "http"', f'protocol = "{name}"')
    with pytest.raises(UsageProblem) as refused:
        written(tmp_path, text)
    said = f'{name} is said as: protocol = "https" and http = "{version}"'
    assert said in refused.value.line()


def test_websockets_over_http_2_are_refused_with_what_measures_them(tmp_path: Path) -> None:
    text = VERSIONS.replace('protocol = "http"', 'protocol = "ws"').replace(
        'contract = "static"', 'contract = "ws-echo"'
    )
    with pytest.raises(UsageProblem) as refused:
        written(tmp_path, f'{text}http = "2"\n')
    line = refused.value.line()
    assert "servers of ws and wss are compared by `wiretrial compare URL URL --http 2`" in line
    assert "\n" not in line
