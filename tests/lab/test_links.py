"""Emulated links: what they are asked to be, and what real packets find them to be.

No bound here depends on how fast the machine is: a packet is never early, what a seed loses is
lost, a rate is never exceeded. How accurate a link is, `wiretrial link measure` says.
"""

from __future__ import annotations

import hashlib
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.lab.test_isolation import DEADLINE_S, may_isolate, needs_root, wait_until_gone
from wiretrial import launch
from wiretrial.engine import Engine
from wiretrial.errors import EngineFailed, UsageProblem
from wiretrial.machine import accuracy, links, namespaces
from wiretrial.machine.accuracy import WAYS
from wiretrial.machine.links import PROFILES, Link, LinkedNamespace
from wiretrial.subjects import build, registry
from wiretrial.subjects.process import Server

PACKETS = 2000
PER_SECOND = 2000
SIZE = 200

RECEIVE = """
import hashlib, socket, sys
with socket.create_server((sys.argv[1], 7000)) as listener:
    print("ready", flush=True)
    with listener.accept()[0] as peer:
        digest = hashlib.sha256()
        while data := peer.recv(1 << 16):
            digest.update(data)
        peer.sendall(digest.hexdigest().encode())
"""

ECHO_PORTS = """
import socket, sys
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as far:
    far.bind((sys.argv[1], 7001))
    print("ready", flush=True)
    first = None
    while True:
        asked, sender = far.recvfrom(64)
        first = first or sender
        if asked == b"end":
            far.sendto(b"late", first)
            break
        far.sendto(str(sender[1]).encode(), sender)
"""

LABORATORY = """
import json, sys, time
from pathlib import Path
from wiretrial.engine import Engine
from wiretrial.machine.links import Link, LinkedNamespace

engine = Engine.find().binary
isolation = LinkedNamespace(Link.parse("delay=1ms"), engine=engine, carrier="engine")
print(json.dumps([isolation.interface, isolation.pid]), flush=True)
time.sleep(60)
"""


@pytest.mark.parametrize(
    ("text", "up", "down"),
    [
        ("vpn", PROFILES["vpn"].up, PROFILES["vpn"].down),
        ("delay=5ms", "delay=5ms", "delay=5ms"),
        ("up:delay=5ms,loss=1% down:rate=1mbit", "delay=5ms,loss=1%", "rate=1mbit"),
        ("down:rate=1mbit; up:delay=5ms", "delay=5ms", "rate=1mbit"),
    ],
)
def test_a_link_is_a_profile_or_numbers_for_each_direction(text: str, up: str, down: str) -> None:
    link = Link.parse(text)
    assert (link.name, link.up, link.down) == (text, up, down)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("dialup", "there is no link 'dialup': use one of lan, wifi, vpn, broadband-far, 4g, "),
        ("up:delay=5ms", "not two directions: write it as up:delay=20ms down:delay=30ms"),
        ("up:delay=5ms up:delay=5ms", "not two directions"),
        ("delay=5ms down:delay=5ms", "not two directions"),
    ],
)
def test_what_is_no_link_is_refused(text: str, said: str) -> None:
    with pytest.raises(UsageProblem) as refused:
        Link.parse(text)
    assert said in refused.value.line()


@pytest.mark.parametrize(
    ("profile", "round_trip_ms"),
    [
        ("lan", 0.2),
        ("wifi", 4),
        ("vpn", 52),
        ("broadband-far", 105),
        ("4g", 60),
        ("satellite", 600),
    ],
)
def test_the_profiles_have_the_round_trips_that_they_name(
    engine: Engine, profile: str, round_trip_ms: float
) -> None:
    understood = Link.parse(profile).understood(engine.binary)
    total_ns = 0
    for way in WAYS:
        jitter = understood[way]["jitter"]
        total_ns += understood[way]["delay_ns"] + (jitter["mean_ns"] if jitter else 0)
    assert total_ns == round_trip_ms * 1_000_000
    assert f"{round_trip_ms:g} ms round trip" in PROFILES[profile].meaning


