"""What was typed about a load, turned into the parts of a plan.

Knows the command line's words for a load; must not know how a load runs.
"""

from __future__ import annotations

import base64
import ipaddress
import os
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from wiretrial import quantities, suggest
from wiretrial.cli import foreign, spoken, staging, urls
from wiretrial.cli.content import PLACEHOLDER, require_json
from wiretrial.cli.options import STEADY, Asked, HttpVersions, Loop, Security
from wiretrial.errors import UsageProblem
from wiretrial.plan import (
    RULE,
    AfterResponse,
    AutoContent,
    BroadcastContent,
    ClosedLoop,
    Content,
    Deflate,
    EchoContent,
    Expect,
    FixedContent,
    FixedPayload,
    Hold,
    Http,
    LearnedContent,
    Load,
    MatchingContent,
    Message,
    NoPayload,
    OpenLoop,
    Payload,
    RandomBurst,
    SequencePayload,
    StatusContent,
    Styx,
    TemplatePayload,
    Tls,
    WebSocket,
)
from wiretrial.subjects.spec import Protocol
from wiretrial.words import CALLS, HTTP

SCHEMES: tuple[Protocol, ...] = (*HTTP, "ws", "wss", "tcp", "tls")
"""What has no methods that are called."""
COMPARED: tuple[Protocol, ...] = (*SCHEMES, *CALLS)
"""What servers are compared over."""
LOADED: tuple[Protocol, ...] = (
    *SCHEMES,
    *CALLS,
    "styx",
    "styx+json",
    "styx+ws",
    "styx+json+ws",
    "styx+wss",
    "styx+json+wss",
    "socketio+ws",
    "socketio+wss",
)
"""What the engine speaks."""
DEFAULT_MESSAGE_BYTES = 20
DEFLATE_FLAGS = ("server_no_context_takeover", "client_no_context_takeover")
DEFLATE_RANGES = {
    "server_max_window_bits": (8, 15),
    "client_max_window_bits": (8, 15),
    "level": (1, 9),
}
SHORTEST_NS = 1_000_000
"""Nothing shorter can be measured."""
MOST_GREETINGS = 255


def length_ns(duration: str) -> int:
    """How long is measured."""
    if foreign.is_body(duration):
        raise UsageProblem(
            f"-d {duration}: not a duration", "send a body with --json TEXT or --payload @FILE"
        )
    return quantities.duration_ns(duration, "--duration", SHORTEST_NS)


def is_http(protocol: Protocol) -> bool:
    """Whether requests have methods and headers."""
    return protocol in HTTP


def has_payload(protocol: Protocol) -> bool:
    """Whether a message carries something of its own where nobody says what."""
    return not (is_http(protocol) or protocol.startswith(("styx", "socketio")))


