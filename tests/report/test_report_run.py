"""The report of one run: its course over time, whatever the run was like; no claim beyond it."""

from __future__ import annotations

import random
import re
from typing import Any

import pytest

from tests.report.synthetic import DEMO, Shape, one_trial
from tests.report.test_report_parity import fleet, open_loop, plain
from wiretrial.report import charts, html, markdown, moments, run
from wiretrial.report.canvas import NARROW, WIDE, Frame
from wiretrial.report.views import over_time
from wiretrial.results.model import Judgement, Trial

CLOSED, OFFERED = DEMO[0], Shape(**{**vars(DEMO[2]), "offered": 400.0})
VALID = Judgement(verdict="valid", bottleneck="server", evidence="its core 99 % busy")


def trial(shape: Shape = CLOSED, measured: int = 20) -> Trial:
    return one_trial(shape, 0, 0, 1, VALID, 1.0, random.Random(3), warmup=4, measured=measured)


def with_intervals(made: Trial, **of_each: Any) -> Trial:
    """The trial with other intervals: `ok`, `errors`, `disturbed` by number."""
    intervals = []
    for interval in made.intervals:
        counters = interval.counters.model_copy(
            update={
                "ok": of_each.get("ok", {}).get(interval.index, interval.counters.ok),
                "errors": {"reset": count}
                if (count := of_each.get("errors", {}).get(interval.index))
                else {},
            }
        )
        histograms = interval.histograms if counters.ok else {}
        disturbed = interval.index in of_each.get("disturbed", ())
        changed = {"counters": counters, "histograms": histograms, "disturbed": disturbed}
        intervals.append(interval.model_copy(update=changed))
    return made.model_copy(update={"intervals": tuple(intervals)})


def test_a_stall_and_errors_are_where_they_were() -> None:
    made = with_intervals(trial(), ok={10: 0, 11: 0}, errors={15: 7}, disturbed={18})
    course = moments.course(made)
    assert course
    assert [m.throughput for m in course.rates[10:12]] == [0, 0]
    assert all(m.throughput > 0 for i, m in enumerate(course.rates) if i not in (10, 11))
    assert course.rates[15].errors == pytest.approx(70)
    assert [i for i, m in enumerate(course.rates) if m.disturbed] == [18]
    assert course.window == (0.4, 2.4)
    assert course.times[10].p50 is None
    assert over_time.names(course) == ("throughput", "times", "errors")


def test_all_replies_are_in_the_course() -> None:
    made = trial(measured=400)
    course = moments.course(made)
    assert course
    assert len(course.rates) <= moments.MOST
    counted = sum(m.throughput * (m.end_s - m.start_s) for m in course.rates)
    assert counted == pytest.approx(sum(i.counters.ok for i in made.intervals))
    assert course.rates[0].start_s == 0
    assert course.rates[-1].end_s == pytest.approx(40.4)


def test_steps_of_times_are_as_long_as_their_quantile_needs() -> None:
    course = moments.course(trial(OFFERED, measured=300))
    assert course
    assert course.from_due
    assert len(course.times) < len(course.rates)
    assert all(m.p99 is not None for m in course.times[1:-1])


def test_a_run_of_a_few_intervals_has_no_course() -> None:
    made = trial(measured=3)
    assert moments.course(made) is None
    page = html.render(run.build(made))
    assert "<h2>What it took</h2>" in page
    assert "Over time" not in page


BROKEN = with_intervals(trial(), ok=dict.fromkeys(range(24), 0), errors=dict.fromkeys(range(24), 5))
CASES = {
    "closed": trial(),
    "open": trial(OFFERED, 40),
    "broken": BROKEN,
    "tls and errors": plain(),
    "copies": open_loop(),
    "fleet": fleet(),
}


@pytest.mark.parametrize("name", CASES)
def test_each_run_has_a_page_a_text_and_pictures(name: str) -> None:
    made = run.build(CASES[name])
    page = html.render(made)
    assert page.count(run.ONE_RUN) == 1
    assert "usable trials" not in page
    shown = re.sub(r"<script.*?</script>", "", page, flags=re.S)
    assert not re.search(r">None<|\b(nan|inf)\b", shown)
    assert run.ONE_RUN in markdown.render(made)
    course = moments.course(CASES[name])
    for picture in over_time.names(course) if course else ():
        assert course
        assert f"over-time-{picture}" in charts.names(made)
        for width in (WIDE, NARROW):
            alternative = over_time.picture(course, picture, Frame(width)).alternative
            assert alternative.endswith(".")
            assert alternative.replace('"', "&quot;") in page or width == NARROW


def test_the_page_says_what_was_sent_without_secrets() -> None:
    made = trial()
    target = made.plan.target
    http = target.http.model_copy(update={"headers": (("Authorization", "Bearer s3cr3t-99"),)})
    target = target.model_copy(update={"http": http, "url": f"{target.url}?token=s3cr3t-99"})
    document = made.model_copy(
        update={"plan": made.plan.model_copy(update={"target": target})}
    ).model_dump(mode="json", by_alias=True)
    page = html.render(run.build(Trial.model_validate(document)))
    assert "GET http://127.0.0.1:9001/?token=*** with Authorization: ***" in page
    assert "s3cr3t-99" not in page
