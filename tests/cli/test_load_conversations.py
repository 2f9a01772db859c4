"""`wiretrial load chat.toml`: conversations with a server that greets, acknowledges, pushes."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Begin, Run
from wiretrial.errors import EXIT_FAILED, EXIT_GOOD, EXIT_INVALID, EXIT_USAGE
from wiretrial.subjects import certificates

CHAT = Path(__file__).resolve().parents[1] / "lab/programs/chat.py"
TOML = """\
base = "%s://127.0.0.1:%d"

[[flow]]
url = "{{base}}/chat?user={{user}}"
headers = {X-User = "{{user}}"}
feed = "users.csv"
%s

[[flow.step]]
await = {json = {"$.type" = "hello"}}
capture = {token = "$.token"}

[[flow.step]]
send = '''
{"type": "say", "id": {{seq}}, "user": "{{user}}", "token": "{{token}}",
 "text": "to {{user}}"}'''
reply = {json = {"$.type" = "ack", "$.id" = "{{seq}}"}}
check.json = {"$.user" = "{{user}}"}

[[flow.step]]
await = {json = {"$.type" = "said"}, contains = "to {{user}}"}

[[flow.step]]
think = "1ms"

[[flow.step]]
repeat = "from 2, 3 times"

[[flow.step]]
name = "leave"
send = '{"type": "leave"}'

[load]
%s
"""
NAMES = ["open /chat", "hello", "say", "said", "leave", "close"]

Start = Callable[..., int]


@pytest.fixture
def start(begin: Begin) -> Start:
    """Starts the server and returns its port."""
    return partial(begin, CHAT)


def write(
    folder: Path, port: int, *, flow: str = "", load: str = "users = 3", scheme: str = "ws"
) -> None:
    (folder / "users.csv").write_text("user\nann\nbob\ncat\n", encoding="utf-8")
    (folder / "chat.toml").write_text(TOML % (scheme, port, flow, load), encoding="utf-8")


def told(done: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    found = json.loads(done.stdout)["traffic"]
    assert isinstance(found, dict)
    return found


def test_every_step_is_verified_and_told_apart(
    wiretrial: Run, start: Start, tmp_path: Path
) -> None:
    write(tmp_path, start())
    done = wiretrial("load", "chat.toml", "-n", "20", "--format", "json")
    assert done.returncode == EXIT_GOOD, done.stderr
    traffic = told(done)
    assert [route["name"] for route in traffic["routes"]] == NAMES
    for route, times in zip(traffic["routes"], (1, 1, 3, 3, 1, 1), strict=True):
        assert (route["ok"], route["errors"]) == (20 * times, {}), route["name"]
        assert (route["time"] is None) == (route["name"] == "leave"), "nobody answers that"
    (flow,) = traffic["flows"]
    assert (flow["name"], flow["begun"], flow["done"], flow["failed"]) == ("chat", 20, 20, {})
    assert flow["unasked"] == {"news": 60}


def test_what_comes_before_the_acknowledgement_is_kept_for_its_step(
    wiretrial: Run, start: Start, tmp_path: Path
) -> None:
    write(tmp_path, start("--fault", "after", "--every", "2"))
    done = wiretrial("load", "chat.toml", "-n", "20", "--timeout", "1s", "--format", "json")
    assert done.returncode == EXIT_GOOD, done.stderr
    traffic = told(done)
    assert [route["ok"] for route in traffic["routes"]] == [20, 20, 60, 60, 20, 20]
    assert traffic["flows"][0]["unasked"] == {"news": 60}


def test_a_person_sees_a_row_per_step_over_tls(
    wiretrial: Run, start: Start, tmp_path: Path
) -> None:
    own = certificates.make(tmp_path, "127.0.0.1")
    port = start("--tls", str(own.chain), str(own.key))
    write(tmp_path, port, scheme="wss", load='arrivals = "100/s"')
    done = wiretrial(
        "load", "chat.toml", "-n", "20", "--cacert", str(own.authority), "--report", "page.html"
    )
    assert done.returncode in (EXIT_GOOD, EXIT_INVALID), done.stderr
    lines = done.stdout.splitlines()
    for name in NAMES:
        assert any(line.startswith(name) for line in lines), done.stdout
    assert any(line.split() == ["chat", "news", "60"] for line in lines), done.stdout
    assert "<td>said</td>" in (tmp_path / "page.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("fault", "step", "words"),
    [
        ("mute", "say", 'one other message came: \'{"type": "news"}\''),
        ("other", "say", '2 other messages came, the last one: \'{"type": "ack", "id": -1'),
        ("nobody", "say", "$.user was null, and is wanted 'ann'"),
        ("leave", "say", "closed with code 1011"),
        ("tokenless", "hello", "$.token can't be captured"),
        ("refuse", "open /chat", "403"),
    ],
)
def test_what_is_wrong_is_said_before_the_load(
    wiretrial: Run, start: Start, tmp_path: Path, fault: str, step: str, words: str
) -> None:
    write(tmp_path, start("--fault", fault))
    done = wiretrial("load", "chat.toml", "-n", "5", "--timeout", "300ms")
    assert done.returncode == EXIT_FAILED
    (line,) = done.stderr.strip().splitlines()
    assert words in line
    assert fault == "refuse" or f"before the load: {step}: " in line


@pytest.mark.parametrize(
    ("fault", "kind"), [("mute", "timeout"), ("nobody", "mismatch"), ("leave", "closed")]
)
def test_a_rare_fault_is_found_and_ends_its_session(
    wiretrial: Run, start: Start, tmp_path: Path, fault: str, kind: str
) -> None:
    write(tmp_path, start("--fault", fault, "--every", "13"))
    done = wiretrial("load", "chat.toml", "-n", "30", "--timeout", "300ms", "--format", "json")
    assert done.returncode == EXIT_INVALID, done.stderr
    traffic = told(done)
    say, closing = traffic["routes"][2], traffic["routes"][5]
    assert say["errors"].keys() == {kind}
    (flow,) = traffic["flows"]
    assert flow["failed"] == say["errors"]
    assert flow["begun"] == 30 == flow["done"] + flow["failed"][kind]
    assert closing["ok"] == flow["done"]


def test_what_nobody_asked_for_can_fail_a_session(
    wiretrial: Run, start: Start, tmp_path: Path
) -> None:
    write(tmp_path, start(), flow='unasked = "fail"')
    done = wiretrial("load", "chat.toml", "-n", "5")
    assert done.returncode == EXIT_FAILED
    assert 'say: a message came that nothing awaits: \'{"type": "news"}\'' in done.stderr


def test_users_who_never_leave_are_there_as_long_as_the_load(
    wiretrial: Run, start: Start, tmp_path: Path
) -> None:
    write(tmp_path, start())
    source = (tmp_path / "chat.toml").read_text(encoding="utf-8")
    begin, end = source.split(", 3 times")
    source = f'{begin}"\n\n[load]{end.partition("[load]")[2]}'
    (tmp_path / "chat.toml").write_text(source, encoding="utf-8")
    done = wiretrial("load", "chat.toml", "-d", "500ms", "--warmup", "0s", "--format", "json")
    assert done.returncode in (EXIT_GOOD, EXIT_INVALID), done.stderr
    (flow,) = told(done)["flows"]
    assert (flow["begun"], flow["done"], flow["failed"]) == (3, 0, {})
    endless = wiretrial("load", "chat.toml", "--rate", "5", "-d", "1s")
    assert endless.returncode == EXIT_USAGE
    assert "its sessions do not end by themselves" in endless.stderr


SHOWN = """\
ok    1. open /chat
      ws://HERE/chat?user=ann
        X-User: ann
      opened, TIME

