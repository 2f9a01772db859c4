"""`traffic = "shop.toml"` in a workload of a study: what becomes of the file."""

from __future__ import annotations

from pathlib import Path

import pytest

from wiretrial.errors import UsageProblem
from wiretrial.plan import ClosedLoop, OpenLoop
from wiretrial.studies import document, matrix
from wiretrial.studies.spec import Study, parse

HURL = """\
# @name list
GET {{base}}/items?page={{page}}
HTTP 200

# @name item
GET {{base}}/items/7
HTTP 200
"""
TOML = """\
[[flow]]
file = "shop.hurl"
[load]
users = 5
[goal]
"item.p99" = "< 50ms"
[headers]
Accept = "application/json"
[variables]
page = 1
"""
STUDY = """\
title = "t"
question = "q?"
subjects = ["a", "b"]
[[workload]]
name = "shop"
traffic = "shop.toml"
%s
"""


def expanded(folder: Path, rest: str = "", toml: str = TOML) -> Study:
    (folder / "shop.hurl").write_text(HURL, encoding="utf-8")
    (folder / "shop.toml").write_text(toml, encoding="utf-8")
    (folder / "study.toml").write_text(STUDY % rest, encoding="utf-8")
    return matrix.expand("s", document.read(folder), command="c", seed=1)


def test_each_subject_gets_the_sessions_of_the_file(tmp_path: Path) -> None:
    study = expanded(tmp_path, 'variables = {page = "3"}')
    one, other, twin = study.cases
    assert twin.scenario.twin_of
    for case in (one, other):
        assert case.contract == "traffic"
        assert case.traffic is not None
        assert [route.name for route in case.traffic.routes] == ["list", "item"]
        assert case.load.connections == 5
        assert isinstance(case.load.executor, ClosedLoop)
        assert case.http.headers == (("Accept", "application/json"),)
        assert case.scenario.file == "shop.toml"
        assert [str(goal) for goal in case.scenario.goals] == ["item.p99 < 50ms"]
    assert "page=3" in str(one.traffic)
    assert parse(study.document()) == study


TALK = """\
base = "%s://127.0.0.1:80"
[[flow]]
url = "{{base}}/"
step = [{send = '["hi"]', reply = {json = {"$[0]" = "hi"}}}]
"""


@pytest.mark.parametrize("scheme", ["ws", "socketio+ws"])
def test_conversations_go_over_what_their_file_says(tmp_path: Path, scheme: str) -> None:
    case = expanded(tmp_path, toml=TALK % scheme).cases[0]
    assert (case.protocol, case.path) == (scheme, "/")
    assert case.traffic is not None
    assert [line.name for line in case.traffic.lines] == ["open /", "hi", "close"]
    over = expanded(tmp_path, f'protocol = "{scheme}s"', TALK % scheme).cases[0].protocol
    assert over == f"{scheme}s"
    with pytest.raises(UsageProblem) as problem:
        expanded(tmp_path, 'protocol = "http"', TALK % scheme)
    assert f"shop.toml goes over {scheme} and {scheme}s, and not over http" in problem.value.line()


def test_users_and_arrivals_are_levels(tmp_path: Path) -> None:
    users = expanded(tmp_path, "users = [2, 8]").cases
    assert {case.load.connections for case in users} == {2, 8}
    assert {case.scenario.levels["users"] for case in users} == {2, 8}
    rates = expanded(tmp_path, "arrivals = [10, 20]").cases
    executors = [case.load.executor for case in rates]
    assert {one.rate for one in executors if isinstance(one, OpenLoop)} == {10, 20}


def test_users_of_a_study_share_the_pool_of_the_file(tmp_path: Path) -> None:
    toml = TOML.replace("users = 5", "users = 5\nconnections = {pool = 2}")
    case, *_ = expanded(tmp_path, "users = 9", toml).cases
    assert (case.load.connections, case.load.users) == (2, 9)
    assert "9 users on 2 shared connections" in case.scenario.workload
    with pytest.raises(UsageProblem, match="a pool of 2 connections for 1 users"):
        expanded(tmp_path, "users = 1", toml)


def test_stages_say_how_long(tmp_path: Path) -> None:
    toml = TOML.replace("users = 5", 'stages = [{for = "2s", to = 4}, {for = "3s", to = 0}]')
    case = expanded(tmp_path, toml=toml).cases[0]
    assert case.duration_ns == 5_000_000_000
    assert case.traffic is not None
    assert len(case.load.stages) == 2
    assert expanded(tmp_path, 'duration = "1s"', toml).cases[0].duration_ns == 1_000_000_000


def test_a_goal_makes_no_other_study(tmp_path: Path) -> None:
    digests = {expanded(tmp_path, toml=TOML.replace("50ms", ms)).digest() for ms in ("1ms", "2ms")}
    assert len(digests) == 1
    other = expanded(tmp_path, 'variables = {page = "2"}').digest()
    assert other not in digests


@pytest.mark.parametrize(
    ("rest", "words"),
    [
        ("payload = 5", "leave contract, path and payload out"),
        ("depth = 2", "`depth` is for workloads"),
        ('protocol = "tcp"', "traffic is not kept over tcp"),
        ('protocol = "ws"', "shop.toml goes over http and https, and not over ws"),
    ],
)
def test_what_makes_no_sense_is_refused(tmp_path: Path, rest: str, words: str) -> None:
    with pytest.raises(UsageProblem) as problem:
        expanded(tmp_path, rest)
    assert words in problem.value.line()


def test_a_mistake_in_the_file_is_told_with_its_place(tmp_path: Path) -> None:
    with pytest.raises(UsageProblem) as problem:
        expanded(tmp_path, toml=TOML.replace("page = 1", "pge = 1"))
    assert "shop.hurl:2:" in problem.value.line()
