"""Checks traffic files: shows what they say, or sends each entry once and shows what came.

Knows the command's steps; must not know the files' formats, nor how entries are laid out.
"""

from __future__ import annotations

import base64
import secrets
import sys
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from wiretrial import quantities, redaction, redaction_traffic
from wiretrial.cli import output, spoken, traffic_shown, traffic_wanted, urls, workload
from wiretrial.cli.options import Security
from wiretrial.cli.output import Format
from wiretrial.engine import Engine
from wiretrial.errors import EXIT_FAILED, EXIT_GOOD, EngineFailed
from wiretrial.exchange import Exchange
from wiretrial.plan import Http, Load, Phases, Plan, Stop, Target
from wiretrial.traffic import asked, telling
from wiretrial.traffic.asked import Entry
from wiretrial.traffic.compiler import Scenario, compile_file
from wiretrial.traffic.variables import given

_SEEDS = 2**32
_IS_IT_RUNNING = "; is the server running?"
"""What the engine asks where a server refuses connections."""
_STOP = Stop(duration_ns=10**9)
"""A plan has one; whoever asks it does not mind."""


@dataclass(frozen=True)
class Sending:
    """How entries are sent."""

    security: Security
    timeout: str
    follow: str | None = None
    """How many redirects; None: as the entries say."""


def check(
    path: Path,
    variables: Sequence[str],
    sending: Sending | None,
    *,
    learns: bool,
    format_: Format,
) -> int:
    """Compiles the file; what is wrong in it is raised. `sending`: None where nothing is sent."""
    scenario = compile_file(path, given(variables), learns=learns)
    if sending is None:
        if format_ is Format.JSON:
            output.emit(output.as_json(_document(scenario)), None)
        else:
            output.emit("\n".join(_text(scenario, path)), None)
        return EXIT_GOOD
    exchanges = _asked(scenario, sending)
    entries = asked.entries(scenario, exchanges)
    hidden = asked.secrets(scenario.traffic, exchanges)
    if format_ is Format.JSON:
        document = {**_document(scenario), "entries": [_entry(one, hidden) for one in entries]}
        output.emit(output.as_json(document), None)
    else:
        heading = (
            f"{path}: {traffic_shown.counted(len(entries))}, sent once each to {scenario.origin}"
        )
        width, colour = output.width(), output.colour(sys.stdout)
        shown = traffic_shown.render(heading, entries, hidden, width=width, colour=colour)
        output.emit(shown, None)
    return EXIT_GOOD if all(entry.is_right for entry in entries) else EXIT_FAILED


def _asked(scenario: Scenario, sending: Sending) -> tuple[Exchange, ...]:
    address = urls.parse(scenario.origin, workload.LOADED)
    spoken.require_encrypted(scenario.http, address.protocol)
    timeout_ns = quantities.duration_ns(sending.timeout, "--timeout")
    plan = Plan(
        target=Target(
            url=address.url,
            http=Http(version=scenario.http, headers=scenario.headers),
            tls=workload.tls_of(sending.security),
        ),
        # What is made, such as a UUID, is another one each time.
        load=Load(connections=1, seed=secrets.randbelow(_SEEDS)),
        stop=_STOP,
        phases=Phases(timeout_ns=timeout_ns, connect_ns=timeout_ns),
        traffic=traffic_wanted.followed(scenario.traffic, sending.follow),
    )
    steps = sum(len(flow.steps) for flow in scenario.traffic.flows)
    limit_s = (steps + 1) * timeout_ns / 1e9
    try:
        return Engine.find().ask(plan, limit_s=limit_s, waits=False)
    except EngineFailed as error:
        if error.exit_code != EXIT_FAILED:
            raise
        fault = error.message.removesuffix(_IS_IT_RUNNING)
        start = "start the server, or " if fault != error.message else ""
        remedy = f"{start}show only what the file says with --no-send"
        raise EngineFailed(fault, remedy) from error


def _text(scenario: Scenario, path: Path) -> Iterator[str]:
    for line in telling.lines(scenario, str(path)):
        indent = " " * 2 * line.depth
        yield from textwrap.wrap(
            line.text,
            width=output.width(),
            initial_indent=indent,
            subsequent_indent=f"{indent}  ",
            break_long_words=False,
            break_on_hyphens=False,
        ) or [""]


def _document(scenario: Scenario) -> dict[str, object]:
    shape = scenario.load
    return {
        "schema": "wiretrial-traffic-check",
        "version": 2,
        "origin": scenario.origin,
        "headers": redaction.headers(scenario.headers),
        "load": {
            "users": shape.users,
            "rate": shape.rate,
            "pacing": shape.pacing,
            "pool": shape.pool,
            "streams": shape.streams,
            "stages": [
                {"for_ns": stage.for_ns, "from": stage.start, "to": stage.end}
                for stage in shape.stages
            ],
        },
        "goals": [
            {
                "of": goal.of,
                "figure": goal.figure,
                "relation": goal.relation,
                "value": goal.value,
            }
            for goal in scenario.goals
        ],
        "unchecked": scenario.unchecked,
        "traffic": redaction_traffic.redacted(scenario.traffic).model_dump(
            mode="json", by_alias=True
        ),
        "entries": None,
    }


def _entry(entry: Entry, hidden: redaction.Secrets) -> dict[str, object]:
    exchange = entry.exchange
    return {
        "flow": entry.flow,
        "number": entry.number,
        "name": entry.name,
        "where": entry.where,
        "times": entry.times,
        "right": entry.is_right,
        "exchange": None if exchange is None else _exchange(exchange, hidden),
        "checks": [
            {
                "check": check.words,
                "holds": check.verdict and check.verdict.holds,
                "came": check.verdict and hidden.text(check.verdict.came),
                "fault": check.verdict and check.verdict.fault and hidden.text(check.verdict.fault),
            }
            for check in entry.checks
        ],
    }


def _exchange(exchange: Exchange, hidden: redaction.Secrets) -> dict[str, object]:
    def body(content: bytes) -> str:
        try:
            return hidden.text(content.decode())
        except UnicodeDecodeError:
            return f"base64,{base64.b64encode(content).decode()}"

    return {
        "method": exchange.method,
        "url": redaction.url(exchange.url),
        "request_headers": redaction.headers(exchange.request_headers),
        "request_body": body(exchange.sent),
        "status": exchange.status,
        "headers": redaction.headers(exchange.headers),
        "body": body(exchange.content),
        "body_bytes": exchange.body_bytes,
        "is_cut": exchange.is_cut,
        "service_ns": exchange.service_ns,
        "captures": asked.captures(exchange),
        "outcome": exchange.outcome,
        "fault": exchange.fault and hidden.text(exchange.fault),
    }
