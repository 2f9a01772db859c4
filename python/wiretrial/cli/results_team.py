"""Results between this machine and a team's store in PostgreSQL: push, pull, list.

Knows what was typed, and how it is told what came of it; must not know how a store is laid out.
What speaks to PostgreSQL is imported once its driver is known to be there.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import date
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from wiretrial.cli import output
from wiretrial.cli.output import Format
from wiretrial.errors import EXIT_FAILED, EXIT_GOOD, StoreError, UsageProblem
from wiretrial.report import indexed, units
from wiretrial.report.indexed import Filter
from wiretrial.results.index import Index
from wiretrial.results.store import folders, loads

if TYPE_CHECKING:
    from wiretrial.team.address import Address
    from wiretrial.team.connection import Database
    from wiretrial.team.stored import Stored

ENVIRONMENT = "env"
"""Typed in place of a URL where one must stand: the store that the environment names."""


@dataclass(frozen=True)
class Wanted:
    """Which store and which of its results, as it was typed."""

    words: tuple[str, ...]
    """A URL first, unless the environment names the store; then names of results."""
    since: str | None = None
    study: str | None = None


def push(wanted: Wanted, base: Path, *, migrate: bool, with_secrets: bool) -> int:
    """Copies results into the store; first brings its schema up to date where that is wanted."""
    require_driver()
    from wiretrial.team import schema

    url, names = _split(wanted.words)
    chosen = _filter(wanted, names)
    with _store(url) as (database, address):
        if migrate:
            _migrate(database, address)
            if not names and chosen.is_open:
                return EXIT_GOOD
        schema.require(database, address)
        paths = [_local(name, base) for name in names] or _matching(base, chosen)
        if not paths:
            output.emit(f"no such result in {base}", None)
            return EXIT_GOOD
        return _push(database, paths, with_secrets=with_secrets)


def pull(wanted: Wanted, base: Path) -> int:
    """Copies results out of the store."""
    require_driver()
    from wiretrial.team import pulling, schema

    url, names = _split(wanted.words)
    chosen = _filter(wanted, names)
    failed = 0
    with _store(url) as (database, address):
        schema.require(database, address)
        found = _stored(database, chosen, names)
        if not found:
            output.emit("no such result in the store", None)
            return EXIT_GOOD
        with pulling.into(base):
            for one in found:
                try:
                    pulled = pulling.pull(database, one, base)
                except StoreError as error:
                    output.say(f"wiretrial: {error.line()}")
                    failed += 1
                    continue
                came = f"{_size(pulled.files, pulled.size)} pulled" if pulled.files else "is there"
                output.emit(f"{pulled.path}: {came}", None)
    return EXIT_FAILED if failed else EXIT_GOOD


def list_(url: str, format_: Format) -> int:
    """Shows the results of the store with their trials."""
    require_driver()
    from wiretrial.team import schema, stored

    with _store(None if url == ENVIRONMENT else url) as (database, address):
        schema.require(database, address)
        found = stored.results(database, Filter())
        if format_ is Format.JSON:
            document = {
                "schema": "wiretrial-results",
                "version": 1,
                "trials": [asdict(row) for row in stored.rows(database, found)],
                "problems": [],
                "results": [_described(one) for one in found],
            }
            output.emit(output.as_json(document), None)
            return EXIT_GOOD
        verdicts = stored.verdicts(database, found)
    for one in found:
        listed = ", ".join(f"{n} {verdict}" for verdict, n in verdicts[one.sha256].most_common())
        trials = f"{units.plural(one.trials, 'trial')}: {listed}" if listed else "imported figures"
        pushed = f"{one.digest}, pushed by {one.pushed_by}"
        output.emit(f"{one.name}   {one.first_day or '-'}   {trials}   ({pushed})", None)
    if not found:
        output.emit(f"no result in {address.shown}", None)
    return EXIT_GOOD


def _push(database: Database, paths: Sequence[Path], *, with_secrets: bool) -> int:
    from wiretrial.team import manifest, pushing

    failed = 0
    for path in paths:
        try:
            local = manifest.read(path)
            done = pushing.push(database, local, with_secrets=with_secrets)
        except StoreError as error:
            output.say(f"wiretrial: {error.line()}")
            failed += 1
            continue
        came = f"{_size(done.sent, done.sent_bytes)} sent" if done.is_new else "is in the store"
        output.emit(f"{path}: {came} ({manifest.short(local.manifest.sha256)})", None)
    return EXIT_FAILED if failed else EXIT_GOOD


def _migrate(database: Database, address: Address) -> None:
    from wiretrial.team import schema

    steps = schema.migrate(database, address)
    done = "is now" if steps else "was already"
    output.emit(f"{address.shown}: the store {done} of version {schema.version(database)}", None)


@contextmanager
def _store(url: str | None) -> Iterator[tuple[Database, Address]]:
    from wiretrial.team import address, connection

    named = address.named(url, os.environ)
    with connection.connected(named) as database:
        yield database, named


@contextmanager
def ready(url: str | None) -> Iterator[Database]:
    """A connection to the store of that URL, or of the environment, whose schema is ours."""
    from wiretrial.team import schema

    with _store(url) as (database, address):
        schema.require(database, address)
        yield database


def shown(url: str | None) -> str:
    """The store's name without a password. Raises `UsageProblem` where it is none."""
    from wiretrial.team import address

    return address.named(url, os.environ).shown


