"""Congestion control in a report: what both sides had, where it was asked for or can matter."""

from __future__ import annotations

import random

from tests.report.synthetic import DEMO, one_trial
from wiretrial.plan import Congestion, Http
from wiretrial.report import document, facts, load_lines
from wiretrial.results.model import Judgement, Trial
from wiretrial.results.observation import EmulatedLink, Isolation

JUDGEMENT = Judgement(verdict="valid", bottleneck="server", evidence="its core 99 % busy")
LINK = EmulatedLink(
    name="loss=1%", up="loss=1%", down="loss=1%", seed=1, carrier="engine", realtime=True
)
NAMESPACE = (("net.ipv4.tcp_congestion_control", "bbr"),)


def trial(
    name: str,
    http: Http,
    *,
    heard: str | None = None,
    told: Congestion | None = None,
    link: EmulatedLink | None = None,
) -> Trial:
    """One whose generator heard this of its kernel, and whose server was told that."""
    made = one_trial(DEMO[0], 0, 0, 1, JUDGEMENT, 1.0, random.Random(3))
    assert made.subject is not None
    there = Isolation(kind="link" if link else "namespace", settings=NAMESPACE, link=link)
    target = made.plan.target.model_copy(update={"http": http})
    return made.model_copy(
        update={
            "scenario": made.scenario.model_copy(update={"name": name}),
            "plan": made.plan.model_copy(update={"target": target}),
            "start": made.start.model_copy(update={"congestion": heard}),
            "subject": made.subject.model_copy(update={"isolation": there, "congestion": told}),
        }
    )


def rows(trials: list[Trial]) -> tuple[tuple[str, ...], ...]:
    found = [one for one in facts.sections(trials, "") if one.title == "Congestion control"]
    return found[0].rows if found else ()


def test_both_sides_are_told_of_each_scenario() -> None:
    two, three = Http(version="2", congestion="new-reno"), Http(version="3", congestion="new-reno")
    assert rows(
        [
            trial("told", two, heard="reno", told="new-reno"),
            trial("told, QUIC", three, told="new-reno"),
            trial("a library's, QUIC", three),
            trial("a link", Http(), heard="cubic", link=LINK),
            trial("a link, QUIC", Http(version="3"), link=LINK),
            trial("an old record", Http(), link=LINK),
            trial("neither", Http(), heard="cubic"),
        ]
    ) == (
        ("a library's, QUIC", "new-reno (QUIC)", "its library's"),
        ("a link", "cubic (TCP)", "bbr"),
        ("a link, QUIC", "cubic (QUIC)", "its library's"),
        ("an old record", "not known (TCP)", "bbr"),
        ("told", "reno (TCP)", "reno"),
        ("told, QUIC", "new-reno (QUIC)", "new-reno"),
    )


def test_of_one_run_its_first_line_tells_what_was_asked_for() -> None:
    asked = trial("one", Http(congestion="new-reno"), heard="reno")
    assert rows([asked]) == ()
    assert "congestion control reno" in " ".join(load_lines.render(asked).split())
    assert document.load_json(asked)["tcp_congestion"] == "reno"
    usual = trial("one", Http(), heard="bbr")
    assert "congestion control" not in " ".join(load_lines.render(usual).split())
    assert document.load_json(usual)["tcp_congestion"] == "bbr"
