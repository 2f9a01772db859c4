"""One `load` run as a JSON object, for scripts.

Knows the names that scripts rely on; must not know how they are printed. Times are nanoseconds.
Totals, bytes and the generator's cost are those of the whole run; rates and times those of the
window that counts.
"""

from __future__ import annotations

import json
from typing import Any

from wiretrial import redaction
from wiretrial.report import drift, header_words, load_words
from wiretrial.report.measures import Measured
from wiretrial.report.tables import watched
from wiretrial.results import hdr, quantiles, windows
from wiretrial.results.fleet import Agent
from wiretrial.results.model import LOAD_SCHEMA, LOAD_VERSION, Trial, Use
from wiretrial.snapshot import Counters, Published, Summary
from wiretrial.warnings.controls import OF_QUIC


def load_json(trial: Trial) -> dict[str, Any]:
    """The object that `load --format json` prints. What was not recorded, or is not known, is None.

    It has all that the text of a load shows, and a test holds it to that.
    """
    measured, summary, plan, start = Measured(trial), trial.summary, trial.plan, trial.start
    counters = summary.counters
    return {
        "schema": LOAD_SCHEMA,
        "version": LOAD_VERSION,
        "target": plan.target.model_dump(mode="json", by_alias=True),
        "file": trial.scenario.file,
        "load": plan.load.model_dump(mode="json", by_alias=True),
        "secrets": _secrets(trial),
        "command": trial.command,
        "labels": dict(trial.labels),
        "started_at": trial.started_at,
        "engine": start.engine,
        "addresses": list(start.addresses),
        "poller": start.poller,
        "poller_shortfall": start.poller_shortfall,
        "tls": start.tls,
        "tcp_congestion": start.congestion,
        "http": start.http.model_dump() if start.http else None,
        "header_profile": header_words.document(trial),
        "insecure": start.insecure,
        "deflate": start.deflate,
        "request_payload_bytes": start.request_payload_bytes,
        "learned": start.learned.model_dump() if start.learned else None,
        "learned_rules": [one.model_dump() for one in trial.scenario.learned],
        "duration_ns": measured.counted_ns,
        "warmup_ns": trial.window.start_ns - summary.first_send_ns,
        "window": trial.window.model_dump(),
        "totals": {
            "sent": counters.sent,
            "ok": counters.ok,
            "in_flight": counters.in_flight,
            "errors": dict(counters.errors),
        },
        "examples": dict(summary.examples),
        "waiting": counters.waiting,
        "dropped": counters.dropped,
        "greetings": counters.greetings,
        "empty_polls": counters.empty_polls,
        "statuses": dict(counters.statuses) or None,
        "messages": counters.messages,
        "messages_per_second": measured.streamed if counters.messages else None,
        "deliveries": counters.deliveries.model_dump(),
        "published": _published(summary),
        "lobby": counters.lobby.model_dump(),
        "rate": measured.rate,
        "throughput": measured.throughput,
        "throughput_is_at_least": trial.judgement.verdict == "client-bound",
        "response_time": quantiles.document(measured.response_time),
        "service_time": quantiles.document(measured.service_time),
        "time_with_failures": _with_failures(measured),
        "delivery_time": quantiles.document(measured.delivery_time),
        "reach_time": quantiles.document(measured.reach_time),
        "message_time": quantiles.document(measured.message_time),
        "pacing_lag": quantiles.document(measured.pacing_lag),
        "connect_time": quantiles.document(measured.connect_time, quantiles.CONNECTIONS),
        "resumed_time": quantiles.document(
            measured.setup_time("resumed_time"), quantiles.CONNECTIONS
        ),
        "settings_time": quantiles.document(
            measured.setup_time("settings_time"), quantiles.CONNECTIONS
        ),
        "upgrade_time": quantiles.document(measured.setup_time("upgrade_time"), quantiles.UPGRADES),
        "traffic": _traffic(trial),
        "drift": _drift(trial),
        "connections": _connections(summary),
        "http2": _http2(trial),
        "http3": _http3(trial),
        "blocked": summary.blocked.model_dump(),
        "disturbed_intervals": summary.disturbed_intervals,
        "bytes": summary.bytes.model_dump(),
        "bytes_per_message": {"sent": measured.sent_bytes, "received": measured.received_bytes},
        "generator": {
            "cpu_user_ns": summary.generator.cpu_user_ns,
            "cpu_system_ns": summary.generator.cpu_system_ns,
            "peak_rss_bytes": summary.generator.peak_rss_bytes,
            "loop_utilisation": summary.generator.loop_utilisation,
            "threads": plan.generator.threads,
            "cpu_ns_per_message": measured.generator_ns,
            **_use(trial.judgement.generator),
        },
        "server": {
            "cpu_user_ns_per_message": measured.server_user_ns,
            "cpu_system_ns_per_message": measured.server_system_ns,
            "cpu_ns_per_message": measured.server_ns,
            **_use(trial.judgement.server),
        },
        "servers": _servers(trial),
        "server_hosts": _hosts(trial),
        "agents": None if trial.fleet is None else [_agent(one) for one in trial.fleet.agents],
        "agents_clock_error_ns": None if trial.fleet is None else trial.fleet.clock_error_ns,
        "verdict": trial.judgement.verdict,
        "bottleneck": trial.judgement.bottleneck,
        "evidence": trial.judgement.evidence,
        "warnings": [
            {"code": warning.code, "message": warning.message, "advice": warning.advice}
            for warning in trial.warnings
        ],
    }


