"""The rules that raise warnings from a trial's record, and what each of them says.

Knows records; must not know what brings a warning about or what to do about it (`catalogue`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta

from wiretrial import words
from wiretrial.results import quantiles, windows
from wiretrial.results.model import Trial, Warning
from wiretrial.results.observation import CpuUse
from wiretrial.stats.occasions import ENOUGH
from wiretrial.warnings import agents, modes, watched
from wiretrial.warnings.catalogue import Code, warn
from wiretrial.warnings.controls import is_over_link

MS = 1_000_000
FEWEST_TRIALS = 5
KNOWN_TO_DIFFER = "a ratio of the demo, 3.82 (3.66 to 3.99), was 6.06 (5.44 to 6.76) on another"
"""What a new connection costs against a kept one, on two machines of one kind."""
MOST_NAMED = 4
"""Scenarios that a warning about the study names."""


_TYPICAL_LIMITS = (100, 1000)
_STARVED_SHARE = 0.05
_BLOCKED_SHARE = 0.01
_STEAL_SHARE = 0.01
_WAITED_SHARE = 0.5
_BUSY_SHARE = 0.5
_DROPPED_SHARE = 0.001


def of_trial(trial: Trial) -> tuple[Warning, ...]:
    """Every warning that the record of one trial gives cause for, gravest first."""
    return tuple(warning for rule in _RULES for warning in rule(trial))


def of_study(usable: Mapping[str, int]) -> tuple[Warning, ...]:
    """Warnings about a study's number of trials; `usable` trials by scenario."""
    few = {name: n for name, n in usable.items() if n < FEWEST_TRIALS}
    if not few:
        return ()
    if few.keys() == usable.keys() and len(set(few.values())) == 1:
        message = f"only {next(iter(few.values()))} usable trials of each scenario"
    else:
        named = [f"{name} {n}" for name, n in few.items()][:MOST_NAMED]
        more = [f"{len(few) - MOST_NAMED} scenarios more"] if len(few) > MOST_NAMED else []
        message = f"few usable trials: {', '.join((*named, *more))}"
    return (warn(Code.FEW_TRIALS, message),)


def of_occasions(trials: Sequence[Trial]) -> tuple[Warning, ...]:
    """What the intervals leave out where all was measured on one machine within a day.

    Of two occasions they leave nothing out, and reach very far.
    """
    occasions = len({trial.occasion for trial in trials})
    if occasions >= ENOUGH:
        return ()
    if occasions == 2:
        few = (
            "two occasions are too few: intervals over days need three, and reach very far with two"
        )
        return (warn(Code.ONE_OCCASION, few),)
    begun = [datetime.fromisoformat(trial.started_at) for trial in trials]
    machines = {str(trial.machine.facts.get("cpu")) for trial in trials}
    if len(trials) < 2 or len(machines) > 1 or max(begun) - min(begun) >= timedelta(days=1):
        return ()
    return (
        warn(
            Code.ONE_OCCASION,
            "all trials are of one machine and day: another may differ by more than the intervals "
            f"say ({KNOWN_TO_DIFFER})",
        ),
    )


