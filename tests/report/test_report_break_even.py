"""Set-up against messages: what each costs, where the lines cross, and where it is shown."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace

import pytest

from tests.lab import trials as made_up
from wiretrial.plan import SECURE, Load, Stop
from wiretrial.report import break_even, charts, found, html, markdown, phrases, text
from wiretrial.report.finding import Finding
from wiretrial.report.model import ReportModel, build
from wiretrial.report.tables import break_even as break_even_table
from wiretrial.results.model import (
    Judgement,
    ProcessSample,
    Scenario,
    SubjectFacts,
    Trial,
    Verdict,
)
from wiretrial.snapshot import Bytes

CONNECTIONS = 100
BLOCKS = 4
WAYS = (("feathers, HTTP", "http"), ("feathers, Socket.IO", "socketio+ws"))
MS = 1_000_000
# What one connection costs: nanoseconds and bytes of its set-up, and of each message.
Costs = dict[str, tuple[int, int]]
HTTP: Costs = {"time": (105 * MS, 105 * MS), "cpu": (40_000, 100_000), "bytes": (0, 300)}
SOCKET: Costs = {"time": (315 * MS, 105 * MS), "cpu": (640_000, 40_000), "bytes": (700, 60)}


def trial(
    label: str, protocol: str, each: int, block: int, place: int, costs: Costs | None = None
) -> Trial:
    """A run of so many messages on each of a hundred connections, set-up included."""
    costs = costs or (HTTP if protocol == "http" else SOCKET)
    # Blocks scatter by a part of a thousand, so that there is an interval.
    whole = {name: (a + each * b) * (1 + block / 1000) for name, (a, b) in costs.items()}
    one = made_up.trial(block=block, position=place)
    end_ns = 1000 + round(whole["time"])
    octets = round(whole["bytes"] * CONNECTIONS)
    ok = CONNECTIONS * each
    samples = (
        ProcessSample(offset_ns=0, cpu_user_ns=0, cpu_system_ns=0, rss_bytes=1),
        ProcessSample(
            offset_ns=end_ns,
            cpu_user_ns=round(whole["cpu"] * CONNECTIONS),
            cpu_system_ns=0,
            rss_bytes=1,
        ),
    )
    counted = one.summary.counters.model_copy(update={"ok": ok, "sent": ok})
    sums = Bytes(application_sent=octets, sent=octets)
    return one.model_copy(
        update={
            "scenario": Scenario(
                name=f"{label}: load, {each} messages each",
                subject="feathers",
                protocol=protocol,
                workload="w",
                group=f"load, {each} messages each",
                label=label,
                levels={"workload": "load", "requests_each": each, "protocol": protocol},
            ),
            "subject": SubjectFacts(name="feathers", version="5", language="JavaScript"),
            "plan": one.plan.model_copy(
                update={
                    "load": Load(connections=CONNECTIONS, requests_per_connection=each),
                    "stop": Stop(requests_each=each),
                }
            ),
            "summary": one.summary.model_copy(
                update={
                    # The first message goes when the set-up is over; the time has it in.
                    "first_send_ns": 1000 + costs["time"][0],
                    "measure_start_ns": 1000,
                    "measure_end_ns": end_ns,
                    "end_ns": end_ns,
                    "counters": counted,
                    "bytes": sums,
                }
            ),
            "subject_samples": samples,
        }
    )


def trials() -> Iterator[Trial]:
    place = 0
    for block in range(BLOCKS):
        for each in (1, 10, 50):
            for label, protocol in (
                ("feathers, HTTP", "http"),
                ("feathers, Socket.IO", "socketio+ws"),
            ):
                yield trial(label, protocol, each, block, place)
                place += 1
    # One block with many messages has no partner, and is left alone.
    yield trial("feathers, HTTP", "http", 2000, 0, place)


@pytest.fixture(scope="module")
def model() -> ReportModel:
    return build(list(trials()), question="q", title="t", command="c")


def test_set_up_and_message_are_told_apart(model: ReportModel) -> None:
    (place,) = model.places
    found_by = {crossing.quantity.name: crossing for crossing in place.crossings}
    assert set(found_by) == {"time", "server CPU", "application bytes", "TCP payload"}
    cpu = found_by["server CPU"]
    assert (cpu.least, cpu.most, cpu.blocks) == (1, 50, BLOCKS)
    assert cpu.http.setup == pytest.approx(40_000, rel=0.01)
    assert cpu.http.message == pytest.approx(100_000, rel=0.01)
    assert cpu.socket.setup == pytest.approx(640_000, rel=0.01)
    # A set-up of 600 µs more is earned back at 60 µs a message.
    assert cpu.found.messages == pytest.approx(10, rel=0.01)
    assert cpu.found.low is not None
    assert cpu.found.high is not None
    assert cpu.found.low <= 10 <= cpu.found.high
    assert found_by["TCP payload"].found.messages == pytest.approx(700 / 240, rel=0.01)


def test_each_occasion_is_one_value_of_a_break_even() -> None:
    """Blocks 0 and 1 are of one day, 2 and 3 of another."""
    setups = (600_000, 680_000, 630_000, 640_000)
    made = [
        trial(label, protocol, each, block, 0, costs)
        for block, setup in enumerate(setups)
        for each in (1, 50)
        for (label, protocol), costs in zip(
            WAYS, (HTTP, {**SOCKET, "cpu": (setup, 40_000)}), strict=True
        )
    ]
    days = [one.model_copy(update={"occasion": 1 + one.block // 2}) for one in made]
    one, two = (
        next(one.found for one in place.crossings if one.quantity.name == "server CPU")
        for side in (made, days)
        for place in break_even.places(side)
    )
    # In units of each day's cost per message, which differ a little.
    assert two.messages == pytest.approx(one.messages, rel=1e-4)
    # The days' means are 640 and 635 µs: closer than their blocks, so that the interval shrinks.
    assert (one.high or 0) - (one.low or 0) > 1.2 * ((two.high or 0) - (two.low or 0)) > 0


def test_in_time_one_by_one_the_socket_never_wins(model: ReportModel) -> None:
    (place,) = model.places
    (time,) = [crossing for crossing in place.crossings if crossing.quantity.name == "time"]
    assert time.http.setup == pytest.approx(105 * MS, rel=0.01)
    assert time.socket.setup == pytest.approx(315 * MS, rel=0.01)
    assert time.words == "cannot be told from these data"


@pytest.mark.parametrize("socket", sorted(SECURE - {"https"}))
def test_every_socket_inside_tls_stands_beside_https(socket: str) -> None:
    made = [
        trial(label, protocol, each, block, 0, costs)
        for block in range(BLOCKS)
        for each in (1, 50)
        for label, protocol, costs in (("HTTPS", "https", HTTP), ("socket", socket, SOCKET))
    ]
    (place,) = break_even.places(made)
    assert {(one.http.label, one.socket.label) for one in place.crossings} == {("HTTPS", "socket")}


def test_a_time_that_is_only_a_bound_crosses_nothing_for_certain() -> None:
    local = {"time": (1 * MS, 2 * MS), "cpu": (40_000, 100_000), "bytes": (0, 300)}
    quick = {"time": (8 * MS, 1 * MS), "cpu": (640_000, 40_000), "bytes": (700, 60)}

    def words(verdict: Verdict) -> dict[str, str]:
        judgement = Judgement(verdict=verdict, bottleneck="generator", evidence="")
        made = [
            trial(label, protocol, each, block, 0, costs).model_copy(
                update={"judgement": judgement}
            )
            for block in range(BLOCKS)
            for each in (1, 50)
            for (label, protocol), costs in zip(WAYS, (local, quick), strict=True)
        ]
        (place,) = build(made, question="q", title="t", command="c").places
        return {one.quantity.name: one.words for one in place.crossings}

    told, bound = words("valid"), words("client-bound")
    assert told["time"].startswith("after 7.00 messages (")
    assert bound["time"] == "cannot be told from these data"
    assert bound["server CPU"] == told["server CPU"]


def test_a_number_beyond_what_was_measured_is_extrapolated(model: ReportModel) -> None:
    (place,) = model.places
    cpu = next(one for one in place.crossings if one.quantity.name == "server CPU")
    for least, most, said in (
        (1, 50, ""),
        (20, 50, "extrapolated below the measured 20"),
        (1, 9, "extrapolated beyond the measured 9"),
    ):
        beyond = replace(cpu, least=least, most=most)
        assert beyond.words.endswith(f"; {said})" if said else "10.0)")
        finding = Finding("break-even", crossings=(beyond,))
        for whole in (False, True):
            told = phrases.say(finding, whole=whole)
            assert ("extrapolated" in told) == bool(said)
            assert said in told


def test_the_lines_cross_where_the_costs_that_are_shown_say() -> None:
    """Blocks that are skewed, so that medians would cross elsewhere than means."""
    draw = random.Random(1)
    for _ in range(20):
        made = [
            trial(label, protocol, each, block, 0, _skewed(costs, draw))
            for block in range(BLOCKS)
            for each in (1, 50)
            for (label, protocol), costs in zip(WAYS, (HTTP, SOCKET), strict=True)
        ]
        (place,) = break_even.places(made)
        for one in place.crossings:
            if one.found.messages is None:
                continue
            dearer = one.socket.setup - one.http.setup
            saved = one.http.message - one.socket.message
            assert one.found.messages == pytest.approx(dearer / saved)
            assert one.found.low is not None
            assert one.found.high is not None
            assert one.found.low <= one.found.messages <= one.found.high


def _skewed(costs: Costs, draw: random.Random) -> Costs:
    factor = 1 + draw.expovariate(20)
    return {name: (round(a * factor), round(b * factor)) for name, (a, b) in costs.items()}


def test_it_is_the_first_thing_that_is_said(model: ReportModel) -> None:
    first = model.findings[0]
    assert (first.kind, first.where, first.is_beside) == ("break-even", "over loopback", False)
    assert [one.quantity.name for one in first.crossings] == [
        *("time", "server CPU", "application bytes", "TCP payload"),
    ]
    assert model.all_sentences[0].startswith(
        "Over loopback: set-up included, a connection of feathers, Socket.IO costs less than one of"
        " feathers, HTTP in application bytes after 2.92 messages ("
    )
    assert "; in server CPU after 10.0 messages (" in model.all_sentences[0]
    assert model.all_sentences[0].endswith("; in time: cannot be told from these data.")


def test_it_is_shown_everywhere(model: ReportModel) -> None:
    (place,) = model.places
    rows = break_even_table.table(place).rows
    (row,) = [row for row in rows if row[0].text.endswith("server CPU")]
    assert row[-1].text.startswith("after 10.0 messages (")
    page = html.render(model)
    assert "Break-even: set-up against messages" in page
    for shown in (page, text.render(model, width=200), markdown.render(model)):
        assert "after 10.0 messages (" in shown
    kept = found.of_report(model)
    assert found.Found.model_validate_json(kept.to_json()) == kept
    assert "after 10.0 messages (" in found.section(kept)


def test_a_picture_shows_what_a_message_costs_as_more_share_a_connection(
    model: ReportModel,
) -> None:
    assert [name for name in charts.names(model) if name.startswith("amortised")] == [
        "amortised-1-server-cpu",
        "amortised-1-tcp-payload",
    ]
    assert charts.render_svg(model, "amortised-1-server-cpu").startswith("<svg")
    page = html.render(model)
    assert "Server CPU per message by messages per connection, over loopback: " in page
    # 640 µs of set-up and 40 a message, of which ten share it: 104; HTTP costs as much by then.
    assert "feathers, Socket.IO 681 at 1, 104 at 10 and 52.9 at 50" in page
    assert "feathers, HTTP 140 at 1, 104 at 10, 101 at 50 and " in page


def test_kept_connections_have_no_set_up_to_earn_back() -> None:
    kept = [
        one.model_copy(
            update={"plan": one.plan.model_copy(update={"load": Load(connections=CONNECTIONS)})}
        )
        for one in trials()
    ]
    assert build(kept, question="q", title="t", command="c").places == ()
