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
from wiretrial.plan import Publish
from wiretrial.subjects.spec import Protocol

USUAL_RATE: Final = "10"
USUAL_SIZE: Final = "64"
USUAL_AFTER: Final = "1s"


def publish_of(typed: Published) -> Publish | None:
    """What is published; None: nothing."""
    if typed.url is None:
        return None
    if urlsplit(typed.url).scheme.lower() not in ("http", "https"):
        raise UsageProblem("--publish: events are posted", "name a URL of http:// or https://")
    return Publish(
        url=typed.url,
        rate=quantities.rate(typed.rate or USUAL_RATE, "--publish-rate"),
        bytes=quantities.size_bytes(typed.size or USUAL_SIZE, "--publish-size"),
        settle_ns=quantities.duration_ns(typed.after or USUAL_AFTER, "--publish-after"),
    )


def require_listeners(protocol: Protocol, loop: Loop, asked: Asked, requests: str | None) -> None:
    """Raises where nobody could hear what is published, or WebSockets are to do something else."""
    if workload.is_http(protocol):
        raise UsageProblem("--publish: replies of HTTP tell nothing", "hold streams with --sse")
    if protocol not in ("ws", "wss"):
        raise UsageProblem(f"--publish: {protocol} is not heard", "use --sse, ws:// or wss://")
    if asked.http in (HttpVersions.TWO, HttpVersions.THREE):
        raise UsageProblem("--publish: WebSockets hear it over HTTP/1.1", "use --http 1.1")
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
            "--publish holds a WebSocket on each connection",
            "leave --depth, --pack and --requests-per-connection out",
        )
    if asked.payload is not None or asked.json is not None:
        raise UsageProblem(
            "--publish: receivers send nothing",
            "say how long an event is with --publish-size, and leave --payload and --json out",
        )
