"""A study of bots: protocols beside each other at rates that grow with the connections."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import pytest
from pydantic import ValidationError

from tests.report.synthetic import Shape, demo_trials
from wiretrial.report import canvas, found, html, metrics, phrases, text, units
from wiretrial.report.model import ReportModel, build
from wiretrial.report.views import cost
from wiretrial.results.claims import Claim, Side

FORMS = {"styx": "binary over TCP", "styx+json+ws": "JSON over WebSocket"}
BYTES = {"styx": (43, 39), "styx+json+ws": (115, 107)}
BOTS = (100, 1000, 2000)
LEVELS = range(100, 900, 100)


SERVERS = ("table-native", "table-netty")


def shape(protocol: str, bots: int, server: str = "table-netty") -> Shape:
    return Shape(
        name=f"{server}, {FORMS[protocol]}: bots, {bots:,} connections",
        group=f"bots, {server}, {bots:,} connections",
        protocol=protocol,
        subject=server,
        language="Java",
        rate=20_000.0,
        server_us=20.0 if protocol == "styx" else 30.0,
        system_share=0.5,
        generator_us=5.0,
        sent_bytes=BYTES[protocol][0],
        received_bytes=BYTES[protocol][1],
        offered=float(bots),
        connections=bots,
        label=FORMS[protocol],
        levels={"workload": "bots", "subject": server, "connections": bots, "protocol": protocol},
        ranked_by="server",
    )


def side(protocol: str, bots: int) -> Side:
    levels = {"protocol": protocol, "connections": bots}
    return Side(subject="table-netty", workload="bots", levels=levels)


def bound(below_ms: float, bots: int = 2000) -> Claim:
    of = side("styx", bots)
    return Claim(text="Quick", source="somebody", metric="p50", below_ms=below_ms, of=of)


def report(*claims: Claim) -> ReportModel:
    shapes = tuple(
        shape(protocol, bots, server) for bots in BOTS for server in SERVERS for protocol in FORMS
    )
    return build(
        demo_trials(blocks=5, shapes=shapes),
        question="Q?",
        title="T",
        command="again",
        order=[one.name for one in shapes],
        chart="connections",
        claims=claims,
    )


def test_protocols_are_lines_along_the_number_of_bots_a_server_at_a_time() -> None:
    for server, family in zip(SERVERS, report().families, strict=True):
        assert family.title == f"bots, {server}"
        assert family.factor == "connections"
        assert family.labels == tuple(FORMS.values())
        assert family.metric is metrics.SERVER
        assert family.levels(family.groups) == "100, 1,000 and 2,000 connections"


def test_the_verdict_begins_with_what_a_message_costs_each_server() -> None:
    native, netty, *_ = report().verdict_sentences
    for said, server in ((native, SERVERS[0]), (netty, SERVERS[1])):
        assert said.startswith(
            f"Bots, {server}: least server CPU per message with binary over TCP "
            "(over all 3 levels); JSON over WebSocket 1."
        )


def test_throughput_stands_beside_what_was_offered() -> None:
    model = report()
    assert {(s.levels["connections"], s.offered) for s in model.scenarios} == {
        (bots, float(bots)) for bots in BOTS
    }
    page = html.render(model)
    assert "Throughput against the theoretical maximum: bots, table-native" in page
    assert "by connections, beside the theoretical maximum" in page
    assert "TCP payload of bots, table-native by connections" in page


def test_a_ratio_between_protocols_finds_its_sides() -> None:
    claim = Claim(
        text="WebSocket takes more bytes",
        source="somebody",
        metric="transport_bytes",
        published=222 / 82,
        of=side("styx+json+ws", 1000),
        to=side("styx", 1000),
    )
    (row,) = report(claim).claims
    assert (row.verdict, row.published) == ("reproduced", "2.71")


def test_a_bound_is_kept_or_not() -> None:
    kept, broken, absent = report(bound(9000), bound(0.000001), bound(60, bots=7)).claims
    assert (kept.verdict, kept.published) == ("reproduced", "< 9,000 ms")
    assert kept.why.endswith(" here")
    assert broken.verdict == "not reproduced"
    assert absent.verdict == "not measured here"


@pytest.mark.parametrize(
    "wrong",
    [
        {"published": 1.0, "below_ms": 5},
        {},
        {"published": 1.0},
        {"below_ms": 5, "to": side("styx", 100)},
        {"below_ms": 5, "metric": "throughput"},
    ],
)
def test_a_claim_says_one_thing(wrong: dict[str, object]) -> None:
    told = {"text": "T", "source": "S", "metric": "p50", "of": side("styx", 100), **wrong}
    with pytest.raises(ValidationError):
        Claim.model_validate(told)


def noisy(**differing: float) -> ReportModel:
    """Five trials of eight levels, each of them too noisy to tell.

    `differing`: how many times as much CPU JSON takes, at so many connections.
    """
    shapes = tuple(
        replace(
            shape(protocol, bots),
            server_us=20.0 * (differing.get(f"at_{bots}", 1.0) if protocol != "styx" else 1.0),
        )
        for bots in LEVELS
        for protocol in FORMS
    )
    return build(
        demo_trials(blocks=5, shapes=shapes, noise=0.2, seed=4),
        question="Q?",
        title="T",
        command="again",
        order=[one.name for one in shapes],
        chart="connections",
    )


def test_levels_that_tell_nothing_alone_are_taken_together() -> None:
    report = noisy(**{f"at_{bots}": 1.4 for bots in LEVELS})
    (family,) = report.families
    pooled = family.together[metrics.SERVER.key]
    (pair,) = pooled.against
    assert (pooled.best, pooled.levels, pair.a) == ("binary over TCP", 8, "JSON over WebSocket")
    assert pair.comparison is not None
    assert (pair.comparison.low or 2) < 1.4 < (pair.comparison.high or 0)
    said = report.verdict_sentences[0]
    assert "with binary over TCP (over all 8 levels); JSON over WebSocket 1." in said
    assert "; taken alone, 6 of 8 levels show no difference (" in said


def test_one_level_makes_no_difference_of_all() -> None:
    (family,) = noisy(at_800=60.0).families
    assert metrics.SERVER.key not in family.together


def test_nothing_is_shown_together_where_nothing_differs() -> None:
    (family,) = noisy().families
    assert not family.together


def test_bars_of_several_groups_stand_under_their_titles() -> None:
    model = report()
    picture = cost.picture(model.groups, cost.panels(model.groups)[0])
    drawn = canvas.inline_svg(picture, "picture")
    assert drawn.count(">bots, table-netty, 1,000 connections<") == 1
    assert drawn.count(">binary over TCP<") == len(model.groups)


@cache
def by_level(ratio_at_most: float) -> ReportModel:
    """JSON takes 1.45 times the CPU at the fewest connections, and up to so many at the most."""
    return noisy(**{f"at_{n}": 1.45 * (ratio_at_most / 1.45) ** (n / 800) for n in LEVELS})


def test_levels_that_differ_have_a_range_and_no_mean() -> None:
    (family,) = by_level(8.0).families
    (least, greatest) = family.together[metrics.SERVER.key].ranges["JSON over WebSocket"]
    assert least < 2.5
    assert greatest > 5
    (same,) = by_level(1.45).families
    assert not same.together[metrics.SERVER.key].ranges


def test_the_range_goes_into_finding_sentence_table_and_kept_result() -> None:
    report = by_level(8.0)
    span = " to ".join(
        units.significant(end)
        for end in report.families[0].together[metrics.SERVER.key].ranges["JSON over WebSocket"]
    )
    finding = next(one for one in report.findings if one.metric is metrics.SERVER)
    told = f"{span} (by level)"
    for whole in (False, True):
        assert f"{told} times as much" in phrases.say(finding, whole=whole)
    assert any(told in sentence for sentence in found.of_report(report).sentences)
    assert told in html.render(report)
    assert told in text.render(report, width=200)


def test_levels_on_both_sides_of_one_are_not_taken_together() -> None:
    """Seven times as much at some levels and two thirds at others is no 2.5 over all."""
    ratios = {f"at_{n}": 7.0 if n > 300 else 0.66 for n in LEVELS}
    (family,) = noisy(**ratios).families
    assert metrics.SERVER.key not in family.together
