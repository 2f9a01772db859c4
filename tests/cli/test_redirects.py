"""Redirects: followed within a request of a traffic file, and told before the load of one URL."""

from __future__ import annotations

import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Run, serving
from wiretrial.errors import EXIT_FAILED, EXIT_GOOD, EXIT_INVALID, EXIT_USAGE

STATUSES = (301, 302, 303, 307, 308)
LEADS = {
    "/start": (302, "/middle?step=1#part", "way=first; Path=/"),
    "/middle?step=1": (301, "end", "way=second; Path=/"),
    **{f"/to/{status}": (status, "/echo", None) for status in STATUSES},
    "/away": (302, "http://elsewhere.example/x", None),
    "/loop": (302, "/loop", None),
    "/nowhere": (302, None, None),
}
HURL = """\
# @name start
GET {{base}}/start
[Options]
location: true
HTTP 200
[Asserts]
body == "way=second"

# @name itself
GET {{base}}/away
HTTP 302

"""
POSTED = """\
# @name {status}
POST {{{{base}}}}/to/{status}
Content-Type: text/plain
[Options]
location: true
max-redirs: 1
`sent`
HTTP 200
[Asserts]
body == "{came}"

"""


class Leading(BaseHTTPRequestHandler):
    """Leads on, or says which cookie came; at /echo what was sent. Keeps connections."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_GET(self) -> None:
        self.answer(b"")

    def do_POST(self) -> None:
        self.answer(self.rfile.read(int(self.headers["Content-Length"])))

    def answer(self, sent: bytes) -> None:
        status, location, cookie = LEADS.get(self.path, (200, None, None))
        body = self.headers.get("Cookie", "").encode()
        if self.path == "/echo":
            kind = self.headers.get("Content-Type", "no")
            body = f"{self.command} {kind} ".encode() + (sent or b"nothing")
        self.send_response(status)
        if location:
            self.send_header("Location", location)
        if cookie:
            self.send_header("Set-Cookie", cookie)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Nothing: a test has no log."""


class Closing(Leading):
    """The same, and each connection ends with its reply."""

    protocol_version = "HTTP/1.0"


@pytest.fixture(scope="module", params=[Leading, Closing])
def base(request: pytest.FixtureRequest) -> Iterator[str]:
    with serving(request.param) as origin:
        yield origin


def routes(document: dict[str, Any]) -> dict[str, Any]:
    return {route["name"]: route for route in document["traffic"]["routes"]}


def test_the_last_reply_is_judged_and_all_else_is_one_request(
    wiretrial: Run, base: str, tmp_path: Path
) -> None:
    came = dict.fromkeys((301, 302, 303), "GET no nothing")
    came |= dict.fromkeys((307, 308), "POST text/plain sent")
    posted = (POSTED.format(status=status, came=came[status]) for status in STATUSES)
    (tmp_path / "way.hurl").write_text("".join((HURL, *posted)), encoding="utf-8")
    # What is to be a redirect is none that is followed.
    arguments = ("-n", "20", "-c", "3", "--follow", "9", "--format", "json")
    done = wiretrial("load", "way.hurl", "--variable", f"base={base}", *arguments)
    assert done.returncode == EXIT_GOOD, done.stderr + done.stdout[:3000]
    document = json.loads(done.stdout)
    found = routes(document)
    assert {name: (one["ok"], one["errors"]) for name, one in found.items()} == dict.fromkeys(
        ("start", "itself", "301", "302", "303", "307", "308"), (20, {})
    )
    assert [one["redirects_followed"] for one in found.values()] == [40, 0, *[20] * 5]
    assert document["totals"]["sent"] == 140


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("/away", "a redirect to http://elsewhere.example/x, another origin, not followed"),
        ("/loop", "one redirect more than the 4 to follow"),
        ("/nowhere", "status 302, a redirect, which is not followed"),
    ],
)
def test_what_cannot_be_followed_is_an_error_of_its_own(
    wiretrial: Run, base: str, tmp_path: Path, path: str, words: str
) -> None:
    (tmp_path / "way.hurl").write_text(f"# @name one\nGET {{{{base}}}}{path}\nHTTP 200\n", "utf-8")
    arguments = ("--variable", f"base={base}", "-n", "4", "-c", "2", "--follow", "4")
    done = wiretrial("load", "way.hurl", *arguments)
    # The rehearsal finds it before any load.
    assert done.returncode in (EXIT_FAILED, EXIT_INVALID), done.stderr
    assert words in " ".join((done.stdout + done.stderr).split())
    assert "one: " in done.stdout + done.stderr


def test_one_url_that_redirects_is_told_before_the_load(wiretrial: Run, base: str) -> None:
    done = wiretrial("load", f"{base}/away", "-n", "10")
    assert done.returncode == EXIT_FAILED
    assert "the server redirects (status 302) to http://elsewhere.example/x" in done.stderr
    assert "load that URL, or use --expect-status 302" in done.stderr
    assert len(done.stderr.splitlines()) == 1
    itself = wiretrial("load", f"{base}/away", "-n", "10", "--expect-status", "302")
    assert itself.returncode == EXIT_GOOD, itself.stderr


def test_what_makes_no_sense_is_one_line(wiretrial: Run, tmp_path: Path) -> None:
    done = wiretrial("load", "http://127.0.0.1:1/", "--follow", "3")
    assert done.returncode == EXIT_USAGE
    assert "--follow is of traffic files" in done.stderr
    for option, words in (("location: 5", "location: 5"), ("max-redirs: 0", "max-redirs: 0")):
        text = f"GET http://127.0.0.1:1/\n[Options]\n{option}\nHTTP 200\n"
        (tmp_path / "way.hurl").write_text(text, encoding="utf-8")
        done = wiretrial("load", "way.hurl")
        assert done.returncode == EXIT_USAGE, done.stderr
        assert f"way.hurl:3:{len(option.split()[0]) + 2}: {words}" in done.stderr
