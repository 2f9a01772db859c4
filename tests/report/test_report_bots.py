"""A study of bots: protocols beside each other at rates that grow with the connections."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
from pydantic import ValidationError

from tests.report.synthetic import Shape, demo_trials
from wiretrial.report import canvas, charts, found, html, metrics, page, phrases, text, units
from wiretrial.report.blocks import Table, Text
from wiretrial.report.model import ReportModel, build
from wiretrial.report.views import cost
from wiretrial.results.claims import Claim, Side
from wiretrial.results.model import Trial
from wiretrial.results.observation import CpuUse, Observation

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


def watched(trial: Trial, idle_ns: int = 800_000_000) -> Trial:
    """With what its server's CPU did in one second."""
    use = CpuUse(cpu=0, idle_ns=idle_ns, softirq_ns=50_000_000)
    seen = Observation(
        cpu_resolution_ns=1,
        tick_ns=10_000_000,
        cost_ns=1,
        watched_ns=10**9,
        start_ns=0,
        end_ns=10**9,
        alone=False,
        cpus=(use,),
    )
    assert trial.subject
    server = trial.subject.model_copy(update={"cpus": (0,)})
    return trial.model_copy(update={"observation": seen, "subject": server})


def report(*claims: Claim) -> ReportModel:
    shapes = tuple(
        shape(protocol, bots, server) for bots in BOTS for server in SERVERS for protocol in FORMS
    )
    return build(
        [watched(trial) for trial in demo_trials(blocks=5, shapes=shapes)],
        question="Q?",
        title="T",
        command="again",
        order=[one.name for one in shapes],
        chart="connections",
        claims=claims,
    )


@cache
def plain() -> ReportModel:
    """Without claims."""
    return report()


def test_protocols_are_lines_along_the_number_of_bots_a_server_at_a_time() -> None:
    for server, family in zip(SERVERS, plain().families, strict=True):
        assert family.title == f"bots, {server}"
        assert family.factor == "connections"
        assert family.labels == tuple(FORMS.values())
        assert family.metric is metrics.SERVER
        assert family.levels(family.groups) == "100, 1,000 and 2,000 connections"


def test_the_verdict_begins_with_what_a_message_costs_each_server() -> None:
    native, netty, *_ = plain().verdict_sentences
    for said, server in ((native, SERVERS[0]), (netty, SERVERS[1])):
        assert said.startswith(
            f"Bots, {server}: least server CPU per message with binary over TCP "
            "(over all 3 levels); JSON over WebSocket 1."
        )


def test_throughput_stands_beside_what_was_offered() -> None:
    model = plain()
    assert {(s.levels["connections"], s.offered) for s in model.scenarios} == {
        (bots, float(bots)) for bots in BOTS
    }
    shown = html.render(model)
    assert "Throughput against the theoretical maximum" in shown
    assert "by connections, beside the theoretical maximum" in shown
    assert "TCP payload of bots, table-native by connections" in shown


def test_a_load_that_grows_is_kept_as_tables_and_pictures() -> None:
    """The four charts of the source: throughput, idle CPU, response time, bandwidth."""
    model = plain()
    kept = found.Found.model_validate_json(found.of_report(model).to_json())
    for number, server in enumerate(SERVERS, start=1):
        title = f"As the load grows: bots, {server}"
        (blocks,) = (section.blocks for section in kept.sections if section.title == title)
        shown = [block for block in blocks if isinstance(block, Table)]
        assert [table.columns[0].title for table in shown] == [
            "Throughput, messages/s",
            "Idle server CPU, %",
            "p50, ms",
            "p99, ms",
            "Bandwidth, kB/s",
        ]
        heads = [block.text for block in blocks if isinstance(block, Text) and block.style]
        assert heads[2:4] == ["Response time, p50", "Response time, p99"]
        forms = list(FORMS.values())
        for one, table in enumerate(shown):
            maximum = [] if one else ["Theoretical maximum"]
            assert [column.title for column in table.columns[1:]] == [*forms, *maximum]
            levels = [row[0].text for row in table.rows]
            assert levels == ["100 connections", "1,000 connections", "2,000 connections"]
            assert all(cell.value for row in table.rows for cell in row[1:])
        for name in ("throughput", "idle", "p50", "p99", "byte_rate"):
            assert f"levels-{number}-{name}" in charts.names(model)


def test_a_cpu_that_was_never_idle_is_a_table_without_a_picture() -> None:
    shapes = [shape(protocol, bots) for bots in BOTS[:2] for protocol in FORMS]
    trials = demo_trials(blocks=2, shapes=tuple(shapes))
    model = build(
        [watched(trial, idle_ns=0) for trial in trials],
        question="Q?",
        title="T",
        command="again",
        order=[one.name for one in shapes],
        chart="connections",
    )
    (section,) = (one for one in page.sections(model) if one.title.startswith("As the load"))
    (idle,) = (
        block
        for block in section.blocks
        if isinstance(block, Table) and block.columns[0].title == "Idle server CPU, %"
    )
    assert {cell.text for row in idle.rows for cell in row[1:]} == {"0"}
    assert "levels-1-idle" not in charts.names(model)
    assert "levels-1-throughput" in charts.names(model)


def test_bandwidth_is_bytes_both_ways_per_second() -> None:
    scenario = next(s for s in plain().scenarios if s.levels["connections"] == 1000)
    rate, octets = (scenario.median(one) for one in (metrics.THROUGHPUT, metrics.TRANSPORT_BYTES))
    assert rate
    assert octets == sum(BYTES["styx"])
    assert scenario.median(metrics.BYTE_RATE) == pytest.approx(rate * octets)


def test_the_page_of_figures_shows_the_pictures_that_are_kept(tmp_path: Path) -> None:
    model = plain()
    (tmp_path / "results").mkdir()
    (tmp_path / "results" / "found.json").write_text(found.of_report(model).to_json(), "utf-8")
    (tmp_path / "study.toml").write_text(
        '[pictures]\n"idle.svg" = "levels-1-idle"\n"missing.svg" = "levels-2-idle"\n', "utf-8"
    )
    drawn = charts.render_svg(model, "levels-1-idle")
    (tmp_path / "results" / "idle.svg").write_text(drawn, "utf-8")
    written = found.of_study(tmp_path)
    caption = "Idle server CPU of bots, table-native by connections"
    assert written.endswith(f"\n## Pictures\n\n**{caption}**\n\n![{caption}](results/idle.svg)\n")
    assert "%; more is better" in drawn


def test_a_rate_that_nobody_gave_is_no_series(study: ReportModel) -> None:
    assert not any(one.title.startswith("As the load") for one in page.sections(study))


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
    assert "; taken alone, 4 of 8 levels show no difference (" in said


def test_one_level_makes_no_difference_of_all() -> None:
    (family,) = noisy(at_800=60.0).families
    assert metrics.SERVER.key not in family.together


def test_nothing_is_shown_together_where_nothing_differs() -> None:
    (family,) = noisy().families
    assert not family.together


def test_bars_of_several_groups_stand_under_their_titles() -> None:
    model = plain()
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
