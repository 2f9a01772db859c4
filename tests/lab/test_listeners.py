"""Servers are found by whatever leads to them; one that can't be seen is told with the reason."""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import psutil
import pytest

from tests.lab.test_isolation import needs_root
from wiretrial import launch
from wiretrial.engine import Engine
from wiretrial.machine import listeners
from wiretrial.machine.listeners import Found
from wiretrial.machine.namespaces import Namespace

NOBODY = 65_534
LIMIT_S = 20.0
NEEDS_ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="only root becomes somebody else")
SERVE = """
import os, socket, sys
user, address = int(sys.argv[1]), sys.argv[2]
if user:
    os.setgroups([])
    os.setresgid(user, user, user)
    os.setresuid(user, user, user)
listening = socket.create_server((address, int(sys.argv[3])), reuse_port=True)
print(listening.getsockname()[1], flush=True)
sys.stdin.read()
"""


def outward() -> str | None:
    """An address of this machine that is not loopback's, where it has one."""
    for interface in psutil.net_if_addrs().values():
        for one in interface:
            if one.family == socket.AF_INET and not one.address.startswith("127."):
                return str(one.address)
    return None


def of_any_kind() -> socket.socket:
    """A socket that listens for IPv6, and for IPv4 too."""
    return socket.create_server(("::", 0), family=socket.AF_INET6, dualstack_ipv6=True)


def anywhere(port: int) -> socket.socket:
    """A socket that listens beside a more exact one of the same port."""
    return socket.create_server(("0.0.0.0", port), reuse_port=True)


