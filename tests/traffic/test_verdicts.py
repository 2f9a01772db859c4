"""hurl and the engine judge the same reply: each line of `[Asserts]` holds for both or none."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from hashlib import md5, sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from wiretrial.engine import Engine
from wiretrial.plan import Load, Plan, Stop, Target
from wiretrial.plan_traffic import Flow, Route, Step, Traffic
from wiretrial.traffic.compiler import compile_file

HURL = shutil.which("hurl")
pytestmark = pytest.mark.skipif(HURL is None, reason="hurl is not installed (cargo install hurl)")
LIMIT_S = 60.0

REPLY = """{"a": 1, "f": 1.5, "s": "hello", "e": "", "l": [1, 2, 3], "o": {"x": null, "y y": true},
 "z": [], "d": "2026-01-01T00:00:00Z", "n": "7", "li": [{"id": 1}, {"id": 2}], "u": "\\u00e9"}"""

LINES = [
    *(f"status {rest}" for rest in ("== 200", "!= 200", "> 100", "<= 199", "exists", "isInteger")),
    *(
        f'header "Content-Type" {rest}'
        for rest in ('contains "json"', 'startsWith "app"', 'not endsWith "8"', "exists")
    ),
    *(f'header "X-N" {rest}' for rest in ('== "5"', '!= "5"', "matches /^5$/", "isEmpty")),
    *(f'header "X-No" {rest}' for rest in ("exists", "not exists", '== "5"', "isEmpty")),
    *(f'cookie "sid" {rest}' for rest in ('== "abc"', 'not contains "b"', "exists")),
    *(f"body {rest}" for rest in ('contains "hello"', "not matches /hell.,/", "isEmpty")),
    *(f"bytes count {rest}" for rest in ("> 100", "== 1", "isInteger")),
    *(f'regex /"a": (\\d)/ {rest}' for rest in ('== "1"', "exists", "matches /2/")),
    *(
        f'jsonpath "$.{path}" {rest}'
        for path in ("a", "f", "s", "e", "l", "o", "o.x", "z", "d", "n", "u", "no", "li[*].id")
        for rest in (
            *("== 1", "== 1.0", '== "hello"', '== ""', "== null", "!= 1", "> 0", "<= 1.5"),
            *("exists", "not exists", "isEmpty", "isInteger", "isFloat", "isNumber", "isString"),
            *("isBoolean", "isIsoDate", "includes 2", 'contains "ell"', "matches /[a-z]/"),
            *('startsWith "h"', 'endsWith "o"', "not includes 2", "not matches /q/"),
        )
    ),
    *(f'jsonpath "$.{path}" count == 3' for path in ("l", "z", "li[*].id", "no")),
    *(f'jsonpath "$.l" nth {index} == 2' for index in (0, 1, 9)),
    "jsonpath \"$.o['y y']\" == true",
    *(
        f'jsonpath "{path}" {rest}'
        for path in (
            *("$.li[?(@.id > 1)]", "$.li[?(@.id > 1)].id", "$.li[?(@.id > 0)].id", "$..id"),
            *("$.l[0:2]", "$.l[1,2]", "$.no[?(@.id)]", "$.li[?(@.id > 9)].id"),
        )
        for rest in ("exists", "count == 2", "count == 1", "== 2", "includes 2", "nth 0 == 1")
    ),
    f"sha256 == hex,{sha256(REPLY.encode()).hexdigest()};",
    f"sha256 != hex,{sha256(REPLY.encode()).hexdigest()};",
    f"md5 == hex,{md5(REPLY.encode(), usedforsecurity=False).hexdigest()};",
    f"md5 == hex,{'00' * 16};",
    *(
        f'jsonpath "$.{path}" {rest}'
        for path in ("a", "f", "s", "l", "n", "o.x", "no")
        for rest in (
            *("toInt == 7", "toInt exists", "toFloat == 7.0", "toFloat == 1.5", 'toString == "7"'),
            *('replace "l" "L" == "heLLo"', 'replace /l+/ "-" == "he-o"', 'split "l" count == 3'),
            *('split "l" nth 0 == "he"', 'regex /h(.)/ == "e"', 'urlEncode == "hello"'),
            *("regex /q(.)/ exists", "regex /q(.)/ not exists", "base64Decode exists"),
        )
    ),
    *(f'header "X-N" {rest}' for rest in ("toInt == 5", 'replace "5" "6" == "6"', "toInt > 5")),
    'header "X-Enc" urlDecode == "a é/b"',
    'header "X-Enc" urlDecode urlEncode == "a%20%C3%A9/b"',
    'header "X-B64" base64Decode == hex,68c3a9;',
    'header "X-B64" base64Decode decode "utf-8" == "hé"',
    'header "X-B64" base64Decode base64Encode == "aMOp"',
    'bytes decode "utf-8" contains "hello"',
]

# What is not there fails each check but `exists` here, even a negated one; hurl passes it.
ABSENT = [
    'jsonpath "$.no" not includes 2',
    'jsonpath "$.no" not matches /q/',
]


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        body = REPLY.encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json; charset=utf-8")
        self.send_header("X-N", "5")
        self.send_header("X-Enc", "a%20%C3%A9%2Fb")
        self.send_header("X-B64", "aMOp")
        self.send_header("Set-Cookie", "sid=abc; Path=/")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Says nothing."""


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), _Handler) as server:
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


@pytest.fixture(scope="module")
def hurl_passes(server: str, tmp_path_factory: pytest.TempPathFactory) -> dict[str, bool]:
    """What hurl says of each line."""
    assert HURL is not None
    path = tmp_path_factory.mktemp("hurl") / "x.hurl"
    path.write_text(f"GET {server}/\nHTTP *\n[Asserts]\n" + "\n".join(LINES), encoding="utf-8")
    done = subprocess.run(
        [HURL, "--no-output", str(path)],
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )
    failed = {int(line) for line in re.findall(r"x\.hurl:(\d+):", done.stderr)}
    return {line: number not in failed for number, line in enumerate(LINES, start=4)}


@pytest.mark.parametrize("line", LINES)
def test_the_engine_judges_as_hurl_does(
    line: str, server: str, hurl_passes: dict[str, bool], tmp_path: Path
) -> None:
    path = tmp_path / "x.hurl"
    path.write_text(f"GET {server}/\nHTTP *\n[Asserts]\n{line}\n", encoding="utf-8")
    (route,) = compile_file(path, {}).traffic.routes
    assert engine_passes(route, server) == (hurl_passes[line] and line not in ABSENT)


def engine_passes(route: Route, server: str) -> bool:
    """Whether the engine takes the reply for right; a wrong first one ends it before the load."""
    plan = Plan(
        target=Target(url=f"{server}/"),
        traffic=Traffic(routes=(route,), flows=(Flow(name="flow", steps=(Step(route=0),)),)),
        load=Load(connections=1),
        stop=Stop(sessions=1),
    )
    done = subprocess.run(
        [str(Engine.find().binary), "run"],
        input=f"{plan.to_json()}\n",
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )
    if done.returncode:
        assert "before the load: GET /: " in done.stderr
        return False
    summary = json.loads(done.stdout.splitlines()[-1])
    return bool(summary["counters"]["ok"])