def load_text(trial: Trial) -> str:
    """The same object as a file: with the whole trial as its last member, on a line of its own."""
    figures = json.dumps(load_json(trial), indent=2, ensure_ascii=False).removesuffix("\n}")
    return f'{figures},\n  "trial": {trial.model_dump_json(by_alias=True)}\n}}\n'


def _published(summary: Summary) -> dict[str, Any] | None:
    """What was published while receivers were held; None: nothing was."""
    if summary.published is None:
        return None
    one = summary.published
    return {
        "receivers": one.receivers,
        "undelivered": one.undelivered,
        "unconfirmed": one.unconfirmed,
        "sent": one.counters.sent,
        "ok": one.counters.ok,
        "errors": dict(one.counters.errors),
        "waiting": one.counters.waiting + one.counters.dropped,
        "examples": dict(one.examples),
        "response_time": quantiles.document(_recorded(one, "response_time")),
        "pacing_lag": quantiles.document(_recorded(one, "pacing_lag")),
    }


def _recorded(one: Published, metric: str) -> hdr.Hdr:
    text = one.histograms.get(metric)
    return hdr.merge(() if text is None else (text,))


def _with_failures(measured: Measured) -> dict[str, Any] | None:
    """The time that clients waited, with failed messages as slower than any reply.

    None: none failed. A quantile is null where it lies among the failed, or is withheld.
    """
    if not measured.failed:
        return None
    times = measured.waiting_time
    return {
        "of": load_words.waited(measured).replace(" ", "_"),
        "failed": measured.failed,
        **{
            key: quantiles.of_all(times, measured.failed, q)
            for key, q in quantiles.SHOWN.items()
            if times.count >= quantiles.needed(q)
        },
    }


def _drift(trial: Trial) -> list[dict[str, Any]] | None:
    """What was followed over the run; `per_second` None: it did not drift. None: nothing was."""
    found = drift.of(trial)
    if found is None:
        return None
    return [
        {
            "quantity": one.name,
            "per_second": one.slope.value if one.slope else None,
            "low": one.slope.low if one.slope else None,
            "high": one.slope.high if one.slope else None,
        }
        for one in found.quantities
    ]


def _connections(summary: Summary) -> dict[str, Any]:
    """How many of the whole run; `all_open_ns`: from the first attempt until all stood."""
    asked, stood = summary.connect_start_ns, summary.connected_ns
    return {
        **summary.connections.model_dump(),
        "all_open_ns": None if asked is None or stood is None else stood - asked,
    }


def _traffic(trial: Trial) -> dict[str, Any] | None:
    """Routes and flows of the window that counts, errors of the whole run; None: one message."""
    routed = Measured(trial).routed
    if not routed.routes:
        return None
    return {
        "routes": [
            {
                "name": route.name,
                "sent": route.sent,
                "ok": route.ok,
                "share": route.share,
                "throughput": route.rate,
                "errors": dict(route.errors),
                "examples": dict(route.examples),
                "checked": route.checked,
                "checkable": route.checkable,
                "wrong": route.wrong,
                "left_out": route.left_out,
                "redirects_followed": route.followed,
                "bytes_received": route.bytes_received,
                "time": quantiles.document(route.times),
                "blocked_time": quantiles.document(route.blocked),
                "never_sent": route.never_sent,
            }
            for route in routed.routes
        ],
        "flows": [
            {
                "name": flow.name,
                "begun": flow.begun,
                "done": flow.done,
                "failed": dict(flow.failed),
                "unasked": dict(flow.unasked),
                "iteration_time": quantiles.document(flow.iterations, "sessions"),
                "session_wait": quantiles.document(flow.waits, "sessions"),
            }
            for flow in routed.flows
        ],
    }


