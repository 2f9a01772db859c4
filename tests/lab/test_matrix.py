"""`study.toml`: what is accepted, and which scenarios it multiplies out to."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from wiretrial.errors import UsageProblem
from wiretrial.plan import (
    AfterResponse,
    ClosedLoop,
    FixedContent,
    MatchingContent,
    OpenLoop,
    SequencePayload,
)
from wiretrial.studies import document, estimate, matrix
from wiretrial.studies.document import Document
from wiretrial.studies.spec import Case, Study

GOOD = """
title = "Which?"
question = "Which of the two is faster?"
subjects = ["one", "two:tuned"]
trials = 4
duration = "2s"
warmup = "500ms"

[[workload]]
name = "echo"
protocol = "ws"
contract = "ws-echo"
payload = [20, 1024]
connections = [10, 100, 1000]

[[workload]]
name = "steady"
protocol = "ws"
contract = "ws-echo"
rate = "common"
rate_of = "echo"

[[workload]]
name = "knee"
protocol = "ws"
contract = "ws-echo"
knee = { objective = "5ms" }

[quick]
trials = 2
duration = "1s"
levels = 2
"""


def written(folder: Path, text: str) -> Document:
    path = folder / document.DOCUMENT
    path.write_text(text, encoding="utf-8")
    return document.read(folder)


def expanded(folder: Path, text: str = GOOD, **options: Any) -> Study:
    return matrix.expand("mine", written(folder, text), command="again", seed=7, **options)


def test_every_level_of_every_factor_is_a_scenario(tmp_path: Path) -> None:
    study = expanded(tmp_path)
    names = [case.scenario.name for case in study.stage(1)]
    assert len(names) == 2 * 2 * 3 + 1
    assert names[:3] == [
        "one: echo, 20 bytes, 10 connections",
        "two:tuned: echo, 20 bytes, 10 connections",
        "one: echo, 20 bytes, 100 connections",
    ]
    first = study.cases[1]
    assert first.scenario.subject == "two"
    assert first.scenario.configuration == "tuned"
    assert first.scenario.label == "two:tuned"
    assert first.scenario.group == "echo, 20 bytes, 10 connections"
    assert first.scenario.levels["payload"] == 20
    assert first.scenario.levels["workload"] == "echo"
    assert first.load.connections == 10
    assert isinstance(first.load.executor, ClosedLoop)
    assert first.message.source == SequencePayload(bytes=20)
    assert study.trials == 4
    assert study.duration_of(first) == 2_000_000_000
    assert study.warmup_of(first) == 500_000_000


def test_a_common_rate_comes_from_the_workload_that_is_named(tmp_path: Path) -> None:
    (one, two, _) = expanded(tmp_path).stage(2)
    assert one.rate_from is not None
    assert len(one.rate_from.scenarios) == 12
    assert one.rate_from == two.rate_from
    assert isinstance(one.load.executor, OpenLoop)


def test_a_knee_is_searched_for_each_subject(tmp_path: Path) -> None:
    knees = expanded(tmp_path).stage(3)
    assert [case.scenario.label for case in knees] == ["one", "two:tuned"]
    assert knees[0].knee is not None
    assert knees[0].knee.objective == 5_000_000


def twins(study: Study) -> list[Case]:
    return [case for case in study.cases if case.scenario.twin_of]


def test_one_scenario_of_each_workload_is_measured_twice(tmp_path: Path) -> None:
    study = expanded(tmp_path)
    assert [case.scenario.levels["workload"] for case in twins(study)] == ["echo", "steady"]
    for twin in twins(study):
        original = study.case(str(twin.scenario.twin_of))
        assert twin.load == original.load
        assert twin.scenario.group != original.scenario.group
    text = GOOD.replace("trials = 4", 'trials = 4\ntwin = "two:tuned"')
    assert {case.scenario.label for case in twins(expanded(tmp_path, text))} == {"two:tuned"}


def test_a_quick_run_has_one_pair_of_twins(tmp_path: Path) -> None:
    (twin,) = twins(expanded(tmp_path, quick=True))
    assert twin.scenario.levels["workload"] == "echo"


def test_what_is_measured_once_is_not_measured_again(tmp_path: Path) -> None:
    text = GOOD.replace(
        'contract = "ws-echo"\npayload', 'contract = "ws-echo"\ntrials = 1\npayload'
    )
    assert [case.scenario.levels["workload"] for case in twins(expanded(tmp_path, text))] == [
        "steady"
    ]


def test_contrasts_are_declared_for_the_study_or_for_a_workload(tmp_path: Path) -> None:
    text = GOOD.replace("trials = 4", 'trials = 4\nbaseline = "one"')
    text = text.replace(
        'rate = "common"', 'rate = "common"\nbaseline = "two:tuned"\nlook = "together"'
    )
    study = expanded(tmp_path, text)
    contrasts = {
        (str(case.scenario.levels["workload"]), case.scenario.label): study.case(base).scenario
        for case in study.cases
        if (base := case.scenario.baseline)
    }
    assert {key: base.label for key, base in contrasts.items()} == {
        ("echo", "two:tuned"): "one",
        ("steady", "one"): "two:tuned",
        ("knee", "two:tuned"): "one",
    }
    assert study.together == ("steady",)
    assert study.digest() == expanded(tmp_path).digest(), "a contrast changes nothing that is sent"


def test_each_subject_may_be_its_own_baseline(tmp_path: Path) -> None:
    http = """
