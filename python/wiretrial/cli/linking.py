"""Runs a command behind an emulated link, and measures what such a link really does.

Knows links and what is shown of them; must not know how packets are delayed.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import asdict, dataclass

from wiretrial import quantities
from wiretrial.cli import output
from wiretrial.cli.link_end import Kept
from wiretrial.cli.output import Format
from wiretrial.engine import Engine
from wiretrial.errors import EXIT_GOOD, UsageProblem
from wiretrial.machine import accuracy, links
from wiretrial.machine.accuracy import WAYS, Found
from wiretrial.machine.links import Link

RATE_SECONDS = 2.0
SMALLEST_PROBE = 64


@dataclass(frozen=True)
class Carrying:
    """How the link hands packets on."""

    seed: int
    spin: str


@dataclass(frozen=True)
class Probing:
    """What is sent to see how it does."""

    per_second: str
    size: str
    duration: str


def list_(format_: Format) -> int:
    """Shows the named links."""
    if format_ is Format.JSON:
        profiles = [{"name": name, **asdict(one)} for name, one in links.PROFILES.items()]
        document = {"schema": "wiretrial-links", "version": 1, "profiles": profiles}
        output.emit(output.as_json(document), None)
        return EXIT_GOOD
    for name, profile in links.PROFILES.items():
        output.emit(f"{name:<14} {profile.meaning}", None)
        if profile.up == profile.down:
            output.emit(f"{'':<14}   {profile.up}", None)
        else:
            output.emit(f"{'':<14}   up:{profile.up}\n{'':<14}   down:{profile.down}", None)
    return EXIT_GOOD


def run(name: str, command: Sequence[str], far: str | None, carrying: Carrying) -> int:
    """Runs a command whose only way out is the link; the exit code is the command's."""
    quantities.duration_ns(carrying.spin, "--spin")
    engine = Engine.find().binary
    at_far = _words(far) if far is not None else None
    with (
        links.joined(
            Link.parse(name),
            engine=engine,
            far_is_ours=at_far is None,
            seed=carrying.seed,
            spin=carrying.spin,
        ) as wire,
        Kept(at_far, wire, wire.ends[1]) if at_far else nullcontext() as server,
    ):
        if server:
            server.wait_listening()
        with Kept(command, wire, wire.ends[0], streams=(0, 1)) as client:
            return client.wait()


def measure(name: str, probing: Probing, carrying: Carrying, format_: Format) -> int:
    """Sends probes each way, and shows what was measured beside what was requested."""
    quantities.duration_ns(carrying.spin, "--spin")
    pace = quantities.count(probing.per_second, "--packets-per-second", most=1_000_000)
    octets = quantities.size_bytes(probing.size, "--bytes")
    seconds = quantities.duration_ns(probing.duration, "--duration", least_ns=100_000_000) / 1e9
    link = Link.parse(name)
    engine = Engine.find().binary
    for way in WAYS:
        most = link.understood(engine)[way]["mtu"]
        if not SMALLEST_PROBE <= octets <= most:
            raise UsageProblem(
                f"--bytes {probing.size}: not from {SMALLEST_PROBE} to the MTU {way}, {most}",
                "correct it",
            )
    with links.joined(link, engine=engine, seed=carrying.seed, spin=carrying.spin) as wire:
        probes = {
            way: accuracy.measure(
                wire, way, packets=max(1, round(pace * seconds)), per_second=pace, size=octets
            )
            for way in WAYS
        }
        account = wire.account()
        rates = {
            way: accuracy.measure_rate(wire, way, RATE_SECONDS)
            for way in WAYS
            if wire.understood[way]["rate"]
        }
        carrier, first = wire.carrier, wire.realtime
    if format_ is Format.JSON:
        document = {
            "schema": "wiretrial-link-measure",
            "version": 1,
            "link": asdict(link),
            "carrier": carrier,
            "realtime": first,
            "probes": {way: asdict(found) for way, found in probes.items()},
            "rates": {way: asdict(found) for way, found in rates.items()},
            "account": account,
        }
        output.emit(output.as_json(document), None)
        return EXIT_GOOD
    how = "ahead of ordinary programs" if first else "as an ordinary program"
    output.emit(f"{name}, carried by {carrier} {how}", None)
    for way in WAYS:
        output.emit("\n".join(_lines(way, probes[way], rates.get(way))), None)
    if account:
        output.emit(_own_account(account), None)
    return EXIT_GOOD


def _lines(way: str, found: Found, rate: Found | None) -> Iterator[str]:
    asked = found.asked
    yield f"\n{way}: {found.sent:,} probes"
    yield (
        f"  delay      asked {_ms(asked['delay_ns'])}; least {_ms(found.least_ns)},"
        f" p50 {_ms(found.median_ns)}, p99 {_ms(found.p99_ns)}, most {_ms(found.most_ns)}"
    )
    yield f"  added      {_ms(found.added_ns)} at p50, {_ms(found.p99_ns - found.floor_ns)} at p99"
    jitter = asked["jitter"]
    wanted = f"{_ms(jitter['mean_ns'])} {jitter['distribution']}" if jitter else "none"
    yield f"  jitter     asked {wanted}; {_ms(found.mean_ns - found.floor_ns)} on average"
    loss = asked["loss"]
    wanted = f"{100 * loss['share']:g} %" if loss else "none"
    yield f"  loss       asked {wanted}; {100 * found.lost / found.sent:.3g} % ({found.lost:,})"
    yield f"  order      {found.overtaken:,} overtaken, {found.twice:,} twice"
    if rate:
        wanted = f"{asked['rate']['bits_per_second'] / 1e6:g} Mbit/s"
        yield (
            f"  rate       asked {wanted}; {rate.bits_per_second / 1e6:.5g} Mbit/s of"
            f" {rate.offered_bits_per_second / 1e6:.5g} offered"
        )


def _own_account(account: Mapping[str, Mapping[str, int]]) -> str:
    parts = []
    for way in WAYS:
        one = account[way]
        mean = one["lateness_ns"] / max(1, one["carried"])
        parts.append(f"{way} {_ms(mean)} on average, {one['late']:,} by more than 0.2 ms")
    return f"\nhanded on late by the link's own count: {'; '.join(parts)}"


def _ms(nanoseconds: float) -> str:
    return f"{nanoseconds / 1e6:.3f} ms"


def _words(command: str) -> list[str]:
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise UsageProblem(f"--far {command}: {error}", "quote it as for a shell") from error
    if not words:
        raise UsageProblem("--far is empty", "name a command")
    return words