def test_numbers_that_make_no_sense_are_the_engines_to_refuse(engine: Engine) -> None:
    with pytest.raises(UsageProblem) as refused:
        Link.parse("latency=5ms").understood(engine.binary)
    assert '"latency=5ms" is none of delay=26ms,jitter=2ms/normal' in refused.value.line()


@pytest.mark.parametrize(
    ("environment", "name"),
    [("loopback", None), ("namespace", None), ("vpn", "vpn"), ("link:delay=5ms", "delay=5ms")],
)
def test_an_environment_may_name_a_link(environment: str, name: str | None) -> None:
    link = links.of_environment(environment)
    assert (link.name if link else None) == name


def test_what_came_is_summed_up() -> None:
    asked = {"delay_ns": 10, "rate": {"bits_per_second": 8_000_000_000}}
    came = [(0, 0, 120), (2, 20, 150), (1, 10, 160), (1, 10, 165), (4, 40, 190)]
    found = accuracy.found(asked, came, sent=6, took_ns=60, size=100)
    assert (found.received, found.lost, found.twice, found.overtaken) == (4, 2, 1, 2)
    assert (found.least_ns, found.median_ns, found.most_ns) == (120, 150, 155)
    assert (found.floor_ns, found.added_ns) == (110, 40)
    assert found.bits_per_second == pytest.approx(4 * 800 / 70e-9)


@pytest.mark.skipif(may_isolate(), reason="root may")
def test_without_root_there_is_no_link_and_the_reason_is_said(engine: Engine) -> None:
    with (
        pytest.raises(UsageProblem, match="no network namespace can be made here: "),
        links.joined(Link.parse("vpn"), engine=engine.binary),
    ):
        pass


def probed(
    engine: Engine, text: str, way: accuracy.Way = "up", seed: int = 0
) -> tuple[accuracy.Sent, Mapping[str, Any]]:
    """Probes over a link, and the link's own account of that direction."""
    with links.joined(Link.parse(text), engine=engine.binary, seed=seed, carrier="engine") as wire:
        sent = accuracy.send(wire, way, packets=PACKETS, per_second=PER_SECOND, size=SIZE)
        account = wire.account()
        assert account is not None
        return sent, account[way]


@needs_root
@pytest.mark.parametrize(("way", "delay_ns"), [("up", 20_000_000), ("down", 5_000_000)])
def test_no_packet_is_early_and_none_is_lost(
    engine: Engine, way: accuracy.Way, delay_ns: int
) -> None:
    sent, account = probed(engine, "up:delay=20ms,jitter=1ms down:delay=5ms", way)
    assert [number for number, _, _ in sent.came] == list(range(PACKETS))
    assert min(arrived - left for _, left, arrived in sent.came) >= delay_ns
    assert account["offered"] == account["carried"] == PACKETS
    assert account["carried_bytes"] == PACKETS * SIZE


@needs_root
@pytest.mark.parametrize("loss", ["10%", "10%/5"])
def test_a_seed_loses_the_same_packets_again_and_another_seed_others(
    engine: Engine, loss: str
) -> None:
    def lost(text: str, seed: int) -> set[int]:
        sent, account = probed(engine, text, seed=seed)
        missing = set(range(PACKETS)) - {number for number, _, _ in sent.came}
        assert account["lost"] == len(missing)
        return missing

    first = lost(f"loss={loss}", 1)
    assert lost(f"loss={loss},delay=3ms,jitter=1ms,reorder=5%", 1) == first
    assert lost(f"loss={loss}", 2) != first
    # Far beyond what chance does to 2,000 packets, bursts included.
    assert PACKETS * 0.04 < len(first) < PACKETS * 0.2


@needs_root
def test_copies_and_packets_held_back_arrive_as_many_as_were_made(engine: Engine) -> None:
    sent, account = probed(engine, "delay=2ms,duplicate=10%,reorder=10%/5ms")
    found = accuracy.found(
        {"delay_ns": 2_000_000, "rate": None}, sent.came, sent.sent, sent.took_ns, SIZE
    )
    assert (found.lost, found.twice) == (0, account["duplicated"])
    assert account["duplicated"] > 0
    assert 0 < found.overtaken <= account["held_back"] + account["duplicated"]


