"""What is sent and what is right: `--json` and `--expect` against small applications."""

from __future__ import annotations

import itertools
import json
import re
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from tests.cli.conftest import Run


class _Application(BaseHTTPRequestHandler):
    """An application as people write them: a reply to JSON has a number that counts up."""

    protocol_version = "HTTP/1.1"
    numbers = itertools.count(1)

    def do_POST(self) -> None:
        sent = self.rfile.read(int(self.headers["Content-Length"]))
        try:
            self._answer({"ok": True, "you": json.loads(sent), "at": next(self.numbers)})
        except json.JSONDecodeError:
            self._answer({"error": "bad json"})

    def do_GET(self) -> None:
        self._answer({"items": [1, 2, 3]})

    def _answer(self, content: object) -> None:
        body = json.dumps(content).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture(scope="module")
def application() -> Iterator[str]:
    """An application on loopback."""
    with ThreadingHTTPServer(("127.0.0.1", 0), _Application) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}/"
        server.shutdown()
        thread.join()


def test_a_number_outside_of_quotes_is_a_number(wiretrial: Run, application: str) -> None:
    """The first message is 0: sixteen digits would be no JSON, and answered as an error."""
    done = wiretrial("load", application, "--json", '{"id":{seq}}', "-n", "20", "-c", "2")
    text = " ".join(done.stdout.split())
    assert re.search(r'reply the first one: \d+ bytes, {"ok": true, "you": {"id": 0}, "at": ', text)
    assert "bad json" not in done.stdout


def test_what_was_learned_is_told_everywhere(wiretrial: Run, application: str) -> None:
    """In the terminal, in JSON, and while several are compared."""
    learned = {"bytes": 20, "excerpt": '{"items": [1, 2, 3]}', "echo": False, "varies": False}
    words = 'learned: 20 bytes, {"items": [1, 2, 3]}'
    done = wiretrial("load", application, "-n", "20")
    assert f"reply          {words}" in done.stdout, done.stdout + done.stderr
    done = wiretrial("load", application, "-n", "20", "--format", "json")
    assert json.loads(done.stdout)["learned"] == learned
    short = ("-d", "100ms", "--warmup", "0", "--trials", "1", "-c", "1")
    done = wiretrial("compare", application, f"{application}b", *short)
    assert f"reply of {application}  {words}\n" in done.stderr, done.stderr
    assert f"reply of {application}b  {words}\n" in done.stderr, done.stderr


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"id":{seq}', "--json is not JSON at line 1, column 12: Expecting ',' delimiter"),
        ('{"id":{seq}0}', "--json is not JSON at line 1, column 8: Expecting ',' delimiter"),
        ('{\n"a": tru}', "--json is not JSON at line 2, column 6: Expecting value"),
        ("[NaN]", "--json is not JSON: it has no NaN: write null"),
    ],
)
@pytest.mark.parametrize("command", [("load",), ("compare", "http://127.0.0.1:1/")])
def test_what_is_no_json_is_refused(
    wiretrial: Run, command: tuple[str, ...], text: str, words: str
) -> None:
    """Before anything is sent, with the place and the remedy."""
    done = wiretrial(*command, "http://127.0.0.1:1/", "--json", text)
    assert words in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert done.returncode == 2
