"""`compare` asks as `load` does, and says what it sends before it measures."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.cli.test_runs import MEASURED, results_of
from wiretrial.cli import sending
from wiretrial.plan import (
    Expect,
    FixedPayload,
    Http,
    LearnedContent,
    Load,
    Message,
    TemplatePayload,
    Tls,
)
from wiretrial.results.model import Scenario
from wiretrial.studies import priming
from wiretrial.studies.spec import Case, Study
from wiretrial.subjects.spec import Protocol

DURATION_NS = 300_000_000
SECRET = "Bearer s3cret-of-this-test"


class Guarded(BaseHTTPRequestHandler):
    """Answers 201 to a PUT with the right header, 401 to all else."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_PUT(self) -> None:
        right = self.headers.get("Authorization") == SECRET
        body = b"fine" if right else b"denied"
        self.send_response(201 if right else 401)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Nothing: a test has no log."""


@pytest.fixture
def guarded() -> Iterator[str]:
    """The URL of a server that asks for a header."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Guarded) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}/items?token=hidden"
        server.shutdown()
        thread.join()


def test_one_server_alone_is_asked_as_the_flags_say(
    wiretrial: Run, guarded: str, tmp_path: Path
) -> None:
    flags = ("-X", "put", "-H", f"Authorization: {SECRET}", "--expect-status", "201")
    done = wiretrial(
        *("compare", guarded, *flags, "--trials", "2", "-c", "1"),
        *("-d", "300ms", "--warmup", "100ms", "--seed", "1"),
    )
    assert done.returncode in MEASURED, done.stderr
    assert done.stderr.splitlines()[0] == (
        "sends PUT /items?... with no payload; headers Authorization; expects status 201,"
        " the content of the first reply"
    )
    first, second = results_of(tmp_path).trials()
    for trial in (first, second):
        assert trial.plan.target.http.method == "PUT"
        assert trial.plan.target.expect.status == 201
        assert trial.summary.counters.ok > 0
        assert not any(trial.summary.counters.errors.values())


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (("reference", "--insecure"), "--insecure and --cacert are for URLs"),
        (("reference", "--protocol", "tcp", "-H", "A: b"), "tcp has no methods or headers"),
        (("http://127.0.0.1:1/", "--expect-status", "99"), "--expect-status"),
        (("https://127.0.0.1:1/", "--cacert", "no.pem"), "--cacert no.pem can't be read"),
        ((), "nothing to measure"),
    ],
)
def test_what_makes_no_sense_is_refused(wiretrial: Run, flags: tuple[str, ...], words: str) -> None:
    done = wiretrial("compare", *flags)
    assert done.returncode == 2
    assert words in done.stderr


@pytest.mark.parametrize("rate", [(), ("--rate", "200")], ids=["without pause", "at a rate"])
def test_a_server_that_compiles_itself_is_primed_for_the_load_that_it_gets(
    wiretrial: Run, tmp_path: Path, rate: tuple[str, ...]
) -> None:
    flags = ("--protocol", "ws", "-c", "4", "--trials", "1", "-d", f"{DURATION_NS // 10**6}ms")
    done = wiretrial("compare", "reference", "ws", *flags, *rate)
    assert done.returncode in MEASURED, done.stderr
    results = results_of(tmp_path)
    cases = {
        case.scenario.subject: case for case in Study.model_validate_json(results.document()).cases
    }
    assert cases["reference"].primed_ns == 0
    assert cases["ws"].priming_at_rate_ns == (DURATION_NS if rate else 0)
    assert cases["ws"].priming_at_full_speed_ns == (0 if rate else DURATION_NS)
    assert cases["ws"].priming_connections == priming.FEW
    primed = {trial.scenario.subject: trial.subject for trial in results.trials()}
    assert primed["ws"] is not None
    assert primed["ws"].primed_ns == 2 * DURATION_NS


def case(name: str, url: str, protocol: Protocol, **parts: object) -> Case:
    scenario = Scenario(name=name, subject=url, protocol=protocol, workload="w")
    return Case.model_validate(
        {"scenario": scenario, "url": url, "protocol": protocol, "load": Load(connections=1)}
        | parts
    )


def test_what_is_sent_is_told_without_values() -> None:
    json = Message(kind="text", is_json=True, source=TemplatePayload(text='{"n":"{seq}"}'))
    lines = list(
        sending.lines(
            [
                case("a", "ws://h:1/", "ws", message=json),
                case("b", "ws://i:1/", "ws", message=json),
                case(
                    *("c", "https://h:1/x?key=secret", "https"),
                    http=Http(headers=(("X-Key", "secret"), ("Accept", "text/plain"))),
                    message=Message(source=FixedPayload(base64="YQ==")),
                    expect=Expect(content=LearnedContent(), status=202),
                    tls=Tls(insecure=True),
                ),
            ]
        )
    )
    request = "POST /x?... with 1 byte; headers X-Key, Accept; expects status 202"
    assert lines == [
        "sends to a, b: ws /, text messages of 24 bytes; expects the message back",
        f"sends to c: {request}, the content of the first reply; accepts any certificate",
    ]