[[workload]]
name = "HTTP"
family = "both"
label = "{subject}, HTTP"
protocol = "http"
contract = "http-echo"
"""
    text = GOOD[: GOOD.index("[[workload]]")] + 'baseline = "{subject}, HTTP"\n' + http
    text += (
        http.replace('"HTTP"', '"socket"')
        .replace(", HTTP", ", socket")
        .replace('"http"', '"ws"')
        .replace("http-echo", "ws-echo")
    )
    cases = expanded(tmp_path, text).cases
    assert {c.scenario.name: c.scenario.baseline for c in cases if c.scenario.baseline} == {
        "one, socket: both": "one, HTTP: both",
        "two:tuned, socket: both": "two:tuned, HTTP: both",
    }


def test_a_quick_search_looks_less_closely(tmp_path: Path) -> None:
    whole, quick = (expanded(tmp_path, quick=quick).stage(3)[0].knee for quick in (False, True))
    assert whole is not None
    assert quick is not None
    assert (whole.tolerance, quick.tolerance) == (0.05, 0.25)


def test_quick_keeps_the_shape(tmp_path: Path) -> None:
    study = expanded(tmp_path, quick=True)
    assert study.trials == 2
    assert study.duration_ns == 1_000_000_000
    levels = {case.scenario.levels["connections"] for case in study.stage(1)}
    assert levels == {10, 1000}
    assert len(study.stage(2)) == len(study.stage(3)) == 2


def test_only_what_is_asked_for_is_left(tmp_path: Path) -> None:
    study = expanded(tmp_path, only=["one: echo*", "one: steady"])
    assert {case.scenario.label for case in study.cases} == {"one"}
    assert study.stage(3) == ()
    with pytest.raises(UsageProblem, match="no scenario of mine matches"):
        expanded(tmp_path, only=["three"])
    with pytest.raises(UsageProblem, match="takes its rate from 'echo', which is left out"):
        expanded(tmp_path, only=["*steady"])


def test_claims_are_left_out_with_those_they_speak_of(tmp_path: Path) -> None:
    claimed = "".join(
        f'''
[[claim]]
text = "{of} beats {to}"
source = "An article, 2016"
metric = "throughput"
published = 2.0
of = {{ subject = "{of}", workload = "echo", levels = {{ connections = 1000 }} }}
to = {{ subject = "{to}", workload = "echo", levels = {{ connections = 10 }} }}
'''
        for of, to in (("one", "two:tuned"), ("one", "one"), ("one", "three"))
    )

    def left(**options: object) -> list[str]:
        return [claim.text for claim in expanded(tmp_path, GOOD + claimed, **options).claims]

    # Whom nobody left out is missed, as it may be a mistake.
    assert left() == ["one beats two:tuned", "one beats one", "one beats three"]
    assert left(only=["one*"]) == ["one beats one"]
    assert left(only=["one*", "two*"]) == ["one beats two:tuned", "one beats one"]
    assert left(only=["one: echo*1,000*", "two*"]) == ["one beats two:tuned"]


def test_a_single_workload_is_named_by_its_subjects(tmp_path: Path) -> None:
    text = GOOD[: GOOD.index("[[workload]]")] + (
        '[[workload]]\nname = "rest"\nprotocol = "http"\ncontract = "rest"\nrequests = 1000\n'
        "requests_per_connection = 1\ndelay_ms = [200]\nserver_threads = [4]\n"
    )
    study = expanded(tmp_path, text)
    assert [case.scenario.name for case in study.cases] == ["one", "two:tuned", "one (again)"]
    case = study.cases[0]
    assert (case.requests, case.delay_ms, study.threads_of(case)) == (1000, 200, 4)
    assert case.path == "/test"
    assert isinstance(case.expect.content, FixedContent)
    assert case.sources != ()


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('contract = "ws-echo"\npayload', 'contract = "rest"\npayload', "rest is not kept over ws"),
        ('rate_of = "echo"', "", "needs `rate_of`"),
        ('rate_of = "echo"', 'rate_of = "nothing"', "there is no such workload"),
        ('name = "steady"', 'name = "echo"', "two workloads are called 'echo'"),
        ('duration = "2s"', 'duration = "2 fortnights"', "no such unit of time"),
        ("connections = [10, 100, 1000]", "connections = []", "at least one value"),
        ('title = "Which?"', 'titel = "Which?"', "title"),
        ("trials = 4", "trials = ", "line 5"),
        ("trials = 4", 'trials = 4\ntwin = "three"', "is not among the subjects"),
        (
            'rate_of = "echo"',
            'rate_of = "echo"\nrate_each = 1',
            "`rate_each` of one",
        ),
        ("payload = [20, 1024]", 'pacing = "phased"', "or an open loop (`rate`, `rate_each`)"),
        ("payload = [20, 1024]", 'rate = 5\npacing = "after-response"', "needs `rate_each`"),
        ("payload = [20, 1024]", "rate = ['a']", "workload.0.rate.0: Input should be a valid num"),
        ("payload = [20, 1024]", "rate_share = 0.5", "workloads with an open loop"),
        (
            "payload = [20, 1024]",
            "quick = { hold = '1s' }",
            "is for workloads with held conn",
        ),
        ('knee = { objective = "5ms" }', "knee = {}\nrate = 5", "this one has a search"),
        ('rate_of = "echo"', 'rate_of = "knee"', "rate_of = 'knee': it is no closed loop"),
        ('rate = "common"', "rate = 5", '`rate_of` and `rate_share` are for rate = "common"'),
        ("payload = [20, 1024]", "requests = 5\nrequests_each = 5", "exclude each other"),
        ("payload = [20, 1024]", "table_size = [2]", "are for the contract `table`"),
        ("payload = [20, 1024]", 'compare = ["payload"]', "compare"),
    ],
)
def test_what_makes_no_sense_is_refused(tmp_path: Path, old: str, new: str, words: str) -> None:
    assert old in GOOD
    with pytest.raises(UsageProblem) as told:
        written(tmp_path, GOOD.replace(old, new, 1))
    assert words in told.value.line()
    assert document.DOCUMENT in told.value.line()


def test_a_study_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(UsageProblem) as told:
        document.read(tmp_path)
    assert "a study is a folder with a study.toml" in told.value.line()


def test_a_budget_leaves_trials_out(tmp_path: Path) -> None:
    study = expanded(tmp_path, only=["*echo*"])
    whole = estimate.estimate(study)
    assert whole.block_ns == 13 * (2_000_000_000 + 500_000_000 + estimate.START_AND_STOP_NS)
    assert whole.total_ns == 4 * whole.block_ns
    assert estimate.within(study, whole.total_ns).trials == 4
    assert estimate.within(study, 3 * whole.block_ns).trials == 3
    with pytest.raises(UsageProblem, match="one trial of each of 13 scenarios takes about 44 s"):
        estimate.within(study, whole.block_ns - 1)


@pytest.mark.parametrize(
    ("seconds", "said"), [(35, "35 s"), (250, "4 min 10 s"), (4320, "1 h 12 min")]
)
def test_a_length_of_time_is_said_as_people_do(seconds: int, said: str) -> None:
    assert estimate.words(seconds * 1_000_000_000) == said


BOTS = """
title = "Which?"
question = "Which is it?"
subjects = ["one", "two:tuned"]

