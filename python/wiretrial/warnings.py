"""Every warning with its advice, and the rules that raise it from a trial's record.

Knows what a reader of a result must beware of; must not know how a report looks or how a trial is
run. All functions are pure.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from enum import StrEnum
from functools import lru_cache

from wiretrial.results import hdr
from wiretrial.results.model import Trial, Warning

MS = 1_000_000
FEWEST_TRIALS = 5


class Code(StrEnum):
    """What a reader must beware of."""

    ERRORS = "errors"
    CONNECT_FAILURES = "connect-failures"
    GENERATOR_LIMITS = "generator-limits"
    CLIENT_BOUND = "client-bound"
    PARTIAL = "partial"
    NOT_STEADY = "not-steady"
    TOO_SHORT = "too-short"
    DISTURBED = "disturbed"
    STARVED = "starved"
    LATE_SENDS = "late-sends"
    BLOCKED = "blocked"
    DELAYED_ACK = "40-ms-mode"
    RETRANSMISSION = "200-ms-mode"
    SYN_RETRANSMISSION = "1-s-connects"
    RECONNECTS = "reconnects"
    SHARED_CPU = "shared-cpu"
    UNPINNED = "unpinned"
    NO_SERVER_CPU = "no-server-cpu"
    INSECURE = "insecure"
    FEW_TRIALS = "few-trials"


ADVICE: dict[Code, str] = {
    Code.ERRORS: (
        "Look at the first excerpt per class; lower the load until the server answers all."
    ),
    Code.CONNECT_FAILURES: (
        "Raise the server's listen backlog and net.core.somaxconn, or connect more slowly."
    ),
    Code.GENERATOR_LIMITS: (
        "Raise `ulimit -n`, or give more source addresses: one source and one server port carry "
        "28,232 ports, which at 60 s of TIME_WAIT is 470 new connections per second."
    ),
    Code.CLIENT_BOUND: (
        "Read its throughput as “at least”; compare CPU per message, or give the generator "
        "more threads."
    ),
    Code.PARTIAL: "Run the rest: the study goes on with --resume.",
    Code.NOT_STEADY: (
        "Measure for longer, allow more warm-up, or look for what changes the server's pace."
    ),
    Code.TOO_SHORT: "Measure for two seconds or more, so that warm-up can be told from the rest.",
    Code.DISTURBED: (
        "Those intervals are left out; stop other work on the machine and measure again."
    ),
    Code.STARVED: "Give the generator cores of its own, or stop other work on the machine.",
    Code.LATE_SENDS: (
        "Give the generator more threads or spinning pacing; response times include this lag."
    ),
    Code.BLOCKED: (
        "Measure with --rate: an open loop shows such stalls in full, a closed loop waits them out."
    ),
    Code.DELAYED_ACK: "Set TCP_NODELAY on the server and write each reply with one call.",
    Code.RETRANSMISSION: (
        "Look for lost packets (`nstat TcpRetransSegs`) or an address that is tried first and"
        " fails."
    ),
    Code.SYN_RETRANSMISSION: "Raise the server's listen backlog and net.core.somaxconn.",
    Code.RECONNECTS: (
        "Raise the server's limit of requests per connection (nginx: keepalive_requests), or "
        "state it."
    ),
    Code.SHARED_CPU: "Pin the server and the generator to different cores.",
    Code.UNPINNED: "Pin the server and the generator to stated cores, so that they do not move.",
    Code.NO_SERVER_CPU: (
        "Let wiretrial start the server, so that it can read the CPU time of its processes."
    ),
    Code.INSECURE: "Trust the server's authority with --cacert FILE, and leave --insecure out.",
    Code.FEW_TRIALS: "Run five trials or more; ten where ranks matter.",
}

_SHARE_OF_A_MODE = 0.002
_SHARE_OF_A_MODE_STARVED = 0.05
_FEWEST_IN_A_MODE = 3
_NEIGHBOUR_SHARE = 0.5
_TYPICAL_LIMITS = (100, 1000)
_STARVED_SHARE = 0.05
_BLOCKED_SHARE = 0.01


def warn(code: Code, message: str) -> Warning:
    """The warning with its advice; `message` says what was seen, with figures."""
    return Warning(code=code.value, message=message, advice=ADVICE[code])


def of_trial(trial: Trial) -> tuple[Warning, ...]:
    """Every warning that the record of one trial gives cause for, gravest first."""
    return tuple(warning for rule in _RULES for warning in rule(trial))


def of_study(usable: Mapping[str, int]) -> tuple[Warning, ...]:
    """Warnings about a study as a whole; `usable` trials by scenario."""
    few = {name: n for name, n in usable.items() if n < FEWEST_TRIALS}
    if not few:
        return ()
    if few.keys() == usable.keys() and len(set(few.values())) == 1:
        message = f"only {next(iter(few.values()))} usable trials of each scenario"
    else:
        message = f"few usable trials: {', '.join(f'{name} {n}' for name, n in few.items())}"
    return (warn(Code.FEW_TRIALS, message),)


def _errors(trial: Trial) -> Iterator[Warning]:
    errors = {name: n for name, n in trial.summary.counters.errors.items() if n}
    if errors:
        yield warn(
            Code.ERRORS,
            f"{sum(errors.values()):,} of {trial.summary.counters.sent:,} messages failed "
            f"({_classes(errors)})",
        )


def _connect_failures(trial: Trial) -> Iterator[Warning]:
    failed = {name: n for name, n in trial.summary.connections.failed.items() if n}
    if failed:
        attempted = trial.summary.connections.attempted
        yield warn(
            Code.CONNECT_FAILURES,
            f"{sum(failed.values()):,} of {attempted:,} attempts to connect failed "
            f"({_classes(failed)})",
        )


def _generator_limits(trial: Trial) -> Iterator[Warning]:
    own = trial.summary.counters.errors.get("client", 0)
    own += trial.summary.connections.failed.get("client", 0)
    if own:
        yield warn(
            Code.GENERATOR_LIMITS, f"the generator ran out of descriptors or ports {own:,} times"
        )


def _client_bound(trial: Trial) -> Iterator[Warning]:
    if trial.judgement.verdict == "client-bound":
        yield warn(Code.CLIENT_BOUND, "the generator, not the server, set the pace")


def _partial(trial: Trial) -> Iterator[Warning]:
    if trial.summary.end == "interrupted":
        yield warn(Code.PARTIAL, "the run was interrupted before its end")


def _steadiness(trial: Trial) -> Iterator[Warning]:
    if trial.window.steady or trial.plan.stop.duration_ns is None:
        return
    if trial.window.end_ns - trial.window.start_ns < 1000 * MS:
        yield warn(Code.TOO_SHORT, "too short to tell whether throughput was steady")
    else:
        yield warn(Code.NOT_STEADY, "throughput did not settle within the warm-up allowance")


def _disturbed(trial: Trial) -> Iterator[Warning]:
    if disturbed := trial.summary.disturbed_intervals:
        yield warn(
            Code.DISTURBED,
            f"the generator itself was paused in {disturbed:,} of {len(trial.intervals):,} "
            "intervals",
        )


def _starved(trial: Trial) -> Iterator[Warning]:
    share = _starved_share(trial)
    if share > _STARVED_SHARE:
        yield warn(
            Code.STARVED, f"the generator waited for a CPU in {_percent(share, 0)} of the time"
        )


def _starved_share(trial: Trial) -> float:
    """Share of the workers' time in which they could run and did not."""
    time = trial.summary.end_ns * trial.plan.generator.threads
    return trial.summary.generator.run_queue_ns / max(1, time)


