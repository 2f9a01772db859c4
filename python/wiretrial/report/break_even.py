"""After how many messages per connection a socket is cheaper than HTTP, in each thing it costs.

Knows runs whose time holds the set-up of their connections, at several numbers of messages; must
not know how the rows are shown. Per block, what a message costs is the slope between the least
number and the greatest that two blocks have, and what a set-up costs is what the least leaves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from wiretrial.plan import SECURE
from wiretrial.report import units
from wiretrial.report.link_bytes import link_bytes
from wiretrial.report.measures import Measured
from wiretrial.results.model import Trial
from wiretrial.stats.break_even import BreakEven, Cost, find, means
from wiretrial.words import HTTP

NOT_PLACES = ("protocol", "requests_each")
"""Factors in which the two sides differ, and the one along which they are followed."""
FEWEST_BLOCKS = 2
UNTOLD = "cannot be told from these data"
OPEN = BreakEven("cannot be told", None, None, None)


@dataclass(frozen=True)
class Quantity:
    """What a connection costs as a whole, in base units."""

    name: str
    units: tuple[units.Unit, ...]
    of: Callable[[Measured], float | None]
    can_be_bound: bool = False
    """Whether it is only "at most" where the load generator was the limit."""


def _time(measured: Measured) -> float | None:
    return measured.elapsed_ns


def _server(measured: Measured) -> float | None:
    samples = measured.trial.subject_samples
    if len(samples) < 2:
        return None
    first, last = samples[0], samples[-1]
    used = last.cpu_user_ns + last.cpu_system_ns - first.cpu_user_ns - first.cpu_system_ns
    return used / _connections(measured) or None


def _application(measured: Measured) -> float | None:
    octets = measured.trial.summary.bytes
    return (octets.application_sent + octets.application_received) / _connections(measured) or None


def _transport(measured: Measured) -> float | None:
    octets = measured.trial.summary.bytes
    return (octets.sent + octets.received) / _connections(measured) or None


def _wire(measured: Measured) -> float | None:
    octets = link_bytes(measured.trial)
    return None if octets is None else octets / _connections(measured)


def _connections(measured: Measured) -> int:
    return measured.trial.plan.load.connections


QUANTITIES = (
    Quantity("time", units.TIMES, _time, can_be_bound=True),
    Quantity("server CPU", units.TIMES, _server),
    Quantity("application bytes", (units.BYTES[0],), _application),
    Quantity("TCP payload", (units.BYTES[0],), _transport),
    Quantity("bytes on the wire", (units.BYTES[0],), _wire),
)


@dataclass(frozen=True)
class Side:
    """What one way of talking costs: means whose lines cross at the break-even; base units."""

    label: str
    setup: float
    message: float


@dataclass(frozen=True)
class Crossing:
    """Where a socket becomes the cheaper one in one quantity."""

    quantity: Quantity
    http: Side
    socket: Side
    found: BreakEven
    blocks: int
    least: int
    """Messages per connection in the shorter runs."""
    most: int
    """And in the longer ones."""

    @property
    def words(self) -> str:
        """`after 6.1 messages (5.8 to 6.4)`."""
        found = self.found
        if found.outcome == "always B":
            return "from the first message on"
        if found.outcome == "always A":
            return "never"
        if found.messages is None:
            return UNTOLD
        return f"{self.after} {self.number} messages ({self.span})"

    @property
    def after(self) -> str:
        """What stands before the number."""
        return "after" if self.found.outcome == "break-even" else "only up to"

    @property
    def number(self) -> str:
        """How many messages, of an outcome that has a number."""
        return units.significant(self.found.messages or 0.0)

    @property
    def span(self) -> str:
        """Its interval: `5.8 to 6.4`, and whether the number lies beyond what was measured."""
        low, high = self.found.low or 0.0, self.found.high or 0.0
        text = f"{units.significant(low)} to {units.significant(high)}"
        return f"{text}; {self.beyond}" if self.beyond else text

    @property
    def beyond(self) -> str:
        """`extrapolated beyond the measured 50` where the number was not measured; else empty."""
        number = self.found.messages
        if number is None or self.least <= number <= self.most:
            return ""
        if number > self.most:
            return f"extrapolated beyond the measured {self.most:,}"
        return f"extrapolated below the measured {self.least:,}"


@dataclass(frozen=True)
class Curve:
    """What a message costs, its part of the set-up included, as more share a connection."""

    quantity: Quantity
    label: str
    points: Mapping[int, tuple[float, ...]]
    """By number of messages per connection: a figure per block, base units."""


@dataclass(frozen=True)
class Place:
    """One environment, and what else is the same on both sides."""

    title: str
    crossings: tuple[Crossing, ...]
    curves: tuple[Curve, ...] = ()


def places(trials: Iterable[Trial]) -> tuple[Place, ...]:
    """Every pair of HTTP and a socket of one subject that stand on the same levels.

    What comes first among the trials comes first.
    """
    found: dict[tuple[tuple[str, object], ...], dict[str, _Runs]] = {}
    for trial in trials:
        measured = Measured(trial)
        if not _counts(measured):
            continue
        runs = found.setdefault(_key(trial), {})
        label = trial.scenario.label or trial.scenario.name
        own = runs.setdefault(label, _Runs(label, trial.scenario.protocol, {}))
        own.measured.setdefault(_each(trial), {})[trial.block] = measured
    shown: dict[str, list[Crossing]] = {}
    curves: dict[str, list[Curve]] = {}
    varied = _varied(list(found))
    for key, runs in found.items():
        title, ways = _title(key, varied), list(runs.values())
        shown.setdefault(title, []).extend(_crossings(ways))
        curves.setdefault(title, []).extend(_curves(ways))
    return tuple(
        Place(title, tuple(rows), tuple(curves[title])) for title, rows in shown.items() if rows
    )


@dataclass(frozen=True)
class _Runs:
    label: str
    protocol: str
    measured: dict[int, dict[int, Measured]]
    """By number of messages per connection, by block."""


def _counts(measured: Measured) -> bool:
    trial = measured.trial
    return trial.plan.times_setup and measured.is_usable and trial.scenario.twin_of is None


def _each(trial: Trial) -> int:
    return trial.plan.stop.requests_each or 0


def _key(trial: Trial) -> tuple[tuple[str, object], ...]:
    levels = {k: v for k, v in trial.scenario.levels.items() if k not in NOT_PLACES}
    levels["TLS"] = "over TLS" if trial.scenario.protocol in SECURE else ""
    levels["environment"] = trial.scenario.environment
    return (("subject", trial.scenario.subject), *sorted(levels.items(), key=lambda one: one[0]))


def _varied(keys: Sequence[tuple[tuple[str, object], ...]]) -> set[str]:
    """The factors that tell places apart; the subject does not, its pairs stand side by side."""
    names = {name for key in keys for name, _ in key} - {"subject", "workload"}
    # A factor that only some have tells those from the others.
    return {name for name in names if len({dict(key).get(name) for key in keys}) > 1}


def _title(key: tuple[tuple[str, object], ...], varied: set[str]) -> str:
    levels = dict(key)
    where = str(levels["environment"])
    parts = ["over loopback" if where == "loopback" else f"over {where.removeprefix('link:')}"]
    if levels["TLS"]:
        parts.append("over TLS")
    parts += [
        f"{level:,} bytes" if name == "payload" and isinstance(level, int) else f"{name} {level}"
        for name, level in key
        if name in varied and name not in ("environment", "TLS")
    ]
    return ", ".join(parts)


def _crossings(runs: Sequence[_Runs]) -> Iterator[Crossing]:
    for one in (run for run in runs if run.protocol in HTTP):
        for other in (run for run in runs if run.protocol not in HTTP):
            for quantity in QUANTITIES:
                crossing = _crossing(quantity, one, other)
                if crossing:
                    yield crossing


def _crossing(quantity: Quantity, one: _Runs, other: _Runs) -> Crossing | None:
    totals = [_totals(quantity, runs) for runs in (one, other)]
    numbers = sorted(set(totals[0]) & set(totals[1]))
    if len(numbers) < 2:
        return None
    least = numbers[0]
    for most in reversed(numbers[1:]):
        ends = [total[number] for total in totals for number in (least, most)]
        blocks = sorted(set.intersection(*(set(end) for end in ends)))
        if len(blocks) >= FEWEST_BLOCKS:
            costs = [[_cost(total, least, most, b) for b in blocks] for total in totals]
            occasions = [one.measured[least][block].trial.occasion for block in blocks]
            used = (
                runs.measured[number][block]
                for runs in (one, other)
                for number in (least, most)
                for block in blocks
            )
            # Bounds on either side leave it open on which side of them the lines cross.
            is_bound = quantity.can_be_bound and any(map(_is_limited, used))
            http, socket = means(*costs, occasions=occasions)
            return Crossing(
                quantity=quantity,
                http=Side(one.label, http.setup, http.message),
                socket=Side(other.label, socket.setup, socket.message),
                found=OPEN if is_bound else find(*costs, occasions=occasions),
                blocks=len(blocks),
                least=least,
                most=most,
            )
    return None


def _is_limited(measured: Measured) -> bool:
    return measured.trial.judgement.verdict == "client-bound"


def _curves(runs: Sequence[_Runs]) -> Iterator[Curve]:
    for quantity in QUANTITIES:
        for one in runs:
            totals = sorted(_totals(quantity, one).items())
            points = {
                number: tuple(total / number for total in blocks.values())
                for number, blocks in totals
            }
            if len(points) > 1:
                yield Curve(quantity, one.label, points)


def _totals(quantity: Quantity, runs: _Runs) -> dict[int, dict[int, float]]:
    """Of one connection, by number of messages and block."""
    found: dict[int, dict[int, float]] = {}
    for number, blocks in runs.measured.items():
        for block, measured in blocks.items():
            total = quantity.of(measured)
            if total is not None:
                found.setdefault(number, {})[block] = total
    return found


def _cost(total: Mapping[int, Mapping[int, float]], least: int, most: int, block: int) -> Cost:
    low, high = total[least][block], total[most][block]
    message = (high - low) / (most - least)
    return Cost(setup=low - message * least, message=message)
