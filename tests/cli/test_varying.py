"""An application whose replies vary: what is refused, what is accepted, and how soon one knows."""

from __future__ import annotations

import itertools
import json
import re
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest

from tests.cli.conftest import Run, serving
from wiretrial.results.store import ResultsFolder

SHORT = ("-d", "300ms", "--warmup", "0", "-c", "2")


class Application(BaseHTTPRequestHandler):
    """Each reply has a number of its own; of /flaky every hundredth of a connection is an error.

    Never the first one: a load asks once before it begins, and an error ends it there.
    """

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    numbers = itertools.count(1000)

    def setup(self) -> None:
        super().setup()
        self.asked = 0

    def do_GET(self) -> None:
        number = next(self.numbers)
        self.asked += 1
        is_bad = self.path == "/flaky" and self.asked % 100 == 50
        reply = {"ok": not is_bad, "kind": "item", "id": number}
        body = json.dumps(reply).encode()
        self.send_response(500 if is_bad else 200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Nothing: a test has no log."""


@pytest.fixture(scope="module")
def application() -> Iterator[str]:
    """Its URL, on loopback."""
    with serving(Application) as origin:
        yield f"{origin}/"


def test_a_run_in_which_every_message_fails_ends_at_once_and_names_the_option(
    wiretrial: Run, application: str
) -> None:
    begun = time.monotonic()
    done = wiretrial("load", application, "-d", "60s", "--no-learn", "--format", "json")
    assert done.returncode == 4, done.stderr
    # Not how fast it is: without the end it would take a minute.
    assert time.monotonic() - begun < 50
    result = json.loads(done.stdout)
    assert result["verdict"] == "invalid"
    assert result["duration_ns"] < 50e9
    done = wiretrial("load", application, "-d", "60s", "--no-learn")
    text = " ".join(done.stdout.split())
    assert "Every request failed in the first 0." in text, text
    # Where the two differ depends on how many digits of their numbers are alike.
    assert re.search(r"from byte \d+ on it was '…[^']*\"id\": \d+\}', not '…", text), text
    assert (
        "where replies vary, use --expect shape, status, json:PATH=VALUE or regex:PATTERN" in text
    )


@pytest.mark.parametrize(
    ("rules", "how"),
    [
        (("status",), "all with status 200, content not checked"),
        (("json:ok=true",), "all verified by 1 rule"),
        (("json:kind=item", "json:id", r'regex:"id": \d+'), "all verified by 3 rules"),
    ],
)
def test_replies_that_vary_are_loaded(
    wiretrial: Run, application: str, rules: tuple[str, ...], how: str
) -> None:
    """The first reply is shown, since an error may hide behind a status of 200."""
    flags = [word for rule in rules for word in ("--expect", rule)]
    done = wiretrial("load", application, "-n", "50", *flags)
    assert done.returncode == 0, done.stdout + done.stderr
    text = " ".join(done.stdout.split())
    assert how in text
    # As many bytes as the number has digits more.
    reply = r'reply the first one: \d+ bytes, {"ok": true, "kind": "item", "id": '
    assert re.search(reply, text), text


def test_a_rule_that_does_not_hold_shows_the_reply(wiretrial: Run, application: str) -> None:
    done = wiretrial("load", application, "-n", "50", "--expect", "json:kind=user")
    assert done.returncode == 1
    assert 'kind was "item", not "user", in \'{"ok": true, "kind": "item"' in done.stderr
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (("--expect", "XX"), "'XX' is no rule: use learned, shape, echo, broadcast, @FILE, status"),
        (("--expect", "status", "--expect", "json:a"), "only json: and regex: rules can be"),
        (("--expect", "json:a..b"), "the path has a place without a name"),
        (("--expect", "regex:("), "unclosed group"),
        (("--allow-errors", "100%"), "not a share below 100%: write it as 0.1% or 0.001"),
        (("--allow-errors", "few"), "not a share: write a share such as 0.1% or 0.001"),
    ],
)
@pytest.mark.parametrize("command", ["load", "compare"])
def test_rules_that_cannot_be_are_refused(
    wiretrial: Run, application: str, command: str, flags: tuple[str, ...], words: str
) -> None:
    done = wiretrial(command, application, *flags)
    assert done.returncode == 2, done.stdout + done.stderr
    assert words in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_a_comparison_gives_up_what_fails_throughout_and_measures_the_other(
    wiretrial: Run, tmp_path: Path, application: str
) -> None:
    """It is said once who has no figure, and why; ten trials of it would say the same."""
    other = f"{application}flaky"
    rules = ("--no-learn", "--trials", "3", "-d", "20s")
    done = wiretrial("compare", application, other, *rules)
    assert done.returncode == 1
    assert done.stderr.count("every request failed in the first 0.") == 2 + 2, done.stderr
    assert "block 2" not in done.stderr
    for url in (application, other):
        line = f"missing: {url} was asked for and has no figure: every request failed in the first"
        assert line in done.stderr, done.stderr
    assert "use --expect shape" in done.stderr
    [folder] = (tmp_path / "results").iterdir()
    assert ResultsFolder.open(folder).trials() == []


def test_some_errors_can_be_allowed(wiretrial: Run, application: str) -> None:
    """The figures stay, and the verdict says how many failed."""
    flaky = (f"{application}flaky", "-n", "400", "-c", "1", "--expect", "json:kind=item")
    done = wiretrial("load", *flaky)
    assert done.returncode == 4
    text = " ".join(done.stdout.split())
    assert "invalid. 4 status of 400 requests failed (1 %)" in text, text
    done = wiretrial("load", *flaky, "--allow-errors", "2%")
    assert done.returncode == 0, done.stdout
    text = " ".join(done.stdout.split())
    assert "4 status of 400 requests failed (1 %), of which 2 % may; " in text, text
    assert "errors 4" in text
    assert "verified by 1 rule" in text
    assert "all verified" not in text


def test_a_gate_bounds_errors(wiretrial: Run, tmp_path: Path, application: str) -> None:
    """Over the messages of all trials, also of those which they make invalid."""
    ask = (f"{application}flaky", *SHORT, "--trials", "3", "--expect", "json:kind=item")
    done = wiretrial("compare", *ask)
    assert done.returncode == 4, done.stdout + done.stderr
    [folder] = (tmp_path / "results").iterdir()
    for bound, code in (("0.01%", 3), ("20%", 0)):
        done = wiretrial("gate", str(folder), "--threshold", f"errors <= {bound}")
        assert done.returncode == code, done.stdout
        assert " requests failed, " in done.stdout
    done = wiretrial("gate", str(folder), "--threshold", "errors <= 0.9x")
    assert (
        "errors have an upper bound, which is a share: write it as 'errors <= 0.1%'" in done.stderr
    )