def _late_sends(trial: Trial) -> Iterator[Warning]:
    histograms = trial.summary.histograms
    if trial.plan.load.executor.kind != "open":
        return
    lag = _histogram(histograms.get("pacing_lag")).quantile(0.99)
    typical = _histogram(histograms.get("service_time")).quantile(0.5)
    if lag > max(typical, MS):
        yield warn(Code.LATE_SENDS, f"1 % of the sends were {lag / MS:.3g} ms late or more")


def _blocked(trial: Trial) -> Iterator[Warning]:
    load, summary = trial.plan.load, trial.summary
    if load.executor.kind != "closed":
        return
    slots = load.connections * load.depth
    lasted = max(1, summary.measure_end_ns - summary.first_send_ns)
    share = summary.blocked.slot_ns / (slots * lasted)
    if share > _BLOCKED_SHARE:
        yield warn(
            Code.BLOCKED,
            f"{summary.blocked.exchanges:,} slow exchanges (over "
            f"{summary.blocked.threshold_ns / MS:.3g} ms) kept the closed loop from sending in "
            f"{_percent(share, 1)} of its time",
        )


def _delayed_ack(trial: Trial) -> Iterator[Warning]:
    share = _mode_share(trial, "service_time", 38 * MS, 50 * MS)
    if share:
        yield warn(
            Code.DELAYED_ACK,
            f"{_percent(share, 2)} of the replies took about 40 ms (service_time): Nagle's "
            "algorithm waiting for a delayed ACK",
        )


