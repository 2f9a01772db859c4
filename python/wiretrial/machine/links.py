"""An emulated link between two network namespaces: what it is asked to be, and who carries it.

Knows profiles, devices and the engine's `link` command, or netem where the kernel has it; must not
know what goes over the link. Devices and namespaces have no owner but processes of ours, so nothing
is left whatever is killed.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import re
import signal
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal

from wiretrial import launch, quantities, suggest
from wiretrial.closing import Closing, end_program, told
from wiretrial.errors import EngineFailed, UsageProblem
from wiretrial.machine import namespaces
from wiretrial.machine.namespaces import Held, Namespace

PREFIX = "link:"
"""Before a profile or a description, the environment of scenarios that run over one."""
START_LIMIT_S = 20.0
STOP_LIMIT_S = 5.0
QUEUE_PACKETS = 10_000
"""What a device holds for the link while that is kept from running."""
NETEM_PACKETS = 1_000_000
"""netem drops what is on its way beyond this; its own default is less than a fast link holds."""

_DELAY = "delay="
_LOSS = "loss="

Carrier = Literal["auto", "engine", "netem"]


@dataclass(frozen=True)
class Profile:
    """A link with a name."""

    meaning: str
    up: str
    """From the client to the server."""
    down: str


PROFILES: Mapping[str, Profile] = {
    "lan": Profile(
        "one switch, 1 Gbit/s, 0.2 ms round trip",
        *2 * ("delay=100us,rate=1gbit,queue=5ms",),
    ),
    "wifi": Profile(
        "a shared 100 Mbit/s, 4 ms round trip, uneven, a little loss",
        *2 * ("delay=1ms,jitter=1ms/pareto,loss=0.1%/2,rate=100mbit,queue=50ms",),
    ),
    "vpn": Profile(
        "100 Mbit/s, 52 ms round trip, an MTU of 1400",
        *2 * ("delay=26ms,rate=100mbit,mtu=1400",),
    ),
    "broadband-far": Profile(
        "100 Mbit/s down and 20 up, 105 ms round trip",
        up="delay=52500us,rate=20mbit",
        down="delay=52500us,rate=100mbit",
    ),
    "4g": Profile(
        "40 Mbit/s down and 10 up, about 60 ms round trip, uneven, losses in bursts, deep queues",
        up="delay=20ms,jitter=10ms/pareto,loss=0.2%/4,rate=10mbit,queue=300ms",
        down="delay=20ms,jitter=10ms/pareto,loss=0.2%/4,rate=40mbit,queue=300ms",
    ),
    "satellite": Profile(
        "geostationary: 20 Mbit/s down and 5 up, about 600 ms round trip, losses in bursts",
        up="delay=290ms,jitter=10ms,loss=0.5%/8,rate=5mbit,queue=500ms",
        down="delay=290ms,jitter=10ms,loss=0.5%/8,rate=20mbit,queue=500ms",
    ),
}


@dataclass(frozen=True)
class Link:
    """A link as it was asked for."""

    name: str
    up: str
    down: str

    @classmethod
    def parse(cls, text: str) -> Link:
        """A profile's name, one description for both directions, or `up:… down:…`.

        What a direction's words mean, the engine knows; see `Link.understood`.
        """
        profile = PROFILES.get(text)
        if profile:
            return cls(text, profile.up, profile.down)
        if re.fullmatch(r"[a-z0-9-]+", text):
            raise UsageProblem(
                f"there is no link {text!r}",
                suggest.remedy(
                    text,
                    PROFILES,
                    f"use one of {', '.join(PROFILES)}, or numbers such as delay=26ms,rate=100mbit",
                ),
            )
        parts = re.split(r"(?:^|[\s;]+)(up|down):", text)
        if len(parts) == 1:
            return cls(text, text, text)
        given = dict(zip(parts[1::2], parts[2::2], strict=True))
        if parts[0].strip() or len(given) != 2 or len(parts) != 5:
            raise UsageProblem(
                f"link {text!r}: not two directions", "write it as up:delay=20ms down:delay=30ms"
            )
        return cls(text, given["up"].strip(), given["down"].strip())

    @property
    def round_trip_ns(self) -> int:
        """What both directions' delays add up to, jitter and rate left out."""
        return sum(
            quantities.duration_ns(word.removeprefix(_DELAY), "delay=")
            for word in self._words
            if word.startswith(_DELAY)
        )

    @property
    def loses(self) -> bool:
        """Whether it was asked to lose packets by chance, one by one or in bursts."""
        return any(word.startswith(_LOSS) for word in self._words)

    @property
    def _words(self) -> list[str]:
        """Of both directions."""
        return [*self.up.split(","), *self.down.split(",")]

    def understood(self, engine: Path) -> Mapping[str, Any]:
        """Both directions in numbers: delays in nanoseconds, rates in bits per second.

        Raises `UsageProblem` for a description that makes no sense.
        """
        done = subprocess.run(
            [str(engine), "link", "--show", *self.flags()],
            capture_output=True,
            text=True,
            check=False,
            timeout=START_LIMIT_S,
        )
        if done.returncode != 0:
            raise UsageProblem(f"link {self.name!r}: {_complaint(done.stderr)}")
        found: dict[str, Any] = json.loads(done.stdout)
        return found

    def flags(self) -> list[str]:
        """As the engine is told."""
        return [f"--up={self.up}", f"--down={self.down}"]


