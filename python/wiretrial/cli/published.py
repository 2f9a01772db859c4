"""What is published while receivers are held, from words to the plan.

Knows what was typed; must not know how it is sent.
"""

from __future__ import annotations

from typing import Final
from urllib.parse import urlsplit

from wiretrial import quantities
from wiretrial.cli import workload
from wiretrial.cli.options import STEADY, Asked, HttpVersions, Loop
from wiretrial.cli.options_publish import Published
from wiretrial.errors import UsageProblem
from wiretrial.plan_publish import Publish
from wiretrial.subjects.spec import Protocol

USUAL_RATE: Final = "10"
USUAL_SIZE: Final = "64"
USUAL_AFTER: Final = "1s"
SOCKETS: Final = ("ws", "wss", "socketio+ws", "socketio+wss")
"""What hears without asking each time."""


def publish_of(typed: Published) -> Publish | None:
    """What is published; None: nothing."""
    if typed.url is None:
        return None
    if urlsplit(typed.url).scheme.lower() not in ("http", "https"):
        raise UsageProblem("--publish: events are posted", "name a URL of http:// or https://")
    return Publish(
        url=typed.url,
        rate=quantities.rate(typed.rate or USUAL_RATE, "--publish-rate"),
        long_poll=typed.long_poll,
        bytes=quantities.size_bytes(typed.size or USUAL_SIZE, "--publish-size"),
        settle_ns=quantities.duration_ns(typed.after or USUAL_AFTER, "--publish-after"),
        headers=workload.headers_of(typed.header, None, "--publish-header"),
    )


def require_listeners(
    protocol: Protocol, loop: Loop, asked: Asked, requests: str | None, *, long_poll: bool
) -> None:
    """Raises where nobody could hear what is published, or receivers are to do something else."""
    if workload.is_http(protocol) and not long_poll:
        raise UsageProblem(
            "--publish: replies of HTTP tell nothing", "hold streams with --sse, or use --long-poll"
        )
    if protocol not in (("http", "https") if long_poll else SOCKETS):
        raise UsageProblem(
            f"--publish: {protocol} is not heard{' by --long-poll' if long_poll else ''}",
            "use --sse or --long-poll with http:// or https://, or ws:// or wss:// without",
        )
    is_https = protocol == "https" and asked.http is HttpVersions.AUTO
    if is_https or asked.http not in (HttpVersions.ONE, HttpVersions.AUTO):
        raise UsageProblem("--publish: it is heard over HTTP/1.1 here", "use --http 1.1")
    if requests is not None:
        raise UsageProblem(
            "--publish and -n exclude each other", "say how long they are held: -d 60s"
        )
    if loop.rate is not None or loop.stages is not None or loop.pattern != STEADY:
        raise UsageProblem(
            "--publish: receivers send nothing",
            "say how often with --publish-rate, and leave --rate, --stages and --pattern out",
        )
    if loop.requests_per_connection is not None or (loop.pack, loop.depth) != ("1", "1"):
        raise UsageProblem(
            "--publish has one receiver on each connection",
            "leave --depth, --pack and --requests-per-connection out",
        )
    if asked.payload is not None or asked.json is not None:
        raise UsageProblem(
            "--publish: receivers send nothing",
            "say how long an event is with --publish-size, and leave --payload and --json out",
        )
