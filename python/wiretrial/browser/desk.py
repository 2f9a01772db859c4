"""The desk: hands the page to a browser, jobs to the page, and takes what became of them.

Knows HTTP and the page's files; must not know what is measured. Loopback only, and only under its
own name: a page elsewhere must neither read nor write here through a browser.
"""

from __future__ import annotations

import json
import queue
import threading
import time
from collections.abc import Callable, Mapping
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from types import TracebackType
from typing import Any, Self

from pydantic import ValidationError

from wiretrial.browser.jobs import Job, Outcome
from wiretrial.errors import SubjectFailed

ADDRESS = "127.0.0.1"
LARGEST_OUTCOME = 4 << 20
MARK = "X-Wiretrial"
"""A header that no page of another origin can send without being asked about it first."""
LOOK_S = 0.05
JAVASCRIPT = "text/javascript"
PAGE = {
    "/": ("page.html", "text/html"),
    "/page.css": ("page.css", "text/css"),
    "/page.js": ("page.js", JAVASCRIPT),
    "/drawing.js": ("drawing.js", JAVASCRIPT),
    "/explain.js": ("explain.js", JAVASCRIPT),
    "/measure.js": ("measure.js", JAVASCRIPT),
}
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; base-uri 'none';"
    " form-action 'none'; frame-ancestors 'none'; connect-src 'self' http: https: ws: wss:"
)


class Desk:
    """Serves the page while the context lasts.

    `about` is what the page is told of the servers that it may ask. `jobs` are done without a
    person, one after the other; without any, a person chooses, and `keep` gets each job with what
    became of it.
    """

    def __init__(
        self,
        about: Mapping[str, Any],
        *,
        jobs: tuple[Job, ...] = (),
        keep: Callable[[Job, Outcome], str] | None = None,
        port: int = 0,
    ) -> None:
        self.about = {**about, "by_itself": bool(jobs), "keeps": keep is not None}
        self.keep = keep
        self._jobs: queue.SimpleQueue[Job] = queue.SimpleQueue()
        for job in jobs:
            self._jobs.put(job)
        self._told: queue.SimpleQueue[Outcome | str] = queue.SimpleQueue()
        self._server = _Server(self, port)
        self._thread = threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True
        )

    @property
    def url(self) -> str:
        """Where the page is."""
        return f"http://{ADDRESS}:{self._server.server_address[1]}/"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def outcome(self, limit_s: float, ended: Callable[[], str | None]) -> Outcome:
        """What became of the next job. Raises `SubjectFailed` where the page can't do it.

        `ended` says how the browser ended, if it did.
        """
        deadline = time.monotonic() + limit_s
        while time.monotonic() < deadline:
            try:
                told = self._told.get(timeout=LOOK_S)
            except queue.Empty:
                if how := ended():
                    raise SubjectFailed(f"the browser ended: {how}", "run it by hand") from None
                continue
            if isinstance(told, Outcome):
                return told
            raise SubjectFailed(f"the page could not measure: {told}")
        raise SubjectFailed(f"the page sent no result for {limit_s:g} s", "open it by hand")

    def next_job(self) -> Job | None:
        """What the page is to do next; None: nothing more."""
        try:
            return self._jobs.get_nowait()
        except queue.Empty:
            return None

    def take(self, document: Mapping[str, Any]) -> str:
        """What the page tells: an outcome, or why there is none. Raises `ValueError`."""
        if "problem" in document:
            self._told.put(str(document["problem"])[:300])
            return ""
        try:
            job = Job.model_validate(document.get("job"))
            outcome = Outcome.model_validate(document.get("outcome"))
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(str(part) for part in first["loc"])
            told = f"it is no outcome ({where}: {first['msg']})"
            self._told.put(told)
            raise ValueError(told) from error
        if self.keep:
            return self.keep(job, outcome)
        self._told.put(outcome)
        return ""


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, desk: Desk, port: int) -> None:
        self.desk = desk
        super().__init__((ADDRESS, port), _Handler)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A browser that goes away is no error."""


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    protocol_version = "HTTP/1.1"
    timeout = 60

    def do_GET(self) -> None:
        if not self._is_ours():
            return
        desk = self.server.desk
        if self.path == "/about":
            self._json(desk.about)
        elif self.path == "/job":
            job = desk.next_job()
            self._json(job.model_dump() if job else None)
        elif self.path in PAGE:
            name, kind = PAGE[self.path]
            self._answer(HTTPStatus.OK, _content(name), kind)
        else:
            self._answer(HTTPStatus.NOT_FOUND, b"there is no such page\n", "text/plain")

    def do_POST(self) -> None:
        if not self._is_ours():
            return
        length = int(self.headers.get("Content-Length") or 0)
        if self.path != "/outcome" or MARK not in self.headers or length > LARGEST_OUTCOME:
            # What was sent is left unread.
            self.close_connection = True
            self._answer(HTTPStatus.FORBIDDEN, b"this is not for you\n", "text/plain")
            return
        try:
            document = json.loads(self.rfile.read(length))
            if not isinstance(document, dict):
                raise ValueError("it is no object")
            self._json({"kept": self.server.desk.take(document)})
        except ValueError as error:
            self._answer(HTTPStatus.BAD_REQUEST, f"{error}\n".encode(), "text/plain")

    def _is_ours(self) -> bool:
        host = self.headers.get("Host", "").rpartition(":")[0]
        if host in (ADDRESS, "localhost"):
            return True
        self.close_connection = True
        self._answer(HTTPStatus.FORBIDDEN, b"this host's name is not served\n", "text/plain")
        return False

    def _json(self, document: Any) -> None:
        self._answer(HTTPStatus.OK, json.dumps(document).encode(), "application/json")

    def _answer(self, status: HTTPStatus, data: bytes, kind: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", f"{kind}; charset=utf-8")
        self.send_header("Content-Length", str(len(data)))
        self.send_header("Cache-Control", "no-store")
        self.send_header("Content-Security-Policy", POLICY)
        self.send_header("X-Content-Type-Options", "nosniff")
        self.send_header("Referrer-Policy", "no-referrer")
        # By itself in its process, a page gets finer clocks.
        self.send_header("Cross-Origin-Opener-Policy", "same-origin")
        self.send_header("Cross-Origin-Embedder-Policy", "require-corp")
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: Any) -> None:
        """Nothing: whoever opened it looks at the page."""


def _content(name: str) -> bytes:
    own = files("wiretrial.browser").joinpath("assets", name).read_bytes()
    if name != "page.css":
        return own
    # The report's palette and type, and what only this page has.
    return files("wiretrial.report").joinpath("assets/report.css").read_bytes() + own
