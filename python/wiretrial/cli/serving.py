"""Serves past results and the running study until Ctrl-C.

Knows where the server listens and who makes its pages; must not know how it answers.
"""

from __future__ import annotations

import secrets
from pathlib import Path

from wiretrial.cli import interrupts, output, reports
from wiretrial.errors import EXIT_GOOD, UsageProblem
from wiretrial.live.server import LiveServer, is_loopback
from wiretrial.live.site import Site
from wiretrial.results.store import ResultsFolder


def serve(results: Path, host: str, port: int) -> int:
    """Serves the folder's results."""
    if not results.is_dir():
        raise UsageProblem(
            f"there is no folder {results}",
            "measure something first, or name the folder of the results (--results)",
        )
    token = None if is_loopback(host) else secrets.token_urlsafe(24)
    try:
        server = LiveServer(host, port, Site(results, page_of, page_of_load), token)
    except OSError as error:
        raise UsageProblem(
            f"can't listen on {host}:{port}: {error.strerror}", "use another --port or --host"
        ) from error
    with server:
        shown = f"[{host}]" if ":" in host else host
        query = f"?token={token}" if token else ""
        output.emit(f"http://{shown}:{server.server_address[1]}/{query}", None)
        output.say("Ctrl-C ends it")
        try:
            server.serve_forever(poll_interval=0.2)
        except interrupts.Stopped:
            return EXIT_GOOD
    return EXIT_GOOD


def page_of(folder: ResultsFolder) -> str:
    """The page of a result that was opened."""
    return reports.page(reports.whole(folder))


def page_of_load(file: Path) -> str:
    """The page of a load's file."""
    return reports.page(reports.of(file))
