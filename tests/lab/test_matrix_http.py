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


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ("streams = [1, 10]", '`streams` are of HTTP/2: write http = "2"'),
        ('http = ["1.1", "2"]\nstreams = 10', "`streams` are of HTTP/2"),
        ('http = "2"\nstreams = 10\ndepth = 2', "leave these out"),
        ('http = "3"', "http"),
    ],
)
def test_streams_that_make_no_sense_are_refused(tmp_path: Path, more: str, words: str) -> None:
    with pytest.raises(UsageProblem) as refused:
        written(tmp_path, f"{VERSIONS}{more}\n")
    assert words in refused.value.line()


def test_the_name_of_a_version_as_subjects_say_it_is_refused_with_the_words_to_write(
    tmp_path: Path,
) -> None:
    text = VERSIONS.replace('protocol = "http"', 'protocol = "h2"')
    with pytest.raises(UsageProblem) as refused:
        written(tmp_path, text)
    assert 'h2 is said as: protocol = "https" and http = "2"' in refused.value.line()


def test_websockets_over_http_2_are_refused_with_what_measures_them(tmp_path: Path) -> None:
    text = VERSIONS.replace('protocol = "http"', 'protocol = "ws"').replace(
        'contract = "static"', 'contract = "ws-echo"'
    )
    with pytest.raises(UsageProblem) as refused:
        written(tmp_path, f'{text}http = "2"\n')
    line = refused.value.line()
    assert "servers of ws and wss are compared by `wiretrial compare URL URL --http 2`" in line
    assert "\n" not in line