def _retransmission(trial: Trial) -> Iterator[Warning]:
    for metric in ("service_time", "connect_time"):
        share = _mode_share(trial, metric, 195 * MS, 240 * MS)
        if share:
            yield warn(
                Code.RETRANSMISSION,
                f"{_percent(share, 2)} of all values of {metric} are about 200 ms: TCP's "
                "retransmission timeout, or the wait before a second address is tried",
            )


def _syn_retransmission(trial: Trial) -> Iterator[Warning]:
    share = _mode_share(trial, "connect_time", 990 * MS, 1100 * MS)
    if share:
        yield warn(
            Code.SYN_RETRANSMISSION,
            f"{_percent(share, 2)} of the connections took about 1 s (connect_time): the first SYN "
            "was dropped",
        )


def _reconnects(trial: Trial) -> Iterator[Warning]:
    closed, ok = trial.summary.connections.closed.get("server", 0), trial.summary.counters.ok
    if closed < 3:
        return
    others = max(0, trial.summary.connections.opened - closed)
    for limit in _TYPICAL_LIMITS:
        # A connection that the server did not close has served half a limit on average.
        served = ok - others * limit / 2
        if abs(served / closed - limit) <= 0.05 * limit:
            yield warn(
                Code.RECONNECTS,
                f"the server closed {closed:,} connections, one per {limit:,} requests: "
                "service times hide a reconnect",
            )
            return


def _shared_cpu(trial: Trial) -> Iterator[Warning]:
    if trial.subject is None:
        return
    shared = sorted(set(trial.subject.cpus) & set(trial.plan.generator.cpus))
    if shared:
        cpus = ", ".join(map(str, shared))
        yield warn(Code.SHARED_CPU, f"server and generator share CPU {cpus}")


def _unpinned(trial: Trial) -> Iterator[Warning]:
    if trial.subject is None:
        return
    loose = [
        side
        for side, cpus in (("server", trial.subject.cpus), ("generator", trial.plan.generator.cpus))
        if not cpus
    ]
    if loose:
        yield warn(Code.UNPINNED, f"not pinned to cores: {' and '.join(loose)}")


def _no_server_cpu(trial: Trial) -> Iterator[Warning]:
    if trial.subject is not None and len(trial.subject_samples) < 2:
        yield warn(Code.NO_SERVER_CPU, "the server's CPU time is unknown")


def _insecure(trial: Trial) -> Iterator[Warning]:
    if trial.start.insecure:
        yield warn(Code.INSECURE, "any certificate was accepted: who answered is not proven")


_RULES: tuple[Callable[[Trial], Iterable[Warning]], ...] = (
    _errors,
    _connect_failures,
    _generator_limits,
    _client_bound,
    _partial,
    _steadiness,
    _disturbed,
    _starved,
    _late_sends,
    _blocked,
    _delayed_ack,
    _retransmission,
    _syn_retransmission,
    _reconnects,
    _shared_cpu,
    _unpinned,
    _no_server_cpu,
    _insecure,
)


def _mode_share(trial: Trial, metric: str, low_ns: int, high_ns: int) -> float:
    """Share of the values in the band, 0 unless they are a mode of their own.

    A mode: enough values, well above the median, and the bands of the same width on a log scale at
    both sides hold at most half as many.
    """
    histogram = _histogram(trial.summary.histograms.get(metric))
    width = high_ns / low_ns
    share = histogram.share_between(low_ns, high_ns)
    # Where the generator had to wait for a CPU, long waits of a few are that, and no known mode.
    starved = _starved_share(trial) > _STARVED_SHARE
    least = _SHARE_OF_A_MODE_STARVED if starved else _SHARE_OF_A_MODE
    if share < least or share * histogram.count < _FEWEST_IN_A_MODE:
        return 0.0
    if histogram.quantile(0.5) > low_ns / 2:
        return 0.0
    below = histogram.share_between(low_ns / width, low_ns - 1)
    above = histogram.share_between(high_ns + 1, high_ns * width)
    return share if max(below, above) <= _NEIGHBOUR_SHARE * share else 0.0


@lru_cache(maxsize=64)
def _histogram(text: str | None) -> hdr.Hdr:
    """Several rules look at the same histogram, and decoding is the dear part."""
    return hdr.merge(() if text is None else (text,))


def _percent(share: float, decimals: int) -> str:
    return f"{100 * share:.{decimals}f} %"


def _classes(counts: dict[str, int]) -> str:
    return ", ".join(f"{name} {n:,}" for name, n in sorted(counts.items()))
