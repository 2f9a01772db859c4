"""Which HTTP is asked for, of what was typed.

Knows which options only HTTP/2 has; must not know how a version is agreed on.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from wiretrial import quantities
from wiretrial.cli.options import Asked, HttpVersions
from wiretrial.errors import UsageProblem
from wiretrial.plan import AnyHttpVersion, Windows
from wiretrial.subjects.spec import Protocol
from wiretrial.words import HTTP, SOCKETS

CALLS = ("grpc", "grpcs")
LEAST_OF_CONNECTION = 65_535
"""What a connection's window begins with; no setting makes it smaller (RFC 9113 section 6.9.2)."""
WIDEST = 2**31 - 1


def in_flight(depth: str | None, streams: str | None) -> str:
    """Most requests in flight on each connection, of which one option says how many."""
    if streams is not None and depth is not None:
        raise UsageProblem("--streams and --depth exclude each other", "keep one")
    return streams or depth or "1"


def version_of(protocol: Protocol, asked: Asked) -> AnyHttpVersion:
    """The version that the plan says. What only HTTP/2 has asks for HTTP/2."""
    if asked.http is HttpVersions.THREE:
        _require_quic(protocol, asked)
        return "3"
    needs = _of_http2(asked)
    if needs == "--streams" and protocol in CALLS:
        # A call is a stream by itself, which the engine knows.
        needs = _of_http2(replace(asked, streams=None))
    if needs and protocol not in (*HTTP, *SOCKETS):
        raise UsageProblem(f"{needs} is of HTTP/2, for http, https, ws and wss", "leave it out")
    match asked.http:
        case HttpVersions.TWO:
            return "2"
        case HttpVersions.ONE:
            if needs:
                raise UsageProblem(f"{needs} is of HTTP/2", "use --http 2, or --depth to pipeline")
            return "1.1"
        case HttpVersions.AUTO:
            if needs and protocol in ("http", "ws"):
                raise UsageProblem(
                    f"{needs} is of HTTP/2, and {protocol}:// URLs are loaded over HTTP/1.1",
                    "use --http 2 where the server speaks it from the first byte",
                )
            if needs:
                return "2"
            return "auto" if protocol == "https" else "1.1"


def fixed(asked: Asked) -> Literal["1.1", "2", "3"]:
    """The same of what is asked for in one version, which AUTO is not."""
    match asked.http:
        case HttpVersions.TWO:
            return "2"
        case HttpVersions.THREE:
            return "3"
        case _:
            return "1.1"


def _require_quic(protocol: Protocol, asked: Asked) -> None:
    """Raises where HTTP/3 is asked for with what does not go over it."""
    if protocol in ("http", "ws", "grpc"):
        others = "leave --http out" if protocol == "grpc" else "--http 2 or 1.1"
        raise UsageProblem(
            f"--http 3 is always encrypted, and {protocol}:// URLs are not",
            f"use {protocol}s://, or {others}",
        )
    if protocol not in ("https", "wss", "grpcs"):
        raise UsageProblem(
            f"--http 3 is for https://, wss:// and grpcs:// URLs, not for {protocol}://",
            "leave --http out",
        )
    if needs := _of_http2(replace(asked, streams=None)):
        raise UsageProblem(f"{needs} is of HTTP/2", f"leave {needs} out, or use --http 2")


def require_encrypted(version: AnyHttpVersion, protocol: Protocol) -> None:
    """Raises where a file's requests are to go over HTTP/3 to a server without TLS."""
    if version == "3" and protocol == "http":
        raise UsageProblem(
            "HTTP/3 is always encrypted, and http:// URLs are not",
            "write https:// or grpcs:// in the file, or use --http 2 or leave it out",
        )


def carries_sockets(protocol: Protocol, asked: Asked) -> bool:
    """Whether a connection carries WebSockets side by side, on streams."""
    return protocol in SOCKETS and version_of(protocol, asked) in ("2", "3")


def windows_of(asked: Asked) -> Windows | None:
    """What the server may send, where that was typed: it is a factor then."""
    if asked.window is None and asked.connection_window is None:
        return None
    return Windows(
        stream=_size(asked.window, "--window", 1),
        connection=_size(asked.connection_window, "--connection-window", LEAST_OF_CONNECTION),
        are_factor=True,
    )


def early_data_of(protocol: Protocol, asked: Asked) -> bool:
    """Whether requests may go before the handshake's end."""
    if asked.early_data and asked.http is not HttpVersions.THREE:
        raise UsageProblem("--early-data is of HTTP/3", "leave it out, or use --http 3")
    if asked.early_data and (asked.sse or protocol not in HTTP):
        raise UsageProblem(
            "--early-data is for requests of https://, not for --sse or WebSockets", "leave it out"
        )
    return asked.early_data


def windows_over(version: AnyHttpVersion, asked: Asked) -> Windows | None:
    """The same of a file, which says itself what is spoken."""
    windows = windows_of(asked)
    if windows and version != "2":
        raise UsageProblem(
            f"{_of_http2(replace(asked, streams=None))} is of HTTP/2",
            'add --http 2 (in the file, http = "2")',
        )
    return windows


def unsaid(asked: Asked) -> Asked:
    """The same without what one version has, of a file, which says itself what is spoken."""
    said = replace(asked, http=HttpVersions.ONE, streams=None)
    return replace(said, window=None, connection_window=None)


def _of_http2(asked: Asked) -> str | None:
    """The first option that only HTTP/2 has."""
    typed = {
        "--streams": asked.streams,
        "--window": asked.window,
        "--connection-window": asked.connection_window,
    }
    return next((name for name, value in typed.items() if value is not None), None)


def _size(typed: str | None, flag: str, least: int) -> int | None:
    if typed is None:
        return None
    size = quantities.size_bytes(typed, flag)
    if not least <= size <= WIDEST:
        raise UsageProblem(
            f"{flag} {typed}: a window has {least:,} to {WIDEST:,} bytes", "give another"
        )
    return size
