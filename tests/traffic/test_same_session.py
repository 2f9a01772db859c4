"""hurl and the engine send the same session: values are captured and redirects followed alike."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from wiretrial.engine import Engine
from wiretrial.plan import Load, Plan, Stop, Target
from wiretrial.traffic.compiler import compile_file

HURL = shutil.which("hurl")
pytestmark = pytest.mark.skipif(HURL is None, reason="hurl is not installed (cargo install hurl)")
LIMIT_S = 60.0

REPLY = {"token": 't"k &=é/%\\', "id": 42, "items": [{"n": "x"}, "y"]}
SESSION = r"""POST {{base}}/login
{"user": "{{user}}"}
HTTP 200
[Captures]
token: jsonpath "$.token"
id: jsonpath "$.id"
second: jsonpath "$.items" nth 1
next: header "Location"
sid: cookie "sid"
same: regex /"id": (\d+)/

POST {{base}}{{next}}
X-A: {{sid}} {{same}}
{"t": "{{token}}", "n": {{id}}, "s": "{{id}}", "second": "{{second}}"}
HTTP 200

POST {{base}}/form
[Query]
q: {{token}}
[Form]
a: {{token}}
HTTP 200

GET {{base}}/x/{{same}}?id={{id}}
Authorization: Bearer {{same}}
HTTP 200
[Asserts]
jsonpath "$.id" == {{id}}
jsonpath "$.token" == "{{token}}"
"""
# A body is not sent with 307 and 308: hurl leaves it out, where it has to go again.
WAYS = "".join(
    f"""{method} {{{{base}}}}/see/{status}/{method}?q=1
Authorization: Bearer abc
[Options]
location: true
max-redirs: 2
{body}
HTTP 200
[Asserts]
jsonpath "$.id" == 42

"""
    for method, status, body in (
        *(("POST", status, '{"sent": "once"}') for status in (301, 302, 303)),
        *((method, status, "") for method in ("PUT", "DELETE") for status in (301, 303)),
        *((method, status, "") for method in ("GET", "POST", "PUT") for status in (307, 308)),
    )
)
OURS = ("authorization", "content-type", "cookie", "x-a")

Received = tuple[str, str, dict[str, str], bytes]


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def __getattr__(self, name: str) -> Any:
        if name.startswith("do_"):
            return self._answer
        raise AttributeError(name)

    def _answer(self) -> None:
        sent = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        named = {name.lower(): value for name, value in self.headers.items()}
        headers = {name: named[name] for name in OURS if name in named}
        received: list[Received] = vars(self.server)["received"]
        received.append((self.command, self.path, headers, sent))
        body = json.dumps(REPLY, ensure_ascii=False).encode()
        _, way, *rest = self.path.split("/")
        leads = way == "see"
        self.send_response(int(rest[0]) if leads else 200)
        # Two redirects: to a place beside this one, and from there to another.
        place = "second?x=1" if len(rest) == 2 and "second" not in rest[1] else "/done/../end?y=/"
        self.send_header("Location", place if leads else "/next?x=1")
        self.send_header("Set-Cookie", f"sid=abc{len(self.path) if leads else ''}; Path=/")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Says nothing."""


@pytest.fixture
def server() -> Iterator[ThreadingHTTPServer]:
    with ThreadingHTTPServer(("127.0.0.1", 0), _Handler) as server:
        vars(server)["received"] = []
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.mark.parametrize("session", [SESSION, WAYS], ids=["captures", "redirects"])
def test_a_session_is_the_same(server: ThreadingHTTPServer, tmp_path: Path, session: str) -> None:
    assert HURL is not None
    received: list[Received] = vars(server)["received"]
    given = {"base": f"http://127.0.0.1:{server.server_port}", "user": "ann"}
    path = tmp_path / "x.hurl"
    path.write_text(session, encoding="utf-8")
    words = [word for pair in given.items() for word in ("--variable", "=".join(pair))]
    done = run([HURL, "--no-output", *words, str(path)])
    assert done.returncode == 0, done.stderr
    of_hurl = [*received]
    received.clear()
    scenario = compile_file(path, given)
    plan = Plan(
        target=Target(url=f"{scenario.origin}/"),
        traffic=scenario.traffic,
        load=Load(connections=1),
        stop=Stop(sessions=1),
    )
    done = run([str(Engine.find().binary), "run"], f"{plan.to_json()}\n")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout.splitlines()[-1])["counters"]["errors"] == {}
    # The engine sends the session once before the load, too.
    assert received[-len(of_hurl) :] == of_hurl


def run(command: list[str], fed: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command, input=fed, capture_output=True, text=True, timeout=LIMIT_S, check=False
    )
