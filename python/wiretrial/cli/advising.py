"""An advice about machines: what was typed, the measurement or a kept one, and what is shown.

Knows what the options mean; must not know how a capacity is searched for, nor the arithmetic.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from pydantic import ValidationError

from wiretrial import quantities
from wiretrial.advise import answer, occasions
from wiretrial.advise.answer import Basis, Wanted
from wiretrial.advise.demand import Asked, OfRate, OfUsers
from wiretrial.advise.sizing import Type
from wiretrial.cli import advising_together, limiting, output, starting
from wiretrial.cli.interrupts import Stopped
from wiretrial.cli.limiting import Further, Kept, Search, Searched
from wiretrial.cli.loading import Typed
from wiretrial.cli.starting import NO_OWN, Own
from wiretrial.errors import EXIT_GOOD, EXIT_SIGNAL, UsageProblem, WiretrialError
from wiretrial.report import advice_text, limit_text
from wiretrial.results.advice import ADVICE_SCHEMA, MEASUREMENT_SCHEMA, Advice, Measurement
from wiretrial.results.limits import LIMIT_SCHEMA, Limit
from wiretrial.traffic.compiler import is_traffic

CONNECT_TIMEOUT = "30s"
"""For opening all connections of a level."""
SHARES = (0.6, 0.2, 0.8, 0.4)
"""Of the capacity: where it is measured what a message takes. Not in order, so that what drifts is
no slope."""
FURTHER = Further(mixes=0.6, crowded=0.2, connections=(10, 20))
_MACHINE = re.compile(r"(?P<name>[^=,]+)=(?P<parts>.+)")


@dataclass(frozen=True)
class Sized:
    """What is to be carried, and by what, as it was typed."""

    users: str | None
    think: str | None
    rate: str | None
    peak: str
    shared: tuple[str, ...]
    machines: tuple[str, ...]
    growth: str | None
    instead: tuple[str, ...] = ()
    sizes: tuple[str, ...] = ()
    together: str | None = None
    """So many of a server that is started here are measured at once."""

    def demand(self) -> Asked:
        """What is to be carried. Raises what is wrong with it before anything is measured."""
        if (self.users is None) == (self.rate is None):
            raise UsageProblem(
                "how much is to be carried is not said"
                if self.users is None
                else "--users and --rate exclude each other",
                "give --users N --think TIME, or --rate R",
            )
        peak = quantities.factor(self.peak, "--peak")
        if self.rate is not None:
            if self.think is not None:
                raise UsageProblem("--think is how long users wait", "give --users with it")
            return OfRate(quantities.rate(self.rate, "--rate"), peak)
        users = quantities.count(self.users or "", "--users")
        think_ns = None if self.think is None else quantities.duration_ns(self.think, "--think")
        return OfUsers(users, think_ns, peak)

    def wanted(self) -> Wanted:
        """What is asked beside it."""
        growth = None if self.growth is None else quantities.share(self.growth, "--growth")
        return Wanted(
            shared=self.shared,
            types=self.types(),
            growth=growth,
            sizes=dict(map(_size, self.sizes)),
            instead=dict(map(_alternative, self.instead)),
        )

    def types(self) -> tuple[Type, ...]:
        """Machines that can be had."""
        return tuple(_types(self.machines))


def measured(typed: Typed, search: Search, sized: Sized, kept: Kept, own: Own = NO_OWN) -> int:
    """Searches for the capacity, measures levels below it, and shows the advice.

    `own`: how a server of one's own is started, which is measured then.
    """
    kept.require_writable()
    asked, wanted = sized.demand(), sized.wanted()
    what = starting.meant(typed, own)
    if isinstance(asked, OfUsers):
        asked.require_told(of_sessions=is_traffic(typed.url) or bool(what and what.traffic))
    if what is None:
        if sized.together is not None:
            raise UsageProblem(
                "--instances is of a server that is started here, and this one runs",
                "name its folder or --command, or start them and name the result: --size N=FILE",
            )
        found = _searched(typed, search, kept)
        return _advised(Seen(found), asked, wanted, kept)
    plan = advising_together.planned(what, typed, sized.together)
    with starting.running(what, typed, plan.cpus) as running:
        found = _searched(running.typed, search, kept, running.shown)
        try:
            several = advising_together.measured(running, plan, typed, search, found, kept)
        except Stopped:
            _rescue(Seen(found, pinned=plan.pinned), kept)
            raise
    return _advised(Seen(found, several, plan.pinned), asked, wanted, kept)


@dataclass(frozen=True)
class Seen:
    """All that was measured."""

    one: Searched
    several: advising_together.Found = field(default_factory=advising_together.Found)
    pinned: tuple[int, ...] = ()

    @property
    def signal(self) -> int | None:
        """What ended it early."""
        return self.one.levels.signal or self.several.signal

    def basis(self) -> Basis:
        """What an advice rests on."""
        one, several = self.one, self.several
        return Basis(
            limit=one.limit,
            beside=one.beside,
            mixes=one.mixes,
            crowded=one.crowded,
            together=several.together,
            division_lacks=several.lacks,
            pinned=self.pinned,
        )


def _searched(typed: Typed, search: Search, kept: Kept, shown: str | None = None) -> Searched:
    return limiting.searched(
        typed,
        search,
        limiting.NO_FLEET,
        keeps_secrets=kept.keeps_secrets,
        shares=SHARES,
        further=FURTHER,
        shown=shown,
    )


def _advised(seen: Seen, asked: Asked, wanted: Wanted, kept: Kept) -> int:
    """Shows the advice, or keeps what was measured where there is none."""
    if seen.signal is not None:
        _rescue(seen, kept)
        return EXIT_SIGNAL + seen.signal
    try:
        seen.one.require_whole()
        made = answer.advice(seen.basis(), asked, wanted)
    except WiretrialError:
        _rescue(seen, kept)
        raise
    _show(made, kept)
    return EXIT_GOOD


def from_kept(paths: Sequence[Path], sized: Sized, kept: Kept) -> int:
    """The same from kept results of `advise` or `limit`, each of an occasion."""
    kept.require_writable()
    asked, wanted = sized.demand(), sized.wanted()
    basis = occasions.together([_read(path) for path in paths])
    if sized.together is not None:
        basis = replace(basis, together=(), division_lacks=advising_together.ONE_ALONE)
    _show(answer.advice(basis, asked, wanted), kept)
    return EXIT_GOOD


def _rescue(seen: Seen, kept: Kept) -> None:
    """Minutes of measuring are not lost for want of an advice: `--from` asks it again."""
    basis = seen.basis()
    made = Measurement(
        limit=basis.limit,
        beside=tuple(basis.beside),
        mixes=tuple(basis.mixes),
        crowded=tuple(basis.crowded),
        together=tuple(basis.together),
        division_lacks=basis.division_lacks,
        pinned=basis.pinned,
    )
    kept.show(made, _of_limit)
    if kept.format is output.Format.JSON and kept.file is not None:
        output.say(f"no advice; what was measured: {kept.file} (ask again: --from {kept.file})")


def _of_limit(made: Measurement, *, width: int, colour: bool) -> str:
    return limit_text.render(made.limit, width=width, colour=colour)


def _read(path: Path) -> Basis:
    remedy = "name a result of `wiretrial advise` or `limit` that was kept with --format json"
    try:
        document = json.loads(path.read_bytes())
    except OSError as error:
        raise UsageProblem(f"{path}: {error.strerror}", remedy) from error
    except ValueError as error:
        raise UsageProblem(f"{path} is not JSON", remedy) from error
    schema = document.get("schema") if isinstance(document, dict) else None
    try:
        if schema == ADVICE_SCHEMA:
            made = Advice.model_validate(document)
            return _basis(made, made.occasions)
        if schema == MEASUREMENT_SCHEMA:
            return _basis(Measurement.model_validate(document))
        if schema == LIMIT_SCHEMA:
            return Basis(Limit.model_validate(document))
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise UsageProblem(f"{path}: {where}: {first['msg']}", remedy) from error
    raise UsageProblem(f"{path} is no result of a search for the highest rate", remedy)


def _basis(kept: Advice | Measurement, occasions: tuple[float, ...] = ()) -> Basis:
    return Basis(
        kept.limit,
        kept.beside,
        kept.mixes,
        kept.crowded,
        occasions,
        kept.together,
        kept.division_lacks,
        kept.pinned,
    )


def _alternative(text: str) -> tuple[str, Basis]:
    name, sign, path = text.partition("=")
    if not (name.strip() and sign and path):
        raise UsageProblem(
            f"--instead {text!r} names no kept result",
            "write it as NAME=FILE, such as WebSocket=ws.json",
        )
    return name.strip(), _read(Path(path))


def _size(text: str) -> tuple[int, Limit]:
    number, sign, path = text.partition("=")
    if not (sign and path):
        raise UsageProblem(
            f"--size {text!r} names no kept result",
            "write it as N=FILE, such as 2=two.json",
        )
    many = quantities.count(number, "--size")
    if many < 2:
        raise UsageProblem(
            f"--size {text}: one instance is what the advice is about", "name two or more"
        )
    return many, _read(Path(path)).limit


def _types(typed: Sequence[str]) -> Iterator[Type]:
    for text in typed:
        parts = _MACHINE.fullmatch(text)
        if not parts:
            raise UsageProblem(
                f"--machine {text!r} names no machine",
                "write it as NAME=PRICE/h,CORES,MEMORY, such as small=0.17/h,4,16GiB",
            )
        yield _type(parts["name"], [part.strip() for part in parts["parts"].split(",")])


def _type(name: str, parts: Sequence[str]) -> Type:
    flag = f"--machine {name}"
    priced = [part for part in parts if part.endswith("/h")]
    sizes = [part for part in parts if part[-1:].isalpha() and part not in priced]
    cores = [part for part in parts if part not in priced and part not in sizes]
    if max(len(priced), len(sizes), len(cores)) > 1:
        raise UsageProblem(
            f"{flag}: a price, cores or memory stand there twice",
            "write it as NAME=PRICE/h,CORES,MEMORY",
        )
    return Type(
        name=name.strip(),
        cores=quantities.factor(cores[0], flag) if cores else None,
        memory_bytes=quantities.size_bytes(sizes[0], flag) if sizes else None,
        per_hour=quantities.factor(priced[0].removesuffix("/h"), flag) if priced else None,
    )


def _show(made: Advice, kept: Kept) -> None:
    kept.show(made, advice_text.render)
    if kept.page:
        # Not at the top: the drawing library takes long to load.
        from wiretrial.report import advice_page

        output.write_page(advice_page.render(made), kept.page, "--report")
