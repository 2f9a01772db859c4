"""The first lines of a report: what was sent, what was varied, and with which verdict."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import pytest

from tests.report.synthetic import DEMO, demo_trials, one_trial
from wiretrial.plan import AfterResponse, Hold, Http, OpenLoop, RandomBurst
from wiretrial.report import html, model, run, sent
from wiretrial.report.model import ReportModel
from wiretrial.results.learned import LearnedRule
from wiretrial.results.model import Judgement, Trial, Verdict


def trial(verdict: Verdict = "valid", **load: Any) -> Trial:
    """One of HTTP, with another load."""
    judgement = Judgement(verdict=verdict, bottleneck="server", evidence="its core 99 % busy")
    made = one_trial(DEMO[0], 0, 0, 1, judgement, 1.0, random.Random(3))
    plan = made.plan.model_copy(update={"load": made.plan.load.model_copy(update=load)})
    return made.model_copy(update={"plan": plan})


def to(made: Trial, url: str, **http: Any) -> Trial:
    """The same, sent to a server of a user's own."""
    target = made.plan.target.model_copy(update={"url": url, "http": Http(**http)})
    plan = made.plan.model_copy(update={"target": target})
    return made.model_copy(update={"plan": plan, "subject": None})


def told(trials: Sequence[Trial]) -> dict[str, str]:
    return dict(sent.rows(report(trials)))


def report(trials: Sequence[Trial]) -> ReportModel:
    return model.build(trials, question="q", title="t", command="c")


def test_what_all_trials_share_is_said_once_and_what_they_do_not_behind_it() -> None:
    found = dict(sent.rows(report(demo_trials(blocks=1))))
    assert found["Sent"].startswith("GET /, 64 bytes of payload, 100 connections, depth 1, closed")
    assert "protocol: http, tcp and ws" in found["Varied"]
    assert "messages per connection: 1 and unlimited" in found["Varied"]
    for word in ("connections", "closed loop", "64"):
        assert word not in found["Varied"]


def test_levels_are_listed_in_their_order_and_many_by_their_ends() -> None:
    three = [trial(connections=n) for n in (1000, 10, 100)]
    assert told(three)["Varied"] == "connections: 10, 100 and 1,000"
    assert "connection" not in told(three)["Sent"]
    many = [trial(connections=n) for n in range(1, 10)]
    assert told(many)["Varied"] == "connections: 1 to 9 (9 levels)"


def test_what_few_trials_have_is_not_said_of_all() -> None:
    known = trial()
    ws = {"scenario": known.scenario.model_copy(update={"protocol": "ws"})}
    one, *rest = (
        to(known, f"ws://127.0.0.1:9001/{path}").model_copy(update={"subject": known.subject, **ws})
        for path in ("broadcast", "", "")
    )
    found = told([one, *rest])
    assert "/broadcast" not in found["Sent"]
    assert found["Varied"] == "request: /broadcast in 1 trial"
    assert told([one, one, *rest])["Sent"].startswith("/broadcast, ")


def test_without_a_difference_nothing_was_varied() -> None:
    assert "Varied" not in told([trial(), trial()])


@pytest.mark.parametrize(
    ("executor", "words"),
    [
        (OpenLoop(rate=20_000), "open loop at 20,000 requests/s"),
        (AfterResponse(pause_ns=5_000_000), "closed loop with 5 ms after each reply"),
        (Hold(), "held connections"),
        (Hold(rate=50), "held connections at 50 requests/s"),
        (RandomBurst(), "bursts on connections drawn at random"),
    ],
)
def test_who_sends_next_is_told(executor: object, words: str) -> None:
    assert f", {words}, " in told([trial(executor=executor)])["Sent"]


def test_rates_that_differ_are_levels() -> None:
    found = told([trial(executor=OpenLoop(rate=rate)) for rate in (1000, 2000)])
    assert ", open loop, " in found["Sent"]
    assert found["Varied"] == "requests/s offered: 1,000 and 2,000"


def test_a_search_has_no_rate_of_its_own() -> None:
    made = trial(executor=OpenLoop(rate=1000))
    step = made.model_copy(
        update={"scenario": made.scenario.model_copy(update={"search": "knee", "label": "one"})}
    )
    assert "open loop, its rate searched for" in told([step, trial()])["Varied"]


def test_a_user_s_own_url_is_told_without_secrets() -> None:
    made = to(
        trial(),
        "http://me:secret@example.org/items?token=secret",
        method="PUT",
        headers=(("Accept", "text/plain"), ("Authorization", "Bearer secret")),
    )
    found = told([made])["Sent"]
    assert found.startswith("PUT http://***@example.org/items?token=*** with Accept: text/plain;")
    assert "Authorization: ***" in found
    assert "secret" not in found


@pytest.mark.parametrize(
    ("verdict", "words"),
    [("valid", ", valid"), ("client-bound", ", client-bound"), ("overloaded", ", overloaded")],
)
def test_a_run_begins_with_its_figure_and_its_verdict(verdict: Verdict, words: str) -> None:
    found = dict(sent.rows(run.build(trial(verdict))))
    assert found["Sent"] == "GET http://127.0.0.1:9001/, 64 bytes of payload"
    assert found["Result"].endswith(f" requests/s{words}")
    assert found["Result"].startswith("at least ") == (verdict == "client-bound")


def test_several_trials_are_counted_by_their_verdicts() -> None:
    several = [trial(), trial(), trial("client-bound")]
    assert told(several)["Result"] == "3 trials: 2 valid, 1 client-bound"
    assert told([trial()])["Result"] == "1 trial: 1 valid"


def learned(made: Trial, *rules: LearnedRule) -> Trial:
    scenario = made.scenario.model_copy(update={"learned": rules})
    return made.model_copy(update={"scenario": scenario})


def test_few_learned_rules_are_told_and_of_many_where_they_stand() -> None:
    shared, *others = (
        LearnedRule(route=f"r{n}", samples=60 + n, told=f"{n} of 9 fields vary", bound=0.05)
        for n in range(5)
    )
    assert told([learned(trial(), shared)] * 2)["Right"] == (
        "learned from 60 replies to r0: 0 of 9 fields vary"
    )
    many = [learned(trial(), shared, *others)] * 2
    assert (
        told(many)["Right"]
        == "5 routes, learned from 60 to 64 replies each; see Learned rules in Facts"
    )
    page = html.render(report(many))
    assert "<summary>Learned rules</summary>" in page
    assert "4 of 9 fields vary" in page
    own = [rule.model_copy(update={"of": "ann"}) for rule in others[:2]]
    apart = [learned(trial(), shared, *own, *others[2:])] * 2
    assert told(apart)["Right"].startswith("5 routes, learned from 60 to 64 replies each; ")
    assert "each server is held to its own replies of r1 and r2; see" in told(apart)["Right"]
    assert "<td>ann</td><td>r1</td>" in html.render(report(apart))


def test_the_page_begins_with_it() -> None:
    made = to(trial(), "http://example.org/<b>")
    page = html.render(report([made]))
    box = page[page.index('<table class="sent">') : page.index('<div class="verdict">')]
    assert "GET http://example.org/&lt;b&gt;" in box
    assert "<section>" not in page[: page.index('<table class="sent">')]