@needs_root
def test_a_router_that_forgets_gives_other_ports_and_lets_nobody_in_by_the_old(
    engine: Engine,
) -> None:
    with LinkedNamespace(Link.parse("delay=1ms,rebind=300ms"), engine=engine.binary) as isolation:
        peer = subprocess.Popen(
            launch.command_line(
                [sys.executable, "-c", ECHO_PORTS, isolation.addresses[0]],
                namespace=isolation.file,
            ),
            stdout=subprocess.PIPE,
        )
        with peer, socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as near:
            assert peer.stdout is not None
            assert peer.stdout.readline() == b"ready\n"
            near.settimeout(10)
            near.connect((isolation.addresses[0], 7001))
            own, seen = near.getsockname()[1], []
            for _ in range(4):
                near.send(b"which?")
                seen.append(int(near.recv(64)))
                time.sleep(0.3)
            near.send(b"end")
            # To the first port, which stands for nobody by now.
            near.settimeout(1)
            with pytest.raises(TimeoutError):
                near.recv(64)
        assert isolation.wire is not None
        account = isolation.wire.account()
        assert account is not None
    assert seen[0] == own
    assert all(one != other for one, other in pairwise(seen))
    assert account["rebound"] >= 3
    assert account["down"]["unmapped"] == 1


@needs_root
def test_a_rate_is_never_exceeded_and_its_queue_drops(engine: Engine) -> None:
    # 2,000 packets of 200 bytes a second are 3.2 Mbit/s, and the link carries one.
    sent, account = probed(engine, "rate=1mbit,queue=2000B")
    took_ns = max(arrived for _, _, arrived in sent.came) - sent.came[0][1]
    assert len(sent.came) * SIZE * 8 <= 1e6 * took_ns / 1e9
    assert account["queue_full"] == PACKETS - len(sent.came) > 0


@needs_root
def test_a_transfer_over_a_bad_link_arrives_whole(engine: Engine) -> None:
    content = os.urandom(1 << 20)
    bad = "delay=1ms,jitter=1ms,loss=1%/2,duplicate=1%,reorder=1%,rate=100mbit"
    with LinkedNamespace(Link.parse(bad), engine=engine.binary, seed=5) as isolation:
        receiver = subprocess.Popen(
            launch.command_line(
                [sys.executable, "-c", RECEIVE, isolation.addresses[0]], namespace=isolation.file
            ),
            stdout=subprocess.PIPE,
        )
        with receiver:
            assert receiver.stdout is not None
            assert receiver.stdout.readline() == b"ready\n"
            with socket.create_connection((isolation.addresses[0], 7000), timeout=30) as peer:
                peer.settimeout(60)
                peer.sendall(content)
                peer.shutdown(socket.SHUT_WR)
                told = peer.recv(64)
        assert told.decode() == hashlib.sha256(content).hexdigest()
        # Sums are verified on the way in, since no offload vouches for them.
        assert counter(isolation.pid, "Tcp", "InCsumErrors") == 0
        assert isolation.wire is not None
        account = isolation.wire.account()
        assert account is not None
        assert account["up"]["lost"] > 0
        assert account["up"]["too_big"] == 0


def counter(pid: int, protocol: str, name: str) -> int:
    """A counter of /proc/PID/net/snmp."""
    lines = [
        line.split()
        for line in Path(f"/proc/{pid}/net/snmp").read_text(encoding="ascii").splitlines()
    ]
    names, values = (line[1:] for line in lines if line[0] == f"{protocol}:")
    return int(values[names.index(name)])