[[workload]]
name = "bots"
protocol = ["styx", "styx+json+ws"]
contract = "table"
compare = ["protocol", "lobby"]
rate_each = 2
pacing = ["phased", "after-response"]
connections = [10, 100]
table_size = [5]
lobby = ["off", "on"]
delay_ms = [7]
"""


def test_levels_that_are_compared_stand_beside_each_other(tmp_path: Path) -> None:
    study = expanded(tmp_path, BOTS)
    cases = [case for case in study.cases if case.scenario.twin_of is None]
    assert len({case.scenario.name for case in cases}) == len(cases) == 2 * 2 * 2 * 2 * 2
    groups = {case.scenario.group for case in cases}
    assert groups == {
        f"{subject}, {bots} connections, each {words}"
        for subject in ("one", "two:tuned")
        for bots in (10, 100)
        for words in ("at a phase of its own", "after its response")
    }
    labels = {case.scenario.label for case in cases}
    assert len(labels) == 4
    assert "JSON over WebSocket, lobby on" in labels
    names = {case.scenario.name for case in cases}
    assert any(name.startswith("two:tuned, JSON over WebSocket, lobby on: ") for name in names)
    assert {case.scenario.levels["subject"] for case in cases} == {"one", "two:tuned"}


def test_the_rate_grows_with_the_connections(tmp_path: Path) -> None:
    cases = expanded(tmp_path, BOTS).cases
    rates = {
        (case.load.connections, case.load.executor.rate)
        for case in cases
        if isinstance(case.load.executor, OpenLoop)
    }
    assert rates == {(10, 20.0), (100, 200.0)}
    pauses = {c.load.executor for c in cases if isinstance(c.load.executor, AfterResponse)}
    assert pauses == {AfterResponse(pause_ns=500_000_000)}
    assert all(case.styx.table_size == 5 and case.styx.delay_ms == 7 for case in cases)


HEADERS = """
title = "Which?"
question = "Which of the two is faster?"
subjects = ["one"]
headers = { Accept = "text/plain", X-Study = "1" }
cacert = "ca.pem"

