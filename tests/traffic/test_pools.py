"""`connections` in `[load]`: what becomes of a pool, and what is refused of one."""

from __future__ import annotations

from typing import Literal

import pytest

from tests.traffic.conftest import Compile
from wiretrial.errors import UsageProblem
from wiretrial.traffic import telling
from wiretrial.traffic.loads import Instead, sending
from wiretrial.traffic.places import TrafficProblem

FLOW = '[[flow]]\nfile = "x.hurl"\n'
TALK = '[[flow]]\nurl = "ws://h/chat"\n'
SAYS = """{send = "x", reply = {text = "y"}}"""
BROKEN = [
    (
        f"{FLOW}[load]\nusers = 5\nconnections = 5\n",
        't.toml:5:1: load.connections: neither "per-user" nor a pool: write "per-user" or {pool',
    ),
    (
        f'{FLOW}[load]\nusers = 5\nconnections = "shared"\n',
        't.toml:5:1: load.connections: neither "per-user" nor a pool: write "per-user" or {pool',
    ),
    (
        f"{FLOW}[load]\nconnections = {{pool = 5, pol = 5}}\n",
        "t.toml:4:26: there is no key pol: did you mean pool?",
    ),
    (
        f'{FLOW}[load]\nconnections = {{pool = "5"}}\n',
        "t.toml:4:16: load.connections.pool: not a whole number: write a number such as 8",
    ),
    (
        f"{FLOW}[load]\nconnections = {{pool = 0}}\n",
        "t.toml:4:1: a pool of 0 connections: write a number such as {pool = 50}",
    ),
    (
        f"{FLOW}[load]\nusers = 5\nconnections = {{pool = 50}}\n",
        "t.toml:5:1: a pool of 50 connections for 5 users, who use 5 at most: write {pool = 5}",
    ),
    (
        f'{FLOW}[goal]\n"blocked.p99" = "< 5ms"\n',
        "t.toml:4:1: blocked.p99: each user has a connection, so that nobody waits for one: leave",
    ),
    (
        f"{TALK}step = [{SAYS}]\n[load]\nconnections = {{pool = 2}}\n",
        "t.toml:5:1: a conversation needs a connection of its own: leave connections out, or",
    ),
    (
        f"{FLOW}[load]\nconnections = {{pool = 2, streams = 0}}\n",
        "t.toml:4:1: 0 streams on each connection: write a number from 1 to 1,000,000, such as",
    ),
    (
        f'http = "1.1"\n{FLOW}[load]\nconnections = {{pool = 2, streams = 5}}\n',
        't.toml:5:1: HTTP/1.1 has no streams: leave streams out, or write http = "2"',
    ),
    (
        f'http = "4"\n{FLOW}',
        't.toml:1:1: http: "4" is none of them: ',
    ),
    (
        f'http = "2"\n{TALK}step = [{SAYS}]\n',
        't.toml:1:1: http = "2" of conversations, which are had over HTTP/1.1: leave it out',
    ),
]


@pytest.mark.parametrize(
    "instead",
    [
        Instead(http="2"),
        Instead(http="3"),
        Instead(streams=4),
        Instead(users=5, http="2", streams=4),
    ],
)
def test_other_versions_and_streams_are_refused_of_conversations(
    compiled: Compile, instead: Instead
) -> None:
    scenario = compiled({"t.toml": f"{TALK}step = [{SAYS}]\n"})
    with pytest.raises(UsageProblem) as refused:
        sending(scenario, instead)
    assert refused.value.line() == (
        "conversations are had over HTTP/1.1, each on a connection of its own:"
        " leave --http and --streams out (in a file, http and streams)"
    )


POOLED = f"{FLOW}[load]\nconnections = {{pool = 20}}\n"


def test_a_pool_is_shared_by_all_users(compiled: Compile) -> None:
    files = {"t.toml": POOLED, "x.hurl": "# @name x\nGET http://h/\nHTTP 200\n"}
    scenario = compiled(files)
    load = sending(scenario, Instead(users=1000)).load
    assert (load.connections, load.users, load.population) == (20, 1000, 1000)
    with pytest.raises(UsageProblem) as refused:
        sending(scenario, Instead(users=19))
    assert refused.value.line().startswith("a pool of 20 connections for 19 users")
    # Of a rate they are taken, and so they are enough.
    load = sending(scenario, Instead(rate=1)).load
    assert (load.connections, load.users) == (20, 20)
    told = "; all users share 20 connections"
    assert any(line.text.endswith(told) for line in telling.lines(scenario, "t.toml"))
    (goal,) = scenario.goals
    assert str(goal) == "blocked.max <= 0ms"
    files["t.toml"] += '[goal]\n"x.blocked.p99" = "< 5ms"\n'
    (goal,) = compiled(files).goals
    assert (goal.of, goal.figure, goal.value) == ("x", "blocked.p99", 5_000_000)


@pytest.mark.parametrize(("source", "wanted"), BROKEN)
def test_a_wrong_pool_is_told_with_its_place(compiled: Compile, source: str, wanted: str) -> None:
    with pytest.raises(TrafficProblem) as wrong:
        compiled({"t.toml": source, "x.hurl": "GET http://h/\nHTTP 200\n"})
    assert wanted in wrong.value.line()


STREAMED = f'http = "2"\n{FLOW}[load]\nconnections = {{pool = 4, streams = 8}}\n'


@pytest.mark.parametrize("version", ["2", "3"])
def test_a_pool_has_streams_over_http2_and_http3(
    compiled: Compile, version: Literal["2", "3"]
) -> None:
    toml = STREAMED.replace('"2"', f'"{version}"')
    files = {"t.toml": toml, "x.hurl": "GET https://h/\nHTTP 200\n"}
    scenario = compiled(files)
    sent = sending(scenario, Instead(users=100))
    assert (sent.http, sent.load.connections, sent.load.users) == (version, 4, 100)
    assert sent.load.depth == 8
    assert sending(scenario, Instead(users=100, streams=3)).load.depth == 3
    told = "; all users share 4 connections, each with 8 streams"
    assert any(line.text.endswith(told) for line in telling.lines(scenario, "t.toml"))
    files["t.toml"] = STREAMED.replace('http = "2"\n', "")
    later = compiled(files)
    assert sending(later, Instead(users=100, http=version)).load.depth == 8
    with pytest.raises(UsageProblem) as refused:
        sending(later, Instead(users=100))
    assert refused.value.line().startswith("8 streams on each connection, and HTTP/1.1 has none")
    files["t.toml"] = FLOW
    with pytest.raises(UsageProblem) as refused:
        sending(compiled(files), Instead(users=100, http=version, streams=8))
    assert "8 streams on a connection of each user" in refused.value.line()