@needs_root
def test_a_server_at_the_far_end_keeps_its_contracts(engine: Engine) -> None:
    subject = registry.find("reference")
    built = build.install(subject, engine.binary)
    with (
        LinkedNamespace(Link.parse("vpn"), engine=engine.binary) as isolation,
        Server(subject, built, "default", engine=engine.binary, isolation=isolation) as server,
    ):
        begin = time.monotonic()
        server.wait_ready()
        # A connection and a reply are two round trips.
        assert time.monotonic() - begin >= 2 * 0.052
        assert isolation.mtu == 1400
        assert server.ended() is None
    wait_until_gone(isolation.interface)


@needs_root
def test_a_killed_link_is_noticed_and_its_ends_are_gone(engine: Engine) -> None:
    with links.joined(Link.parse("delay=1ms"), engine=engine.binary, carrier="engine") as wire:
        assert wire.ended() is None
        (carrier,) = engines_below(psutil.Process())
        carrier.kill()
        deadline = time.monotonic() + DEADLINE_S
        while wire.ended() is None:
            assert time.monotonic() < deadline
            time.sleep(0.01)
        assert wire.ended() == "signal 9"
        for end in wire.ends:
            with namespaces.routes_of(end.pid) as routes:
                assert list(routes.link_lookup(ifname=end.interface)) == []
        with pytest.raises(EngineFailed, match="the link is gone: signal 9"):
            wire.account()


@needs_root
@pytest.mark.parametrize("others", [(), ("engine",), ("holder",), ("engine", "holder")])
def test_nothing_is_left_whatever_is_killed(others: tuple[str, ...]) -> None:
    laboratory = subprocess.Popen(
        [sys.executable, "-c", LABORATORY],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(Path(launch.__file__).parent.parent)},
    )
    with laboratory:
        assert laboratory.stdout is not None
        interface, holder = json.loads(laboratory.stdout.readline())
        below = psutil.Process(laboratory.pid).children(recursive=True)
        (carrier,) = engines_below(psutil.Process(laboratory.pid))
        assert interface in psutil.net_if_addrs()
        for other in others:
            os.kill(carrier.pid if other == "engine" else holder, signal.SIGKILL)
        laboratory.kill()
        _, alive = psutil.wait_procs(below, timeout=DEADLINE_S)
        assert alive == []
        wait_until_gone(interface)


def engines_below(process: psutil.Process) -> list[psutil.Process]:
    """The engines that carry a link for `process`."""
    return [child for child in process.children() if "link" in child.cmdline()]


@needs_root
def test_netem_carries_a_bare_delay_where_the_kernel_has_it(engine: Engine) -> None:
    link = Link.parse("delay=3ms")
    with namespaces.Held() as held:
        there = links.has_netem(held.pid)
    with links.joined(link, engine=engine.binary) as wire:
        assert wire.carrier == ("netem" if there else "engine")
        sent = accuracy.send(wire, "down", packets=100, per_second=1000, size=SIZE)
    assert min(arrived - left for _, left, arrived in sent.came) >= 3_000_000


@needs_root
@pytest.mark.parametrize(
    "text", ["delay=1ms,loss=1%", "delay=1ms,rate=1mbit", "up:delay=1ms down:jitter=1ms"]
)
def test_netem_is_not_asked_for_what_it_does_otherwise(engine: Engine, text: str) -> None:
    with (
        pytest.raises(UsageProblem, match="netem has no seed, and carries nothing but a delay"),
        links.joined(Link.parse(text), engine=engine.binary, carrier="netem"),
    ):
        pass


@needs_root
def test_our_own_namespace_gets_no_interface_where_it_is_not_an_end(engine: Engine) -> None:
    with links.joined(Link.parse("lan"), engine=engine.binary):
        assert not [name for name in psutil.net_if_addrs() if name.startswith(f"wt{os.getpid():x}")]


@needs_root
def test_our_own_namespace_may_be_the_far_end(engine: Engine) -> None:
    with links.joined(Link.parse("lan"), engine=engine.binary, far_is_ours=True) as wire:
        far = wire.ends[1]
        here = psutil.net_if_addrs()[far.interface]
        assert [address.address for address in here] == list(far.addresses)
    wait_until_gone(far.interface)
