"""Replies that vary, of which nobody says what is right: it is learned before the load and told."""

from __future__ import annotations

import itertools
import json
import re
import socket
import threading
import uuid
from collections import defaultdict
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any, ClassVar

import pytest

from tests.cli.conftest import Run, serving
from wiretrial.cli import urls
from wiretrial.cli.learning import Learning
from wiretrial.cli.wanted import Wanted
from wiretrial.errors import EXIT_FAILED, EXIT_GOOD, EXIT_INVALID, EXIT_USAGE, EngineFailed
from wiretrial.plan import Load, Phases, Plan, Stop, Target
from wiretrial.results.store import ResultsFolder
from wiretrial.words import HTTP

SHORT = ("-c", "2", "--warmup", "0")
LEARNED = 60
"""Replies after which those of some paths change: more than are asked for before a load."""


def document(path: str, number: int, kind: str) -> dict[str, Any]:
    """What comes with the n-th reply of a path."""
    changed = number >= LEARNED
    return {
        "id": str(uuid.UUID(int=number)),
        "at": f"2026-01-01T00:00:{number % 60:02}Z",
        "kind": "other" if path == "/changes" and changed else kind,
        "stock": "none" if path == "/rare" and number % 1000 == 999 else number,
        "items": [{"sku": f"a{line}", "left": line} for line in range(number % 4)],
    }


class Application(BaseHTTPRequestHandler):
    """Each reply has values of its own."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    numbers: ClassVar[defaultdict[str, Iterator[int]]] = defaultdict(itertools.count)
    lock = threading.Lock()

    def do_GET(self) -> None:
        with self.lock:
            number = next(self.numbers[self.path])
        status, media_type = 200, "application/json"
        match self.path.partition("?")[0]:
            case "/page":
                media_type = "text/html"
                body = f"<h1>Visitor {number}</h1><p>{uuid.UUID(int=number)}</p>".encode()
            case "/picture":
                media_type, body = "image/png", b"\x89\xff" * (50 + number % 50)
            case "/same":
                body = b'{"ok":true}'
            case "/stale":
                body = json.dumps({"count": max(number - LEARNED, 0)}).encode()
            case "/html":
                body = b"<html>Log in</html>"
            case "/error":
                status, body = 500, b"{}"
            case path:
                kind = self.headers["Host"] if path == "/hosts" else "item"
                body = json.dumps(document(path, number, kind)).encode()
        self.send_response(status)
        self.send_header("Content-Type", media_type)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Nothing: a test has no log."""


@pytest.fixture(scope="module")
def application() -> Iterator[str]:
    """Its origin, on all addresses of loopback."""
    with serving(Application, host="") as origin:
        yield origin


@pytest.fixture(autouse=True)
def _from_the_beginning() -> None:
    Application.numbers.clear()


def one_line(text: str) -> str:
    return " ".join(text.split())


RULE = (
    "learned from 30 replies: 6 of 7 fields vary: $.id UUID, $.at time, $.stock integer, "
    "$.items list of 0 to 21, $.items[*].sku text of 1 to 16, 1 more"
)


def test_what_replies_have_in_common_is_learned_told_and_kept(
    wiretrial: Run, tmp_path: Path, application: str
) -> None:
    done = wiretrial("load", f"{application}/items", "-n", "300", *SHORT)
    assert done.returncode == EXIT_GOOD, done.stdout + done.stderr
    assert done.stderr.splitlines()[0] == RULE
    assert RULE in one_line(done.stdout)
    assert "all verified by what 30 replies had in common requests sent" in one_line(done.stdout)
    kept = ("--format", "json", "-o", "a.json", "--report", "a.html")
    wiretrial("load", f"{application}/items", "-n", "300", *SHORT, *kept)
    result = json.loads((tmp_path / "a.json").read_text())
    assert [one["samples"] for one in result["learned_rules"]] == [30]
    assert result["target"]["expect"]["content"]["is"] == "shaped"
    assert "$.id UUID, $.at time" in (tmp_path / "a.html").read_text()


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("/page", "learned from 30 replies: 2 places vary in the text: digits, UUID"),
        ("/picture", "learned from 30 replies: content varies, 23 to 684 bytes"),
    ],
)
def test_other_content_is_learned(wiretrial: Run, application: str, path: str, words: str) -> None:
    done = wiretrial("load", f"{application}{path}", "-n", "100", *SHORT)
    assert done.returncode == EXIT_GOOD, done.stdout + done.stderr
    assert done.stderr.splitlines()[0] == words


