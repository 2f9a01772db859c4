"""Traffic over HTTP/2, against an application that a library of others speaks for."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.traffic.http2_app import Application, Manners, application

SHOP = """\
# @name login
POST {{base}}/login
{"user": "{{user}}"}
HTTP 200
[Captures]
token: jsonpath "$.token"
[Asserts]
jsonpath "$.welcome" == true

# @name items
GET {{base}}/items?page={{seq}}
Authorization: Bearer {{token}}
HTTP 200
[Asserts]
jsonpath "$.of" == "{{user}}"
jsonpath "$.query" == "page={{seq}}"
jsonpath "$.items" count == 20

# @name page
GET {{base}}/old
[Options]
location: true
HTTP 200
[Asserts]
body == "a page"
"""
FLOW = '[[flow]]\nname = "shop"\nfile = "shop.hurl"\nfeed = "users.csv"\n'
OWN = f"{FLOW}[load]\nusers = 6\n"
SHARED = (
    f"{FLOW}[load]\nusers = 24\nconnections = {{pool = 2, streams = 8}}\n"
    '[goal]\n"blocked.max" = "< 30s"\n'
)
"""More users than streams: some wait, and how long is not asked here."""
SESSIONS = 60


def loaded(
    folder: Path, app: Application, file: str, *options: str, shop: str = SHOP
) -> tuple[Mapping[str, Any], subprocess.CompletedProcess[str]]:
    """The figures of the load of a file, and what was said."""
    (folder / "shop.hurl").write_text(shop)
    (folder / "users.csv").write_text("user\n" + "".join(f"ann{n}\n" for n in range(9)))
    (folder / "shop.toml").write_text(f'base = "{app.base}"\n{file}')
    line = [".venv/bin/wiretrial", "load", str(folder / "shop.toml"), "--http", "2"]
    told = subprocess.run(
        [
            *line,
            "-n",
            str(SESSIONS),
            "--format",
            "json",
            "--warmup",
            "0s",
            "--timeout",
            "5s",
            *options,
        ],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert told.stdout, told.stderr
    return json.loads(told.stdout), told


def summary(document: Mapping[str, Any]) -> Mapping[str, Any]:
    found: Mapping[str, Any] = document["trial"]["summary"]
    return found


@pytest.mark.parametrize("file", [OWN, SHARED], ids=["a connection per user", "shared streams"])
def test_sessions_log_in_and_use_what_they_were_given(tmp_path: Path, file: str) -> None:
    with application() as app:
        document, told = loaded(tmp_path, app, file)
    assert told.returncode == 0, told.stderr
    counters, traffic = summary(document)["counters"], summary(document)["traffic"]
    assert (counters["ok"], sum(counters["errors"].values())) == (3 * SESSIONS, 0)
    assert [route["ok"] for route in traffic["routes"]] == [SESSIONS] * 3
    assert traffic["flows"][0]["done"] == SESSIONS
    # Beside the load's, one session before it; a redirect is a request of its own.
    assert app.seen["POST /login"] == SESSIONS + 1 == app.seen["GET /old"] == app.seen["GET /page"]
    assert (app.most_open > 1) == (file == SHARED)
    assert app.most_open <= 8
    opened = summary(document)["connections"]["opened"]
    assert opened == (2 if file == SHARED else 6)


@pytest.mark.parametrize("file", [OWN, SHARED], ids=["a connection per user", "shared streams"])
@pytest.mark.parametrize(
    "manners", [Manners(leaves_after=7), Manners(refuses_every=5)], ids=["goaway", "refused"]
)
def test_what_was_not_processed_goes_again_and_no_session_is_lost(
    tmp_path: Path, file: str, manners: Manners
) -> None:
    with application(manners) as app:
        document, told = loaded(tmp_path, app, file)
    assert told.returncode == 0, told.stderr
    assert summary(document)["counters"]["ok"] == 3 * SESSIONS
    assert summary(document)["traffic"]["flows"][0]["done"] == SESSIONS
    # What was refused was not looked at, and what goes again is asked once.
    assert app.seen["POST /login"] == SESSIONS + 1 == app.seen["GET /items"]
    if manners.leaves_after:
        assert summary(document)["connections"]["closed"]["server"] > 10


@pytest.mark.parametrize("file", [OWN, SHARED], ids=["a connection per user", "shared streams"])
def test_a_stream_that_is_reset_fails_its_flow_alone(tmp_path: Path, file: str) -> None:
    with application(Manners(resets_every=17)) as app:
        document, told = loaded(tmp_path, app, file, "--allow-errors", "50%")
    assert told.returncode == 0, told.stderr
    traffic, counters = summary(document)["traffic"], summary(document)["counters"]
    (flow,) = traffic["flows"]
    failed = counters["errors"]["reset"]
    assert failed > 5
    assert flow["failed"] == {"reset": failed}
    assert flow["done"] + failed == flow["begun"] == SESSIONS
    assert sum(route["errors"].get("reset", 0) for route in traffic["routes"]) == failed
    example = summary(document)["examples"]["reset"]
    assert example.endswith(": the server reset the stream: INTERNAL_ERROR"), example
    # Nobody else on the connection is harmed by it.
    assert summary(document)["connections"]["opened"] == (2 if file == SHARED else 6)


def test_replies_are_judged_as_over_http1(tmp_path: Path) -> None:
    wrong = SHOP.replace('"$.of" == "{{user}}"', '"$.of" == "someone else"')
    with application() as app:
        (tmp_path / "x").mkdir()
        document = None
        with pytest.raises(AssertionError) as refused:
            document, _ = loaded(tmp_path, app, SHARED, shop=wrong)
    assert document is None
    assert 'before the load: items: $.of was "ann0", and is wanted "someone else"' in str(
        refused.value
    )


def test_entries_are_learned_and_shown(tmp_path: Path) -> None:
    bare = "GET {{base}}/page\n"
    with application() as app:
        document, told = loaded(tmp_path, app, SHARED, shop=bare)
        assert told.returncode == 0, told.stderr
        assert summary(document)["counters"]["ok"] == SESSIONS
        assert "learned" in told.stderr
        file = (tmp_path / "shop.toml").read_text()
        (tmp_path / "shop.toml").write_text(f'http = "2"\n{file}')
        shown = subprocess.run(
            [".venv/bin/wiretrial", "traffic", "check", tmp_path / "shop.toml"],
            capture_output=True,
            text=True,
            timeout=60,
        )
    assert shown.returncode == 0, shown.stdout + shown.stderr
    assert f"GET {app.base}/page" in shown.stdout
    assert "a page" in shown.stdout


def test_windows_are_of_traffic_over_http2_alone(tmp_path: Path) -> None:
    with application() as app:
        document, told = loaded(tmp_path, app, OWN, "--window", "64KiB")
        assert told.returncode == 0, told.stderr
        http = document["trial"]["plan"]["target"]["http"]
        assert (http["version"], http["windows"]["stream"]) == ("2", 64 * 1024)
        line = [".venv/bin/wiretrial", "load", str(tmp_path / "shop.toml"), "--window", "64KiB"]
        refused = subprocess.run(line, capture_output=True, text=True, timeout=60)
    assert refused.returncode == 2
    assert "--window is of HTTP/2: add --http 2" in refused.stderr