[[workload]]
name = "produce"
protocol = "https"
contract = "rest"
method = "put"
headers = { content-type = "text/csv", X-Study = "2" }
expect = "learned"
expect_status = 201

[[workload]]
name = "echo"
protocol = "wss"
contract = "ws-echo"

[[workload]]
name = "raw"
protocol = "tcp"
contract = "raw-echo"
"""


def test_a_study_says_what_its_requests_carry_and_what_is_right(tmp_path: Path) -> None:
    study = matrix.expand("own", written(tmp_path, HEADERS), command="c", seed=1)
    produce, echo, raw = study.cases[:3]
    assert produce.http.method == "PUT"
    assert dict(produce.http.headers) == {
        "Accept": "text/plain",
        "X-Study": "2",
        "content-type": "text/csv",
    }
    assert (produce.expect.status, produce.expect.content.rule) == (201, "learned")
    assert produce.tls.ca_file == str(tmp_path / "ca.pem")
    assert dict(echo.http.headers) == {"Accept": "text/plain", "X-Study": "1"}
    assert (echo.expect.status, echo.expect.content.rule) == (200, "echo")
    assert raw.http.headers == ()


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('protocol = "wss"', 'protocol = "wss"\nmethod = "PUT"', "are for http and https"),
        ('contract = "raw-echo"', 'contract = "raw-echo"\nheaders = { A = "b" }', "are for prot"),
        ('cacert = "ca.pem"', 'cacert = "ca.pem"\ninsecure = true', "exclude each other"),
    ],
)
def test_a_request_that_makes_no_sense_is_refused(
    tmp_path: Path, old: str, new: str, words: str
) -> None:
    with pytest.raises(UsageProblem, match=words):
        written(tmp_path, HEADERS.replace(old, new))


@pytest.mark.parametrize(
    ("said", "rules"),
    [
        ('"json:ok=true"', ("json:ok=true",)),
        ('["json:ok=true", "regex:^{"]', ("json:ok=true", "regex:^{")),
    ],
)
def test_a_study_says_rules_for_replies_that_vary(
    tmp_path: Path, said: str, rules: tuple[str, ...]
) -> None:
    text = HEADERS.replace('expect = "learned"', f"expect = {said}")
    text = text.replace("question =", 'allow_errors = "0.5%"\nquestion =')
    study = matrix.expand("own", written(tmp_path, text), command="c", seed=1)
    content = study.cases[0].expect.content
    assert isinstance(content, MatchingContent)
    assert content.rules == rules
    assert study.allow_errors == 0.005
    assert study.digest() == study.model_copy(update={"allow_errors": 0}).digest()


def test_any_content_can_be_right_and_nonsense_is_refused(tmp_path: Path) -> None:
    text = HEADERS.replace('expect = "learned"', 'expect = "status"')
    study = matrix.expand("own", written(tmp_path, text), command="c", seed=1)
    assert study.cases[0].expect.content.rule == "status"
    with pytest.raises(UsageProblem, match="expect"):
        written(tmp_path, HEADERS.replace('expect = "learned"', "expect = []"))
    with pytest.raises(UsageProblem, match="share"):
        written(tmp_path, HEADERS.replace("question =", 'allow_errors = "2x"\nquestion ='))
