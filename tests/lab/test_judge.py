"""Judgements follow from evidence."""

from __future__ import annotations

import pytest

from tests.lab.trials import SECOND_NS, interval, summary
from wiretrial.plan import Load, OpenLoop
from wiretrial.results.model import Bottleneck, Verdict, Window
from wiretrial.snapshot import Connections, Interval
from wiretrial.studies import judge

WINDOW = Window(start_ns=0, end_ns=SECOND_NS, steady=True, rule="r")
CLOSED = Load(connections=10)
OPEN = Load(connections=10, executor=OpenLoop(rate=1000.0))


def use(server: float | tuple[float, float] | None) -> judge.ServerUse | None:
    """Share on a CPU, and share waiting for one."""
    if server is None:
        return None
    busy, queued = server if isinstance(server, tuple) else (server, 0.0)
    return judge.ServerUse(busy=busy, queued=queued)


@pytest.mark.parametrize(
    ("load", "sent", "busy", "server", "verdict", "bottleneck"),
    [
        (CLOSED, 100, 0.50, 0.99, "valid", "server"),
        (CLOSED, 100, 0.99, 0.60, "client-bound", "generator"),
        (CLOSED, 100, 0.99, None, "client-bound", "generator"),
        (CLOSED, 100, 0.99, 0.99, "valid", "server"),
        (CLOSED, 100, 0.30, 0.30, "valid", "unknown"),
        (CLOSED, 100, 0.30, None, "valid", "unknown"),
        (CLOSED, 100, 0.30, (0.40, 0.55), "valid", "server"),
        (CLOSED, 100, 0.99, (0.40, 0.55), "client-bound", "generator"),
        (OPEN, 100, 0.30, 0.50, "valid", "rate"),
        (OPEN, 60, 0.30, 0.99, "valid", "server"),
        (OPEN, 60, 0.99, 0.50, "client-bound", "generator"),
    ],
)
def test_who_limited_it(
    load: Load,
    sent: int,
    busy: float,
    server: float | tuple[float, float] | None,
    verdict: Verdict,
    bottleneck: Bottleneck,
) -> None:
    intervals = [interval(index, sent=sent, busy=busy) for index in range(10)]
    found = judge.judge(intervals, summary(), WINDOW, load, server=use(server), server_died=None)
    assert (found.verdict, found.bottleneck) == (verdict, bottleneck)
    assert "idle" in found.evidence


def test_an_error_makes_it_invalid_and_says_which() -> None:
    found = judge.judge(
        [interval(0)],
        summary(ok=990, errors={"mismatch": 10}),
        WINDOW,
        CLOSED,
        server=use(0.99),
        server_died=None,
    )
    assert found.verdict == "invalid"
    assert found.evidence.startswith("10 mismatch of 1,000 messages failed")


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
    found = judge.judge([interval(0)], broken, WINDOW, CLOSED, server=use(0.99), server_died=None)
    assert (found.verdict == "invalid") == (problem is not None)
    assert problem is None or found.evidence.startswith(f"{problem} connections broke")


def test_a_server_that_died_makes_it_invalid() -> None:
    found = judge.judge(
        [interval(0)], summary(), WINDOW, CLOSED, server=use(0.5), server_died="signal SIGSEGV"
    )
    assert found.verdict == "invalid"
    assert "SIGSEGV" in found.evidence


def test_an_interrupted_run_is_partial() -> None:
    stopped = summary().model_copy(update={"end": "interrupted", "signal": 2})
    found = judge.judge([interval(0)], stopped, WINDOW, CLOSED, server=use(1), server_died=None)
    assert found.verdict == "partial"


def paused(*indices: int, ok: int = 0) -> list[Interval]:
    """Ten intervals; in these the generator was kept from running."""
    return [
        interval(index).model_copy(update={"disturbed": True})
        if index in indices
        else interval(index, ok=ok)
        for index in range(10)
    ]


@pytest.mark.parametrize(
    ("intervals", "problem"),
    [
        (paused(0, 1, 2, ok=100), None),
        (paused(0, 1, 2, 3, 4, 5, ok=100), "kept from running in 6 of 10 intervals"),
        (paused(0, 1, ok=0), "no message came back in the measured time"),
    ],
)
def test_a_generator_that_was_paused_too_much_makes_it_invalid(
    intervals: list[Interval], problem: str | None
) -> None:
    found = judge.judge(intervals, summary(), WINDOW, CLOSED, server=use(0.5), server_died=None)
    assert (found.verdict == "invalid") == (problem is not None)
    assert problem is None or problem in found.evidence


def test_only_the_window_counts() -> None:
    window = Window(start_ns=SECOND_NS // 2, end_ns=SECOND_NS, steady=True, rule="r")
    intervals = [interval(index, busy=0.1 if index < 5 else 0.9) for index in range(10)]
    assert judge.loop_utilisation(judge.within(intervals, window)) == pytest.approx(0.9)


def test_a_run_given_in_requests_counts_whole() -> None:
    found = judge.window_of([interval(0)], summary(), warmup_allowance_ns=0, duration_ns=None)
    assert (found.start_ns, found.end_ns) == (0, SECOND_NS)
    assert found.rule == judge.WHOLE_RUN
