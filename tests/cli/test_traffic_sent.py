"""`wiretrial traffic check` against a server: what went, what came, what was wrong."""

from __future__ import annotations

import gzip
import json
import re
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Run

SHOP = """\
# @name login
POST {{base}}/login
{"user": "{{user}}", "password": "{{password}}"}
HTTP 200
[Captures]
token: jsonpath "$.token"
number: jsonpath "$.n"

# @name list
GET {{base}}/items?page=1
Authorization: Bearer {{token}}
[Options]
repeat: 3
HTTP 200
[Asserts]
header "Content-Type" contains "json"
jsonpath "$.items" count == 20
jsonpath "$.of" == "{{user}}"

GET {{base}}/about
"""
TOML = """\
base = "BASE"
[[flow]]
file = "shop.hurl"
think = "30s"
feed = "users.csv"
"""
ITEMS = {"items": [{"id": number} for number in range(20)], "of": "ann"}


class _Shop(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        right = asked == {"user": "ann", "password": "s3cret-word"}
        token = {"token": "t-12345", "n": 7, "echo": asked["password"]}
        self._answer(200 if right else 403, token)

    def do_GET(self) -> None:
        match self.path.partition("?")[0]:
            case "/items" if self.headers["Authorization"] == "Bearer t-12345":
                self._answer(200, ITEMS, coding="gzip")
            case "/about":
                self._send(200, "text/plain", b"a \x1b[31mred\x1b[0m shop\n" * 9)
            case "/moved":
                self._send(302, "text/plain", b"", ("Location", "/about"))
            case "/half":
                self._send(200, "text/plain", b"0123456789", ("Content-Length", "20"))
                self.close_connection = True
            case _:
                self._answer(500, {"error": "out of order"})

    def _answer(self, status: int, document: Any, coding: str = "") -> None:
        body = json.dumps(document).encode()
        fields = (("Content-Encoding", coding),) if coding else ()
        self._send(status, "application/json", gzip.compress(body) if coding else body, *fields)

    def _send(self, status: int, media: str, body: bytes, *fields: tuple[str, str]) -> None:
        self.send_response(status)
        named = {"Content-Type": media, "Content-Length": str(len(body)), **dict(fields)}
        for name, value in named.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Nothing."""


@pytest.fixture(scope="module")
def base() -> Iterator[str]:
    """The shop's address."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Shop)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture
def shop(tmp_path: Path, base: str) -> Path:
    """A folder with its traffic files."""
    (tmp_path / "shop.hurl").write_text(SHOP, encoding="utf-8")
    (tmp_path / "shop.toml").write_text(TOML.replace("BASE", base), encoding="utf-8")
    users = "user,password\nann,s3cret-word\n"
    (tmp_path / "users.csv").write_text(users, encoding="utf-8")
    return tmp_path


SHOWN = """\
shop.toml: 3 entries, sent once each to BASE

shop
ok    1. login: POST /login  (shop.hurl:2)
      POST BASE/login
        Content-Type: application/json
        {"user": "ann", "password": "***"}
      200 OK, application/json, 51 bytes, TIME
        {"token": "***", "n": 7, "echo": "***"}
      ok    status 200
      captured number = 7
      captured token = ***

ok    2. list: GET /items?page=1  (shop.hurl:10), 3 times
      GET BASE/items?page=1
        Authorization: ***
      200 OK, application/json, 254 bytes, TIME
        {
          "items": [
            {
              "id": 0
            },
            {
              "id": 1
            },
        ... 57 lines more
      ok    status 200
      ok    header "Content-Type" contains "json": 'application/json'
      ok    jsonpath "$.items" count == 20
      ok    jsonpath "$.of" == "{{user}}": "ann"

ok    5. GET /about  (shop.hurl:20)
      GET BASE/about
      200 OK, text/plain, 180 bytes, TIME
        a \\x1b[31mred\\x1b[0m shop
        a \\x1b[31mred\\x1b[0m shop
        a \\x1b[31mred\\x1b[0m shop
        a \\x1b[31mred\\x1b[0m shop
        a \\x1b[31mred\\x1b[0m shop
        a \\x1b[31mred\\x1b[0m shop
        a \\x1b[31mred\\x1b[0m shop
        a \\x1b[31mred\\x1b[0m shop
        a \\x1b[31mred\\x1b[0m shop
      ok    status 2xx
      no response part: what is right is learned before a load

all 3 entries are right
"""


def _plain(text: str, base: str) -> str:
    return re.sub(r"[\d.,]+ (us|ms|s)\b", "TIME", text).replace(base, "BASE")


def test_each_entry_is_shown_with_what_went_and_what_came(
    wiretrial: Run, shop: Path, base: str
) -> None:
    done = wiretrial("traffic", "check", "shop.toml")
    assert (done.returncode, done.stderr) == (0, ""), shop
    assert _plain(done.stdout, base) == SHOWN
    assert max(map(len, done.stdout.splitlines())) <= 80


FAILING = """\
# @name one
GET {{base}}/about
HTTP 200
[Asserts]
header "Content-Type" contains "json"
body contains "shop"

GET {{base}}/items
HTTP 200
"""
FAILED = """\
FAIL  1. one: GET /about  (x.hurl:2)
"""


@pytest.mark.parametrize(
    ("hurl", "shown", "last"),
    [
        pytest.param(
            FAILING,
            [
                "FAIL  1. one: GET /about  (x.hurl:2)",
                "      ok    status 200",
                '      FAIL  header "Content-Type" contains "json": header Content-Type was',
                "              'text/plain', and is wanted with \"json\" in it",
                '      ok    body contains "shop"',
                "-     2. GET /items  (x.hurl:8): not sent, since an entry before it failed",
            ],
            "1 of 2 entries failed, 1 not sent\n"
            "  x.hurl:2  one: GET /about: header Content-Type was 'text/plain', and is wanted\n"
            '    with "json" in it\n',
            id="a check",
        ),
        pytest.param(
            'GET {{base}}/about\nHTTP 200\n[Asserts]\nbody split "shop" count == 9\n'
            'header "Content-Type" replace /t+/ "T" == "TexT/plain"\nbody contains "shop"\n',
            [
                '      ok    body contains "shop"',
                '      FAIL  body split "shop" count == 9: body split count was 10, and is',
                '      ok    header "Content-Type" replace /t+/ "T" == "TexT/plain"',
            ],
            "1 of 1 entry failed\n  x.hurl:1  GET /about: body split count was 10, and is wanted 9",
            id="a check of a sample",
        ),
        pytest.param(
            'GET {{base}}/items\nHTTP 200\n[Asserts]\njsonpath "$.of" exists\n',
            [
                "      500 Internal Server Error, application/json, 25 bytes, TIME",
                '        {"error": "out of order"}',
                '      FAIL  status 200: status 500, not 200: \'{"error": "out of order"}\'',
                '      -     jsonpath "$.of" exists: not looked at',
            ],
            "1 of 1 entry failed\n"
            '  x.hurl:1  GET /items: status 500, not 200: \'{"error": "out of order"}\'',
            id="a status",
        ),
        pytest.param(
            'GET {{base}}/about\nHTTP 200\n[Captures]\nid: header "X-Id"\n',
            ["      ok    status 200", "      FAIL  capture: header X-Id can't be captured: "],
            "1 of 1 entry failed\n  x.hurl:1  GET /about: header X-Id can't be captured",
            id="a capture",
        ),
        pytest.param(
            "GET {{base}}/half\nHTTP 200\n",
            [
                "        0123456789",
                "      -     status 200: not looked at",
                "      FAIL  truncated: ",
            ],
            "1 of 1 entry failed\n  x.hurl:1  GET /half: ",
            id="a reply that breaks off",
        ),
        pytest.param(
            "GET {{base}}/moved\n",
            ["      302 Found, text/plain, to /about, 0 bytes, TIME"],
            "1 of 1 entry failed\n  x.hurl:1  GET /moved: status 302, a redirect, which is not",
            id="a redirect",
        ),
    ],
)
def test_what_failed_and_why_stands_at_the_end(
    wiretrial: Run, tmp_path: Path, base: str, hurl: str, shown: list[str], last: str
) -> None:
    (tmp_path / "x.hurl").write_text(hurl, encoding="utf-8")
    done = wiretrial("traffic", "check", "x.hurl", "--variable", f"base={base}")
    assert (done.returncode, done.stderr) == (1, "")
    told = _plain(done.stdout, base)
    place = 0
    for line in shown:
        assert line in told[place:], f"{line}\n{told}"
        place += told[place:].index(line)
    assert last in told[place:], told
    assert max(map(len, done.stdout.splitlines())) <= 80


def test_as_json_it_has_each_entry_without_secrets(wiretrial: Run, shop: Path) -> None:
    done = wiretrial("traffic", "check", "shop.toml", "--format", "json")
    assert done.returncode == 0, shop
    document = json.loads(done.stdout)
    assert (document["schema"], document["version"]) == ("wiretrial-traffic-check", 2)
    login, items, about = document["entries"]
    assert login["exchange"]["captures"] == {"token": "***", "number": "7"}
    assert json.loads(items["exchange"]["body"]) == ITEMS
    assert items["checks"][2] == {
        "check": 'jsonpath "$.items" count == 20',
        "holds": True,
        "came": "20",
        "fault": None,
    }
    assert (items["times"], items["exchange"]["body_bytes"]) == (3, 254)
    assert about["exchange"]["outcome"] == "ok"
    assert not {"s3cret-word", "t-12345"} & set(re.findall(r"[\w-]+", done.stdout))


def test_a_server_that_is_not_there_is_one_line_with_the_remedy(
    wiretrial: Run, tmp_path: Path
) -> None:
    (tmp_path / "x.hurl").write_text("GET http://127.0.0.1:1/\n", encoding="utf-8")
    done = wiretrial("traffic", "check", "x.hurl")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == (
        "wiretrial: 127.0.0.1:1: connection refused: nothing listens there: start the server,"
        " or show only what the file says with --no-send\n"
    )
