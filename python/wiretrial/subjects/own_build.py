"""Builds a server of one's own: a folder where it lies, a revision once and for all.

Knows shells, logs and the cache; must not know what is measured. A revision is built in a tree of
its own, which is kept by its commit; a build that was interrupted is never taken for a whole one.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import shlex
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from wiretrial import launch
from wiretrial.closing import end_program, told
from wiretrial.engine import Engine
from wiretrial.errors import SubjectFailed, SubjectUnavailable, UsageProblem
from wiretrial.subjects import containers, own, revisions
from wiretrial.subjects.build import Build, cache
from wiretrial.subjects.footprint import Weight
from wiretrial.subjects.own import Own
from wiretrial.subjects.process import Server
from wiretrial.subjects.spec import Subject

REVISIONS, TREE, LOCK = "revisions", "tree", "lock"
"""In the cache: a folder for each revision that was built, with its files and what locks them."""
LAST_LINES = 8
"""Of a build that failed."""
START_LIMIT_S = 30.0
END_LIMIT_S = launch.STOP_GRACE_S + launch.KILL_LIMIT_S + 5.0
STEP_LIMIT_S = 1800.0
"""No line of a build may take longer."""
_WEIGHTLESS = Weight(
    dependencies=None,
    dependency_bytes=None,
    artefact_bytes=None,
    stripped_bytes=None,
    build_wall_ns=None,
    build_cpu_ns=None,
    service_lines=None,
)

Tell = Callable[[str], None]


class BuildFailed(SubjectUnavailable):
    """A build that ended with an error; `last` are the last lines that it printed."""

    def __init__(self, message: str, remedy: str, last: Sequence[str]) -> None:
        super().__init__(message, remedy)
        self.last = tuple(last)

    def told(self) -> str:
        """The last lines of the build, then the error itself."""
        return "\n".join(("the last lines of the build:", *self.last, self.line()))


@dataclass(frozen=True)
class Built:
    """A server that can be started."""

    subject: Subject
    build: Build


_BUILT: dict[Own, Built] = {}
"""A folder is built once in the life of a process: all trials measure the same."""


def built(server: Own, tell: Tell | None = None) -> Built:
    """The server, built now where it was not yet. `tell` is handed a line for each step."""
    found = _BUILT.get(server)
    if found is None:
        found = _BUILT[server] = _made(server, tell or (lambda _: None))
    return found


def require_start(server: Own, engine: Engine, tell: Tell | None = None) -> None:
    """Builds it and starts it once, so that what is wrong with it is told before any trial."""
    found = built(server, tell)
    try:
        with Server(found.subject, found.build, "default", engine=engine.binary) as started:
            started.wait_ready(())
    except SubjectFailed as error:
        raise SubjectFailed(error.message, error.remedy or by_hand(server)) from error


def by_hand(server: Own) -> str:
    """How a person sees why it does not start."""
    if server.container:
        return f"see what {server.container.image} prints when it is run by hand"
    return f"run it by hand in {server.folder}: {server.command}"


def _made(server: Own, tell: Tell) -> Built:
    if server.container:
        return _of(server, Path(server.folder), containers.command(server.container))
    if server.is_checked_out:
        return _of(server, _revision(server, tell))
    folder = Path(server.folder)
    now = revisions.of(folder)
    if now and server.revision and now.commit != server.revision.commit:
        raise UsageProblem(
            f"{folder} is at {now.short}, and these trials began at {server.revision.short}",
            "check that out again, or begin a new comparison",
        )
    _run(server, folder, tell)
    return _of(server, folder)


def _of(server: Own, folder: Path, command: tuple[str, ...] | None = None) -> Built:
    build = Build(
        folder=folder,
        digest=hashlib.sha256(server.model_dump_json().encode()).hexdigest(),
        version=server.version,
        prefix="",
        packages={},
        built_at=time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        steps=(),
        weight=_WEIGHTLESS,
    )
    return Built(own.subject_of(server, folder, command), build)


def _revision(server: Own, tell: Tell) -> Path:
    """The folder within the revision's tree, which is built if the cache has none."""
    assert server.revision is not None
    repository = revisions.repository(Path(server.folder))
    decisive = [str(repository.top), str(repository.within), *server.build]
    mark = hashlib.sha256(json.dumps(decisive).encode()).hexdigest()[:8]
    commit = server.revision.commit
    place = cache() / REVISIONS / f"{repository.top.name}-{commit[:12]}-{mark}"
    tree, whole = place / TREE, place / "whole"
    folder = tree / repository.within
    _sweep()
    place.mkdir(parents=True, exist_ok=True)
    with _alone(place / LOCK):
        if whole.exists() and folder.is_dir():
            tell(f"{server.name}: {server.revision.short} is built already")
        else:
            with revisions.checked_out(repository.top, commit, tree):
                if not folder.is_dir():
                    raise UsageProblem(
                        f"{server.name}: {server.revision.short} has no {repository.within}",
                        "name a folder that both revisions have",
                    )
                _run(server, folder, tell)
            whole.touch()
    return folder


def _sweep() -> None:
    """Has repositories forget the worktrees of builds that were killed."""
    for mark in (cache() / REVISIONS).glob(f"*/{TREE}/.git"):
        tree = mark.parent
        with contextlib.suppress(BlockingIOError), _alone(tree.parent / LOCK, waits=False):
            revisions.forget(tree)


def _run(server: Own, folder: Path, tell: Tell) -> None:
    """Each line of the build, in the folder; what they print goes to a log."""
    if not server.build:
        return
    log = _log_file(server)
    log.parent.mkdir(parents=True, exist_ok=True)
    log.unlink(missing_ok=True)
    for line in server.build:
        tell(f"{server.name}: {line}")
        with log.open("ab") as output:
            output.write(f"$ {line}\n".encode())
            output.flush()
            how = _step(line, folder, output.fileno())
        if how == "exited 0":
            continue
        what, _, number = how.partition(" ")
        ended = {"exited": f"ended with {number}", "killed": f"was ended by signal {number}"}
        raise BuildFailed(
            f"{server.name}: `{line}` {ended.get(what, how)}",
            f"make it work in {shlex.quote(str(server.folder))}; all that it printed: {log}",
            log.read_text(encoding="utf-8", errors="replace").splitlines()[-LAST_LINES:],
        )


def _step(line: str, folder: Path, output: int) -> str:
    """Runs one line of a shell to its end. `exited N`, `killed N`, or that it took too long."""
    # The keeper ends all that the line has begun, also where we are ended meanwhile.
    keeper = subprocess.Popen(
        launch.keeper_command_line(["sh", "-c", line]),
        cwd=folder,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=output,
        bufsize=0,
        start_new_session=True,
    )
    try:
        if not told(keeper, START_LIMIT_S):
            return "could not be started"
        return told(keeper, STEP_LIMIT_S) or f"took more than {STEP_LIMIT_S:g} s"
    finally:
        end_program(keeper, END_LIMIT_S)


def _log_file(server: Own) -> Path:
    mark = hashlib.sha256(f"{server.folder} {server.version}".encode()).hexdigest()[:8]
    return cache() / "logs" / f"build-{server.name}-{mark}.log"


@contextmanager
def _alone(lock: Path, *, waits: bool = True) -> Iterator[None]:
    """Two comparisons that want the same revision build it once."""
    with lock.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX if waits else fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
