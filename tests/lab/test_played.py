"""`traffic = "shop.toml"` in a workload of a study: what becomes of the file."""

from __future__ import annotations

from pathlib import Path

import pytest

from wiretrial.errors import UsageProblem
from wiretrial.plan import ClosedLoop, OpenLoop
from wiretrial.studies import document, matrix, rates
from wiretrial.studies.fields import Knee
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


def test_a_study_of_a_package_finds_the_files_of_contracts(tmp_path: Path) -> None:
    folder = tmp_path / "_studies" / "which"
    folder.mkdir(parents=True)
    text = (STUDY % "").replace("shop.toml", "../../subjects/_contract/web/json.toml")
    (folder / "study.toml").write_text(text, encoding="utf-8")
    case, *_ = matrix.expand("s", document.read(folder), command="c", seed=1).cases
    assert case.scenario.file == "json.toml"
    assert case.traffic is not None
    assert [route.name for route in case.traffic.routes] == ["json"]


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


COMMON = """users = 8
[[workload]]
name = "at one rate"
traffic = "shop.toml"
rate = "common"
rate_of = "shop"
rate_share = 0.5
"""


def test_sessions_come_at_a_rate_that_all_sustain(tmp_path: Path) -> None:
    study = expanded(tmp_path, COMMON)
    (one, other, again) = study.stage(2)
    assert one.rate_from is not None
    assert one.rate_from.scenarios == ("a: shop", "b: shop")
    assert one.rate_from.share == 0.5
    assert one.rate_from == other.rate_from == again.rate_from
    assert again.scenario.twin_of == one.scenario.name
    assert isinstance(one.load.executor, OpenLoop)
    # Of the file: those who carried the top carry a part of it.
    assert one.load.connections == 5
    assert one.scenario.workload == "at one rate: sessions of shop.toml, at a common rate"
    assert one.scenario.levels["rate"] == "common"
    step = rates.at_rate(one, 120.0)
    assert step.scenario.levels["rate"] == 120.0
    assert step.load.executor == OpenLoop(rate=120.0)
    assert parse(study.document()) == study


def test_lower_loads_of_a_workload_decide_no_common_rate(tmp_path: Path) -> None:
    (one, *_) = (
        case
        for case in expanded(tmp_path, f"shares = [0.2]\n{COMMON}").cases
        if case.scenario.levels["workload"] == "at one rate"
    )
    assert one.rate_from is not None
    assert one.rate_from.scenarios == ("a: shop", "b: shop")


KNEE = 'users = 8\nknee = { objective = "50ms", first = 10, ceiling = 100, tolerance = 0.1 }'


def test_the_highest_rate_of_sessions_is_searched_for(tmp_path: Path) -> None:
    study = expanded(tmp_path, KNEE)
    one, other = study.cases
    assert [case.stage for case in study.cases] == [3, 3]
    assert (
        one.knee == other.knee == Knee(objective=50_000_000, first=10, ceiling=100, tolerance=0.1)
    )
    assert one.load.connections == 8
    assert one.scenario.workload == "shop: sessions of shop.toml, knee at p99 of 50 ms"
    step = rates.at_rate(one, 40.0)
    assert step.scenario.name == "a at 40/s"
    assert step.scenario.search == "a"
    assert step.load.executor == OpenLoop(rate=40.0)
    assert parse(study.document()) == study
    (tmp_path / "study.toml").write_text(STUDY % KNEE, encoding="utf-8")
    quick = matrix.expand("s", document.read(tmp_path), command="c", seed=1, quick=True)
    assert {case.knee.tolerance for case in quick.cases if case.knee} == {0.25}


def test_a_search_counts_the_replies_of_a_session(tmp_path: Path) -> None:
    case, *_ = expanded(tmp_path, KNEE).cases
    assert rates.replies_each(case) == 2
    assert case.knee is not None
    floor = rates.search(case.knee, 2 * 10**9, (), 1).floor
    assert rates.search(case.knee, 2 * 10**9, (), rates.replies_each(case)).floor == floor / 2
    talk, *_ = expanded(tmp_path, 'knee = { objective = "50ms" }', TALK % "ws").cases
    assert rates.replies_each(talk) == 1


THINKING = TOML.replace('file = "shop.hurl"', 'file = "shop.hurl"\nthink = "1s"')
UNIQUE = TOML.replace(
    'file = "shop.hurl"', 'file = "shop.hurl"\nfeed = {file = "rows.csv", order = "unique"}'
)


@pytest.mark.parametrize(
    ("rest", "toml", "words"),
    [
        ("rate = 5", TOML, "sessions per second are `arrivals`: write those instead"),
        ('rate = "common"', TOML, 'rate = "common" needs `rate_of`, a closed-loop workload'),
        ('rate_of = "shop"', TOML, '`rate_of` and `rate_share` are for rate = "common"'),
        ('rate = "common"\nrate_of = "shp"', TOML, "there is no such workload"),
        (f"{COMMON}knee = {{}}", TOML, "`rate` and `knee` exclude each other"),
        (f"{COMMON}arrivals = 5", TOML, "`rate` and `arrivals` exclude each other"),
        (f"{COMMON}shares = 0.5", TOML, "`rate` and `shares` exclude each other"),
        (
            f"arrivals = 5\n{COMMON}",
            TOML,
            "workload at one rate: rate_of = 'shop': it is no closed",
        ),
        (COMMON, TOML.replace("users = 5", 'arrivals = "5/s"'), "it is no closed loop"),
        (KNEE, THINKING, "workload shop: users of shop.toml think, so it is their number that"),
        (COMMON, THINKING, "workload at one rate: users of shop.toml think"),
        (KNEE, UNIQUE, "for sessions without an end"),
    ],
)
def test_a_rate_that_trials_cannot_decide_is_refused(
    tmp_path: Path, rest: str, toml: str, words: str
) -> None:
    (tmp_path / "rows.csv").write_text("row\n" + "1\n" * 10, encoding="utf-8")
    # The first workload has users of its own only where it needs them.
    rest = rest.replace("users = 8\n", "") if "arrivals" in rest + toml else rest
    with pytest.raises(UsageProblem) as problem:
        expanded(tmp_path, rest, toml)
    assert words in problem.value.line()
    assert "\n" not in problem.value.line()


def test_a_common_rate_is_of_the_same_requests(tmp_path: Path) -> None:
    other = COMMON.replace('traffic = "shop.toml"', 'traffic = "other.hurl"')
    (tmp_path / "other.hurl").write_text(
        "# @name home\nGET {{base}}/\nHTTP 200\n", encoding="utf-8"
    )
    with pytest.raises(UsageProblem) as problem:
        expanded(tmp_path, other)
    told = problem.value.line()
    assert "it counts sessions of list, item, and this one sessions of home" in told
    plain = """users = 8
[[workload]]
name = "echo"
protocol = "http"
contract = "http-echo"
rate = "common"
rate_of = "shop"
"""
    with pytest.raises(
        UsageProblem, match="it counts sessions of list, item, and this one messages"
    ):
        expanded(tmp_path, plain)


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