def of_environment(environment: str) -> Link | None:
    """The link of a scenario's environment: `vpn`, `link:vpn`, `link:delay=5ms`; None: no link."""
    if environment in PROFILES:
        return Link.parse(environment)
    if environment.startswith(PREFIX):
        return Link.parse(environment.removeprefix(PREFIX))
    return None


class LinkedNamespace(Namespace):
    """A server's namespace at the far end of a link; the near end is an interface of ours."""

    def __init__(
        self,
        link: Link,
        *,
        engine: Path,
        copies: int = 1,
        settings: Mapping[str, str] | None = None,
        seed: int = 0,
        carrier: Carrier = "auto",
    ) -> None:
        self.link = link
        self.wire: Wire | None = None
        """Set unless the namespace could not be made."""
        self._make: Callable[[tuple[End, End]], Wire] = partial(
            Wire, link, engine=engine, seed=seed, carrier=carrier
        )
        super().__init__(copies, settings)

    def close(self) -> None:
        """Ends the link, then lets go of the namespace."""
        if self.wire:
            self.wire.close()
        super().close()

    def _connect(self, copies: int) -> None:
        with namespaces.routes_of(os.getpid()) as outside:
            network = namespaces.free_network(outside)
        self.interface = namespaces.new_interface()
        self.addresses = tuple(f"{network}.{last}" for last in namespaces.SERVER_ADDRESSES[:copies])
        self.sources = tuple(f"{network}.{last}" for last in namespaces.OUR_ADDRESSES)
        self.wire = self._make(
            (
                End(os.getpid(), self.interface, self.sources),
                End(self.pid, namespaces.INTERFACE, self.addresses),
            )
        )
        self.mtu = self.wire.understood["down"]["mtu"]


@contextmanager
def joined(
    link: Link,
    *,
    engine: Path,
    far_is_ours: bool = False,
    seed: int = 0,
    spin: str = "0s",
    carrier: Carrier = "auto",
) -> Iterator[Wire]:
    """A link from a namespace of its own, and to one; or to ours, with whatever listens here."""
    with namespaces.routes_of(os.getpid()) as outside:
        network = namespaces.free_network(outside)
    near_address, far_address = (
        f"{network}.{addresses[0]}"
        for addresses in (namespaces.OUR_ADDRESSES, namespaces.SERVER_ADDRESSES)
    )
    with ExitStack() as stack:
        near = End(stack.enter_context(Held()).pid, namespaces.INTERFACE, (near_address,))
        if far_is_ours:
            far = End(os.getpid(), namespaces.new_interface(), (far_address,))
        else:
            far = End(stack.enter_context(Held()).pid, namespaces.INTERFACE, (far_address,))
        ends = (near, far)
        yield stack.enter_context(
            Wire(link, ends, engine=engine, seed=seed, spin=spin, carrier=carrier)
        )


@dataclass(frozen=True)
class End:
    """One end of a link: an interface in the network namespace of a process."""

    pid: int
    interface: str
    addresses: Sequence[str]