ok    2. hello
      came, 33 bytes, TIME
        {"type": "hello", "token": "t-2"}
      captured token = ***

ok    3. say
      sent
        {
          "type": "say",
"""


def test_check_takes_each_step_once(wiretrial: Run, start: Start, tmp_path: Path) -> None:
    port = start()
    write(tmp_path, port)
    done = wiretrial("traffic", "check", "chat.toml")
    assert done.returncode == EXIT_GOOD, done.stdout
    shown = re.sub(r"[\d.]+ (us|ms|s)\b", "TIME", done.stdout).replace(f"127.0.0.1:{port}", "HERE")
    assert SHOWN in shown, shown
    assert 'ok    jsonpath "$.user" == "{{user}}": "ann"' in shown
    assert shown.endswith("all 6 entries are right\n")


def test_check_names_the_step_that_failed(wiretrial: Run, start: Start, tmp_path: Path) -> None:
    write(tmp_path, start("--fault", "nobody"))
    done = wiretrial("traffic", "check", "chat.toml")
    assert done.returncode == EXIT_FAILED, done.stderr
    assert "FAIL  3. say\n" in done.stdout
    assert "\n1 of 6 entries failed, 3 not sent\n  chat 3.  say: $.user was null" in done.stdout


def test_check_shows_the_steps(wiretrial: Run, tmp_path: Path) -> None:
    write(tmp_path, 9)
    done = wiretrial("traffic", "check", "chat.toml", "--no-send")
    assert done.returncode == EXIT_GOOD, done.stderr
    for words in (
        "1 flow, 6 steps of ws://127.0.0.1:9",
        "1. open /chat: /chat?user={{user}}",
        'awaits: jsonpath "$.type" == "hello"',
        "captures: token",
        'reply: jsonpath "$.type" == "ack"; jsonpath "$.id" == "{{seq}}"',
        'right: jsonpath "$.user" == "{{user}}"',
        "repeats: from 3, 3 times in all, after 1ms",
        "any other message is counted",
    ):
        assert words in " ".join(done.stdout.split()), done.stdout
