"""One `load` run in a terminal.

Knows lines and columns; must not know terminals: width and colour are given. Times are written with
`us`, which every terminal can show.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from rich.console import Console
from rich.text import Text

from wiretrial.plan import AfterResponse, ClosedLoop, Hold, OpenLoop, RandomBurst
from wiretrial.report import (
    drift,
    header_words,
    http2_words,
    http3_words,
    load_words,
    sent,
    shown,
    terminal,
    text_blocks,
    traffic,
    units,
)
from wiretrial.report.blocks import Section
from wiretrial.report.facts import verified_words
from wiretrial.report.measures import Measured
from wiretrial.report.tables import watched
from wiretrial.report.terminal import DEFAULT_WIDTH, LABEL, ascii_only, labelled
from wiretrial.results import quantiles
from wiretrial.results.fleet import Agent, Fleet
from wiretrial.results.hdr import Hdr
from wiretrial.results.learned import LearnedRule
from wiretrial.results.model import Trial
from wiretrial.snapshot import Bytes, Deliveries, Lobby, Published

FIGURE = 42
MOST_WARNINGS = 5


def render(trial: Trial, *, width: int = DEFAULT_WIDTH, colour: bool = False) -> str:
    """One `load` run in about fifteen lines, its warnings last."""
    return terminal.rendered(
        lambda console: _print_load(console, trial), width=width, colour=colour
    )


def asked(trial: Trial) -> str:
    """How a load was made, and what of it counts, in one line."""
    return ", ".join(_asked(trial, Measured(trial)))


def rows(trial: Trial) -> list[tuple[str, str]]:
    """The lines of `render` below its heading, label and value; no warnings."""
    learned, judgement = trial.start.learned, trial.judgement
    rows = [("reply", learned.words())] if learned else []
    rows += [("rule", one.line) for one in trial.scenario.learned]
    rows += _figures(trial, Measured(trial), 0)
    rows.append(("verdict", f"{judgement.verdict}: {judgement.evidence}"))
    return [*rows, *_errors(trial)]


def _rules(learned: Sequence[LearnedRule]) -> list[str]:
    """What was learned; of many routes how many, since each was told before the load."""
    if len(learned) <= sent.MOST_RULES:
        return [one.line for one in learned]
    samples = max(one.samples for one in learned)
    return [
        f"{len(learned)} routes, learned from up to {samples} replies each; the report has them"
    ]


def _print_load(console: Console, trial: Trial) -> None:
    measured = Measured(trial)
    console.print(Text(ascii_only(load_words.found(trial)), style="bold"))
    console.print(Text(ascii_only(load_words.judged(trial))))
    routed = measured.routed
    if drifted := drift.of(trial):
        console.print(Text(ascii_only(drifted.sentence)))
    if slowest := traffic.slowest(routed):
        console.print(Text(ascii_only(slowest)))
    console.print()
    console.print(Text(_heading(trial, measured)))
    console.print()
    if learned := trial.start.learned:
        labelled(console, "reply", learned.words())
    for line in _rules(trial.scenario.learned):
        labelled(console, "rule", line)
    for label, value in _figures(trial, measured, console.width):
        labelled(console, label, value)
    for label, value in _errors(trial):
        labelled(console, label, value, style="red")
    of_routes = traffic.blocks(routed)
    if of_routes:
        console.print()
    for block in of_routes:
        text_blocks.print_block(console, block)
    of_servers = watched.blocks(trial.places, load_words.sent(trial))
    if of_servers:
        terminal.titled(console, watched.TITLE)
    for block in shown.told(Section(watched.TITLE, of_servers)):
        text_blocks.print_block(console, block)
    if (of_routes or of_servers) and trial.warnings:
        console.print()
    for warning in trial.warnings[:MOST_WARNINGS]:
        labelled(console, "warning", f"{warning.message}. {warning.advice}", style="yellow")
    if (more := len(trial.warnings) - MOST_WARNINGS) > 0:
        labelled(console, "", f"{units.plural(more, 'warning')} more; the page has all")


def _errors(trial: Trial) -> Iterable[tuple[str, str]]:
    """A line for each class of errors, with its first excerpt."""
    for name, count in sorted(trial.summary.counters.errors.items()):
        if count:
            example = trial.summary.examples.get(name, "no excerpt")
            yield "error", f"{name} {count:,}: {example}"


def _sending(trial: Trial) -> list[str]:
    """Who sends next, in words."""
    what, stages = load_words.noun(trial), load_words.stages(trial)
    if trial.plan.publish is not None:
        held = "streams of events" if trial.plan.target.http.sse else "WebSockets"
        held = "long polls" if trial.plan.publish.long_poll else held
        return [f"{held}, held", f"{units.trimmed(trial.plan.publish.rate)} events/s published"]
    if trial.plan.target.http.sse:
        return ["streams of events, held"]
    match trial.plan.load.executor:
        case ClosedLoop():
            return ["closed loop"] if stages is None else [f"closed loop: {stages}"]
        case OpenLoop(rate=rate):
            due = "sessions" if trial.plan.traffic else what
            offered = f"{units.trimmed(rate)} {due}/s offered"
            return [f"open loop, {due}: {stages}"] if stages else ["open loop", offered]
        case RandomBurst():
            return ["closed loop", "bursts on connections drawn at random"]
        case AfterResponse(pause_ns=pause_ns):
            return ["closed loop", f"{_length(pause_ns)} after each reply"]
        case Hold(rate=rate):
            return ["held", f"{units.trimmed(rate)} {what}/s in turn"] if rate else ["held"]


def _heading(trial: Trial, measured: Measured) -> str:
    return f"{load_words.place(trial)}   {', '.join(_asked(trial, measured))}"


def _asked(trial: Trial, measured: Measured) -> list[str]:
    load, start = trial.plan.load, trial.start
    who = "user" if trial.plan.traffic else "connection"
    parts = [sent.shared(load) or units.plural(load.connections, who), *_sending(trial)]
    if not trial.plan.traffic:
        parts.append(sent.depth(trial))
    if load.pack > 1:
        parts.append(f"pack {load.pack}")
    if start.request_payload_bytes:
        parts.append(f"{start.request_payload_bytes:,}-byte {load_words.noun(trial)}")
    warmup = trial.window.start_ns - trial.summary.first_send_ns
    counted = _length(measured.counted_ns)
    parts.append(f"{counted} after {_length(warmup)} of warm-up" if warmup > 0 else counted)
    if start.http:
        parts.append(start.http.words())
    if start.header_profile:
        parts.append(f"header profile {start.header_profile.profile}")
    if start.tls:
        parts.append(start.tls)
    if trial.plan.target.http.congestion and start.congestion:
        parts.append(f"congestion control {start.congestion}")
    if start.deflate:
        parts.append(start.deflate)
    return parts


def _figures(trial: Trial, measured: Measured, width: int) -> Iterable[tuple[str, str]]:
    counters = trial.summary.counters
    errors = sum(counters.errors.values())
    least = "at least " if trial.judgement.verdict == "client-bound" else ""
    totals = (
        f"sent {counters.sent:,}  ok {counters.ok:,}  in flight {counters.in_flight:,}  "
        f"errors {errors:,}"
    )
    what = load_words.noun(trial)
    throughput = f"{least}{measured.throughput or 0:,.0f} {what}/s, {verified_words(trial)}"
    if LABEL + max(FIGURE, len(throughput)) + len(totals) + 4 <= width:
        yield "throughput", f"{throughput:<{FIGURE}} {totals}"
    else:
        yield "throughput", throughput
        yield what, totals
    if followed := sum(route.followed for route in measured.routed.routes):
        yield "redirects", f"{followed:,} followed"
    if counters.deliveries.expected:
        yield "deliveries", _deliveries(counters.deliveries)
    if trial.plan.target.styx.lobby:
        yield "lobby", _lobby(counters.lobby)
    if counters.statuses:
        yield "statuses", _statuses(counters.statuses)
    if counters.messages:
        streamed = f"{measured.streamed or 0:,.0f} messages/s of streams"
        yield "messages", f"{streamed:<{FIGURE}} {counters.messages:,} in all"
    if counters.greetings:
        yield "greetings", f"{counters.greetings:,} read, and not taken for replies"
    if counters.empty_polls is not None:
        yield "empty polls", f"{counters.empty_polls:,} answered without an event"
    if measured.is_open_loop:
        waiting = f"waiting {counters.waiting:,}  dropped {counters.dropped:,}"
        yield "rate", f"{f'{measured.rate or 0:,.0f} {what}/s sent':<{FIGURE}} {waiting}"
        grows = "; it grows with the run" if measured.is_overloaded else ""
        yield "response time", _quantiles(measured.response_time) + grows
    elif measured.from_due:
        yield "response time", _quantiles(measured.response_time)
    if measured.hears_events:
        yield "event gap", _quantiles(measured.message_time)
        if not measured.delivery_time.count and trial.plan.publish is None:
            yield (
                "delivery time",
                "not known: only the reference server on this machine stamps events",
            )
    else:
        yield "service time", _quantiles(measured.service_time)
    if measured.failed and measured.waiting_time.count:
        yield "with failures", _with_failures(measured)
    if counters.messages:
        yield "message time", _quantiles(measured.message_time)
    if counters.deliveries.expected or measured.delivery_time.count:
        yield "delivery time", _quantiles(measured.delivery_time)
    if trial.summary.published is not None:
        yield "last receiver", _quantiles(measured.reach_time)
        yield "published", _published(trial.summary.published)
    if measured.is_open_loop:
        yield "pacing lag", _quantiles(measured.pacing_lag)
    yield "connections", _connections(trial, measured)
    upgrades = measured.setup_time("upgrade_time")
    on_streams = trial.summary.http2 is not None or trial.summary.http3 is not None
    if on_streams and upgrades.count:
        yield "upgrade time", _quantiles(upgrades, quantiles.UPGRADES)
    if measured.hears_events and isinstance(trial.plan.load.executor, Hold):
        yield "memory", _memory(trial, measured)
    yield from header_words.rows(trial)
    yield from ((label, ascii_only(text)) for label, text in http2_words.rows(trial))
    yield from ((label, ascii_only(text)) for label, text in http3_words.rows(trial))
    if trial.start.deflate:
        yield "compression", _compression(trial.summary.bytes)
    yield "cost", _cost(trial, measured)
    if trial.fleet:
        yield "agents", _clocks(trial.fleet)
        yield from ((agent.name, _agent(agent, what)) for agent in trial.fleet.agents)


def _published(one: Published) -> str:
    """`1,200 events to 1,000 receivers  errors 0  waiting 0  undelivered 0`."""
    errors = sum(one.counters.errors.values())
    late = one.counters.waiting + one.counters.dropped
    unknown = f"  unconfirmed {one.unconfirmed:,}" if one.unconfirmed else ""
    return (
        f"{one.counters.ok:,} events to {one.receivers:,} receivers  errors {errors:,}  "
        f"waiting {late:,}  undelivered {one.undelivered:,}{unknown}"
    )


def _with_failures(measured: Measured) -> str:
    """The quantiles of the time that clients waited, with failed messages as slower than any."""
    times, failed = measured.waiting_time, measured.failed
    of = load_words.waited(measured)
    parts: list[str] = []
    for q in quantiles.SHOWN.values():
        if quantiles.withheld(times.count, q):
            break
        value = quantiles.of_all(times, failed, q)
        if value is None:
            parts.append(quantiles.among_failed(failed, failed + times.count, q))
            break
        parts.append(f"{quantiles.name(q)} {_time(value)}")
    told = "   ".join(parts) or "too few messages for a quantile"
    return f"{told}   ({of}, a failed message as slower than any reply)"


def _deliveries(copies: Deliveries) -> str:
    """What was expected and came; what went wrong where something did."""
    wrong = {
        "missing": copies.missing,
        "out of order": copies.out_of_order,
        "mismatch": copies.mismatch,
        "duplicate": copies.duplicate,
    }
    told = "".join(f"  {name} {count:,}" for name, count in wrong.items() if count)
    return f"expected {copies.expected:,}  ok {copies.ok:,}  in flight {copies.in_flight:,}{told}"


def _statuses(counts: Mapping[str, int]) -> str:
    """How many replies had which status, the most frequent first."""
    ordered = sorted(counts.items(), key=lambda one: (-one[1], one[0]))
    return "  ".join(f"{name} {count:,}" for name, count in ordered)


def _lobby(told: Lobby) -> str:
    """How many snapshots came; what went wrong where something did."""
    wrong = {
        "missing": told.missing,
        "out of order": told.out_of_order,
        "mismatch": told.mismatch,
    }
    wrongly = "".join(f"  {name} {count:,}" for name, count in wrong.items() if count)
    return f"snapshots {told.ok:,}{wrongly}"


def _quantiles(histogram: Hdr, values: str = quantiles.REPLIES) -> str:
    """The quantiles that can be told, the greatest value, and why the next quantile is withheld."""
    if not histogram.count:
        return "none recorded"
    parts: list[str] = []
    reason: str | None = None
    for q in quantiles.SHOWN.values():
        if reason := quantiles.withheld(histogram.count, q, values):
            break
        parts.append(f"{quantiles.name(q)} {_time(histogram.quantile(q))}")
    parts.append(f"max {_time(histogram.max)}")
    return "   ".join((*parts, f"({reason})") if reason else parts)


def _connections(trial: Trial, measured: Measured) -> str:
    connections, wanted = trial.summary.connections, trial.plan.load.connections
    asked, stood = trial.summary.connect_start_ns, trial.summary.connected_ns
    again = connections.opened - wanted
    if asked is not None and stood is not None:
        # The time until all stood for the first time is not that of those opened again since.
        text = f"{min(connections.opened, wanted):,} in {_length(stood - asked)}"
        text += f", {again:,} opened again" if again > 0 else ""
    else:
        text = f"{connections.opened:,}" + (" opened" if again > 0 else "")
    if measured.connect_time.count:
        text += f", connect {_quantiles(measured.connect_time, quantiles.CONNECTIONS)}"
    if resumed := measured.setup_time("resumed_time").count:
        text += f", {resumed:,} resumed a session of TLS"
    if failed := sum(connections.failed.values()):
        text += f", {failed:,} attempts failed"
    return text


def _compression(total: Bytes) -> str:
    """What went over the connections of each payload byte, in both directions."""
    sides = (
        ("sent", total.application_sent, total.payload_sent),
        ("received", total.application_received, total.payload_received),
    )
    return ", ".join(
        f"{side} {wire:,} bytes for {payload:,} of payload ({wire / payload:.1%})"
        for side, wire, payload in sides
        if payload
    )


def _cost(trial: Trial, measured: Measured) -> str:
    threads = units.plural(trial.plan.generator.threads, "thread")
    busy = units.percent(trial.summary.generator.loop_utilisation)
    what = load_words.sent(trial).one
    parts: list[str] = []
    if measured.generator_ns is not None:
        cpu = units.MICROSECONDS.figure(measured.generator_ns)
        parts.append(f"generator {cpu} us/{what} ({threads}, {busy} busy)")
    if measured.server_ns is not None:
        parts.append(f"server {units.MICROSECONDS.figure(measured.server_ns)} us/{what}")
    for octets, way in ((measured.sent_bytes, "out"), (measured.received_bytes, "in")):
        if octets is not None:
            parts.append(f"{units.trimmed(octets)} B {way}")
    return ", ".join(parts) or "unknown"


def _memory(trial: Trial, measured: Measured) -> str:
    """What streams that are held take at both ends, as far as that is known."""
    peak, streams = trial.summary.generator.peak_rss_bytes, trial.summary.counters.in_flight
    text = f"generator {units.octets(peak)} at its peak"
    if streams:
        text += f", {units.trimmed(peak / streams)} B/stream ({streams:,} streams)"
    each = measured.per_connection(lambda grown: grown.pss_bytes)
    if each is not None:
        of_stream = each / trial.plan.load.depth
        text += f", server {units.trimmed(of_stream)} B/stream beside the kernel's"
    return text


def _clocks(fleet: Fleet) -> str:
    apart = _time(fleet.clock_error_ns)
    lost = f", {len(fleet.lost)} lost" if fleet.lost else ""
    return f"{len(fleet.agents)}{lost}; their clocks agree within {apart}"


def _agent(agent: Agent, what: str) -> str:
    """One machine of a fleet, so that a bad one shows against the others."""
    own = agent.summary
    parts = [
        units.plural(agent.part.connections, "connection"),
        f"{agent.reached:,.0f} {what}/s",
        _quantiles(agent.service_time),
    ]
    if own:
        parts.append(f"{units.percent(own.generator.loop_utilisation)} busy")
    if agent.loss:
        parts.append(f"lost after {_time(agent.loss.at_ns)}")
    return ", ".join(parts)


def _length(ns: float) -> str:
    return ascii_only(units.length(ns))


def _time(ns: float) -> str:
    return ascii_only(units.duration(ns))