def _split(words: Sequence[str]) -> tuple[str | None, list[str]]:
    """The URL, where the first word is one, and the names of results."""
    if words and "://" in words[0]:
        return words[0], [*words[1:]]
    return None, [*words]


def _filter(wanted: Wanted, names: Sequence[str]) -> Filter:
    if names and (wanted.since or wanted.study):
        raise UsageProblem(
            "--since and --study choose among all results", "leave them out, or name no result"
        )
    return Filter(None if wanted.since is None else _date(wanted.since), wanted.study)


def _date(text: str) -> date:
    try:
        return date.fromisoformat(text)
    except ValueError as error:
        raise UsageProblem(f"--since {text}: not a date", "write it as 2026-01-31") from error


def _local(name: str, base: Path) -> Path:
    """The result that a word means: a path, or a name in the folder of results."""
    path = Path(name)
    return path if path.exists() or not (base / name).exists() else base / name


def _matching(base: Path, chosen: Filter) -> list[Path]:
    """The results below the folder that a filter lets through."""
    if not base.is_dir():
        raise StoreError(
            f"there is no folder {base}", "measure something first, or name it (--results)"
        )
    every = [*(results.folder for results in folders(base)), *loads(base)]
    if chosen.is_open:
        return every
    index = Index(base)
    for problem in index.problems:
        output.say(problem)
    names = {
        Path(row.path).parts[0]
        for row in index.rows(chosen.study)
        if chosen.since is None or indexed.day(row.started_at) >= chosen.since
    }
    return [path for path in every if path.name in names]


def _stored(database: Database, chosen: Filter, names: Sequence[str]) -> list[Stored]:
    from wiretrial.team import stored

    if not names:
        return stored.results(database, chosen)
    return list(dict.fromkeys(stored.named(database, name) for name in names))


def _described(one: Stored) -> dict[str, str | int | None]:
    return {
        "name": one.name,
        "sha256": one.sha256.hex(),
        "study": one.study,
        "trials": one.trials,
        "bytes": one.size,
        "first_day": one.first_day.isoformat() if one.first_day else None,
        "last_day": one.last_day.isoformat() if one.last_day else None,
        "pushed_at": one.pushed_at.isoformat(),
        "pushed_by": one.pushed_by,
    }


def _size(files: int, size: int) -> str:
    return f"{units.plural(files, 'file')} ({units.octets(size)})"


def require_driver() -> None:
    """Raises `UsageProblem` where psycopg is missing."""
    try:
        import_module("psycopg")
    except ImportError as error:
        # Without its binary part it is there, and finds no libpq.
        raise UsageProblem(
            "a store in PostgreSQL needs psycopg with its libpq, which is not installed",
            "pip install 'wiretrial[store]'",
        ) from error
