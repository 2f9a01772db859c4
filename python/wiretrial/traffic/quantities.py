"""Think times, arrivals and stages, from the texts in which the TOML file has them.

Knows "lognormal 2s 0.6" and "200/s"; must not know flows.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from wiretrial import quantities, suggest
from wiretrial.plan_traffic import (
    ConstantThink,
    ExponentialThink,
    LognormalThink,
    NoThink,
    Think,
    UniformThink,
)
from wiretrial.traffic.document import LoadPart, PoolPart, StagePart, TrafficFile
from wiretrial.traffic.places import Place, TrafficProblem, standing_at

_FORMS = {
    "constant": "constant 2s",
    "uniform": "uniform 1s 3s",
    "exponential": "exponential 2s",
    "lognormal": "lognormal 2s 0.6",
}
_MOST_SIGMA = 10.0
_SAMPLE = 0.01
MOST_STREAMS = 1_000_000
"""Of one connection."""
_MOST_POOLED = 1_000_000


@dataclass(frozen=True)
class Stage:
    """A part of the load's time: users, or sessions per second, from one value to the other."""

    for_ns: int
    start: float
    end: float


@dataclass(frozen=True)
class LoadShape:
    """When sessions begin. Neither `users` nor `rate`: the command line says it.

    `stages` are of users where there are any, otherwise of sessions per second.
    """

    users: int | None = None
    rate: float | None = None
    pacing: Literal["constant", "poisson"] = "constant"
    stages: tuple[Stage, ...] = ()
    pool: int | None = None
    """Connections that all users share; None: each user has one of its own."""
    streams: int = 1
    """Requests that are on their way at once on each connection of the pool, over HTTP/2."""


def sample(file: TrafficFile) -> float:
    """The share of replies that checks with filters are made of, 0 to 1."""
    if (text := file.part.sample) is None:
        return _SAMPLE
    number = text.removesuffix("%").strip()
    try:
        share = float(number) / 100
    except ValueError:
        share = -1.0
    if not (text.endswith("%") and 0 <= share <= 1):
        raise TrafficProblem(
            file.place("sample"), f'sample = "{text}"', 'write a share, such as sample = "1%"'
        )
    return share


def think(text: str, place: Place) -> Think:
    """Of a flow's `think`."""
    word, *rest = text.split() or [""]
    return _think(word, rest, text, place)


def think_of_delay(text: str, place: Place) -> Think:
    """Of an entry's option `delay`, in which a bare number is milliseconds."""
    written = f"{text}ms" if text.isdigit() else text
    with standing_at(place):
        return _constant(quantities.duration_ns(written, "delay"))


def load_shape(file: TrafficFile) -> LoadShape:
    """Of the table `[load]`."""
    shape, pool = _arriving(file), _pool(file)
    if pool and shape.users and shape.users < pool:
        raise TrafficProblem(file.place("load", "connections"), *too_few(pool, shape.users))
    return replace(shape, pool=pool, streams=_streams(file))


def too_few(pool: int, users: int) -> tuple[str, str]:
    """What is wrong with a pool of which a part is never used, and what to do."""
    return (
        f"a pool of {pool:,} connections for {users:,} users, who use {users:,} at most",
        f"write {{pool = {users}}} or less, or use more users",
    )


def _pool(file: TrafficFile) -> int | None:
    asked, place = file.part.load.connections, file.place("load", "connections")
    if not isinstance(asked, PoolPart):
        return None
    if not 1 <= asked.pool <= _MOST_POOLED:
        raise TrafficProblem(
            place, f"a pool of {asked.pool:,} connections", "write a number such as {pool = 50}"
        )
    if any(part.url is not None for part in file.part.flow):
        raise TrafficProblem(
            place,
            "a conversation needs a connection of its own",
            'leave connections out, or write "per-user"',
        )
    return asked.pool


def _streams(file: TrafficFile) -> int:
    asked, place = file.part.load.connections, file.place("load", "connections")
    if asked is None or asked.streams is None:
        return 1
    if not 1 <= asked.streams <= MOST_STREAMS:
        raise TrafficProblem(
            place,
            f"{asked.streams:,} streams on each connection",
            f"write a number from 1 to {MOST_STREAMS:,}, such as {{pool = 10, streams = 20}}",
        )
    if asked.streams > 1 and file.part.http == "1.1":
        raise TrafficProblem(
            place, "HTTP/1.1 has no streams", 'leave streams out, or write http = "2"'
        )
    return asked.streams


