"""A server of the catalogue, started by hand.

Knows what is shown of it; must not know how a server is started.
"""

from __future__ import annotations

import time

from wiretrial.cli import interrupts, output, subject_install
from wiretrial.engine import Engine
from wiretrial.errors import EXIT_GOOD, SubjectFailed, UsageProblem
from wiretrial.machine import pinning
from wiretrial.subjects import build, registry
from wiretrial.subjects.process import Server
from wiretrial.words import QUIC


def run(name: str, configuration: str, threads: int, prefix: list[str] | None) -> int:
    """Starts it, shows its URLs, and keeps it until Ctrl-C."""
    subject_install.use_prefix(prefix)
    engine = Engine.find()
    subject = registry.find(name)
    if subject.spec.kind != "server":
        raise UsageProblem(f"{name} is a client library, not a server", "name a server")
    subject.configuration(configuration)
    built = build.install(subject, engine.binary)
    with Server(
        subject,
        built,
        configuration,
        engine=engine.binary,
        threads=threads,
        cpus=pinning.choose(server_threads=threads).server,
    ) as server:
        server.wait_ready()
        try:
            _show_urls(server)
            while (how := server.ended()) is None:
                time.sleep(0.2)
        except interrupts.Stopped:
            return EXIT_GOOD
    raise SubjectFailed(f"{name} ended: {how}")


def _show_urls(server: Server) -> None:
    for protocol in server.subject.spec.speaks:
        url = server.endpoint(protocol).url("" if protocol in ("tcp", "tls") else "/")
        output.emit(f"{url} (HTTP/3, on UDP)" if protocol == QUIC else url, None)
    if server.database:
        output.say(f"database: {server.database.environment['DATABASE_URL']}")
    if server.behind:
        output.say(f"backend: {server.behind.url('/')}")
    output.say(f"authority for TLS: {server.certificate.authority}")
    output.say("Ctrl-C ends it")