@contextmanager
def served(user: int = 0, address: str = "127.0.0.1", port: int = 0) -> Iterator[tuple[int, int]]:
    """A process of a user's that listens: its id and port."""
    with subprocess.Popen(
        [sys.executable, "-I", "-c", SERVE, str(user), address, str(port)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        yield process.pid, int(process.stdout.readline())
        process.communicate("")


def as_nobody(host: str, port: int) -> Found:
    """What somebody without rights finds. A fork has our modules already."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.setgroups([])
        os.setresgid(NOBODY, NOBODY, NOBODY)
        os.setresuid(NOBODY, NOBODY, NOBODY)
        found = listeners.find(host, port)
        os.write(writing, json.dumps([found.pids, found.unseen]).encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as told:
        pids, unseen = json.loads(told.read())
    os.waitpid(child, 0)
    return Found(tuple(pids), unseen)


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "localhost", "127.3.2.1", "::ffff:127.0.0.1", socket.gethostname()]
)
@pytest.mark.parametrize("bound", ["0.0.0.0", "::"])
def test_a_listener_is_found_by_whatever_leads_to_it(host: str, bound: str) -> None:
    if not listeners.is_local(host, 1):
        pytest.skip(f"{host} is no name of this machine's own")
    with of_any_kind() if bound == "::" else socket.create_server((bound, 0)) as listening:
        found = listeners.find(host, listening.getsockname()[1])
    assert found == Found(pids=(os.getpid(),))


def test_a_listener_is_found_by_its_one_address() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
        assert listeners.find("127.0.0.1", port).pids == (os.getpid(),)
        there = listeners.find("127.0.0.2", port)
        assert there.pids == ()
        assert there.unseen is not None
        assert f"listens on port {port}" in there.unseen


def test_a_server_of_datagrams_is_found_by_its_port_of_udp_and_no_client_is() -> None:
    kinds = (socket.AF_INET, socket.SOCK_DGRAM)
    with socket.socket(*kinds) as serving, socket.socket(*kinds) as client:
        serving.bind(("127.0.0.1", 0))
        port = serving.getsockname()[1]
        client.connect(serving.getsockname())
        assert listeners.find("127.0.0.1", port, over_udp=True).pids == (os.getpid(),)
        assert listeners.of_url(f"https://127.0.0.1:{port}/", over_udp=True).unseen is None
        assert listeners.find("127.0.0.1", port).pids == ()
        own = client.getsockname()[1]
        assert listeners.find("127.0.0.1", own, over_udp=True).pids == ()


def test_a_listener_of_ipv6_only_is_found_by_ipv6_only() -> None:
    with socket.create_server(("::1", 0), family=socket.AF_INET6) as listening:
        port = listening.getsockname()[1]
        assert listeners.find("::1", port).pids == (os.getpid(),)
        assert listeners.find("127.0.0.1", port).pids == ()
    with socket.create_server(("0.0.0.0", 0)) as listening:
        assert listeners.find("::1", listening.getsockname()[1]).pids == ()


def test_of_two_listeners_the_one_that_gets_the_connection_is_found() -> None:
    with served() as (pid, port), anywhere(port) as ours:
        assert ours.getsockname()[1] == port
        assert listeners.find("127.0.0.1", port).pids == (pid,)
        assert listeners.find("127.0.0.9", port).pids == (os.getpid(),)


def test_another_address_of_the_machine_is_its_own() -> None:
    address = outward()
    if address is None:
        pytest.skip("no interface but loopback")
    with socket.create_server((address, 0)) as listening:
        assert listeners.find(address, listening.getsockname()[1]).pids == (os.getpid(),)
    assert listeners.is_local(address, 1)


def test_many_processes_of_one_server_are_one_tree() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port, descriptor = listening.getsockname()[1], listening.fileno()
        with subprocess.Popen(
            [sys.executable, "-c", "input()"], stdin=subprocess.PIPE, pass_fds=[descriptor]
        ) as worker:
            assert listeners.find("127.0.0.1", port).pids == (os.getpid(),)
            worker.communicate(b"\n")


@NEEDS_ROOT
def test_a_server_of_another_user_is_told_with_its_user() -> None:
    with served() as (pid, port):
        assert listeners.find("localhost", port).pids == (pid,)
        found = as_nobody("localhost", port)
    assert found.unseen == "it belongs to the user root: run as root, or as that user"
    assert found.pids == ()


@NEEDS_ROOT
def test_root_sees_the_server_of_another_user() -> None:
    with served(NOBODY) as (pid, port):
        assert listeners.find("localhost", port).pids == (pid,)


@needs_root
def test_a_server_in_another_namespace_is_found_by_root_and_told_to_others() -> None:
    engine = str(Engine.find().binary)
    with Namespace() as namespace:
        address = namespace.addresses[0]
        line = launch.command_line(
            [engine, "respond", "--http", f"{address}:0"], namespace=namespace.file
        )
        with subprocess.Popen(line, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            ready = re.search(rf"{re.escape(address)}:(\d+)", process.stdout.readline())
            assert ready
            port = int(ready[1])
            assert listeners.find(address, port).pids == (process.pid,)
            assert listeners.find(address, port - 1).pids == ()
            assert not listeners.is_local(address, port)
            assert as_nobody(address, port).unseen == listeners.HIDDEN
            process.terminate()


@pytest.mark.parametrize("host", ["203.0.113.7", "2001:db8::7"])
def test_a_server_on_another_host_is_said_to_be_there(host: str) -> None:
    found = listeners.find(host, 80)
    assert found.pids == ()
    assert found.unseen in (listeners.ELSEWHERE, listeners.HIDDEN)
    assert not listeners.is_local(host, 80)


def test_several_servers_are_found_together() -> None:
    with served() as (one, first), served() as (other, second):
        found = listeners.of_addresses(
            f"http://127.0.0.1:{first}/", (f"127.0.0.1:{first}", f"127.0.0.1:{second}")
        )
        assert found == Found(pids=(one, other))
        assert listeners.of_addresses(f"http://127.0.0.1:{first}/", ()) == Found(pids=(one,))
    gone = listeners.of_addresses("http://127.0.0.1:1/", (f"127.0.0.1:{first}",))
    assert gone.pids == ()
    assert gone.unseen is not None
