"""The site over HTTP: GET only, on loopback unless told otherwise, and then with a token.

Knows requests and who may ask; must not know what a page shows. A request with another host's name
is refused: a page elsewhere must not read results through a browser here.
"""

from __future__ import annotations

import contextlib
import hmac
import ipaddress
import json
import time
from collections.abc import Iterator, Mapping, Sequence
from http import HTTPStatus
from http.cookies import SimpleCookie
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from wiretrial.live import charts, pages
from wiretrial.live.site import Site

COOKIE = "wiretrial"
POLL_S = 0.5
STREAM_LIMIT_S = 3600
"""A stream ends by then; the browser comes back by itself."""
POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; "
POLICY += "connect-src 'self'; frame-src 'self'; img-src data:; base-uri 'none'; form-action 'self'"


class LiveServer(ThreadingHTTPServer):
    """Serves a site. `token` None: whoever reaches the address may read."""

    daemon_threads = True

    def __init__(self, host: str, port: int, site: Site, token: str | None) -> None:
        self.site = site
        self.token = token
        super().__init__((host, port), _Handler)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A reader that goes away is no error."""


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach the address."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


class _Handler(BaseHTTPRequestHandler):
    server: LiveServer
    protocol_version = "HTTP/1.1"
    timeout = 30

    def do_GET(self) -> None:
        url = urlsplit(self.path)
        query = parse_qs(url.query)
        if not self._host_is_ours():
            self._answer(HTTPStatus.FORBIDDEN, "this host's name is not served\n", "text/plain")
            return
        given = query.get("token", [""])[0]
        if given and self._is_token(given):
            # Out of the address bar and the history, into a cookie.
            self._redirect(url.path or "/", given)
            return
        if not self._may_read():
            self._answer(HTTPStatus.FORBIDDEN, "the token is missing or wrong\n", "text/plain")
            return
        path = unquote(url.path).strip("/")
        if path == "events":
            self._stream(query.get("watch", [""])[0])
            return
        page = self._page(path, query)
        if page is None:
            self._answer(HTTPStatus.NOT_FOUND, "there is no such result\n", "text/plain")
        else:
            self._answer(HTTPStatus.OK, page, "text/html")

    def _page(self, path: str, query: Mapping[str, Sequence[str]]) -> str | None:
        if not path:
            return self.server.site.index(query.get("q", [""])[0])
        if path == "trend":
            return self.server.site.trends(query.get("q", [""])[0], query.get("metric", [""])[0])
        if path == "beside" and "name" in query:
            return self.server.site.beside(query.get("name", ()))
        name, _, rest = path.partition("/")
        if rest == "report":
            return self.server.site.report(name)
        return None if rest else self.server.site.result(name)

    def _host_is_ours(self) -> bool:
        """With a token any name will do: who knows it was told it."""
        if self.server.token is not None:
            return True
        name = self.headers.get("Host", "").rpartition(":")[0] or self.headers.get("Host", "")
        return is_loopback(name.strip("[]"))

    def _may_read(self) -> bool:
        if self.server.token is None:
            return True
        cookie = SimpleCookie(self.headers.get("Cookie", "")).get(COOKIE)
        return cookie is not None and self._is_token(cookie.value)

    def _is_token(self, given: str) -> bool:
        token = self.server.token
        return token is not None and hmac.compare_digest(given.encode(), token.encode())

    def _redirect(self, path: str, token: str) -> None:
        self.send_response(HTTPStatus.SEE_OTHER)
        # One slash: `//host` would lead elsewhere.
        self.send_header("Location", f"/{path.lstrip('/')}")
        self.send_header("Set-Cookie", f"{COOKIE}={token}; HttpOnly; SameSite=Strict; Path=/")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def _answer(self, status: HTTPStatus, text: str, kind: str) -> None:
        data = text.encode()
        self.send_response(status)
        self._common(kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def _common(self, kind: str) -> None:
        self.send_header("Content-Type", f"{kind}; charset=utf-8")
        self.send_header("Cache-Control", "no-store")
        self.send_header("Content-Security-Policy", POLICY)
        self.send_header("X-Content-Type-Options", "nosniff")
        self.send_header("Referrer-Policy", "no-referrer")

    def _stream(self, watched: str) -> None:
        """Server-sent events, as long as the reader stays."""
        self.send_response(HTTPStatus.OK)
        self._common("text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True
        with contextlib.suppress(OSError):
            for event, data in self._changes(watched):
                self.wfile.write(f"event: {event}\ndata: {json.dumps(data)}\n\n".encode())
                self.wfile.flush()

    def _changes(self, watched: str) -> Iterator[tuple[str, str]]:
        """What changes from now on; a sign of life where nothing does."""
        site, deadline = self.server.site, time.monotonic() + STREAM_LIMIT_S
        listed, seen, state = site.listed(), site.mark(watched), site.state(watched)
        while time.monotonic() < deadline:
            time.sleep(POLL_S)
            if watched:
                before, seen = seen, site.mark(watched)
                if before.trials != seen.trials:
                    yield "trials", str(seen.trials)
                if before.is_running and not seen.is_running:
                    yield "ended", ""
                now = site.state(watched)
                if now is not None and now != state:
                    yield "now", str(pages.now(now))
                    if state is None or now.lines != state.lines:
                        yield "course", str(charts.drawn(now.lines))
                state = now
            else:
                found = site.listed()
                if found != listed:
                    yield "list", "\n".join(str(pages.card(one)) for one in pages.ordered(found))
                listed = found
            yield "alive", ""

    def log_message(self, *_: Any) -> None:
        """Nothing: whoever started it looks at the page."""