@pytest.mark.parametrize(
    ("path", "flags"),
    [("/same", ()), ("/echo", ("--json", '{"n":"{seq}"}')), ("/items", ("--expect", "status"))],
)
def test_nothing_is_said_where_replies_are_equal_or_it_is_said_what_is_right(
    wiretrial: Run, application: str, path: str, flags: tuple[str, ...]
) -> None:
    done = wiretrial("load", f"{application}{path}", "-n", "50", *SHORT, *flags, "--format", "json")
    assert done.returncode == EXIT_GOOD, done.stdout + done.stderr
    assert "learned of" not in done.stderr
    result = json.loads(done.stdout)
    assert result["learned_rules"] == []
    assert result["target"]["expect"]["content"]["is"] in ("auto", "status")


def test_a_rule_that_most_replies_break_ends_the_run_with_what_accepts_them(
    wiretrial: Run, application: str
) -> None:
    # Both end within a second: without that they would take a minute.
    done = wiretrial("load", f"{application}/changes", "-d", "50s", *SHORT)
    assert done.returncode == EXIT_INVALID, done.stdout
    text = one_line(done.stdout)
    assert re.search(r"(replies were wrong|request failed) in the first 0\.\d s", text), text
    assert "did not fit what was learned from 30: accept others with --expect shape" in text, text
    assert '$.kind was "other", not "item"' in text, text
    done = wiretrial("load", f"{application}/stale", "-d", "50s", *SHORT)
    assert done.returncode == EXIT_INVALID, done.stdout
    assert "where replies vary, use --expect shape, status" in one_line(done.stdout)
    for path in ("/changes", "/stale"):
        Application.numbers.clear()
        done = wiretrial("load", f"{application}{path}", "-n", "200", *SHORT, "--expect", "shape")
        assert done.returncode == EXIT_GOOD, done.stdout


def test_the_first_reply_alone_counts_where_nothing_is_to_be_learned(
    wiretrial: Run, application: str
) -> None:
    done = wiretrial("load", f"{application}/items", "-d", "50s", *SHORT, "--no-learn")
    assert done.returncode == EXIT_INVALID
    assert "learned of" not in done.stderr
    done = wiretrial("load", f"{application}/items", "--no-learn", "--expect", "shape")
    assert (done.returncode, len(done.stderr.splitlines())) == (EXIT_USAGE, 1)


def test_few_replies_that_do_not_fit_are_told_with_the_bound(
    wiretrial: Run, application: str
) -> None:
    done = wiretrial("load", f"{application}/rare", "-n", "3000", *SHORT)
    assert done.returncode == EXIT_INVALID
    text = one_line(done.stdout)
    words = "3 of 3,000 replies did not fit what was learned from 30; 30 that fit show only that"
    assert f"{words} fewer than 9.5 % do not" in text, text
    assert '$.stock was "none", a text' in text, text
    done = wiretrial("load", f"{application}/rare", "-n", "1000", *SHORT, "--allow-errors", "1%")
    assert done.returncode == EXIT_GOOD


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("/html", "a reply said application/json, and was no JSON: '<html>Log in</html>'"),
        ("/error", "500"),
    ],
)
def test_an_error_page_is_not_learned(
    wiretrial: Run, application: str, path: str, words: str
) -> None:
    done = wiretrial("load", f"{application}{path}", "-n", "50")
    assert done.returncode == EXIT_FAILED, done.stdout
    assert words in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_what_was_learned_is_written_for_a_person_to_keep(
    wiretrial: Run, tmp_path: Path, application: str
) -> None:
    secret = ("-H", "X-Api-Key: 0123456789")
    done = wiretrial(
        "load", f"{application}/items?page=1", "-n", "50", *SHORT, *secret, "--learn-to", "a.hurl"
    )
    assert done.returncode == EXIT_GOOD, done.stderr
    text = (tmp_path / "a.hurl").read_text()
    assert "0123456789" not in text
    assert 'jsonpath "$.kind" == "item"' in text
    values = ("--variable", f"base={application}", "--variable", "x_api_key=0123456789")
    done = wiretrial("load", "a.hurl", "-n", "50", "-c", "2", *values)
    # An item more or less is no element to check.
    assert done.returncode == EXIT_GOOD, done.stdout + done.stderr
    done = wiretrial("load", f"{application}/items", "--learn-to", "a.hurl")
    assert "a.hurl is there already" in done.stderr
    done = wiretrial("load", f"{application}/items", "--expect", "status", "--learn-to", "b.hurl")
    assert (done.returncode, len(done.stderr.splitlines())) == (EXIT_USAGE, 1)


