"""Ports of servers of ours: no two that start at the same time are given the same."""

from __future__ import annotations

import random
import socket
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from wiretrial.errors import SubjectFailed
from wiretrial.subjects.ports import free_ports, release
from wiretrial.subjects.spec import QUIC_PORT

HOSTS = ["127.0.0.1"]
ELSEWHERE = """
from wiretrial.subjects import ports
ports.random.randint = lambda first, last: {port}
try:
    print(ports.free_ports(["127.0.0.1"], ["port"])["port"])
except Exception as error:
    print(error)
"""


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """The only three ports that are ever tried."""
    chosen = list(free_ports(HOSTS, ["a", "b", "c"]).values())
    release(chosen)
    monkeypatch.setattr("random.randint", lambda *_: random.choice(chosen))
    yield chosen
    release(chosen)


def test_a_claimed_port_is_given_to_nobody_else(few: list[int]) -> None:
    given = [free_ports(HOSTS, [name])[name] for name in "abc"]
    assert sorted(given) == sorted(few)
    with pytest.raises(SubjectFailed, match="no free port"):
        free_ports(HOSTS, ["d"])


def test_a_port_that_was_released_is_given_again(few: list[int]) -> None:
    release(free_ports(HOSTS, ["a", "b", "c"]).values())
    assert sorted(free_ports(HOSTS, ["a", "b", "c"]).values()) == sorted(few)


def test_what_was_claimed_for_a_server_that_gets_too_few_is_released(few: list[int]) -> None:
    with pytest.raises(SubjectFailed):
        free_ports(HOSTS, ["a", "b", "c", "d"])
    assert sorted(free_ports(HOSTS, ["a", "b", "c"]).values()) == sorted(few)


def test_a_port_that_somebody_listens_on_is_not_given(few: list[int]) -> None:
    with socket.create_server(("127.0.0.1", few[0])):
        given = free_ports(HOSTS, ["a", "b"])
    assert few[0] not in given.values()


def test_a_port_of_udp_that_somebody_has_is_no_port_for_quic(
    few: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("random.randint", lambda *_: few[0])
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as datagrams:
        datagrams.bind((HOSTS[0], few[0]))
        with pytest.raises(SubjectFailed, match="no free port"):
            free_ports(HOSTS, [QUIC_PORT])
        release(free_ports(HOSTS, ["port"]).values())
    release(free_ports(HOSTS, [QUIC_PORT]).values())


def test_another_process_is_not_given_a_claimed_port(few: list[int]) -> None:
    def elsewhere() -> str:
        script = ELSEWHERE.format(port=few[0])
        command = [sys.executable, "-c", script]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()

    assert elsewhere() == str(few[0])
    given = free_ports(HOSTS, ["a", "b", "c"])
    assert elsewhere().startswith("no free port")
    release(given.values())
    assert elsewhere() == str(few[0])


def test_servers_that_start_at_once_get_different_ports() -> None:
    with ThreadPoolExecutor(8) as pool:
        given = list(pool.map(lambda _: free_ports(HOSTS, list("abcde")), range(200)))
    numbers = [port for each in given for port in each.values()]
    assert len(set(numbers)) == len(numbers) == 1000
    release(numbers)
