"""What is learned from servers that a study starts itself, and who is held to it."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from tests.cli.conftest import Run, wiretrial
from tests.cli.test_runs import MEASURED, results_of
from tests.lab.own_servers import described
from wiretrial.plan import LearnedContent, MatchingContent, ShapedContent
from wiretrial.plan_traffic import IsShape
from wiretrial.studies import held
from wiretrial.studies.contracts import request
from wiretrial.studies.held import Server
from wiretrial.studies.spec import Case
from wiretrial.subjects import build
from wiretrial.traffic.learning import Sample

__all__ = ["wiretrial"]

PROGRAM = Path(__file__).parent / "programs" / "named.py"
HURL = """\
# @name same
GET {{base}}/same
# @name name
GET {{base}}/name
"""


def test_servers_that_answer_differently_are_each_held_to_their_own_replies(
    wiretrial: Run, tmp_path: Path
) -> None:
    (tmp_path / "asked.hurl").write_text(HURL, encoding="utf-8")
    for name in ("ann", "bob"):
        (tmp_path / name).mkdir()
        command = (sys.executable, str(PROGRAM), "{host}", "{port}", name)
        text = described(name, command, traffic="../asked.hurl")
        (tmp_path / name / "subject.toml").write_text(text, encoding="utf-8")
    words = ("--traffic", "asked.hurl", "--variable", "base=http://127.0.0.1:1", "--trials", "2")
    briefly = ("-d", "300ms", "--warmup", "0", "-c", "2", "--seed", "1")
    cache = {build.ENVIRONMENT: str(tmp_path / "cache")}
    done = wiretrial("compare", "./ann", "./bob", *words, *briefly, **cache)
    assert done.returncode in MEASURED, done.stderr
    said = [line for line in done.stderr.splitlines() if "learned from" in line]
    # The start stands still while a server runs, and is another one in the next trial.
    varies = "$.start UUID, $.request UUID"
    told = f"learned from 60 replies to name: 2 of 4 fields vary: {varies}"
    assert said == [
        f"learned from 120 replies to same: 2 of 3 fields vary: {varies}",
        f"./ann is held to its own replies: {told}; the servers differ in $.server",
        f"./bob is held to its own replies: {told}; the servers differ in $.server",
    ]
    results = results_of(tmp_path)
    for trial in results.trials():
        assert not any(trial.summary.counters.errors.values())
        assert trial.plan.traffic is not None
        by_name = {route.name: route for route in trial.plan.traffic.routes}
        [check] = by_name["name"].expect.checks
        assert isinstance(check.test, IsShape)
        assert json.dumps(trial.scenario.subject.removeprefix("./")) in str(
            check.test.shape.model_dump_json()
        )
        assert [rule.of for rule in trial.scenario.learned] == [None, trial.scenario.subject]
    report = (results.folder / "report.html").read_text(encoding="utf-8")
    assert "./ann is held to its own replies" in report


def sample(body: object) -> Sample:
    text = body if isinstance(body, str) else json.dumps(body)
    kind = "text/plain" if isinstance(body, str) else "application/json"
    return Sample(200, (("Content-Type", kind),), text.encode())


def rules_of(*servers: list[Sample], case: Case) -> list[held.Held]:
    """What is held of one message, of servers that said this."""
    asked = [
        Server(f"s{place}", [case], [{"GET /": one}] if one else [])
        for place, one in enumerate(servers)
    ]
    return held.held(asked, constants=True)


def message() -> Case:
    """A case of one message, of which nothing is said."""
    from tests.lab.test_own_traffic import echo

    return echo(Path()).model_copy(update={"expect": request("static").expect})


def test_one_message_has_one_rule_where_servers_answer_alike() -> None:
    ann, bob = ([sample({"n": n + 7 * k, "kind": "a"}) for n in range(30)] for k in (0, 1))
    first, second = rules_of(ann, bob, case=message())
    assert first.rules == second.rules
    assert [rule.samples for rule in first.rules] == [60]
    assert isinstance(first.put(message()).expect.content, ShapedContent)


def test_one_message_is_held_apart_where_they_do_not() -> None:
    ann, bob = ([sample({"n": n, "kind": k}) for n in range(30)] for k in ("a", "b"))
    first, second = rules_of(ann, bob, case=message())
    assert [rule.of for rule in (*first.rules, *second.rules)] == ["s0", "s1"]
    text = [sample(f"{word} {n * n}") for n in range(30) for word in ("hello",)]
    first, second = rules_of(ann, text, case=message())
    assert isinstance(first.content, ShapedContent)
    assert isinstance(second.content, MatchingContent)


def test_replies_that_never_vary_are_held_against_the_first_one_of_each_trial() -> None:
    first, second = rules_of([sample({"a": 1})] * 30, [sample({"a": 2})] * 30, case=message())
    assert first.rules == second.rules == []
    assert first.put(message()).expect.content == LearnedContent()


def test_a_server_that_said_nothing_is_held_to_what_the_others_have_in_common() -> None:
    ann = [sample({"n": n}) for n in range(30)]
    first, second = rules_of(ann, [], case=message())
    assert first.rules == second.rules
    assert second.rules[0].of is None
