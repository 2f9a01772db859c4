"""Events that were published while receivers were held: what text and JSON of a load tell."""

from __future__ import annotations

from typing import Any

from tests.report.synthetic import DEMO
from tests.report.test_report_parity import small
from wiretrial.plan_publish import Publish
from wiretrial.report import load_json
from wiretrial.report.load_lines import rows
from wiretrial.results.model import Trial
from wiretrial.snapshot import Counters, Published


def publishing(unconfirmed: int = 0) -> Trial:
    """Two of a hundred events were refused, and seven copies of others did not come."""
    made = small(DEMO[0])
    posted = Counters(sent=100, ok=98, errors={"status": 2})
    told = Published(receivers=50, counters=posted, undelivered=7, unconfirmed=unconfirmed)
    publish = Publish(url="http://h/publish", rate=10)
    return made.model_copy(
        update={
            "plan": made.plan.model_copy(update={"publish": publish}),
            "summary": made.summary.model_copy(update={"published": told}),
        }
    )


def test_copies_of_events_that_were_not_confirmed_are_told_apart() -> None:
    told = "98 events to 50 receivers  errors 2  waiting 0  undelivered 7"
    assert dict(rows(publishing(unconfirmed=100)))["published"] == f"{told}  unconfirmed 100"
    assert dict(rows(publishing()))["published"] == told
    found = load_json(publishing(unconfirmed=100))["published"]
    assert (found["undelivered"], found["unconfirmed"]) == (7, 100)
    assert load_json(publishing())["published"]["unconfirmed"] == 0


def test_empty_polls_are_told_where_there_are_polls() -> None:
    made = publishing()
    assert "empty polls" not in dict(rows(made))
    assert load_json(made)["empty_polls"] is None
    for count in (0, 1234):
        counters = made.summary.counters.model_copy(update={"empty_polls": count})
        summary = made.summary.model_copy(update={"counters": counters})
        polling = made.model_copy(update={"summary": summary})
        assert dict(rows(polling))["empty polls"] == f"{count:,} answered without an event"
        assert load_json(polling)["empty_polls"] == count


def test_a_record_from_before_is_read_and_written_as_it_was() -> None:
    old: dict[str, Any] = {
        "receivers": 5,
        "counters": Counters(sent=3, ok=3).model_dump(),
        "undelivered": 1,
        "examples": {},
        "histograms": {},
    }
    assert "empty_polls" not in old["counters"]
    read = Published.model_validate(old)
    assert (read.unconfirmed, read.counters.empty_polls) == (0, None)
    assert read.model_dump() == old
    publish = {
        "url": "http://h/publish",
        "rate": 10.0,
        "bytes": 64,
        "settle_ns": 10**9,
        "long_poll": False,
    }
    assert Publish.model_validate(publish).model_dump() == publish