def is_loopback(host: str) -> bool:
    """Whether a server at `host` runs on this machine, as far as its name tells."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def payload_of(protocol: Protocol, size: str | None, json_text: str | None) -> Payload:
    """What each request carries."""
    if size is not None and json_text is not None:
        raise UsageProblem("--payload and --json exclude each other", "keep one")
    if json_text is not None:
        require_json(json_text, "--json")
        if PLACEHOLDER in json_text:
            return TemplatePayload(text=json_text)
        return FixedPayload(base64=in_base64(json_text.encode()))
    if size is None:
        return (
            SequencePayload(bytes=DEFAULT_MESSAGE_BYTES) if has_payload(protocol) else NoPayload()
        )
    if size.startswith("@"):
        return FixedPayload(base64=in_base64(content_of_file(size, "--payload")))
    wanted = quantities.size_bytes(size, "--payload")
    if wanted == 0 and is_http(protocol):
        return NoPayload()
    return SequencePayload(bytes=wanted)


def message_of(protocol: Protocol, asked: Asked) -> Message:
    """The message, in a WebSocket text frame where that is asked for, or JSON."""
    is_json = asked.json is not None
    return Message(
        kind="text" if asked.text or is_json else "binary",
        is_json=is_json,
        source=payload_of(protocol, asked.payload, asked.json),
    )


def headers_of(
    lines: Sequence[str], json_text: str | None, flag: str = "--header"
) -> tuple[tuple[str, str], ...]:
    """Header fields from `Name: value` lines of this flag; JSON brings its own type."""
    fields: list[tuple[str, str]] = []
    for number, line in enumerate(lines, start=1):
        name, colon, value = line.partition(":")
        if not colon or not name.strip() or " " in name.strip():
            # What is no field may be a secret that was meant to be one.
            raise UsageProblem(f"{flag} number {number} is not `Name: value`", "write it so")
        fields.append((name.strip(), value.strip()))
    if json_text is not None and not any(name.lower() == "content-type" for name, _ in fields):
        fields.append(("Content-Type", "application/json"))
    urls.require_sendable("", fields)
    return tuple(fields)


def http_of(protocol: Protocol, asked: Asked) -> Http:
    """Method and headers; only where the protocol has them."""
    method, header = asked.method, asked.header
    if asked.sse and not is_http(protocol):
        raise UsageProblem("--sse is for http and https", "leave it out")
    if asked.header_profile and (asked.sse or not is_http(protocol)):
        raise UsageProblem(
            "--header-profile is for requests of http and https, not for --sse", "leave it out"
        )
    if protocol in ("tcp", "tls", "styx", "styx+json"):
        if method or header:
            raise UsageProblem(f"{protocol} has no methods or headers", "leave them out")
        return Http(version=spoken.version_of(protocol, asked), congestion=asked.congestion)
    if method and not is_http(protocol):
        raise UsageProblem("--method is for http and https", "leave it out")
    return Http(
        version=spoken.version_of(protocol, asked),
        windows=spoken.windows_of(asked),
        congestion=asked.congestion,
        early_data=spoken.early_data_of(protocol, asked),
        method=method.upper() if method else None,
        headers=headers_of(header, asked.json if is_http(protocol) else None),
        header_profile=asked.header_profile,
        sse=asked.sse,
    )


def websocket_of(
    protocol: Protocol, deflate: bool, parameters: str | None, greetings: str = "0"
) -> WebSocket:
    """WebSocket settings; only where the protocol has them."""
    # What other protocols could be greeted by, the engine knows, and refuses it with the reason.
    greeted = quantities.count(greetings, "--greetings", least=0, most=MOST_GREETINGS)
    if not deflate and parameters is None:
        return WebSocket(greetings=greeted)
    if protocol not in ("ws", "wss"):
        raise UsageProblem("--deflate is for ws and wss", "leave it out")
    words = [word.strip() for word in (parameters or "").split(",")]
    return WebSocket(
        deflate=Deflate.model_validate(dict(_parameter(word) for word in words if word)),
        greetings=greeted,
    )


def styx_of(
    protocol: Protocol, table_size: str | None, table_delay: str | None, *, lobby: bool = False
) -> Styx:
    """Players and tables; only where the protocol has them."""
    if not protocol.startswith("styx"):
        if table_size is not None or table_delay is not None or lobby:
            raise UsageProblem(
                "--table-size, --table-delay and --lobby are for styx", "leave them out"
            )
        return Styx()
    delay_ns = quantities.duration_ns(table_delay, "--table-delay") if table_delay else 0
    return Styx(
        table_size=quantities.count(table_size or "1", "--table-size", most=1000),
        delay_ms=delay_ns // 1_000_000,
        lobby=lobby,
    )


def _parameter(word: str) -> tuple[str, bool | int]:
    name, equals, value = word.partition("=")
    if name in DEFLATE_FLAGS and not equals:
        return name, True
    if name in DEFLATE_RANGES and equals:
        least, most = DEFLATE_RANGES[name]
        return name, quantities.count(value, f"--deflate-with {name}", least=least, most=most)
    known = [*DEFLATE_FLAGS, *(f"{name}=N" for name in DEFLATE_RANGES)]
    raise UsageProblem(
        f"--deflate-with {word!r} is no parameter",
        suggest.remedy(name, (*DEFLATE_FLAGS, *DEFLATE_RANGES), f"use {', '.join(known)}"),
    )


def expect_of(expect: Sequence[str], status: str) -> Expect:
    """What a right reply is; no rule: what the protocol suggests."""
    return Expect(
        content=_content(expect),
        status=quantities.count(status, "--expect-status", least=100, most=599),
    )


def tls_of(security: Security) -> Tls:
    """Whose certificate is accepted."""
    cacert = security.cacert
    if security.insecure and cacert:
        raise UsageProblem("--insecure and --cacert exclude each other", "keep one")
    if cacert and not os.access(cacert, os.R_OK):
        raise UsageProblem(f"--cacert {cacert} can't be read", "name a PEM file")
    return Tls(
        insecure=security.insecure,
        ca_file=str(cacert.resolve()) if cacert else None,
        server_name=security.server_name,
        resumption=security.resumption,
    )


def require_streams(loop: Loop, asked: Asked, requests: str | None) -> None:
    """Raises where streams of events are asked for with what they don't have."""
    if requests is not None:
        raise UsageProblem("--sse and -n exclude each other", "say how long they are held: -d 60s")
    if loop.rate is not None or loop.stages is not None or loop.pattern != STEADY:
        raise UsageProblem(
            "--sse: the server decides when an event comes",
            "leave --rate, --stages and --pattern out",
        )
    if loop.requests_per_connection is not None or loop.pack != "1":
        raise UsageProblem(
            "--sse holds streams throughout", "leave --pack and --requests-per-connection out"
        )
    has_streams = asked.streams is not None or asked.http in (HttpVersions.TWO, HttpVersions.THREE)
    if loop.depth != "1" and not has_streams:
        raise UsageProblem(
            f"--depth {loop.depth}: over HTTP/1.1 a connection carries one stream of events",
            "use --http 2, or more connections",
        )
    if asked.payload is not None or asked.json is not None or asked.method not in (None, "GET"):
        raise UsageProblem(
            "--sse asks by GET, without a payload", "leave --payload, --json and --method out"
        )
    if any(rule in ("echo", "learned", "shape", "broadcast") for rule in asked.expect):
        raise UsageProblem(
            f"--expect {asked.expect[0]} is of replies, which events are not",
            "use status, json:PATH=VALUE or regex:PATTERN",
        )


