"""Figures of routes: what is of the window that counts, and what of the whole run."""

from __future__ import annotations

import random

from tests.report.synthetic import DEMO, one_trial
from wiretrial.report import traffic
from wiretrial.report.measures import Measured
from wiretrial.report.routes import Routed
from wiretrial.results.model import Judgement, Trial
from wiretrial.snapshot import RouteFigures, TrafficFigures, TrafficNames


def routed(whole: RouteFigures, each: RouteFigures) -> Routed:
    judgement = Judgement(verdict="valid", bottleneck="server", evidence="its core 99 % busy")
    trial: Trial = one_trial(DEMO[0], 0, 0, 1, judgement, 1.0, random.Random(3))
    names = TrafficNames(routes=("item",), flows=())
    start = trial.start.model_copy(update={"traffic": names})
    in_all = TrafficFigures(routes=(whole,), flows=())
    summary = trial.summary.model_copy(update={"traffic": in_all})
    part = TrafficFigures(routes=(each,), flows=())
    intervals = tuple(one.model_copy(update={"traffic": part}) for one in trial.intervals)
    changed = {"start": start, "summary": summary, "intervals": intervals}
    return Measured(trial.model_copy(update=changed)).routed


def test_failures_are_a_share_of_the_run_that_they_were_counted_in() -> None:
    whole = RouteFigures(sent=100, ok=90, errors={"mismatch": 10})
    (route,) = routed(whole, RouteFigures(sent=1, ok=1)).routes
    assert route.sent < 100
    assert route.failed == 10
    assert route.failed_share == 0.1
    (nothing,) = routed(RouteFigures(), RouteFigures()).routes
    assert nothing.failed_share is None


def test_of_a_sample_the_report_says_how_many_replies_were_checked() -> None:
    whole = RouteFigures(
        sent=1_241_000,
        ok=1_240_000,
        errors={"status": 1000},
        checked=12_400,
    )
    found = routed(whole, RouteFigures(sent=1, ok=1))
    assert list(traffic.sampled(found.routes)) == [
        "item: 12,400 of 1,240,000 replies checked in full."
    ]
    changed = {"ok": 1_239_969, "wrong": 31, "errors": {"mismatch": 31}, "left_out": 7}
    (said,) = traffic.sampled(routed(whole.model_copy(update=changed), RouteFigures()).routes)
    checked = "item: 12,400 of 1,240,000 replies checked in full, 31 wrong (0.25 %)"
    assert said == f"{checked}; 7 of the sample left out."
    assert not list(traffic.sampled(routed(RouteFigures(ok=5), RouteFigures()).routes))
