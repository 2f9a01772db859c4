"""Header profiles in a report: which one, and the bytes of fields before and after compression."""

from __future__ import annotations

import random
from typing import Literal

from tests.report.synthetic import DEMO, one_trial
from wiretrial.plan import Http
from wiretrial.report import document, facts, header_words, html, load_lines, model, run, sent
from wiretrial.results.model import Judgement, Trial
from wiretrial.snapshot import Http2Figures, Profiled

SENT = {"constant": 30, "unique": 532}
REQUESTS = 1000
PAYLOAD = 64


def trial(profile: Literal["constant", "unique"], *, held: int = 0) -> Trial:
    """One over HTTP/2, whose requests have this profile."""
    judgement = Judgement(verdict="valid", bottleneck="server", evidence="its core 99 % busy")
    made = one_trial(DEMO[0], 0, 0, 1, judgement, 1.0, random.Random(3))
    http = Http(version="2", header_profile=profile)
    target = made.plan.target.model_copy(update={"http": http})
    counters = made.summary.counters.model_copy(update={"sent": REQUESTS})
    both = {
        "application_sent": REQUESTS * (SENT[profile] + PAYLOAD),
        "payload_sent": REQUESTS * PAYLOAD,
    }
    ended = {
        "counters": counters,
        "bytes": made.summary.bytes.model_copy(update=both),
        "http2": Http2Figures(sends_held=held),
    }
    return made.model_copy(
        update={
            "scenario": made.scenario.model_copy(update={"name": profile}),
            "plan": made.plan.model_copy(update={"target": target}),
            "start": made.start.model_copy(
                update={"header_profile": Profiled(profile=profile, field_bytes=595)}
            ),
            "summary": made.summary.model_copy(update=ended),
        }
    )


def fields(trials: list[Trial]) -> tuple[tuple[str, ...], ...]:
    found = [one for one in facts.sections(trials, "") if one.title == "Header fields"]
    return found[0].rows if found else ()


def test_a_run_tells_its_bytes_in_text_json_and_page() -> None:
    one = trial("unique")
    said = "unique: 595 bytes of names and values in a request, sent as 532"
    assert dict(load_lines.rows(one))["header fields"] == said
    assert said in html.render(run.build(one))
    told = document.load_json(one)["header_profile"]
    assert told == {"profile": "unique", "field_bytes": 595, "sent_bytes": 532}


def test_a_comparison_tells_those_of_each_scenario() -> None:
    both = [trial("constant"), trial("unique"), trial("unique")]
    assert fields(both) == (
        ("constant", "constant", "595 bytes", "30 bytes"),
        ("unique", "unique", "595 bytes", "532 bytes"),
    )
    page = html.render(model.build(both, question="q", title="t", command="c"))
    assert "Names and values of a request" in page
    varied = dict(sent.rows(model.build(both, question="q", title="t", command="c")))["Varied"]
    assert "header profile: constant and unique" in varied
    assert fields([trial("unique")]) == (), "of one run they stand above"


def test_bytes_that_waited_for_a_window_are_not_told_as_sent() -> None:
    held = trial("unique", held=3)
    assert header_words.sent_beside_payload(held) is None
    assert dict(header_words.rows(held))["header fields"].endswith("names and values in a request")
    assert fields([held, held]) == (("unique", "unique", "595 bytes", "not known"),)
