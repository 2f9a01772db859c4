"""The kernel's counters, moved on purpose and read again."""

from __future__ import annotations

import os
import socket
import time

import pytest

from wiretrial.machine import counters, sockets

DEADLINE_S = 20.0
BYTES = 1 << 20


def test_cpus_are_told_apart_and_together() -> None:
    cpus = sorted(os.sched_getaffinity(0))[:2]
    found = counters.cpu_times(cpus)
    assert set(found) == {None, *cpus}
    for states in found.values():
        assert set(states) == set(counters.CPU_STATES)
    assert found[None]["user"] >= found[cpus[0]]["user"]
    assert counters.cpu_times([1 << 20]).keys() == {None}


def test_bytes_over_loopback_move_link_and_tcp() -> None:
    own = os.getpid()
    link, tcp = counters.link(own, ["lo"]), counters.tcp(own)
    with (
        socket.create_server(("127.0.0.1", 0)) as listening,
        socket.create_connection(listening.getsockname()) as ours,
        listening.accept()[0] as theirs,
    ):
        ours.settimeout(DEADLINE_S)
        left = BYTES
        while left:
            ours.sendall(b"x" * 4096)
            left -= len(theirs.recv(4096, socket.MSG_WAITALL))
    after = counters.link(own, ["lo"])
    assert after["received_bytes"] - link["received_bytes"] > BYTES
    assert after["sent_bytes"] - link["sent_bytes"] > BYTES
    assert after["sent_packets"] > link["sent_packets"]
    moved = counters.tcp(own)
    assert set(moved) == set(counters.TCP_NAMES)
    assert moved["sent_segments"] > tcp["sent_segments"]
    assert moved["received_segments"] > tcp["received_segments"]


def test_what_is_not_there_is_not_zero() -> None:
    gone = 1 << 22
    assert counters.link(os.getpid(), ["no-such-link"]) == {}
    assert counters.tcp(gone) == {}
    assert counters.tcp_sockets(gone) is None
    assert sockets.Followed(os.getpid(), local=1).read() is None


def test_connections_that_come_after_the_first_look_are_followed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A short trial would be over before a look at the usual period."""
    monkeypatch.setattr(sockets, "LIST_PERIOD_NS", 3600 * 10**9)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        followed = sockets.Followed(os.getpid(), local=listening.getsockname()[1])
        followed.find()
        assert followed.read() is None
        with socket.create_connection(listening.getsockname()), listening.accept()[0]:
            deadline = time.monotonic() + DEADLINE_S
            while followed.read() is None:
                assert time.monotonic() < deadline
                time.sleep(0.01)
        followed.close()


def test_sockets_of_a_namespace_are_counted() -> None:
    before = counters.tcp_sockets(os.getpid())
    assert before is not None
    assert counters.tcp_memory_bytes() is not None
    held = [socket.create_server(("127.0.0.1", 0)) for _ in range(200)]
    during = counters.tcp_sockets(os.getpid())
    for one in held:
        one.close()
    assert during is not None
    assert during > before


def test_a_peer_that_does_not_read_limits_the_sender() -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as listening,
        socket.create_connection(listening.getsockname()) as ours,
        listening.accept()[0] as theirs,
    ):
        port = listening.getsockname()[1]
        sender = sockets.Followed(os.getpid(), remote=port)
        receiver = sockets.Followed(os.getpid(), local=port)
        for followed in (sender, receiver):
            followed.find()
        ours.setblocking(False)
        sent, told = 0, sockets.Totals()
        deadline = time.monotonic() + DEADLINE_S
        while not told.receive_window_limited_ns and time.monotonic() < deadline:
            try:
                sent += ours.send(b"x" * 65536)
            except BlockingIOError:
                time.sleep(0.01)
            told = sender.read() or told
        assert told.receive_window_limited_ns > 0
        assert told.busy_ns >= told.receive_window_limited_ns
        assert told.send_queue_byte_ns > 0
        unread = receiver.read()
        assert unread is not None
        assert unread.receive_window_limited_ns == 0
        assert unread.receive_queue_byte_ns > 0
        assert sent > 65536
        assert theirs.recv(1) == b"x"
        for followed in (sender, receiver):
            followed.close()