class Wire(Closing):
    """A link that stands: near end, far end, and what carries packets between them.

    A context manager: leaving it takes both ends away. Raises `UsageProblem` where this machine or
    user allows none, or the link makes no sense.
    """

    def __init__(
        self,
        link: Link,
        ends: tuple[End, End],
        *,
        engine: Path,
        seed: int = 0,
        carrier: Carrier = "auto",
        spin: str = "0s",
    ) -> None:
        self.link = link
        self.seed = seed
        self.understood = link.understood(engine)
        self.ends = ends
        self._engine: _EngineLink | None = None
        plain = all(_is_plain(self.understood[way]) for way in ("up", "down"))
        by_netem = plain and carrier != "engine" and has_netem(ends[1].pid)
        if carrier == "netem" and not by_netem:
            raise UsageProblem(
                f"netem can't carry {link.name!r} here"
                if plain
                else f"netem has no seed, and carries nothing but a delay, not {link.name!r}",
                "leave the choice of the emulator out",
            )
        self.carrier: Literal["engine", "netem"] = "netem" if by_netem else "engine"
        with namespaces.as_refusal():
            try:
                if not by_netem:
                    self._engine = _EngineLink(engine, link, ends, seed, spin)
                self._set_up()
            except BaseException:
                self.close()
                raise

    @property
    def realtime(self) -> bool:
        """Whether what carries the packets runs before ordinary programs."""
        return self._engine is None or self._engine.realtime

    def account(self) -> Mapping[str, Any] | None:
        """What was carried so far, by direction; None where netem carries, which keeps none."""
        return self._engine.account() if self._engine else None

    def ended(self) -> str | None:
        """How the link ended by itself, in words; None while it stands."""
        return self._engine.ended() if self._engine else None

    def close(self) -> None:
        """Takes both ends away."""
        if self._engine:
            self._engine.close()
        elif self.carrier == "netem":
            # Both ends of a pair go with one.
            with contextlib.suppress(Exception), namespaces.routes_of(self.ends[0].pid) as near:
                near.link("del", ifname=self.ends[0].interface)

    def _set_up(self) -> None:
        near, far = self.ends
        if self._engine is None:
            with namespaces.routes_of(near.pid) as routes:
                namespaces.add_veth(routes, near.interface, far.interface, far.pid)
        for end, way in ((near, "up"), (far, "down")):
            asked = self.understood[way]
            with namespaces.routes_of(end.pid) as routes:
                if self._engine is None:
                    _add_netem(routes, end.interface, asked["delay_ns"])
                namespaces.bring_up(
                    routes, end.interface, end.addresses, mtu=asked["mtu"], txqlen=QUEUE_PACKETS
                )


def has_netem(pid: int) -> bool:
    """Whether the kernel has netem, tried on loopback in a namespace of ours, that of `pid`."""
    from pyroute2.netlink.exceptions import NetlinkError

    if pid == os.getpid():
        # Nothing of the machine's own is touched.
        return False
    with namespaces.routes_of(pid) as routes:
        try:
            _add_netem(routes, "lo", 0)
        except NetlinkError as error:
            if error.code in (errno.ENOENT, errno.EOPNOTSUPP):
                return False
            raise
        (index,) = routes.link_lookup(ifname="lo")
        routes.tc("del", "netem", index)
        return True


def _add_netem(routes: Any, interface: str, delay_ns: int) -> None:
    (index,) = routes.link_lookup(ifname=interface)
    # netem counts in microseconds.
    routes.tc("add", "netem", index, delay=-(-delay_ns // 1000), limit=NETEM_PACKETS)


def _is_plain(direction: Mapping[str, Any]) -> bool:
    """Whether it is a delay and nothing else, which netem does alike."""
    others = ("jitter", "loss", "reorder", "blackhole", "rebind_ns", "rate")
    return not direction["duplicate"] and all(direction[name] is None for name in others)


class _EngineLink:
    """The engine's `link` command, which owns both devices."""

    def __init__(
        self, engine: Path, link: Link, ends: tuple[End, End], seed: int, spin: str
    ) -> None:
        near, far = ends
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 (closed by close)
        self._process = subprocess.Popen(
            launch.command_line(
                [
                    *(str(engine), "link", *link.flags(), f"--seed={seed}", f"--spin={spin}"),
                    f"--near-namespace={namespaces.file_of(near.pid)}",
                    f"--near-device={near.interface}",
                    f"--far-namespace={namespaces.file_of(far.pid)}",
                    f"--far-device={far.interface}",
                ],
                death_signal=signal.SIGKILL,
            ),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            start_new_session=True,
        )
        ready = self._told()
        if ready is None:
            said = self.ended() or f"no answer in {START_LIMIT_S:g} s"
            self.close()
            raise namespaces.refused(said)
        self.realtime: bool = ready["realtime"]

    def account(self) -> Mapping[str, Any]:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(b"\n")
            self._process.stdin.flush()
        except OSError:
            found = None
        else:
            found = self._told()
        if found is None:
            raise EngineFailed(f"the link is gone: {self.ended() or 'it does not answer'}")
        return found

    def ended(self) -> str | None:
        if self._process.poll() is None:
            return None
        status = self._process.returncode
        self._errors.seek(0)
        said = _complaint(self._errors.read().decode(errors="replace"))
        how = f"signal {-status}" if status < 0 else f"exit status {status}"
        return said or how

    def close(self) -> None:
        end_program(self._process, STOP_LIMIT_S)
        self._errors.close()

    def _told(self) -> dict[str, Any] | None:
        """The next line; None when there is none in time."""
        line = told(self._process, START_LIMIT_S)
        if not line:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(STOP_LIMIT_S)
            return None
        found: dict[str, Any] = json.loads(line)
        return found


def _complaint(said: str) -> str:
    """What the engine said, without its name and clap's hints."""
    first = (said.strip().splitlines() or [""])[0]
    for before in ("wiretrial-engine: ", "error: "):
        first = first.removeprefix(before)
    return first
