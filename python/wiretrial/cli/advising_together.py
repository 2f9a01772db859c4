"""Several instances of a server that is started here, measured together for an advice.

Knows how many there can be, and what is asked of them; must not know what follows from that.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, replace

from wiretrial import quantities
from wiretrial.cli import limiting, output, starting
from wiretrial.cli.limiting import Kept, Search, Searched
from wiretrial.cli.loading import Typed
from wiretrial.cli.starting import Instances, Meant
from wiretrial.errors import WiretrialError
from wiretrial.machine.pinning import Dealt
from wiretrial.results.advice import Together
from wiretrial.traffic.compiler import is_traffic

USUAL = 2
MOST = 100
ONE_ALONE = "one instance was asked for (--instances 1)"
BEGINNING = 0.8
"""The first rate, as a share of what they would carry if nothing held them up."""


@dataclass(frozen=True)
class Planned:
    """How many are measured together, and on which CPUs; `lacks`: why it is one alone."""

    many: int
    cpus: Dealt | None
    lacks: str | None = None

    @property
    def pinned(self) -> tuple[int, ...]:
        """CPUs of one of several, and of the load generator."""
        if self.cpus is None or self.many == 1:
            return ()
        return (*self.cpus.instances[0], *self.cpus.generator)


@dataclass(frozen=True)
class Found:
    """What several carried, or why that was not measured."""

    together: tuple[Together, ...] = ()
    lacks: str | None = None
    signal: int | None = None
    """What ended it."""


def planned(what: Meant, typed: Typed, asked: str | None) -> Planned:
    """As many as were asked for, where there can be so many; by itself where none is in the way."""
    many = USUAL if asked is None else quantities.count(asked, "--instances", most=MOST)
    lacks = None
    if many == 1:
        lacks = ONE_ALONE
    elif what.port is not None:
        lacks = f"the server listens on port {what.port} alone, so that there can't be a second one"
    elif (cpus := starting.dealt(typed, many)) is not None or asked is not None:
        return Planned(many, cpus)
    else:
        lacks = _too_few(typed, many)
    if many > 1:
        output.say(f"scaling is not measured: {lacks}")
    return Planned(1, starting.dealt(typed, 1), lacks)


def _too_few(typed: Typed, many: int) -> str:
    threads = quantities.count(typed.generator.threads, "--threads", most=1024)
    here = len(os.sched_getaffinity(0))
    return (
        f"{many} of them beside the load generator need {many + threads} CPUs, and there are {here}"
        f" (--instances {many} has them share)"
    )


def measured(
    running: Instances, plan: Planned, typed: Typed, search: Search, found: Searched, kept: Kept
) -> Found:
    """The highest rate of all together that keeps the same goals, after that of the first one."""
    if found.levels.signal is not None or found.levels.failure is not None:
        return Found()
    lacks = plan.lacks or _unasked(found)
    if lacks is not None:
        return Found(lacks=lacks)
    rate, many = found.limit.rate, plan.many
    assert rate is not None
    try:
        while len(running.addresses) < many:
            running.start()
        output.say(f"{many} instances together:")
        again = limiting.searched(
            _wider(running.typed, typed, many),
            replace(search, first=f"{BEGINNING * many * rate:.10g}"),
            limiting.NO_FLEET,
            keeps_secrets=kept.keeps_secrets,
            addresses=running.addresses,
            shown=f"{many} of {running.shown}",
        )
        again.require_whole()
    except WiretrialError as error:
        started = len(running.addresses)
        what = f"instance {started + 1} did not start" if started < many else "the search failed"
        return _failed(f"{what}: {error.message}")
    if again.levels.signal is not None:
        return Found(signal=again.levels.signal)
    if again.limit.rate is None:
        return _failed(f"no rate of {many} together was found that keeps the goals")
    if again.limit.is_at_least:
        return _failed(f"{many} together were more than this load generator sends (--threads)")
    seen = Together(
        instances=many, limit=again.limit, is_spread=True, shared_cpus=running.shared_cpus
    )
    return Found((seen,))


def _unasked(found: Searched) -> str | None:
    """Why several are not worth measuring; None: they are."""
    if found.limit.rate is None or found.limit.end != "complete":
        return "the search of one did not come to its end"
    if found.limit.is_at_least:
        return "one alone was more than was sent, so that its capacity is not known"
    return None


def _failed(lacks: str) -> Found:
    output.say(f"scaling is not measured: {lacks}")
    return Found(lacks=lacks)


def _wider(aimed: Typed, typed: Typed, many: int) -> Typed:
    """As many times the connections, so that each instance has what the one had.

    Users of a file are counted for each rate, where nobody says how many there are.
    """
    usual = "" if is_traffic(aimed.url) else limiting.CONNECTIONS
    connections = typed.loop.connections or usual
    if not connections:
        return aimed
    count = many * quantities.count(connections, "--connections")
    return replace(aimed, loop=replace(aimed.loop, connections=str(count)))
