"""The PostgreSQL that a server of the contract `web` uses: started for it, filled, ended with it.

Knows Debian's package, initdb, postgres and its settings; must not know what a server asks. The
tables are made once and kept in the cache, packed: each start unpacks them, so that each trial
begins with the same rows on the same pages, and nothing of it is written to a disk in earnest.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import select
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from wiretrial import launch
from wiretrial.closing import Closing, end_program, last_words, told
from wiretrial.errors import SubjectFailed
from wiretrial.machine.namespaces import Namespace
from wiretrial.subjects import runfolder, web_parts
from wiretrial.subjects.build import cache
from wiretrial.subjects.database_parts import PACKAGE, Asked, programs
from wiretrial.subjects.ports import free_ports, release

REMEDY: Final = f"run: apt-get install {PACKAGE}"
HOST: Final = "127.0.0.1"
"""Loopback of the network namespace in which its server runs."""
POOL: Final = 16
"""Connections that a server may have, all its processes and threads together."""
SETTINGS: Final = {
    "max_connections": "100",
    "shared_buffers": "128MB",
    # What is kept is thrown away with the trial: a disk has no part in what is compared.
    "fsync": "off",
    "full_page_writes": "off",
    "synchronous_commit": "off",
    # Whatever it does by itself would fall into one trial and not into another.
    "autovacuum": "off",
    "checkpoint_timeout": "1h",
    "max_wal_size": "4GB",
    "jit": "off",
    "timezone": "UTC",
}
COUNTED: Final = {
    "shared_preload_libraries": "pg_stat_statements",
    "pg_stat_statements.max": "1000",
}
"""Where statements are counted, which costs each of them some microseconds: to verify only."""

SUPERUSER: Final = "postgres"
STARTING_LIMIT_S = 60.0
STOP_LIMIT_S = launch.STOP_GRACE_S + launch.KILL_LIMIT_S + 5.0
READY = "ready to accept connections"
PAUSE_S = 0.02
_PORT = "port"
_RULES = "local all all trust\nhost {name} {name} samehost scram-sha-256\n"


class Database(Closing):
    """One start. A context manager: leaving it ends every process and forgets what was kept.

    `cpus` are those that it may use; none: any. `isolation` is the network namespace of its server.
    `counts`: each statement is counted. Raises `SubjectFailed` where there is no PostgreSQL.
    """

    def __init__(
        self,
        *,
        cpus: Sequence[int] = (),
        isolation: Namespace | None = None,
        counts: bool = False,
    ) -> None:
        packed = _packed(_require())
        self.cpus = tuple(cpus)
        self._run = _Run(packed, cpus, isolation, SETTINGS | (COUNTED if counts else {}))
        self.asked = self._run.asked
        self.pid = self._run.pid
        """Of its first process, from which all others descend."""
        port, name = self.asked.port, web_parts.DATABASE
        self.environment = {
            "DATABASE_URL": f"postgresql://{name}:{name}@{HOST}:{port}/{name}",
            "DATABASE_POOL": str(POOL),
        }
        """What a server finds in its environment."""

    def close(self) -> None:
        """Ends it, at once: what it keeps is thrown away."""
        self._run.close()


def version() -> str:
    """Which PostgreSQL is started, as it says itself."""
    said = _ran([str(_require() / "postgres"), "--version"], Path("/"))
    return said.removeprefix("postgres (PostgreSQL)").strip()


def _require() -> Path:
    found = programs()
    if found is None:
        raise SubjectFailed("there is no PostgreSQL, which this subject's contract needs", REMEDY)
    return found


class _Run(Closing):
    """A server over a folder of data, which is unpacked or, without `packed`, new and empty."""

    def __init__(
        self,
        packed: Path | None,
        cpus: Sequence[int],
        isolation: Namespace | None,
        settings: dict[str, str],
    ) -> None:
        where = _require()
        self.folder = runfolder.make("postgresql")
        self._ports = free_ports([HOST], [_PORT], isolation)
        self._keeper: subprocess.Popen[bytes] | None = None
        self.pid = 0
        try:
            self._kept = _owned(self.folder / "kept")
            self._prepare(where, packed)
            self.asked = Asked(
                psql=where / "psql",
                sockets=self._kept,
                port=self._ports[_PORT],
                user=SUPERUSER,
            )
            self._start(where, cpus, isolation, settings)
        except BaseException:
            self.close()
            raise

    @property
    def data(self) -> Path:
        """Where it keeps everything."""
        return self._kept / "data"

    def close(self) -> None:
        if self._keeper is not None:
            if self.pid and not _has_ended(self._keeper):
                # At once: it need not write down what is thrown away. The id is its own until the
                # keeper ends.
                os.kill(self.pid, signal.SIGQUIT)
                told(self._keeper, STOP_LIMIT_S)
            end_program(self._keeper, STOP_LIMIT_S)
        shutil.rmtree(self.folder, ignore_errors=True)
        release(self._ports.values())

    def _prepare(self, where: Path, packed: Path | None) -> None:
        if packed:
            _ran(["tar", "-xf", str(packed), "-C", str(self._kept)], self.folder)
            return
        initdb = [str(where / "initdb"), "--no-sync", "--auth=trust", "--encoding=UTF8"]
        # Order by code point, whichever locales this machine has.
        initdb += ["--locale=C.UTF-8", f"--username={SUPERUSER}", str(self.data)]
        _ran([*_as_owner(), *initdb], self._kept)
        rules = _RULES.format(name=web_parts.DATABASE)
        (self.data / "pg_hba.conf").write_text(rules, encoding="ascii")

    def _start(
        self,
        where: Path,
        cpus: Sequence[int],
        isolation: Namespace | None,
        settings: dict[str, str],
    ) -> None:
        options = {
            "port": str(self._ports[_PORT]),
            "listen_addresses": HOST,
            "unix_socket_directories": str(self._kept),
            **settings,
        }
        command = [*_as_owner(), str(where / "postgres"), f"-D{self.data}"]
        command += [f"-c{name}={value}" for name, value in options.items()]
        log = self.folder / "output.log"
        with log.open("wb") as sink:
            self._keeper = subprocess.Popen(
                launch.keeper_command_line(
                    command,
                    cpus=cpus,
                    namespace=isolation.file if isolation else None,
                    folder=self.folder,
                ),
                cwd=self._kept,
                env={**os.environ, runfolder.MARK: str(self.folder)},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=sink,
                bufsize=0,
                start_new_session=True,
            )
        self.pid = int(told(self._keeper, STARTING_LIMIT_S) or 0)
        ends = time.monotonic() + STARTING_LIMIT_S
        while READY not in (said := log.read_text(encoding="utf-8", errors="replace")):
            if not self.pid or _has_ended(self._keeper) or time.monotonic() > ends:
                raise SubjectFailed(
                    f"PostgreSQL could not be started ({last_words(said) or 'it says nothing'})",
                    f"run {where / 'postgres'} by hand",
                )
            time.sleep(PAUSE_S)


def _has_ended(keeper: subprocess.Popen[bytes]) -> bool:
    """Whether the keeper has told how its program ended."""
    assert keeper.stdout is not None
    return bool(select.select([keeper.stdout], [], [], 0)[0])


def _packed(where: Path) -> Path:
    """The data of a server with all tables, in one file; made once for each version."""
    schema = web_parts.schema()
    said = hashlib.sha256(f"{version()}\0{where}\0{_as_owner()}\0{schema}".encode()).hexdigest()
    place = cache() / "databases" / f"web-{said[:16]}.tar"
    if place.is_file():
        return place
    place.parent.mkdir(parents=True, exist_ok=True)
    name = web_parts.DATABASE
    settings = {key: value for key, value in SETTINGS.items() if key != "max_wal_size"}
    with _Run(None, (), None, settings | {"max_wal_size": "64MB"}) as run:
        run.asked.ask(
            f"CREATE ROLE {name} LOGIN PASSWORD '{name}';\nCREATE DATABASE {name} OWNER {name};",
            SUPERUSER,
        )
        run.asked.ask("CREATE EXTENSION pg_stat_statements;", name)
        run.asked.model_copy(update={"user": name}).ask(schema, name)
        run.asked.ask("CHECKPOINT;", name)
        _stop(run, where)
        # Two that make it at the same time make the same: whoever is last has it.
        descriptor, made = tempfile.mkstemp(prefix=".web-", dir=place.parent)
        os.close(descriptor)
        try:
            _ran(["tar", "-cf", made, "-C", str(run.data.parent), "data"], run.folder)
            Path(made).replace(place)
        finally:
            with contextlib.suppress(FileNotFoundError):
                Path(made).unlink()
    return place


def _stop(run: _Run, where: Path) -> None:
    """Shuts it down cleanly, so that no start has anything to recover."""
    stop = [str(where / "pg_ctl"), "stop", "-w", "-m", "fast", "-D", str(run.data)]
    _ran([*_as_owner(), *stop], run.data.parent)


def _owned(folder: Path) -> Path:
    """A new folder of the user as whom it runs, closed to all others."""
    folder.mkdir(mode=0o700)
    if os.geteuid() == 0:
        shutil.chown(folder, *_OWNER)
    return folder


_OWNER = ("nobody", "nogroup")


def _as_owner() -> list[str]:
    """The words before a command that make it nobody's where we are root, whom initdb refuses."""
    if os.geteuid() != 0:
        return []
    user, group = _OWNER
    return ["setpriv", f"--reuid={user}", f"--regid={group}", "--clear-groups", "--"]


def _ran(command: Sequence[str], folder: Path) -> str:
    """What the command printed. Raises `SubjectFailed` where it fails."""
    try:
        done = subprocess.run(
            command,
            cwd=folder,
            capture_output=True,
            text=True,
            timeout=STARTING_LIMIT_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise SubjectFailed(f"{command[0]} could not be run: {error}", REMEDY) from error
    if done.returncode:
        said = last_words(done.stderr) or last_words(done.stdout)
        raise SubjectFailed(f"{Path(command[-1]).name}: {said or done.returncode}", REMEDY)
    return done.stdout
