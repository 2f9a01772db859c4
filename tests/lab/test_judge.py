"""Judgements follow from what was recorded. Who was the bottleneck: `test_bottleneck.py`."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import Any

import pytest

from tests.lab.trials import SECOND_NS, interval, summary
from wiretrial.plan import AfterResponse, GeneratorSettings, Load, OpenLoop, Plan, Stop, Target
from wiretrial.plan_grpc import Grpc
from wiretrial.results.model import ProcessSample, Use, Verdict, Window
from wiretrial.results.offered import within
from wiretrial.snapshot import (
    Connections,
    Deliveries,
    FlowFigures,
    Generator,
    Interval,
    Lobby,
    Published,
    TrafficFigures,
)
from wiretrial.studies import judge

WINDOW = Window(start_ns=0, end_ns=SECOND_NS, steady=True, rule="r")


def plan(load: Load) -> Plan:
    """A plan of which only the load matters."""
    return Plan(
        target=Target(url="http://127.0.0.1:1/"), load=load, stop=Stop(duration_ns=SECOND_NS)
    )


def line(index: int, *, sent: int, in_flight: int, waiting: int = 0) -> Interval:
    """An interval of an open loop, with so many without a reply at its end."""
    one = interval(index, sent=sent)
    counters = {"in_flight": in_flight, "waiting": waiting}
    return one.model_copy(update={"counters": one.counters.model_copy(update=counters)})


CLOSED = plan(Load(connections=10))
OPEN = plan(Load(connections=10, executor=OpenLoop(rate=1000.0)))


def known(busy: float, **more: Any) -> judge.Known:
    """A server that was busy so much."""
    return judge.Known(server=Use(busy), **more)


@pytest.mark.parametrize(
    ("busy", "on_cpu", "queued", "verdict"),
    [
        (0.30, 0.30, 0.00, "valid"),
        (0.99, 0.99, 0.00, "client-bound"),
        (0.30, 0.30, 0.66, "client-bound"),
        (0.30, 0.20, 0.30, "valid"),
    ],
)
def test_the_generator_s_own_readings_are_shares_of_its_threads(
    busy: float, on_cpu: float, queued: float, verdict: Verdict
) -> None:
    used = Generator(
        loop_utilisation=busy,
        cpu_user_ns=round(on_cpu * 2 * 10**8),
        run_queue_ns=round(queued * 2 * 10**8),
    )
    intervals = [interval(n).model_copy(update={"generator": used}) for n in range(10)]
    two = CLOSED.model_copy(update={"generator": GeneratorSettings(threads=2)})
    found = judge.judge(intervals, summary(), WINDOW, two, known(0.5))
    assert found.verdict == verdict


def test_an_error_makes_it_invalid_and_says_which() -> None:
    failed = summary(ok=990, errors={"mismatch": 10})
    found = judge.judge([interval(0)], failed, WINDOW, CLOSED, known(0.99))
    assert found.verdict == "invalid"
    assert found.evidence.startswith("10 mismatch of 1,000 requests failed")


@pytest.mark.parametrize(
    ("allowed", "verdict"), [(0.0, "invalid"), (0.019, "invalid"), (0.02, "valid")]
)
def test_events_that_were_not_published_count_as_any_that_failed(
    allowed: float, verdict: Verdict
) -> None:
    posted = summary(ok=98, errors={"status": 2}).counters
    published = Published(receivers=10, counters=posted, undelivered=0, unconfirmed=20)
    whole = summary(ok=980).model_copy(update={"published": published})
    found = judge.judge([interval(0)], whole, WINDOW, CLOSED, known(0.99, allowed_errors=allowed))
    assert found.verdict == verdict
    words = "2 status of 100 published events failed (2 %)"
    assert found.evidence.startswith(words) == (verdict == "invalid")


@pytest.mark.parametrize(
    ("status", "found", "words"),
    [
        (0, {"OK": 990, "UNAVAILABLE": 7, "INTERNAL": 3}, "(7 UNAVAILABLE, 3 INTERNAL)"),
        (5, {"NOT_FOUND": 990, "OK": 10}, "(10 OK)"),
        (
            0,
            {"OK": 990, "ABORTED": 4, "UNKNOWN": 3, "INTERNAL": 2, "DATA_LOSS": 1},
            "(4 ABORTED, 3 UNKNOWN, 2 INTERNAL)",
        ),
    ],
)
def test_calls_that_failed_are_told_with_their_statuses(
    status: int, found: dict[str, int], words: str
) -> None:
    whole = summary(ok=990, errors={"status": 10})
    counters = whole.counters.model_copy(update={"statuses": found})
    target = Target(url="grpc://127.0.0.1:1/a.B/C", grpc=Grpc(status=status))
    judged = judge.judge(
        [interval(0)],
        whole.model_copy(update={"counters": counters}),
        WINDOW,
        CLOSED.model_copy(update={"target": target}),
        known(0.99),
    )
    assert judged.evidence.startswith(f"10 status {words} of 1,000 calls failed (1 %)")


@pytest.mark.parametrize(
    ("sent", "verdict", "bottleneck"),
    [
        (100, "valid", "rate"),
        (98, "valid", "rate"),
        (97, "overloaded", "unknown"),
        (60, "overloaded", "unknown"),
    ],
)
def test_an_open_loop_that_kept_its_rate_was_limited_by_it(
    sent: int, verdict: Verdict, bottleneck: str
) -> None:
    intervals = [interval(index, sent=sent) for index in range(10)]
    found = judge.judge(intervals, summary(), WINDOW, OPEN, known(0.5))
    assert (found.verdict, found.bottleneck) == (verdict, bottleneck)
    assert f"{10 * sent:,} of 1,000 requests/s sent" in found.evidence


def test_a_rate_of_sessions_is_held_against_sessions() -> None:
    begun = TrafficFigures(routes=(), flows=(FlowFigures(begun=60), FlowFigures(begun=39)))
    intervals = [
        interval(index, sent=300).model_copy(update={"traffic": begun}) for index in range(10)
    ]
    found = judge.judge(intervals, summary(), WINDOW, OPEN, known(0.5))
    assert "990 of 1,000 sessions/s begun, 3,000 requests/s sent" in found.evidence


@pytest.mark.parametrize(
    ("server", "busy", "verdict", "words"),
    [
        (0.99, 0.2, "overloaded", "the server was the bottleneck (600 of 1,000 requests/s sent"),
        (0.30, 0.2, "overloaded", "the connections were too few for the rate (all 10 places"),
        (None, 0.2, "overloaded", "if it had room, the connections were too few: all 10 places"),
        # It is the generator's fault, and the rate says nothing of the server.
        (0.30, 0.99, "client-bound", "the generator was the bottleneck"),
    ],
)
def test_a_rate_that_is_not_reached_is_overload_and_says_why(
    server: float | None, busy: float, verdict: Verdict, words: str
) -> None:
    intervals = [line(index, sent=60, in_flight=10, waiting=40 * index) for index in range(10)]
    used = [
        one.model_copy(update={"generator": Generator(loop_utilisation=busy)}) for one in intervals
    ]
    told = judge.Known() if server is None else known(server)
    found = judge.judge(used, summary(), WINDOW, OPEN, told)
    assert found.verdict == verdict
    assert words in found.evidence
    assert ("the offered rate was not reached" in found.evidence) == (verdict == "overloaded")
    if "too few" in words:
        # 10 in flight at 600 messages/s take 16.7 ms each: 1,000 requests/s have 16.7 in flight.
        assert (
            "for 16.7 ms each; at that time 1,000 requests/s need 17 connections" in found.evidence
        )


@pytest.mark.parametrize(
    ("growth", "verdict"), [(0, "valid"), (1, "valid"), (3, "overloaded"), (30, "overloaded")]
)
def test_a_line_that_grows_is_overload_though_all_was_sent(growth: int, verdict: Verdict) -> None:
    """So it is where the connections are many: the server takes all and answers later and later."""
    many = plan(Load(connections=10_000, executor=OpenLoop(rate=1000.0)))
    intervals = [line(index, sent=100, in_flight=growth * index) for index in range(20)]
    window = WINDOW.model_copy(update={"end_ns": 2 * SECOND_NS})
    found = judge.judge(intervals, summary(), window, many, known(0.99))
    assert found.verdict == verdict
    assert (f"{10 * growth} more each second without a reply" in found.evidence) == (
        verdict == "overloaded"
    )


def test_replies_that_take_long_are_no_overload() -> None:
    """The line grows until the first reply comes, and then stands."""
    many = plan(Load(connections=10_000, executor=OpenLoop(rate=1000.0)))
    intervals = [line(index, sent=100, in_flight=min(100 * index, 900)) for index in range(20)]
    window = WINDOW.model_copy(update={"end_ns": 2 * SECOND_NS})
    assert judge.judge(intervals, summary(), window, many, known(0.5)).verdict == "valid"


@pytest.mark.parametrize(("pacing", "verdict"), [("constant", "overloaded"), ("poisson", "valid")])
def test_random_arrivals_may_be_fewer_by_chance(pacing: str, verdict: Verdict) -> None:
    executor = OpenLoop.model_validate({"rate": 1000.0, "pacing": pacing})
    intervals = [interval(index, sent=92) for index in range(10)]
    drawn = plan(Load(connections=10, executor=executor))
    assert judge.judge(intervals, summary(), WINDOW, drawn, known(0.5)).verdict == verdict


def test_a_run_of_no_interval_is_not_overloaded() -> None:
    assert judge.judge([], summary(), WINDOW, OPEN, known(0.5)).verdict != "overloaded"


@pytest.mark.parametrize(
    ("connections", "problem"),
    [
        (Connections(attempted=9, closed={"plan": 4, "server": 4}), None),
        (Connections(attempted=9, closed={"protocol": 2, "server": 1}), "2 protocol of 9"),
        (
            Connections(attempted=9, failed={"refused": 1, "tls": 2}, closed={"tls": 1}),
            "1 refused, 3 tls of 9",
        ),
    ],
)
def test_a_connection_that_broke_makes_it_invalid_and_says_how(
    connections: Connections, problem: str | None
) -> None:
    broken = summary().model_copy(update={"connections": connections})
    found = judge.judge([interval(0)], broken, WINDOW, CLOSED, known(0.99))
    assert (found.verdict == "invalid") == (problem is not None)
    assert problem is None or found.evidence.startswith(f"{problem} connections broke")


def test_a_server_that_is_not_seen_is_said_to_be_unknown() -> None:
    unseen = judge.Known(unseen="it runs on another host")
    found = judge.judge([interval(0)], summary(), WINDOW, CLOSED, unseen)
    assert (found.verdict, found.bottleneck) == ("valid", "unknown")
    assert found.evidence.endswith("could not be read: it runs on another host")
    assert "neither side" not in found.evidence


def test_a_server_that_died_makes_it_invalid() -> None:
    dead = known(0.5, server_died="signal SIGSEGV")
    found = judge.judge([interval(0)], summary(), WINDOW, CLOSED, dead)
    assert found.verdict == "invalid"
    assert "SIGSEGV" in found.evidence


def test_an_interrupted_run_is_partial() -> None:
    stopped = summary().model_copy(update={"end": "interrupted", "signal": 2})
    found = judge.judge([interval(0)], stopped, WINDOW, CLOSED, known(1))
    assert found.verdict == "partial"


def paused(*indices: int, ok: int = 0) -> list[Interval]:
    """Ten intervals; in these the generator was kept from running."""
    return [
        interval(index).model_copy(update={"disturbed": True})
        if index in indices
        else interval(index, ok=ok)
        for index in range(10)
    ]


def test_where_all_messages_count_those_of_disturbed_intervals_do_too() -> None:
    counted = CLOSED.model_copy(update={"stop": Stop(requests=100)})
    lumps = [
        interval(index, ok=100 if index == 4 else 0).model_copy(update={"disturbed": index == 4})
        for index in range(10)
    ]
    assert judge.judge(lumps, summary(), WINDOW, CLOSED, known(0.5)).verdict == "invalid"
    assert judge.judge(lumps, summary(), WINDOW, counted, known(0.5)).verdict == "valid"


@pytest.mark.parametrize(
    ("intervals", "problem"),
    [
        (paused(0, 1, 2, ok=100), None),
        (paused(0, 1, 2, 3, 4, 5, ok=100), "kept from running in 6 of 10 intervals"),
        (paused(0, 1, ok=0), "no request was answered in the measured time"),
    ],
)
def test_a_generator_that_was_paused_too_much_makes_it_invalid(
    intervals: list[Interval], problem: str | None
) -> None:
    found = judge.judge(intervals, summary(), WINDOW, CLOSED, known(0.5))
    assert (found.verdict == "invalid") == (problem is not None)
    assert problem is None or problem in found.evidence


def test_only_the_window_counts() -> None:
    window = Window(start_ns=SECOND_NS // 2, end_ns=SECOND_NS, steady=True, rule="r")
    intervals = [interval(index, busy=0.1 if index < 5 else 0.9) for index in range(10)]
    assert judge.loop_utilisation(within(intervals, window)) == pytest.approx(0.9)


def test_a_run_given_in_requests_counts_whole() -> None:
    found = judge.window_of([interval(0)], summary(), warmup_allowance_ns=0, duration_ns=None)
    assert (found.start_ns, found.end_ns) == (0, SECOND_NS)
    assert found.rule == judge.WHOLE_RUN


def read_from(cost_ns: Sequence[int]) -> list[ProcessSample]:
    """A reading every 200 ms of a server whose messages cost so much, ten in each interval."""
    spent = accumulate((20 * one for one in cost_ns), initial=0)
    return [
        ProcessSample(offset_ns=i * SECOND_NS // 5, cpu_user_ns=one, cpu_system_ns=0, rss_bytes=1)
        for i, one in enumerate(spent)
    ]


def test_a_given_rate_is_cut_where_the_server_s_cost_has_settled() -> None:
    steps = [interval(index) for index in range(60)]
    steps = [
        one.model_copy(update={"counters": one.counters.model_copy(update={"ok": 10})})
        for one in steps
    ]
    whole = summary().model_copy(update={"measure_end_ns": 6 * SECOND_NS})

    def found(samples: Sequence[ProcessSample]) -> Window:
        return judge.window_of(
            steps,
            whole,
            warmup_allowance_ns=3 * SECOND_NS,
            duration_ns=3 * SECOND_NS,
            samples=samples,
        )

    warming = found(read_from([90_000] * 8 + [30_000] * 22))
    assert (warming.start_ns, warming.steady) == (8 * SECOND_NS // 5, True)
    assert warming.follows == "server CPU per message"
    drifting = found(read_from([90_000 - 2000 * i for i in range(30)]))
    assert (drifting.steady, drifting.follows) == (False, "server CPU per message")
    blind = found(())
    assert (blind.start_ns, blind.steady, blind.follows) == (0, True, "throughput")


def test_whose_pace_it_is() -> None:
    assert not judge.is_rate_given(CLOSED)
    for executor, is_given in (
        (OpenLoop(rate=1000), True),
        (AfterResponse(pause_ns=SECOND_NS), True),
        (AfterResponse(pause_ns=0), False),
    ):
        load = CLOSED.load.model_copy(update={"executor": executor})
        assert judge.is_rate_given(CLOSED.model_copy(update={"load": load})) == is_given


@pytest.mark.parametrize(
    ("counters", "words"),
    [
        ({"deliveries": Deliveries(expected=60, ok=57, missing=2, in_flight=1)}, "2 missing of 60"),
        ({"lobby": Lobby(ok=8, missing=1)}, "snapshots of the lobby: 1 missing, beside 8 right"),
        ({"lobby": Lobby(ok=8, mismatch=2, out_of_order=3)}, "2 that contradict themselves, 3 out"),
    ],
)
def test_a_copy_or_a_snapshot_that_is_lost_makes_it_invalid(
    counters: dict[str, object], words: str
) -> None:
    whole = summary()
    lost = whole.model_copy(update={"counters": whole.counters.model_copy(update=counters)})
    found = judge.judge([interval(0)], lost, WINDOW, CLOSED, known(0.5))
    assert found.verdict == "invalid"
    assert words in found.evidence


def test_snapshots_that_are_right_change_nothing() -> None:
    whole = summary()
    told = whole.counters.model_copy(update={"lobby": Lobby(ok=8)})
    found = judge.judge(
        [interval(0)], whole.model_copy(update={"counters": told}), WINDOW, CLOSED, known(0.5)
    )
    assert found.verdict == "valid"


@pytest.mark.parametrize(
    ("errors", "allowed", "verdict"),
    [
        ({"mismatch": 10}, 0.0, "invalid"),
        ({"mismatch": 10}, 0.005, "invalid"),
        ({"mismatch": 10}, 0.01, "valid"),
        ({"status": 6, "timeout": 6}, 0.01, "invalid"),
        ({}, 0.01, "valid"),
    ],
)
def test_a_share_of_errors_can_be_allowed(
    errors: dict[str, int], allowed: float, verdict: Verdict
) -> None:
    told = summary(ok=1000 - sum(errors.values()), errors=errors)
    use = known(0.99, allowed_errors=allowed)
    found = judge.judge([interval(0)], told, WINDOW, CLOSED, use)
    assert (found.verdict, found.allowed_errors) == (verdict, allowed)
    if errors and verdict == "valid":
        begin = "10 mismatch of 1,000 requests failed (1 %), of which 1 % may; "
        assert found.evidence.startswith(begin)


def test_a_connection_that_broke_counts_once() -> None:
    """A message that failed by a reset, and its connection; and one that broke with no message."""
    told = summary(ok=998, errors={"reset": 1})
    broken = Connections(
        attempted=12, opened=12, failed={}, closed={"reset": 2, "plan": 10}, open=0
    )
    told = told.model_copy(update={"connections": broken})
    found = judge.judge([interval(0)], told, WINDOW, CLOSED, known(0.99))
    assert found.evidence.startswith(
        "1 reset of 999 requests failed (0.1 %); 1 reset of 12 connections broke"
    )
    use = known(0.99, allowed_errors=0.002)
    assert judge.judge([interval(0)], told, WINDOW, CLOSED, use).verdict == "valid"
