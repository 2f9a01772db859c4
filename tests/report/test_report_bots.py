"""A study of bots: protocols beside each other at rates that grow with the connections."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from tests.report.synthetic import Shape, demo_trials
from wiretrial.report import html, metrics
from wiretrial.report.model import ReportModel, build
from wiretrial.results.claims import Claim, Side

FORMS = {"styx": "binary over TCP", "styx+json+ws": "JSON over WebSocket"}
BYTES = {"styx": (43, 39), "styx+json+ws": (115, 107)}
BOTS = (100, 1000, 2000)


def shape(protocol: str, bots: int) -> Shape:
    label = f"table-netty, {FORMS[protocol]}"
    return Shape(
        name=f"{label}: bots, {bots:,} connections",
        group=f"bots, {bots:,} connections",
        protocol=protocol,
        subject="table-netty",
        language="Java",
        rate=20_000.0,
        server_us=20.0,
        system_share=0.5,
        generator_us=5.0,
        sent_bytes=BYTES[protocol][0],
        received_bytes=BYTES[protocol][1],
        offered=float(bots),
        connections=bots,
        label=label,
        levels={"workload": "bots", "connections": bots, "protocol": protocol},
    )


def side(protocol: str, bots: int) -> Side:
    levels = {"protocol": protocol, "connections": bots}
    return Side(subject="table-netty", workload="bots", levels=levels)


def bound(below_ms: float, bots: int = 2000) -> Claim:
    of = side("styx", bots)
    return Claim(text="Quick", source="somebody", metric="p50", below_ms=below_ms, of=of)


def report(*claims: Claim) -> ReportModel:
    shapes = tuple(shape(protocol, bots) for bots in BOTS for protocol in FORMS)
    return build(
        demo_trials(blocks=5, shapes=shapes),
        question="Q?",
        title="T",
        command="again",
        order=[one.name for one in shapes],
        chart="connections",
        claims=claims,
    )


def test_protocols_are_lines_along_the_number_of_bots() -> None:
    (family,) = report().families
    assert family.factor == "connections"
    assert family.labels == tuple(f"table-netty, {words}" for words in FORMS.values())
    assert family.metric is metrics.P99


def test_throughput_stands_beside_what_was_offered() -> None:
    model = report()
    assert {(s.levels["connections"], s.offered) for s in model.scenarios} == {
        (bots, float(bots)) for bots in BOTS
    }
    page = html.render(model)
    assert "Throughput against the theoretical maximum: bots" in page
    assert "by connections, beside the theoretical maximum" in page
    assert "TCP payload of bots by connections" in page


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
    assert broken.verdict == "refuted"
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
