"""niquests over HTTP/3 (qh3) as a client of the reference server: `python client.py BASE CA_FILE`.

Says `ok NAME` for each thing that was right.
"""

from __future__ import annotations

import sys
from typing import Any
from urllib.parse import urlsplit

from niquests import Response, Session  # type: ignore[import-not-found]

AT_ONCE = 50
LARGE = 1 << 20
LIMIT_S = 30
HTTP_3 = 30


class Client:
    """A connection over HTTP/3, which the server is known to speak."""

    def __init__(self, base: str, authority: str, *, multiplexed: bool = False) -> None:
        self.base = base
        self.session = Session(
            disable_http1=True, disable_http2=True, multiplexed=multiplexed, pool_maxsize=1
        )
        self.session.trust_env = False
        self.session.verify = authority
        address = urlsplit(base)
        self.session.quic_cache_layer.add_domain(address.hostname, address.port)

    def ask(self, method: str, path: str, **more: Any) -> Response:
        """A reply, which is not there yet where the session is multiplexed."""
        url = path if "://" in path else self.base + path
        return self.session.request(method, url, timeout=LIMIT_S, **more)

    def post(self, content: bytes) -> Response:
        """An echo of gRPC, which begins behind the whole request.

        niquests sends no more of a request once the head of its reply has come, and waits for the
        rest; /echo, which begins before, would never end.
        """
        fields = {"content-type": "application/grpc", "te": "trailers"}
        return self.ask("POST", "/wiretrial.Echo/Unary", data=content, headers=fields)


def main() -> None:
    """Asks for one thing after the other."""
    base, authority = sys.argv[1:]
    client = Client(base, authority)
    check("get", len(content(client.ask("GET", "/message"))) == 64)
    head = client.ask("HEAD", "/message")
    check("head", content(head) == b"" and head.headers["content-length"] == "64")
    for name, size in (("post", 1000), ("post-large", LARGE)):
        check(name, content(client.post(message(size))) == message(size))
    check("chunked-reply", len(content(client.ask("GET", "/chunked/100000"))) == 100_000)
    check("not-found", client.ask("GET", "/none").status_code == 404)
    events = client.ask("GET", f"sse://{urlsplit(base).netloc}/events?rate=1000&end=5").extension
    told = [event.id for event in iter(events.next_payload, None)]
    check("events", told == ["1", "2", "3", "4", "5"])

    client = Client(base, authority, multiplexed=True)
    sent = [message(1000 + at) for at in range(AT_ONCE)]
    asked = [client.post(one) for one in sent]
    client.session.gather()
    check("streams", [content(one) for one in asked] == sent)


def content(reply: Response) -> bytes:
    """What came, if it came over HTTP/3."""
    if (reply.status_code, reply.http_version) != (200, HTTP_3):
        raise SystemExit(f"{reply.status_code} over HTTP {reply.http_version}")
    return bytes(reply.content or b"")


def message(size: int) -> bytes:
    """A message of gRPC of so many bytes, behind its mark and its length."""
    return b"\0" + size.to_bytes(4) + bytes((at * 7 + at // 90) % 256 for at in range(size))


def check(name: str, is_right: bool) -> None:
    """Says that it was right, or ends."""
    if not is_right:
        raise SystemExit(f"wrong: {name}")
    print(f"ok {name}")


if __name__ == "__main__":
    main()
