"""Servers of one's own that `compare` is given: folders, revisions, commands, containers.

Knows what was typed of them; must not know how they are built or compared.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from wiretrial import quantities
from wiretrial.catalogues import SUBJECTS
from wiretrial.cli import output
from wiretrial.documents import first_fault
from wiretrial.errors import UsageProblem
from wiretrial.subjects import containers, own, revisions
from wiretrial.subjects.own import Document, Own, Revision
from wiretrial.subjects.spec import Readiness


@dataclass(frozen=True)
class Typed:
    """The options that are about them."""

    build: tuple[str, ...] = ()
    command: tuple[str, ...] = ()
    at: tuple[str, ...] = ()
    port: str | None = None
    path: str | None = None

    def given(self) -> str | None:
        """One of them that was given."""
        names = ("--build", "--command", "--at", "--port", "--path")
        values = (self.build, self.command, self.at, self.port, self.path)
        return next((name for name, value in zip(names, values, strict=True) if value), None)


@dataclass(frozen=True)
class Side:
    """One contestant. `own`: None: a URL, or a subject."""

    shown: str
    own: Own | None = None
    traffic: Path | None = None
    """The traffic file that its `wiretrial.toml` names."""


def sides(contestants: Sequence[str], typed: Typed) -> list[Side]:
    """What was typed, in order; commands that belong to no folder come last."""
    if typed.at:
        return list(_revisions(contestants, typed))
    folders = [one for one in contestants if _is_own_folder(one, typed)]
    found = []
    for one in contestants:
        if containers.is_meant(one):
            found.append(_container(one, typed))
        elif one in folders:
            found.append(_folder(one, typed))
        else:
            found.append(Side(one))
    if not folders:
        found += [_command(command, typed) for command in typed.command]
    if not any(side.own for side in found) and (option := typed.given()):
        raise UsageProblem(
            f"{option} is for servers of your own", "name a folder, such as ./server, or --command"
        )
    return found


def _is_own_folder(text: str, typed: Typed) -> bool:
    """Whether it is a folder that is no subject, or is told how it is started."""
    path = Path(text)
    is_path = "/" in text or text in (".", "..")
    if containers.is_meant(text) or not is_path or not path.is_dir():
        return False
    return bool(typed.command) or not SUBJECTS.is_one(path)


def _folder(text: str, typed: Typed) -> Side:
    folder = Path(text).resolve()
    document = _document(text, folder, typed)
    revision = revisions.of(folder)
    _tell_state(text, revision)
    return _side(text, folder, document, typed, revision)


def _side(
    shown: str,
    folder: Path,
    document: Document,
    typed: Typed,
    revision: Revision | None,
    *,
    is_checked_out: bool = False,
) -> Side:
    server = Own(
        name=own.called(shown if is_checked_out else folder.name),
        folder=str(folder),
        build=document.build,
        command=document.command,
        port=document.port,
        path=document.path,
        readiness=document.readiness,
        revision=revision,
        is_checked_out=is_checked_out,
    )
    traffic = folder / document.traffic if document.traffic and typed.path is None else None
    return Side(shown, server, traffic)


def _revisions(contestants: Sequence[str], typed: Typed) -> Iterator[Side]:
    """A folder at several revisions; at one, beside the folder as it stands."""
    text = contestants[0] if contestants else "."
    if len(contestants) > 1 or not Path(text).is_dir():
        raise UsageProblem("--at is of one folder of a repository", "write: compare . --at main")
    folder = Path(text).resolve()
    revisions.repository(folder)
    here = revisions.of(folder)
    asked = [(name, revisions.resolved(folder, name)) for name in typed.at]
    if len(asked) == 1 and here and not here.dirty:
        asked.append((text, here))
    _require_different(asked)
    if len(asked) > 1 and here and here.dirty:
        output.say(f"{text} has uncommitted changes, which are in none of these revisions")
    for name, revision in asked:
        if name == text:
            continue
        document = _document_at(text, folder, name, revision, typed)
        yield _side(name, folder, document, typed, revision, is_checked_out=True)
    if len(typed.at) == 1:
        _tell_state(text, here)
        yield _side(text, folder, _document(text, folder, typed), typed, here)


def _require_different(asked: Sequence[tuple[str, Revision]]) -> None:
    names: dict[str, str] = {}
    for name, revision in asked:
        first = names.setdefault(revision.commit, name)
        if first != name or sum(one == name for one, _ in asked) > 1:
            raise UsageProblem(
                f"{first} and {name} are the same commit, {revision.short}",
                "name two that differ; to see the noise, compare a folder with itself",
            )


def _document(text: str, folder: Path, typed: Typed) -> Document:
    """What the folder says, with what was typed in its place."""
    if (folder / own.FILE).is_file():
        return _changed(own.read(folder), typed)
    if not typed.command:
        raise UsageProblem(
            f"{text} has no {own.FILE}", f"write it with {own.EXAMPLE}, or give --command"
        )
    return _changed(None, typed)


def _document_at(text: str, folder: Path, name: str, revision: Revision, typed: Typed) -> Document:
    """The same of a revision; where it says nothing, what the folder says now."""
    content = revisions.content(folder, revision.commit, own.FILE)
    if content is not None:
        return _changed(own.parsed(content, f"{own.FILE} of {name}"), typed)
    document = _document(text, folder, typed)
    if not typed.command:
        output.say(f"{name} has no {own.FILE}: it is built and started as {text} says")
    return document


def _changed(document: Document | None, typed: Typed) -> Document:
    given: dict[str, object] = {} if document is None else document.model_dump()
    if typed.command:
        if len(typed.command) > 1:
            raise UsageProblem(
                "--command was given more than once beside a folder", "give one for all folders"
            )
        given["command"] = typed.command[0]
    if typed.build:
        given["build"] = typed.build
    return _valid(given, typed)


def _valid(given: dict[str, object], typed: Typed) -> Document:
    if typed.port is not None:
        given["port"] = quantities.count(typed.port, "--port", most=65_535)
    if typed.path is not None:
        given["path"] = typed.path
    try:
        return Document.model_validate(given)
    except ValidationError as error:
        fault = first_fault(error, Document)
        raise UsageProblem(f"--{fault.told}", fault.remedy) from error


def _command(command: str, typed: Typed) -> Side:
    """A command by itself, which is run in this folder."""
    document = _valid({"command": command, "build": typed.build}, typed)
    folder = Path.cwd()
    try:
        program = Path(shlex.split(command)[0]).name
    except ValueError as error:
        raise UsageProblem(f"--command {command!r}: {error}", "close its quotes") from error
    side = _side(command, folder, document, typed, revisions.of(folder))
    assert side.own is not None
    return Side(command, side.own.model_copy(update={"name": own.called(program)}))


def _container(text: str, typed: Typed) -> Side:
    container, port = containers.parse(text)
    server = Own(
        name=own.called(Path(container.image).name.partition(":")[0]),
        folder=str(Path.cwd()),
        port=port,
        path=typed.path or "/",
        # It starts later than a program, and its process is no child of ours.
        readiness=Readiness(deadline_s=60, watched=True),
        container=container,
    )
    return Side(text, server)


def _tell_state(text: str, revision: Revision | None) -> None:
    if revision and revision.dirty:
        output.say(f"{text} is at {revision.commit[:10]}, with uncommitted changes")
    elif revision:
        output.say(f"{text} is at {revision.short}")