HURL = """\
# @name items
GET {{base}}/items
# @name page
GET {{base}}/page
# @name echo
POST {{base}}/echo
{"n": {{seq}}}
# @name same
GET {{base}}/same
HTTP 200
"""


def test_entries_of_a_traffic_file_are_learned(
    wiretrial: Run, tmp_path: Path, application: str
) -> None:
    (tmp_path / "a.hurl").write_text(HURL)
    base = ("--variable", f"base={application}")
    done = wiretrial("load", "a.hurl", "-n", "50", "-c", "2", *base, "--learn-to", "b.hurl")
    assert done.returncode == EXIT_GOOD, done.stdout + done.stderr
    assert done.stderr.splitlines()[:3] == [
        RULE.replace("replies", "replies to items"),
        "learned from 30 replies to page: 2 places vary in the text: digits, UUID",
        "learned from 30 replies to echo: each was its request's body",
    ]
    text = (tmp_path / "b.hurl").read_text()
    assert text.count("HTTP 200") == 4
    done = wiretrial("load", "a.hurl", "-n", "50", *base, "--no-learn")
    assert "a.hurl:2:1: items has no response part" in done.stderr
    changes = HURL.replace("/items", "/changes")
    (tmp_path / "c.hurl").write_text(changes)
    done = wiretrial("load", "c.hurl", "-n", "400", "-c", "2", *base)
    assert done.returncode == EXIT_INVALID
    assert "replies to items did not fit what was learned from 30" in one_line(done.stdout)


def test_one_rule_is_learned_over_all_servers_of_a_comparison(
    wiretrial: Run, tmp_path: Path, application: str
) -> None:
    """A server that replies wrongly would be right by a rule of its own."""
    urls = [application, application.replace("127.0.0.1", "127.0.0.2")]
    few = ("--trials", "1", "-d", "300ms", "--warmup", "0", "-c", "2")
    done = wiretrial("compare", *(f"{url}/hosts" for url in urls), *few)
    assert done.returncode == EXIT_GOOD, done.stdout + done.stderr
    line = done.stderr.splitlines()[0]
    assert line.startswith("learned from 60 replies: 7 of 7 fields vary: $.id UUID, $.at time,")
    assert line.endswith("; the servers differ in $.kind"), line
    assert "reply of" not in done.stderr, "no other is held against it"
    [folder] = (tmp_path / "results").iterdir()
    trials = ResultsFolder.open(folder).trials()
    assert [one.scenario.learned[0].samples for one in trials] == [60, 60]
    assert "learned from 60 replies" in (folder / "report.html").read_text()
    as_text = wiretrial("report", str(folder), "--format", "markdown").stdout
    assert "learned from 60 replies" in one_line(as_text)


def test_a_server_that_breaks_the_rule_is_given_up_and_the_other_one_is_measured(
    wiretrial: Run, application: str
) -> None:
    changes = f"{application}/changes"
    some = ("--trials", "3", "-d", "300ms", "--warmup", "0", "-c", "2")
    done = wiretrial("compare", f"{application}/items", changes, *some)
    assert done.returncode == EXIT_FAILED
    assert f"missing: {changes} was asked for and has no figure" in done.stderr, done.stderr
    assert "accept others with --expect shape" in done.stderr


@pytest.mark.parametrize("of_fleet", [True, False])
def test_a_server_that_only_a_fleet_reaches_is_loaded_without_a_rule(
    capsys: pytest.CaptureFixture[str], *, of_fleet: bool
) -> None:
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{held.getsockname()[1]}/"
        plan = Plan(
            target=Target(url=url),
            load=Load(connections=1),
            stop=Stop(requests=1),
            phases=Phases(connect_ns=1_000_000),
        )
        wanted = Wanted(urls.parse(url, HTTP), plan.target, plan.load, plan.stop, "here")
        if not of_fleet:
            with pytest.raises(EngineFailed):
                Learning().learnt(plan, wanted)
            return
        assert Learning().learnt(plan, wanted, of_fleet=True) == (plan, wanted)
    assert "nothing is learned, since the server can't be asked here" in capsys.readouterr().err
