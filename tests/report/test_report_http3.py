"""HTTP/3 in a report: streams, datagrams and losses, of one run and by scenario."""

from __future__ import annotations

import random

from tests.report.synthetic import DEMO, one_trial
from wiretrial.plan import Http
from wiretrial.report import document, facts, html, http3_words, load_lines, model, run, sent
from wiretrial.results.model import Judgement, Trial
from wiretrial.snapshot import Http2Figures, Http3Figures, Spoken

REQUESTS = 1000
FIGURES = Http3Figures(
    goaways=1,
    refused=2,
    datagrams_sent=1100,
    sends=500,
    datagrams_received=900,
    receives=300,
    datagrams_dropped=7,
    packets_sent=1200,
    packets_lost=6,
    sends_held_ns=2_000_000,
)


def trial(name: str, version: str = "3", streams: int = 4) -> Trial:
    """One over HTTP/3, or over HTTP/2."""
    judgement = Judgement(verdict="valid", bottleneck="server", evidence="its core 99 % busy")
    made = one_trial(DEMO[0], 0, 0, 1, judgement, 1.0, random.Random(3))
    plan, summary = made.plan, made.summary
    told = {
        "counters": summary.counters.model_copy(update={"sent": REQUESTS}),
        "http3" if version == "3" else "http2": FIGURES if version == "3" else Http2Figures(),
    }
    over = {
        "target": plan.target.model_copy(
            update={"url": "https://h/", "http": Http.model_validate({"version": version})}
        ),
        "load": plan.load.model_copy(update={"depth": streams}),
    }
    spoken = Spoken.model_validate({"version": version, "by": "alpn"})
    return made.model_copy(
        update={
            "scenario": made.scenario.model_copy(update={"name": name, "protocol": "https"}),
            "plan": plan.model_copy(update=over),
            "start": made.start.model_copy(update={"http": spoken}),
            "summary": summary.model_copy(update=told),
        }
    )


def rows(trials: list[Trial]) -> dict[str, tuple[str, ...]]:
    found = [one for one in facts.sections(trials, "") if one.title == "Datagrams over HTTP/3"]
    return {row[0]: row[1:] for row in found[0].rows} if found else {}


def test_a_run_tells_its_datagrams_in_text_json_and_page() -> None:
    one = trial("quic")
    told = dict(load_lines.rows(one))
    assert told["datagrams"] == (
        "2.2 sent and 3.0 received in a call; 6 of 1,200 packets lost, 7 dropped here"
    )
    assert told["streams"].endswith("at most 4; 2 refused, which went again; 1 GOAWAY")
    assert "6 of 1,200 packets lost" in html.render(run.build(one))
    assert document.load_json(one)["http3"]["packets_lost"] == 6
    assert rows([one]) == {}, "of one run they stand above"


def test_a_comparison_tells_those_of_each_scenario_over_http_3() -> None:
    trials = [trial("quic"), trial("quic"), trial("tcp", "2")]
    assert set(rows(trials)) == {"quic"}
    streams, *others = rows(trials)["quic"]
    assert streams.endswith(" of 4")
    assert others == [
        "1.1 sent, 0.9 received",
        "2.2 sent, 3.0 received",
        "12 of 2,400 (0.5 %)",
        "14",
    ]
    assert len(http3_words.COLUMNS) == 1 + len(others)
    built = model.build(trials, question="q", title="t", command="c")
    assert "Datagrams per request" in html.render(built)
    assert "HTTP/2 (https) and HTTP/3 (https)" in dict(sent.rows(built))["Varied"]


def test_without_http_3_nothing_is_told_of_it() -> None:
    assert rows([trial("tcp", "2"), trial("tcp", "2")]) == {}