def _arriving(file: TrafficFile) -> LoadShape:
    load = file.part.load
    given = [name for name in ("arrivals", "users", "stages") if getattr(load, name) is not None]
    if len(given) > 1:
        raise TrafficProblem(
            file.place("load", given[1]),
            f"{given[0]} and {given[1]} exclude each other",
            "keep one: arrivals (open loop), users (closed loop) or stages",
        )
    if load.pacing is not None and (load.users is not None or _is_of_users(load)):
        raise TrafficProblem(
            file.place("load", "pacing"),
            "pacing is of arrivals",
            "leave it out: a user's next session begins when the last one ended",
        )
    pacing = load.pacing or "constant"
    if load.users is not None:
        return LoadShape(users=_users(load.users, file.place("load", "users")))
    if load.arrivals is not None:
        with standing_at(file.place("load", "arrivals")):
            return LoadShape(rate=quantities.rate(load.arrivals, "arrivals"), pacing=pacing)
    if load.stages is None:
        return LoadShape(pacing=pacing)
    stages = _stages(load.stages, file)
    highest = max(max(stage.start, stage.end) for stage in stages)
    if highest <= 0:
        raise TrafficProblem(
            file.place("load", "stages"), "all stages are of nothing", 'write to = "200/s"'
        )
    if _is_of_users(load):
        return LoadShape(users=round(highest), stages=stages)
    return LoadShape(rate=highest, pacing=pacing, stages=stages)


def _think(word: str, rest: list[str], text: str, place: Place) -> Think:
    if word[:1].isdigit():
        with standing_at(place):
            return _constant(quantities.duration_ns(text, "think"))
    if word not in _FORMS:
        raise TrafficProblem(
            place,
            f'think "{text}": no such distribution',
            suggest.remedy(word, _FORMS, f'write "2s" or {_listed()}'),
        )
    if len(rest) != _FORMS[word].count(" "):
        raise TrafficProblem(
            place, f'think "{text}": not the numbers of {word}', f'write "{_FORMS[word]}"'
        )
    with standing_at(place):
        first = quantities.duration_ns(rest[0], "think")
        match word:
            case "constant":
                return _constant(first)
            case "exponential":
                return ExponentialThink(mean_ns=first)
            case "uniform":
                return _uniform(first, quantities.duration_ns(rest[1], "think"), text, place)
            case _:
                return LognormalThink(median_ns=first, sigma=_sigma(rest[1], text, place))


def _listed() -> str:
    return ", ".join(f'"{form}"' for form in _FORMS.values())


def _constant(ns: int) -> Think:
    return ConstantThink(ns=ns) if ns else NoThink()


def _uniform(low_ns: int, high_ns: int, text: str, place: Place) -> Think:
    if low_ns > high_ns:
        raise TrafficProblem(
            place, f'think "{text}": from more to less', "write the shorter time first"
        )
    return UniformThink(low_ns=low_ns, high_ns=high_ns)


def _sigma(written: str, text: str, place: Place) -> float:
    try:
        sigma = float(written)
    except ValueError:
        sigma = -1
    if not 0 < sigma <= _MOST_SIGMA:
        raise TrafficProblem(
            place,
            f'think "{text}": {written} is no standard deviation',
            "write a number such as 0.6: of the logarithm",
        )
    return sigma


def _users(users: int, place: Place) -> int:
    if users < 1:
        raise TrafficProblem(place, f"{users} users", "write a number such as 500")
    return users


def _is_of_users(load: LoadPart) -> bool:
    return isinstance(load.stages[0].to, int) if load.stages else False


def _stages(parts: list[StagePart], file: TrafficFile) -> tuple[Stage, ...]:
    stages: list[Stage] = []
    for index, part in enumerate(parts):
        where = ("load", "stages", index)
        if isinstance(part.to, int) != isinstance(parts[0].to, int):
            raise TrafficProblem(
                file.place(*where, "to"),
                "users and arrivals in the stages of one load",
                'write numbers (users), or texts such as "200/s" (arrivals), in all of them',
            )
        with standing_at(file.place(*where, "for")):
            for_ns = quantities.duration_ns(part.for_, "for", least_ns=1_000_000)
        end = _level(part.to, file.place(*where, "to"))
        before = stages[-1].end if stages else 0.0
        start = before if part.from_ is None else _level(part.from_, file.place(*where, "from"))
        if part.from_ is not None and isinstance(part.from_, int) != isinstance(part.to, int):
            raise TrafficProblem(
                file.place(*where, "from"), "users and arrivals in one stage", "write one of them"
            )
        stages.append(Stage(for_ns, start, end))
    return tuple(stages)


def _level(level: str | int, place: Place) -> float:
    if isinstance(level, int):
        return float(_users(level, place)) if level else 0.0
    if level.strip() in ("0", "0/s"):
        return 0.0
    with standing_at(place):
        return quantities.rate(level, "stages")