def load_of(loop: Loop, *, holds_streams: bool = False) -> Load:
    """How many connections, and who sends next."""
    in_flight = quantities.count(loop.depth, "--depth")
    together = quantities.count(loop.pack, "--pack")
    if in_flight % together:
        raise UsageProblem(
            f"--depth {in_flight} is no multiple of --pack {together}",
            f"use --depth {max(in_flight // together, 1) * together}",
        )
    staged = staging.of(loop)
    executor = _executor(_at_most(loop, staged), in_flight, together, holds_streams=holds_streams)
    fresh = loop.requests_per_connection
    return Load(
        connections=int(staged.most)
        if staged and not staged.is_open
        else quantities.count(loop.connections, "--connections"),
        depth=in_flight,
        pack=together,
        requests_per_connection=(
            None
            if fresh is None
            else quantities.count(fresh, "--requests-per-connection", most=2**53)
        ),
        executor=executor,
        stages=staged.stages if staged else (),
        seed=loop.seed,
    )


def _at_most(loop: Loop, staged: staging.Staged | None) -> Loop:
    """The loop at the highest rate of its stages."""
    return replace(loop, rate=str(staged.most)) if staged and staged.is_open else loop


def _executor(
    loop: Loop, in_flight: int, together: int, *, holds_streams: bool
) -> ClosedLoop | OpenLoop | AfterResponse | Hold | RandomBurst:
    """Who sends next."""
    fresh = loop.requests_per_connection is not None
    if loop.pattern != STEADY:
        if loop.hold or loop.rate is not None or fresh:
            raise UsageProblem(
                f"--pattern {loop.pattern} is a closed loop on kept connections",
                "leave --hold, --rate and --requests-per-connection out",
            )
        if in_flight > together:
            raise UsageProblem(
                f"--pattern {loop.pattern}: a burst is one pack for each connection",
                f"use --depth {together}",
            )
        return RandomBurst()
    if loop.hold:
        if (in_flight > 1 and not holds_streams) or together > 1 or fresh:
            raise UsageProblem(
                "--hold keeps connections, with one message at a time",
                "leave --depth, --pack and --requests-per-connection out",
            )
        return Hold(rate=quantities.rate(loop.rate, "--rate") if loop.rate is not None else 0)
    if loop.pacing == "after-response":
        slots = quantities.count(loop.connections, "--connections") * in_flight
        return _after_response(slots, loop.rate)
    if loop.rate is not None:
        return OpenLoop.model_validate(
            {
                "rate": quantities.rate(loop.rate, "--rate"),
                "pacing": loop.pacing,
                "overflow": loop.overflow,
            }
        )
    return ClosedLoop()


def _after_response(slots: int, rate: str | None) -> AfterResponse:
    """The pause with which the rate is met if replies take no time."""
    if rate is None:
        raise UsageProblem("--pacing after-response needs a rate", "give --rate")
    return AfterResponse(pause_ns=int(slots * 1e9 / quantities.rate(rate, "--rate")))


def _content(rules: Sequence[str]) -> Content:
    if rules and all(re.match(RULE, rule) for rule in rules):
        return MatchingContent(rules=tuple(rules))
    if len(rules) > 1:
        raise UsageProblem(
            f"--expect {' --expect '.join(rules)}: only json: and regex: rules can be combined",
            "keep one",
        )
    expect = next(iter(rules), "auto")
    match expect:
        case "status":
            return StatusContent()
        # Of a shape, it is found out before the load which.
        case "auto" | "shape":
            return AutoContent()
        case "echo":
            return EchoContent()
        case "learned":
            return LearnedContent()
        case "broadcast":
            return BroadcastContent()
    if expect.startswith("@"):
        return FixedContent(base64=in_base64(content_of_file(expect, "--expect")))
    usual = "use learned, shape, echo, broadcast, @FILE, status, json:PATH=VALUE or regex:PATTERN"
    known = ("auto", "learned", "shape", "echo", "broadcast", "status")
    raise UsageProblem(f"--expect {expect!r} is no rule", suggest.remedy(expect, known, usual))


def content_of_file(argument: str, flag: str) -> bytes:
    """What is in the file of `@FILE`."""
    path = Path(argument[1:])
    try:
        return path.read_bytes()
    except OSError as error:
        raise UsageProblem(
            f"{flag} {argument}: {error.strerror}", "name a file that can be read"
        ) from error


def in_base64(data: bytes) -> str:
    """As a plan has bytes."""
    return base64.b64encode(data).decode("ascii")