def _servers(trial: Trial) -> list[dict[str, Any]] | None:
    """Servers that somebody else runs, as they were named; None: none was.

    A cost is None where it is void: the server was restarted, or ended.
    """
    if not trial.places:
        return None
    return [
        {
            "name": part.name,
            "address": part.address,
            "host": place.place,
            "replies": part.span.replies if part.span else None,
            "span_ns": part.span.length_ns if part.span else None,
            "cpu_user_ns_per_message": part.user_per_reply_ns,
            "cpu_system_ns_per_message": part.system_per_reply_ns,
            "cpu_ns_per_message": part.per_reply_ns,
            "cpus_busy": part.cpus,
            "memory": part.memory,
            "memory_bytes": part.memory_end_bytes,
            "memory_growth_bytes": part.memory_growth_bytes,
            "cpu_limit": part.quota_cpus,
            "throttled_share": part.throttled_share,
            "throttled_ns": part.throttled_ns,
            "restarts": part.restarts,
            "has_ended": part.has_ended,
        }
        for place in trial.places
        for part in place.parts
    ]


def _hosts(trial: Trial) -> list[dict[str, Any]] | None:
    """What their hosts did meanwhile, in CPUs that were busy on average."""
    if not trial.places:
        return None
    return [
        {
            "name": place.place,
            "cpus": place.cpus,
            "cpus_busy": place.busy_cpus,
            "cpus_busy_before": place.baseline_cpus,
            "cpus_of_servers": place.parts_cpus,
            "cpus_of_generator": place.rate(place.generator_ns),
            "cpus_of_rest": place.gap_cpus,
            "cpus_in_interrupts": place.interrupt_cpus,
            "steal_share": place.steal_share,
            "memory_bytes": place.memory_used_bytes,
            "memory_growth_bytes": place.memory_growth_bytes,
            "clock_error_ns": place.clock_error_ns,
            "notes": list(watched.notes(place)),
        }
        for place in trial.places
    ]


def _use(use: Use | None) -> dict[str, float | None]:
    """Shares of the window, as the verdict rests on them."""
    return {"busy": use.busy if use else None, "waiting_for_cpu": use.queued if use else None}


def _secrets(trial: Trial) -> str:
    """Whether what is sent has its secrets: `none`, `redacted` or `kept`."""
    if trial.keeps_secrets:
        return "kept"
    target, publish = trial.plan.target, trial.plan.publish
    lacks = redaction.is_redacted(target.url, target.http.headers)
    if publish is not None:
        lacks = lacks or redaction.is_redacted(publish.url, publish.headers)
    return "redacted" if lacks else "none"


def _agent(agent: Agent) -> dict[str, Any]:
    """One machine of a fleet, with its own figures of the whole run."""
    own = agent.summary
    counters = own.counters if own else Counters()
    return {
        "name": agent.name,
        "host": agent.host,
        "connections": agent.part.connections,
        "rate": agent.part.rate,
        "totals": {
            "sent": counters.sent,
            "ok": counters.ok,
            "in_flight": counters.in_flight,
            "errors": dict(counters.errors),
        },
        "throughput": agent.reached,
        "service_time": quantiles.document(agent.service_time),
        "loop_utilisation": own.generator.loop_utilisation if own else None,
        "clock": agent.clock.model_dump(),
        "lost": agent.loss.model_dump() if agent.loss else None,
    }


def _http2(trial: Trial) -> dict[str, Any] | None:
    """What came in the way of messages over HTTP/2; None where it was not spoken."""
    summary, plan = trial.summary, trial.plan
    if summary.http2 is None:
        return None
    shares = {hold.of: hold.share for hold in windows.holds(summary, plan)}
    return {
        "streams_in_flight": windows.streams_in_flight(summary, plan),
        **summary.http2.model_dump(),
        "stream_exhausted_share": shares.get("stream", 0.0),
        "connection_exhausted_share": shares.get("connection", 0.0),
    }


_ADDED_UP = {"ended", "congestion_windows", "round_trips_ns", "largest_datagrams"}
"""What is told as means, in `path`."""


def _http3(trial: Trial) -> dict[str, Any] | None:
    """The same over HTTP/3, and how QUIC carried them."""
    figures = trial.summary.http3
    if figures is None:
        return None
    average = windows.streams_in_flight(trial.summary, trial.plan)
    path = None
    if figures.ended:
        path = {
            "congestion_window_bytes": figures.congestion_windows / figures.ended,
            "round_trip_ns": figures.round_trips_ns / figures.ended,
            "datagram_bytes": figures.largest_datagrams / figures.ended,
        }
    congestion = trial.plan.target.http.congestion or OF_QUIC
    counted = figures.model_dump(exclude=_ADDED_UP)
    return {"streams_in_flight": average, "congestion": congestion, "path": path, **counted}