def _errors(trial: Trial) -> Iterator[Warning]:
    errors = {name: n for name, n in trial.summary.counters.errors.items() if n}
    what = words.of_target(trial.plan.target)
    if errors:
        yield warn(
            Code.ERRORS,
            f"{sum(errors.values()):,} of {trial.summary.counters.sent:,} {what.many} failed "
            f"({_classes(errors)})",
        )
    if published := trial.summary.published:
        failed = {name: n for name, n in published.counters.errors.items() if n}
        if failed:
            yield warn(
                Code.ERRORS,
                f"{sum(failed.values()):,} of {published.counters.sent:,} events could not be "
                f"published ({_classes(failed)})",
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


def _own_window(trial: Trial) -> Iterator[Warning]:
    for hold in windows.holds(trial.summary, trial.plan):
        if hold.is_bound:
            on_purpose = f", which {hold.option} gives as the factor" if hold.is_factor else ""
            yield warn(Code.OWN_WINDOW, f"{hold.words}{on_purpose}")


def _datagrams_dropped(trial: Trial) -> Iterator[Warning]:
    figures = trial.summary.http3
    if figures is None:
        return
    dropped = figures.datagrams_dropped
    came = figures.datagrams_received + dropped
    if dropped >= _DROPPED_SHARE * max(1, came):
        yield warn(
            Code.DATAGRAMS_DROPPED,
            f"the generator's machine dropped {dropped:,} of {came:,} datagrams from the server"
            f" ({_percent(dropped / came, 1)})",
        )


def _overloaded(trial: Trial) -> Iterator[Warning]:
    if trial.is_overloaded:
        yield warn(Code.OVERLOADED, trial.judgement.evidence.partition(";")[0])


def _stalled(trial: Trial) -> Iterator[Warning]:
    if trial.judgement.verdict == "stalled":
        yield warn(Code.STALLED, f"the server stopped answering: {trial.judgement.evidence}")


def _partial(trial: Trial) -> Iterator[Warning]:
    # A run without a right reply was ended for that, or might as well have been.
    was_ended = trial.judgement.verdict == "stalled" or not trial.summary.counters.ok
    if trial.summary.end == "interrupted" and not was_ended:
        yield warn(Code.PARTIAL, "the run was interrupted before its end")


def _steadiness(trial: Trial) -> Iterator[Warning]:
    if trial.kept_drifting:
        what = trial.window.follows
        yield warn(Code.NOT_STEADY, f"{what} did not settle within the warm-up allowance")
    elif trial.has_unknown_settling:
        yield warn(Code.TOO_SHORT, "too short to tell whether throughput was steady")


def _disturbed(trial: Trial) -> Iterator[Warning]:
    disturbed = trial.summary.disturbed_intervals
    if disturbed and not _is_opening(trial):
        yield warn(
            Code.DISTURBED,
            f"the generator itself was paused in {disturbed:,} of {len(trial.intervals):,} "
            "intervals",
        )


def _starved(trial: Trial) -> Iterator[Warning]:
    share = _starved_share(trial)
    if share > _STARVED_SHARE and not _is_opening(trial):
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
    lag = quantiles.told(modes.histogram(histograms.get("pacing_lag")), 0.99)
    typical = modes.histogram(histograms.get("service_time")).quantile(0.5)
    if lag is None or lag <= max(typical, MS) or trial.judgement.verdict == "overloaded":
        # Beyond its limit a rate is late by what the verdict tells.
        return
    busy = trial.summary.generator.loop_utilisation + _starved_share(trial)
    message = f"1 % of the sends were {lag / MS:.3g} ms late or more"
    if busy < _BUSY_SHARE and _waited(trial):
        idle = _percent(1 - busy, 0)
        yield warn(Code.NO_FREE_CONNECTION, f"{message}, although the generator was {idle} idle")
    else:
        yield warn(Code.LATE_SENDS, message)


def _waited(trial: Trial) -> bool:
    """Whether messages were due while every connection had as much in flight as it may."""
    load = trial.plan.load
    return any(i.counters.in_flight >= load.slots for i in trial.intervals)


def _blocked(trial: Trial) -> Iterator[Warning]:
    load, summary = trial.plan.load, trial.summary
    if load.executor.kind != "closed":
        return
    lasted = max(1, summary.measure_end_ns - summary.first_send_ns)
    share = summary.blocked.slot_ns / (load.slots * lasted)
    if share > _BLOCKED_SHARE:
        yield warn(
            Code.BLOCKED,
            f"{summary.blocked.exchanges:,} slow exchanges (over "
            f"{summary.blocked.threshold_ns / MS:.3g} ms) kept the closed loop from sending in "
            f"{_percent(share, 1)} of its time",
        )


def _delayed_ack(trial: Trial) -> Iterator[Warning]:
    share = _mode(trial, "service_time", 38 * MS, 50 * MS)
    # Where nearly every reply waits there is no other mode to tell it from; the sockets tell.
    waited, side = _waited_for_acks(trial)
    if share or waited:
        where = f", in the {side}'s sockets" if waited and trial.driven else ""
        yield warn(
            Code.DELAYED_ACK,
            f"{_percent(share or waited, 2)} of the replies took about 40 ms (service_time): "
            f"Nagle's algorithm waiting for a delayed ACK{where}",
        )


def _mode(trial: Trial, metric: str, low_ns: int, high_ns: int) -> float:
    if trial.browsed or trial.plan.target.http.over_udp:
        # A browser sends in turns, and each is a mode of its own; these times are TCP's.
        return 0.0
    text = trial.summary.histograms.get(metric)
    starved = _starved_share(trial) > _STARVED_SHARE
    return modes.known_share(text, low_ns, high_ns, starved=starved)


def _waited_for_acks(trial: Trial) -> tuple[float, str]:
    """Share of the replies that took about 40 ms and waited in one side's sockets, and whose."""
    histogram = modes.histogram(trial.summary.histograms.get("service_time"))
    share = histogram.share_between(38 * MS, 60 * MS)
    if share < _WAITED_SHARE or trial.observation is None or trial.browsed:
        return 0.0, ""
    if is_over_link(trial):
        # Whatever was sent waits for the link: two round trips of 20 ms look the same.
        return 0.0, ""
    unacknowledged = {use.side: use.busy_ns / use.followed_ns for use in trial.observation.sockets}
    server, sender = (unacknowledged.get(side, 0.0) for side in ("server", "generator"))
    # A slow server's answers are acknowledged at once: it is the requests that then wait. Those of
    # the engine go in one write each, so only a driver's can have waited for an acknowledgement.
    if server >= _WAITED_SHARE > sender:
        return share, "server"
    if trial.driven and sender >= _WAITED_SHARE > server and _delayed_acks(trial):
        return share, "client"
    return 0.0, ""


def _delayed_acks(trial: Trial) -> int:
    tcp = trial.observation.tcp if trial.observation else None
    return (tcp.delayed_acks if tcp else None) or 0


def _retransmission(trial: Trial) -> Iterator[Warning]:
    if second := _second_address(trial):
        yield warn(
            Code.RETRANSMISSION,
            f"{_percent(second, 2)} of the round trips took about 200 ms: the wait before a second "
            f"address is tried, where the first of {trial.driven and trial.driven.host} says "
            "nothing",
        )
        return
    for metric in ("service_time", "connect_time"):
        share = _mode(trial, metric, 195 * MS, 240 * MS)
        if share:
            yield warn(
                Code.RETRANSMISSION,
                f"{_percent(share, 2)} of all values of {metric} are about 200 ms: TCP's "
                "retransmission timeout, or the wait before a second address is tried",
            )


def _second_address(trial: Trial) -> float:
    """Share of the round trips that waited for an address that did not answer.

    Each opened a connection to a name, and nearly all took as long: it is no second mode.
    """
    driven = trial.driven
    if driven is None or driven.host is None or driven.mode != "fresh":
        return 0.0
    times = modes.histogram(trial.summary.histograms.get("service_time"))
    share = times.share_between(195 * MS, 240 * MS)
    return share if share >= _WAITED_SHARE else 0.0


def _syn_retransmission(trial: Trial) -> Iterator[Warning]:
    share = _mode(trial, "connect_time", 990 * MS, 1100 * MS)
    if share:
        yield warn(
            Code.SYN_RETRANSMISSION,
            f"{_percent(share, 2)} of the connections took about 1 s (connect_time): the first SYN "
            "was dropped",
        )


def _reconnects(trial: Trial) -> Iterator[Warning]:
    ends, ok = trial.summary.connections.closed, trial.summary.counters.ok
    # A driver tells only that a connection which was to be kept had to be opened again.
    closed = ends.get("renewed", 0) if trial.driven else ends.get("server", 0)
    if closed < 3:
        return
    others = max(0, trial.summary.connections.opened - closed)
    for limit in _TYPICAL_LIMITS:
        # A connection that the server did not close has served half a limit on average.
        served = ok - others * limit / 2
        if abs(served / closed - limit) <= 0.05 * limit:
            what = f"{closed:,} connections, one per {limit:,} requests"
            who = "the client had to renew" if trial.driven else "the server closed"
            yield warn(Code.RECONNECTS, f"{who} {what}: service times hide a reconnect")
            return


def _second_mode(trial: Trial) -> Iterator[Warning]:
    if trial.browsed:
        return
    named = any((*_delayed_ack(trial), *_retransmission(trial), *_reconnects(trial)))
    # Whoever waits for a CPU has two kinds of replies for that alone.
    if named or _starved_share(trial) > _STARVED_SHARE or trial.summary.disturbed_intervals:
        return
    found = modes.second(trial.summary.histograms.get("service_time"))
    if found:
        yield warn(
            Code.SECOND_MODE,
            f"{_percent(found.share, 1)} of the replies took about {found.at_ns / MS:.3g} ms, apart"
            f" from the rest at about {found.main_ns / MS:.3g} ms (service_time)",
        )


def _steal(trial: Trial) -> Iterator[Warning]:
    cpus = trial.observation.cpus if trial.observation else ()
    for cpu in cpus:
        share = _stolen(cpu)
        if cpu.cpu is None and share > _STEAL_SHARE:
            yield warn(
                Code.STEAL, f"the hypervisor took {_percent(share, 1)} of the machine's CPU time"
            )


def _stolen(cpu: CpuUse) -> float:
    whole = sum(ns or 0 for ns in cpu.model_dump(exclude={"cpu"}).values())
    return (cpu.steal_ns or 0) / whole if whole else 0.0


def _frequency(trial: Trial) -> Iterator[Warning]:
    throttled = trial.machine.facts.get("throttled")
    cpu = trial.machine.facts.get("cpu")
    governor = cpu.get("governor") if isinstance(cpu, dict) else None
    if throttled:
        yield warn(Code.FREQUENCY, f"the CPU was slowed down for its heat {throttled:,} times")
    elif governor not in (None, "performance"):
        yield warn(Code.FREQUENCY, f"the CPU's clock follows its load (governor {governor})")


def _shared_cpu(trial: Trial) -> Iterator[Warning]:
    if trial.server is None:
        return
    shared = sorted(set(trial.server.cpus) & set(trial.plan.generator.cpus))
    if shared:
        cpus = ", ".join(map(str, shared))
        yield warn(Code.SHARED_CPU, f"server and {_other_side(trial)} share CPU {cpus}")


def _unpinned(trial: Trial) -> Iterator[Warning]:
    if trial.server is None:
        return
    other = trial.plan.generator.cpus
    sides = (("server", trial.server.cpus), (_other_side(trial), other))
    loose = [side for side, cpus in sides if not cpus]
    if loose:
        yield warn(Code.UNPINNED, f"not pinned to cores: {' and '.join(loose)}")


def _no_server_cpu(trial: Trial) -> Iterator[Warning]:
    if trial.server is not None and len(trial.subject_samples) < 2:
        yield warn(Code.NO_SERVER_CPU, "the server's CPU time is unknown")


def _insecure(trial: Trial) -> Iterator[Warning]:
    if trial.start.insecure:
        yield warn(Code.INSECURE, "any certificate was accepted: who answered is not proven")


_RULES: tuple[Callable[[Trial], Iterable[Warning]], ...] = (
    _errors,
    _connect_failures,
    _generator_limits,
    _stalled,
    _client_bound,
    _own_window,
    _datagrams_dropped,
    _overloaded,
    _partial,
    agents.lost,
    agents.stands_out,
    agents.share_a_machine,
    watched.restarted,
    watched.out_of_memory,
    watched.ended,
    watched.throttled,
    _steadiness,
    _disturbed,
    _starved,
    _late_sends,
    _blocked,
    _delayed_ack,
    _retransmission,
    _syn_retransmission,
    _reconnects,
    _second_mode,
    _steal,
    watched.steal,
    watched.neighbours,
    _frequency,
    watched.frequency,
    _shared_cpu,
    _unpinned,
    _no_server_cpu,
    _insecure,
)


def _is_opening(trial: Trial) -> bool:
    """Whether connections are only opened and held: its many threads wait for each other."""
    plan = trial.plan
    return plan.load.executor.kind == "hold" and plan.stop.is_counted


def _other_side(trial: Trial) -> str:
    if trial.browsed:
        return "browser"
    return "client" if trial.driven else "generator"


def _percent(share: float, decimals: int) -> str:
    return f"{100 * share:.{decimals}f} %"


def _classes(counts: dict[str, int]) -> str:
    return ", ".join(f"{name} {n:,}" for name, n in sorted(counts.items()))
