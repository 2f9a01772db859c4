"""What a link really does: probes sent over it, and what became of them beside what was asked.

Knows probes and sums; must not know how a link is carried or shown. Times of arrival are the
kernel's, so what is measured is the link and not the program that reads.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from wiretrial import launch
from wiretrial.errors import MeasurementInvalid
from wiretrial.machine import namespaces, probe
from wiretrial.machine.links import End, Wire

Way = Literal["up", "down"]
WAYS: tuple[Way, Way] = ("up", "down")

IP_AND_UDP_BYTES = 28
GRACE_S = 1.0
"""What packets get to arrive, beyond the delay."""
OVER_RATE = 1.2
"""How far beyond a link's rate is offered to find the rate."""
PROBE_LIMIT_S = 60.0


@dataclass(frozen=True)
class Found:
    """What became of the packets of one direction. Times in nanoseconds."""

    asked: Mapping[str, Any]
    """As the engine understood it."""
    sent: int
    received: int
    """Different ones."""
    twice: int
    overtaken: int
    """Packets that arrived after one that was sent later."""
    least_ns: int
    median_ns: int
    p99_ns: int
    most_ns: int
    mean_ns: float
    floor_ns: int
    """The least that was asked for: the delay, and a packet's time at the rate."""
    bits_per_second: float
    """From the first arrival to the last, IP packets whole."""
    offered_bits_per_second: float

    @property
    def lost(self) -> int:
        """Packets that did not arrive."""
        return self.sent - self.received

    @property
    def added_ns(self) -> int:
        """The median beyond what was asked for, jitter included where some was."""
        return self.median_ns - self.floor_ns


@dataclass(frozen=True)
class Sent:
    """Packets that were sent, and those that came, as they were received."""

    sent: int
    took_ns: int
    came: Sequence[Sequence[int]]
    """Of each: its number, when it was sent, when it arrived; by the wall clock, nanoseconds."""


def measure(wire: Wire, way: Way, *, packets: int, per_second: int, size: int) -> Found:
    """Sends packets, and sums up what came; see `send`."""
    probes = send(wire, way, packets=packets, per_second=per_second, size=size)
    if not probes.came:
        raise MeasurementInvalid(f"no packet arrived {way} the link", "lower its losses")
    return found(wire.understood[way], probes.came, probes.sent, probes.took_ns, size)


def send(wire: Wire, way: Way, *, packets: int, per_second: int, size: int) -> Sent:
    """Sends `packets` of `size` bytes, IP and UDP included, at an even pace."""
    near, far = wire.ends
    origin, target = (near, far) if way == "up" else (far, near)
    payload = size - IP_AND_UDP_BYTES
    with _start(target, "receive", target.addresses[0]) as receiver:
        assert receiver.stdout is not None
        port = receiver.stdout.readline().strip()
        if not port:
            raise _failed(receiver)
        words = (target.addresses[0], port, packets, per_second, payload)
        with _start(origin, "send", *words) as sender:
            sent = json.loads(_said(sender, packets / per_second))
        time.sleep(_longest_ns(wire.understood[way]) / 1e9 + GRACE_S)
        came = json.loads(_said(receiver, 0.0))
    return Sent(sent["sent"], sent["took_ns"], came)


def measure_rate(wire: Wire, way: Way, seconds: float) -> Found:
    """Offers more than the link's rate, in packets of its MTU."""
    asked = wire.understood[way]
    size = asked["mtu"]
    per_second = max(1, round(OVER_RATE * asked["rate"]["bits_per_second"] / 8 / size))
    packets = max(10, round(per_second * seconds))
    return measure(wire, way, packets=packets, per_second=per_second, size=size)


def found(
    asked: Mapping[str, Any], came: Sequence[Sequence[int]], sent: int, took_ns: int, size: int
) -> Found:
    """The sums of what came: [number, sent, arrived] of each packet, as they were received."""
    taken = sorted(arrived - left for _, left, arrived in came)
    newest, overtaken = -1, 0
    for number, _, _ in came:
        overtaken += number < newest
        newest = max(newest, number)
    different = len({number for number, _, _ in came})
    arrivals = sorted(arrived for _, _, arrived in came)
    between_ns = arrivals[-1] - arrivals[0]
    rate = asked["rate"]
    sending_ns = size * 8 * 1_000_000_000 // rate["bits_per_second"] if rate else 0
    return Found(
        asked=asked,
        sent=sent,
        received=different,
        twice=len(came) - different,
        overtaken=overtaken,
        least_ns=taken[0],
        median_ns=taken[len(taken) // 2],
        p99_ns=taken[min(len(taken) - 1, len(taken) * 99 // 100)],
        most_ns=taken[-1],
        mean_ns=sum(taken) / len(taken),
        floor_ns=asked["delay_ns"] + sending_ns,
        # The first packet began before the time that is counted.
        bits_per_second=(len(came) - 1) * size * 8e9 / between_ns if between_ns else 0.0,
        offered_bits_per_second=sent * size * 8e9 / took_ns,
    )


def _longest_ns(asked: Mapping[str, Any]) -> int:
    """What a packet may take, but for a rare one."""
    jitter, reorder, rate = asked["jitter"], asked["reorder"], asked["rate"]
    longest: int = asked["delay_ns"] + (10 * jitter["mean_ns"] if jitter else 0)
    longest += reorder["by_ns"] if reorder else 0
    if rate:
        queue = rate["queue"]
        held = queue.get("bytes") or queue["packets"] * asked["mtu"]
        longest += held * 8 * 1_000_000_000 // rate["bits_per_second"]
    return longest


def _start(end: End, *words: str | int) -> subprocess.Popen[str]:
    return subprocess.Popen(
        launch.command_line(
            [sys.executable, "-I", "-S", probe.__file__, *(str(word) for word in words)],
            namespace=namespaces.file_of(end.pid),
        ),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def _said(process: subprocess.Popen[str], expected_s: float) -> str:
    """All that it writes, once its standard input has ended."""
    try:
        said, _ = process.communicate(timeout=2 * expected_s + PROBE_LIMIT_S)
    except subprocess.TimeoutExpired:
        process.kill()
        raise MeasurementInvalid("the probe did not end in time", "send fewer packets") from None
    if process.returncode != 0 or not said:
        raise _failed(process)
    return said


def _failed(process: subprocess.Popen[str]) -> MeasurementInvalid:
    process.kill()
    return MeasurementInvalid("the probe failed; is the link still there?")
