"""`wiretrial load FILE`: an application with a login, four routes and replies that vary."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Begin, Run
from wiretrial.errors import EXIT_GATE, EXIT_GOOD, EXIT_INVALID, EXIT_USAGE

SHOP = Path(__file__).resolve().parents[1] / "lab/programs/shop.py"
ROUTES = ("login", "list", "item", "order")
HURL = """\
# @name login
POST {{base}}/login
{"user": "{{user}}"}
HTTP 200
[Captures]
token: jsonpath "$.token"

# @name list
GET {{base}}/items?page=1
Authorization: Bearer {{token}}
HTTP 200
[Captures]
third: jsonpath "$.items[2].id"
[Asserts]
header "Content-Type" contains "json"
jsonpath "$.items" count == 20
jsonpath "$.user" == "{{user}}"

# @name item
GET {{base}}/items/{{third}}
Authorization: Bearer {{token}}
HTTP 200
[Asserts]
jsonpath "$.price" > 0

# @name order
POST {{base}}/orders
Authorization: Bearer {{token}}
{"price": 12}
HTTP 201
[Asserts]
jsonpath "$.total" == 24
"""
TOML = """\
base = "http://127.0.0.1:%d"
[[flow]]
file = "shop.hurl"
feed = {file = "users.csv", order = "sequential"}
%s
"""
CLOSED = "[load]\nusers = 5\n"

Start = Callable[..., int]


@pytest.fixture
def start(begin: Begin) -> Start:
    """Starts the application and returns its port."""
    return partial(begin, SHOP)


def write(folder: Path, port: int, rest: str = CLOSED) -> None:
    (folder / "shop.hurl").write_text(HURL, encoding="utf-8")
    (folder / "users.csv").write_text("user\nann\nbob\ncat\n", encoding="utf-8")
    (folder / "shop.toml").write_text(TOML % (port, rest), encoding="utf-8")


def told(done: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    found = json.loads(done.stdout)["traffic"]
    assert isinstance(found, dict)
    return found


def test_every_route_is_verified_and_told_apart(
    wiretrial: Run, start: Start, tmp_path: Path
) -> None:
    write(tmp_path, start())
    done = wiretrial("load", "shop.toml", "-n", "40", "--format", "json")
    assert done.returncode == EXIT_GOOD, done.stderr
    traffic = told(done)
    assert [route["name"] for route in traffic["routes"]] == list(ROUTES)
    for route in traffic["routes"]:
        assert (route["ok"], route["errors"]) == (40, {})
    (flow,) = traffic["flows"]
    assert (flow["begun"], flow["done"], flow["failed"]) == (40, 40, {})


def test_a_person_sees_a_row_per_route(wiretrial: Run, start: Start, tmp_path: Path) -> None:
    write(tmp_path, start())
    done = wiretrial("load", "shop.toml", "-n", "20", "--report", "page.html")
    assert done.returncode == EXIT_GOOD, done.stderr
    for route in ROUTES:
        assert any(line.startswith(route) for line in done.stdout.splitlines()), done.stdout
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "<h2>Routes</h2>" in page
    assert "<td>order</td>" in page


@pytest.mark.parametrize(("fault", "route"), [("--wrong-every", "item"), ("--leak-every", "list")])
def test_a_rare_wrong_reply_is_found_and_named(
    wiretrial: Run, start: Start, tmp_path: Path, fault: str, route: str
) -> None:
    write(tmp_path, start(fault, "10"))
    done = wiretrial("load", "shop.toml", "-n", "60", "--format", "json")
    assert done.returncode == EXIT_INVALID, done.stderr
    for one in told(done)["routes"]:
        wrong = one["errors"].get("mismatch", 0)
        assert (wrong > 0) == (one["name"] == route)
        if wrong:
            assert "jsonpath" in one["examples"]["mismatch"] or "$." in one["examples"]["mismatch"]


def test_of_a_sample_what_is_wrong_is_found_and_what_was_checked_is_told(
    wiretrial: Run, start: Start, tmp_path: Path
) -> None:
    write(tmp_path, start("--wrong-every", "10"))
    sampled = HURL.replace('jsonpath "$.price" > 0', 'jsonpath "$[?(@ < 0)]" count == 0')
    (tmp_path / "shop.hurl").write_text(sampled, encoding="utf-8")
    toml = tmp_path / "shop.toml"
    toml.write_text(f'sample = "100%"\n{toml.read_text()}', encoding="utf-8")
    done = wiretrial("load", "shop.toml", "-n", "60", "--format", "json")
    assert done.returncode == EXIT_INVALID, done.stderr
    for route in told(done)["routes"]:
        is_item = route["name"] == "item"
        assert route["checkable"] == (60 if is_item else 0)
        assert route["checked"] + route["left_out"] == route["checkable"]
        assert bool(route["errors"]) == is_item
        if is_item:
            assert route["ok"] + route["errors"]["mismatch"] == 60
            assert route["wrong"] == route["errors"]["mismatch"]
            example = route["examples"]["mismatch"]
            assert example.startswith("$[?(@ < 0)] count was 1, and is wanted 0: '{")


def test_goals_decide_the_exit_code(wiretrial: Run, start: Start, tmp_path: Path) -> None:
    port = start()
    goals = '[goal]\n"item.max" = "< 1h"\nerrors = "< 0.1%"\n'
    write(tmp_path, port, CLOSED + goals)
    kept = wiretrial("load", "shop.toml", "-n", "20")
    assert kept.returncode == EXIT_GOOD, kept.stderr
    assert "goal kept: item.max" in kept.stderr
    write(tmp_path, port, CLOSED + goals.replace("1h", "1ns"))
    missed = wiretrial("load", "shop.toml", "-n", "20")
    assert missed.returncode == EXIT_GATE
    assert "goal missed: item.max" in missed.stderr


def test_a_flow_and_a_route_of_one_name_have_goals_of_their_own(
    wiretrial: Run, start: Start, tmp_path: Path
) -> None:
    goals = '[goal]\n"login.max" = "< 1ns"\n"login.iteration.max" = "< 1h"\n'
    write(tmp_path, start(), f'name = "login"\n{CLOSED}{goals}')
    done = wiretrial("load", "shop.toml", "-n", "20")
    assert done.returncode == EXIT_GATE, done.stderr
    assert "goal missed: login.max" in done.stderr
    assert "goal kept: login.iteration.max" in done.stderr


def test_users_share_a_pool_of_connections(wiretrial: Run, start: Start, tmp_path: Path) -> None:
    port, pool = start(), "[load]\nusers = 12\nconnections = {pool = 2}\n"
    write(tmp_path, port, pool)
    done = wiretrial("load", "shop.toml", "-n", "60", "--format", "json")
    # Twelve who do not think are blocked, and nobody said how long they may be.
    assert done.returncode == EXIT_GATE, done.stderr
    assert "goal missed: blocked.max" in done.stderr
    found = json.loads(done.stdout)
    assert (found["load"]["connections"], found["load"]["users"]) == (2, 12)
    assert found["connections"]["opened"] == 2
    routes = found["traffic"]["routes"]
    assert sum(route["blocked_time"]["count"] for route in routes) == found["totals"]["sent"] == 240
    for route in routes:
        assert (route["errors"], route["ok"], route["never_sent"]) == ({}, 60, 0)
        assert route["time"]["max"] >= route["blocked_time"]["max"]
    write(tmp_path, port, f'{pool}[goal]\n"blocked.max" = "< 1h"\n"list.blocked.mean" = "< 1h"\n')
    done = wiretrial("load", "shop.toml", "-n", "60", "--report", "page.html")
    assert done.returncode == EXIT_GOOD, done.stderr
    assert "2 connections shared by 12 users" in done.stdout
    assert "blocked max" in done.stdout
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "2 connections shared by 12 users" in page
    assert "Blocked max" in page
    write(tmp_path, port, "[load]\nusers = 2\nconnections = {pool = 2}\n")
    done = wiretrial("load", "shop.toml", "-n", "20")
    assert done.returncode == EXIT_GOOD, done.stderr
    assert "goal kept: blocked.max" in done.stderr
    assert "blocked max" not in done.stdout, "nobody was"
    refused = wiretrial("load", "shop.toml", "-n", "20", "--threads", "2")
    assert refused.returncode == EXIT_USAGE
    assert "belongs to one thread of the generator, not to 2: use --threads 1" in refused.stderr


def test_sessions_arrive_at_a_rate(wiretrial: Run, start: Start, tmp_path: Path) -> None:
    write(tmp_path, start(), '[load]\narrivals = "50/s"\npacing = "poisson"\n')
    done = wiretrial("load", "shop.toml", "-n", "50", "--format", "json")
    assert done.returncode in (EXIT_GOOD, EXIT_INVALID), done.stderr
    (flow,) = told(done)["flows"]
    assert flow["begun"] == flow["done"] == 50


@pytest.mark.parametrize(
    "command",
    [
        ("load", "-d", "1s", "--rate", "20"),
        ("load", "-n", "20", "--rate", "1"),
        # The session before the load takes one.
        ("load", "-n", "3", "--rate", "1"),
        ("limit",),
    ],
)
def test_rows_that_run_out_are_told_before_the_load(
    wiretrial: Run, tmp_path: Path, command: tuple[str, ...]
) -> None:
    write(tmp_path, 1, "[load]\nusers = 2\n")
    text = (tmp_path / "shop.toml").read_text(encoding="utf-8").replace("sequential", "unique")
    (tmp_path / "shop.toml").write_text(text, encoding="utf-8")
    done = wiretrial(command[0], "shop.toml", *command[1:])
    assert done.returncode == EXIT_USAGE
    assert done.stderr.startswith("wiretrial: 3 rows of users.csv for ")
    assert "add rows, shorten the load, or write order =" in done.stderr


def test_goals_are_bounds_of_the_gate(wiretrial: Run, start: Start, tmp_path: Path) -> None:
    port = start()
    goals = '[goal]\n"item.max" = "< 1h"\n"list.errors" = "< 50%"\nthroughput = "> 1/s"\n'
    write(tmp_path, port, CLOSED + goals + '"shop.iteration.p50" = "< 1ns"\n')
    made = wiretrial("load", "shop.toml", "-n", "60", "--format", "json", "-o", "shop.json")
    assert made.returncode == EXIT_GATE, made.stderr
    done = wiretrial("gate", "shop.json", "--threshold", "errors <= 50%", "--junit", "gate.xml")
    assert done.returncode == EXIT_GATE, done.stderr
    outcomes = {
        line.split("  ")[0]: [
            one for one in ("item.max", "list.errors", "iteration") if one in line
        ]
        for line in done.stdout.splitlines()
    }
    assert outcomes["broken"] == ["iteration"]
    assert f"shop.toml at http://127.0.0.1:{port}" in done.stdout
    assert done.stdout.count("kept ") == 4
    assert "shop.iteration.p50" in (tmp_path / "gate.xml").read_text(encoding="utf-8")
    write(tmp_path, port)
    wiretrial("load", "shop.toml", "-n", "5", "--format", "json", "-o", "none.json")
    none = wiretrial("gate", "none.json")
    assert none.returncode == EXIT_USAGE
    assert "no bound is given" in none.stderr


def test_a_rate_takes_the_place_of_users_who_think_first(
    wiretrial: Run, start: Start, tmp_path: Path
) -> None:
    write(tmp_path, start(), CLOSED)
    thinking = (tmp_path / "shop.toml").read_text(encoding="utf-8")
    thinking = thinking.replace("[[flow]]", '[[flow]]\nthink = "1ms"')
    (tmp_path / "shop.toml").write_text(thinking, encoding="utf-8")
    done = wiretrial("load", "shop.toml", "--rate", "40", "-n", "10", "--format", "json")
    assert done.returncode in (EXIT_GOOD, EXIT_INVALID), done.stderr
    document = json.loads(done.stdout)
    assert document["load"]["executor"]["rate"] == 40
    assert document["totals"]["errors"] == {}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--payload", "64"), "--payload is of one message"),
        (("--expect", "status"), "--expect is of one message"),
        (("--pack", "2"), "--pack is of one message"),
        (("--header-profile", "unique"), "--header-profile is of one message"),
        (("--depth", "2"), "HTTP/1.1 has none"),
        (("--hold",), "--hold is of one message"),
    ],
)
def test_options_of_one_message_are_refused(
    wiretrial: Run, tmp_path: Path, arguments: tuple[str, ...], words: str
) -> None:
    write(tmp_path, 1)
    done = wiretrial("load", "shop.toml", *arguments)
    assert done.returncode == EXIT_USAGE
    assert words in done.stderr
    assert "Traceback" not in done.stderr


def test_stages_say_how_long_and_how_many(wiretrial: Run, start: Start, tmp_path: Path) -> None:
    stages = '[load]\nstages = [{for = "500ms", from = 1, to = 8}, {for = "500ms", to = 2}]\n'
    write(tmp_path, start(), stages)
    done = wiretrial("load", "shop.toml", "--format", "json")
    assert done.returncode == EXIT_GOOD, done.stderr
    document = json.loads(done.stdout)
    assert document["load"]["connections"] == 8
    assert sum(route["ok"] for route in document["traffic"]["routes"]) > 0
    assert document["totals"]["errors"] == {}


def test_stages_of_the_command_line_stand_in_place_of_the_files(
    wiretrial: Run, start: Start, tmp_path: Path
) -> None:
    write(tmp_path, start(), '[load]\nstages = [{for = "1m", to = 8}]\n')
    done = wiretrial("load", "shop.toml", "--stages", "0s:3,300ms:3", "--format", "json")
    assert done.returncode == EXIT_GOOD, done.stderr
    load = json.loads(done.stdout)["load"]
    assert (load["connections"], load["executor"]["kind"]) == (3, "closed")
    assert [stage["for_ns"] for stage in load["stages"]] == [0, 300_000_000]
    done = wiretrial("load", "shop.toml", "--stages", "0s:40/s,500ms:40/s", "--format", "json")
    assert done.returncode == EXIT_GOOD, done.stderr
    (flow,) = told(done)["flows"]
    assert 19 <= flow["begun"] <= 21
    assert json.loads(done.stdout)["load"]["executor"]["rate"] == 40


def test_a_variable_is_of_files(wiretrial: Run) -> None:
    assert wiretrial("load", "http://127.0.0.1:1/", "--variable", "a=b").returncode == EXIT_USAGE


def test_a_wrong_file_is_one_line(wiretrial: Run, tmp_path: Path) -> None:
    write(tmp_path, 1)
    (tmp_path / "shop.hurl").write_text(HURL.replace("{{token}}", "{{tokn}}"), encoding="utf-8")
    done = wiretrial("load", "shop.toml")
    assert done.returncode == EXIT_USAGE
    assert "shop.hurl:10:" in done.stderr
    assert wiretrial("load", "absent.toml").returncode == EXIT_USAGE
