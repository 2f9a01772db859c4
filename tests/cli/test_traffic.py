"""`wiretrial traffic`, as a person types it, where nothing is sent."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Run

LOGIN = """\
# @name login
POST {{base}}/login
{"user": "{{user}}"}
HTTP 200
[Captures]
token: jsonpath "$.token"

GET {{base}}/items/{{user}}
Authorization: Bearer {{token}}
HTTP 200
[Asserts]
header "Content-Type" contains "json"
jsonpath "$.items" count == 20
jsonpath "$.at" not isIsoDate
regex /a\\/(b)/ matches /c/
duration < 500

GET {{base}}/about
"""
SHOP = """\
base = "http://127.0.0.1:8000"
[[flow]]
file = "login.hurl"
weight = 8
think = "lognormal 2s 0.6"
feed = {file = "users.csv", order = "unique"}
cookies = false
[load]
arrivals = "200/s"
[goal]
errors = "< 0.1%"
"""
SHOWN = """\
shop.toml: 1 flow, 3 routes of http://127.0.0.1:8000
load: 200 sessions per second, constant
goal: errors < 0.1%
goal: GET /items/{{user}}.max < 500ms

login: 8 of 8 sessions, rows of users.csv (2, unique), no cookies
  1. login: POST /login
      right reply: status 200
      captures: token (jsonpath "$.token")
  2. GET /items/{{user}}, after lognormal 2s 0.6
      right reply: status 200; header "Content-Type" contains "json"; jsonpath
        "$.items" count == 20; jsonpath "$.at" not isIsoDate; regex /a\\/(b)/
        matches /c/
  3. GET /about, after lognormal 2s 0.6
      right reply: learned before a load

1 route without a response part: what is right is learned before a load
"""


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """A folder with traffic files."""
    (tmp_path / "login.hurl").write_text(LOGIN, encoding="utf-8")
    (tmp_path / "shop.toml").write_text(SHOP, encoding="utf-8")
    (tmp_path / "users.csv").write_text("user\nann\nbob\n", encoding="utf-8")
    return tmp_path


def test_check_shows_flows_requests_and_right_replies(wiretrial: Run, shop: Path) -> None:
    done = wiretrial("traffic", "check", "shop.toml", "--no-send")
    assert (done.stdout, done.stderr, done.returncode) == (SHOWN, "", 0), shop


def test_check_of_one_hurl_file_takes_variables(wiretrial: Run, shop: Path) -> None:
    given = ("--variable", "base=http://h", "--variable", "user=ann")
    done = wiretrial("traffic", "check", "login.hurl", "--no-send", *given)
    assert done.returncode == 0, shop
    assert "login.hurl: 1 flow, 3 routes of http://h\n" in done.stdout
    assert "load: given by the command line\n" in done.stdout


def test_check_as_json_has_the_traffic_of_the_plan(wiretrial: Run, shop: Path) -> None:
    done = wiretrial("traffic", "check", "shop.toml", "--no-send", "--format", "json")
    assert done.returncode == 0, shop
    document = json.loads(done.stdout)
    assert document["schema"] == "wiretrial-traffic-check"
    assert document["entries"] is None
    load = document["load"]
    assert (load["users"], load["rate"], load["pacing"]) == (None, 200.0, "constant")
    assert (load["pool"], load["stages"]) == (None, [])
    assert document["unchecked"] == ["GET /about"]
    assert document["goals"][1]["of"] == "GET /items/{{user}}"
    assert document["traffic"]["routes"][0]["name"] == "login"


@pytest.mark.parametrize("form", ["text", "json"])
def test_check_shows_no_secret(wiretrial: Run, tmp_path: Path, form: str) -> None:
    (tmp_path / "x.hurl").write_text(
        "GET http://h/?token=s3cret&a=b\nX-Api-Key: s3cret\nA: shown\nHTTP 200\n", encoding="utf-8"
    )
    (tmp_path / "x.toml").write_text(
        '[[flow]]\nfile = "x.hurl"\n[headers]\nAuthorization = "s3cret"\n', encoding="utf-8"
    )
    done = wiretrial("traffic", "check", "x.toml", "--no-send", "--format", form)
    assert done.returncode == 0, done.stderr
    assert "s3cret" not in done.stdout
    assert "/?token=***&a=b" in done.stdout


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("login.hurl",), "login.hurl:2:6: {{base}} has no value"),
        (("shop.toml", "--no-learn"), "login.hurl:18:1: GET /about has no response"),
        (("shop.toml", "--variable", "x"), "--variable x: no value: write --variable NAME=VALUE"),
        (("none.toml",), "none.toml: No such file or directory: name a .toml or .hurl file"),
        (("users.csv",), "users.csv is neither .hurl nor .toml: name the file by its format"),
    ],
)
def test_check_tells_of_a_mistake_in_one_line(
    wiretrial: Run, shop: Path, words: tuple[str, ...], told: str
) -> None:
    done = wiretrial("traffic", "check", *words)
    assert done.returncode == 2, shop
    assert done.stdout == ""
    assert done.stderr.startswith(f"wiretrial: {told}")
    assert done.stderr.count("\n") == 1


def test_from_writes_files_that_check_reads(wiretrial: Run, tmp_path: Path) -> None:
    (tmp_path / "commands.txt").write_text("curl -L http://h/a?b=c\n", encoding="utf-8")
    done = wiretrial("traffic", "from", "curl", "commands.txt", "-o", "new/shop")
    assert done.returncode == 0
    assert done.stdout == "new/shop/traffic.toml\nnew/shop/session.hurl\n"
    assert done.stderr == (
        "redirects are followed only where [Options] has `location: true`\n"
        "1 flow, 1 route; next: wiretrial traffic check new/shop/traffic.toml\n"
    )
    toml = (tmp_path / "new/shop/traffic.toml").read_text(encoding="utf-8")
    assert toml.startswith("# Made of commands.txt by wiretrial.\n# - redirects are followed")
    checked = wiretrial("traffic", "check", "new/shop/traffic.toml", "--no-send")
    assert "1. GET /a?b=c\n" in checked.stdout


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("curl", "none.txt", "-o", "new"), "none.txt: No such file or directory: name a file"),
        (("curl", "x", "-o", "x"), "x: File exists: name another folder (-o)"),
        (("crul", "x", "-o", "new"), "Invalid value for 'FORMAT'"),
        (("curl", "x", "-o", "new", "--base", "h"), "--base h is no URL of a server"),
    ],
)
def test_from_tells_of_a_mistake_in_one_line(
    wiretrial: Run, tmp_path: Path, words: tuple[str, ...], told: str
) -> None:
    (tmp_path / "x").write_text("curl http://h/", encoding="utf-8")
    done = wiretrial("traffic", "from", *words)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"wiretrial: {told}")
    assert done.stderr.count("\n") == 1
    assert not (tmp_path / "new").exists()
