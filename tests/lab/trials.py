"""A made-up record for tests of storage and judgement, which care about its form only."""

from __future__ import annotations

from wiretrial.plan import Load, Plan, Stop, Target
from wiretrial.results.model import Judgement, Scenario, Trial, Window
from wiretrial.snapshot import (
    Blocked,
    Bytes,
    Connections,
    Counters,
    Generator,
    Interval,
    Start,
    Summary,
)

SECOND_NS = 1_000_000_000


def interval(
    index: int, *, ok: int = 100, sent: int | None = None, busy: float = 0.5, step_ns: int = 10**8
) -> Interval:
    """Interval number `index` of a run in which nothing fails."""
    return Interval(
        index=index,
        start_ns=index * step_ns,
        end_ns=(index + 1) * step_ns,
        phase="measure",
        counters=Counters(sent=ok if sent is None else sent, ok=ok),
        connections=Connections(),
        bytes=Bytes(),
        generator=Generator(loop_utilisation=busy),
        disturbed=False,
    )


def summary(
    *, ok: int = 1000, errors: dict[str, int] | None = None, end_ns: int = SECOND_NS
) -> Summary:
    """The end of a run."""
    failed = errors or {}
    return Summary(
        end="complete",
        signal=None,
        first_send_ns=0,
        measure_start_ns=0,
        measure_end_ns=end_ns,
        end_ns=end_ns,
        counters=Counters(sent=ok + sum(failed.values()), ok=ok, errors=failed),
        connections=Connections(),
        bytes=Bytes(),
        generator=Generator(),
        blocked=Blocked(),
        disturbed_intervals=0,
    )


def trial(block: int = 0, position: int = 0, name: str = "A/B: c", digest: str = "d") -> Trial:
    """One whole record."""
    return Trial(
        study="tiny",
        study_digest=digest,
        block=block,
        position=position,
        order_seed=1,
        scenario=Scenario(name=name, subject="s", protocol="http", workload="w"),
        started_at="2026-01-01T00:00:00+00:00",
        plan=Plan(
            target=Target(url="http://127.0.0.1:1/"),
            load=Load(connections=1),
            stop=Stop(duration_ns=SECOND_NS),
        ),
        start=Start(
            engine="0",
            pid=1,
            url="http://127.0.0.1:1/",
            addresses=("127.0.0.1:1",),
            started_unix_ns=0,
            threads=1,
            poller="epoll",
            request_payload_bytes=0,
            reply_payload_bytes=0,
            tls=None,
        ),
        intervals=tuple(interval(index) for index in range(10)),
        summary=summary(),
        subject=None,
        window=Window(start_ns=0, end_ns=SECOND_NS, steady=True, rule="r"),
        judgement=Judgement(verdict="valid", bottleneck="server", evidence="e"),
    )
