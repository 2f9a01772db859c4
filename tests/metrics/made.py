"""Snapshots of a run that is made up, and the batches of it."""

from __future__ import annotations

from hdrh.histogram import HdrHistogram

from wiretrial.metrics.collector import Collector, Trial
from wiretrial.metrics.families import Batch
from wiretrial.results import hdr
from wiretrial.results.hdr import HIGHEST_NS, LOWEST_NS, SIGNIFICANT_DIGITS
from wiretrial.snapshot import (
    Blocked,
    Bytes,
    Connections,
    Counters,
    Generator,
    Interval,
    Phase,
    Snapshot,
    Start,
    Summary,
)

BEGAN_NS = 1_800_000_000_000_000_000
STEP_NS = 100_000_000
TRIAL = Trial("tiny", "A/B: c", "3", "A")
SOURCE = (("instance", "host:1"), ("job", "wiretrial"))


def times(values_ns: dict[int, int]) -> str:
    """A histogram: so many of each value."""
    made = HdrHistogram(LOWEST_NS, HIGHEST_NS, SIGNIFICANT_DIGITS)
    for value, count in values_ns.items():
        made.record_value(value, count)
    return hdr.Hdr(made).text


def start(began_ns: int = BEGAN_NS) -> Start:
    """The begin of a run."""
    return Start(
        engine="0",
        pid=1,
        url="http://127.0.0.1:1/",
        addresses=("127.0.0.1:1",),
        started_unix_ns=began_ns,
        threads=1,
        poller="epoll",
        request_payload_bytes=0,
        reply_payload_bytes=0,
        tls=None,
    )


def interval(
    index: int,
    *,
    ok: int = 10,
    errors: dict[str, int] | None = None,
    values_ns: dict[int, int] | None = None,
    phase: Phase = "measure",
) -> Interval:
    """A tenth of a second."""
    failed = errors or {}
    return Interval(
        index=index,
        start_ns=index * STEP_NS,
        end_ns=(index + 1) * STEP_NS,
        phase=phase,
        counters=Counters(
            sent=ok + sum(failed.values()), ok=ok, errors=failed, in_flight=4, waiting=2
        ),
        connections=Connections(opened=1 if index == 0 else 0, open=1),
        bytes=Bytes(sent=100, received=200),
        generator=Generator(cpu_user_ns=3_000_000, cpu_system_ns=1_000_000, loop_utilisation=0.25),
        disturbed=False,
        histograms={"service_time": times(values_ns)} if values_ns else {},
    )


def summary() -> Summary:
    """The end of a run."""
    return Summary(
        end="complete",
        signal=None,
        first_send_ns=0,
        measure_start_ns=0,
        measure_end_ns=1,
        end_ns=1,
        counters=Counters(),
        connections=Connections(),
        bytes=Bytes(),
        generator=Generator(),
        blocked=Blocked(),
        disturbed_intervals=0,
    )


def run(seconds: int = 2) -> list[Snapshot]:
    """A run of so long."""
    values = {1_000_000: 9, 3_000_000: 1}
    return [
        start(),
        *(interval(index, values_ns=values) for index in range(10 * seconds)),
        summary(),
    ]


def batches(snapshots: list[Snapshot]) -> list[Batch]:
    """What becomes of it."""
    collector = Collector(TRIAL)
    return [batch for one in snapshots for batch in collector.see(one)]
