"""A running subject: started in a session of its own, pinned, kept, ended by process id.

Knows processes, ports and run folders; must not know what is measured. Readiness is the port's
answer and the contract's, never a pause. A keeper beside the subject ends all of it when we are
gone, however that came about.
"""

from __future__ import annotations

import http.client
import os
import select
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from wiretrial import launch
from wiretrial.closing import Closing, end_program, last_words, told
from wiretrial.errors import SubjectFailed, UsageProblem
from wiretrial.machine import facts
from wiretrial.machine.namespaces import Namespace
from wiretrial.plan import Congestion
from wiretrial.subjects import certificates, quic_versions, registry, runfolder
from wiretrial.subjects.build import Build, install
from wiretrial.subjects.contracts import probe
from wiretrial.subjects.database import Database
from wiretrial.subjects.endpoint import Endpoint, connected
from wiretrial.subjects.ports import claim, free_ports, release
from wiretrial.subjects.spec import (
    PORT_OF,
    QUIC_PORT,
    TRAFFIC,
    WATCHED,
    ConfigurationName,
    ContractName,
    Protocol,
    Subject,
    fill,
)

LOOPBACK = "127.0.0.1"
STOP_LIMIT_S = launch.STOP_GRACE_S + launch.KILL_LIMIT_S + 5.0
"""The keeper needs less, unless it was ended itself."""
KEEPER_LIMIT_S = 30.0
"""How long a keeper may take to start; one that ended is seen at once."""
READY_PAUSE_S = 0.01
KNOCK_S = 1.0
"""How long a port is asked at a time."""


class Server(Closing):
    """One start of one subject. A context manager: leaving it ends every process.

    `isolation` is a network namespace to run it in, over loopback without. `host` is the address
    that it gets: the first of the namespace, or 127.0.0.1. `ports` are free ones by default.
    `congestion` is told to a server that can be told.
    `values` are what its files and its command name beside what every subject may. A server that
    needs a database, or stands before a backend, has its own, unless it is given one; `behind_cpus`
    are where that runs, by default the server's. `backend_flags` are what the command of a
    backend of its own has beside its own words.
    """

    def __init__(
        self,
        subject: Subject,
        build: Build,
        configuration: ConfigurationName,
        *,
        engine: Path,
        threads: int = 1,
        cpus: Sequence[int] = (),
        isolation: Namespace | None = None,
        host: str | None = None,
        ports: Mapping[str, int] | None = None,
        delay_ms: int = 0,
        congestion: Congestion | None = None,
        values: Mapping[str, str] | None = None,
        database: Database | None = None,
        counts_statements: bool = False,
        backend: Endpoint | None = None,
        behind_cpus: Sequence[int] = (),
        backend_flags: Sequence[str] = (),
    ) -> None:
        most = subject.spec.max_threads
        if most is not None and threads > most:
            raise UsageProblem(
                f"{subject.spec.name} uses {most} thread{'s' if most > 1 else ''} at most, not"
                f" {threads}",
                "compare it with others at that number",
            )
        chosen = subject.configuration(configuration)
        self.subject = subject
        self.threads = threads
        self.cpus = tuple(cpus)
        self.delay_ms = delay_ms
        self.isolation = isolation
        self.host = host or (isolation.addresses[0] if isolation else LOOPBACK)
        self.ports = dict(ports or _ports(subject, self.host, isolation))
        self.folder = runfolder.make(subject.spec.name)
        self.backend: Server | None = None
        """The server behind it that was started for it; None: there is none, or it was given."""
        self._own_database: Database | None = None
        with self._or_nothing():
            self.certificate = certificates.make(self.folder, self.host)
        if subject.spec.backend and backend is None:
            with self._or_nothing():
                self.backend = _started(
                    subject.spec.backend,
                    backend_flags,
                    engine=engine,
                    threads=threads,
                    cpus=behind_cpus or cpus,
                    isolation=isolation,
                    host=self.host,
                )
            backend = self.backend.endpoint("http")
        self.behind = backend
        """Where it hands requests on to; None: it answers them itself."""
        self.congestion = congestion if chosen.congestion else None
        """What it is told to have; None: nothing, or it can't be told."""
        filled = {
            "host": self.host,
            "threads": str(threads),
            "cpus": ",".join(str(cpu) for cpu in cpus),
            "delay_ms": str(delay_ms),
            **({"congestion": self.congestion} if self.congestion else {}),
            "cert": str(self.certificate.chain),
            "key": str(self.certificate.key),
            "source": str(subject.folder),
            "build": str(build.folder),
            "prefix": build.prefix,
            "run": str(self.folder),
            "engine": str(engine),
            **{name: str(port) for name, port in self.ports.items()},
            **(_named(backend) if backend else {}),
            **(values or {}),
        }
        with self._or_nothing():
            for name, source in chosen.files.items():
                text = (subject.folder / source).read_text(encoding="utf-8")
                (self.folder / name).write_text(fill(text, filled), encoding="utf-8")
        words = (*chosen.command, *(chosen.congestion if self.congestion else ()))
        self.command = tuple(fill(word, filled) for word in words)
        if subject.spec.database and database is None:
            with self._or_nothing():
                database = self._own_database = Database(
                    cpus=behind_cpus or cpus, isolation=isolation, counts=counts_statements
                )
        self.database = database
        """What it keeps its data in; None: it needs none."""
        self._oom_kills = facts.oom_kills()
        self._log = (self.folder / "output.log").open("w+b")
        self._keeper = subprocess.Popen(
            launch.keeper_command_line(
                self.command,
                cpus=cpus,
                namespace=isolation.file if isolation else None,
                folder=self.folder,
                timed=True,
            ),
            cwd=self.folder,
            env={
                **os.environ,
                **(database.environment if database else {}),
                runfolder.MARK: str(self.folder),
            },
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            # Two lines come, and the first must not take the second into a buffer.
            bufsize=0,
            start_new_session=True,
        )
        try:
            first = told(self._keeper, KEEPER_LIMIT_S) or ""
        except BaseException:
            # A signal: nobody has this server yet who would close it.
            self._forget()
            raise
        number, _, begun = first.partition(" ")
        self.pid = int(number or 0)
        """Process id of the subject's first process; its children are in the same group."""
        self.begun_ns = int(begun or 0)
        """The instant just before that was forked, on our monotonic clock."""
        if not self.pid:
            self._keeper.kill()
            self._forget()
            raise SubjectFailed(f"{subject.spec.name} could not be started: its keeper ended")
        # The keeper leaves it unreaped: the id is the subject's until `close`.
        self.pidfd = os.pidfd_open(self.pid)
        """Becomes readable when the subject's first process ends."""
        self._end: str | None = None

    def endpoint(self, protocol: Protocol) -> Endpoint:
        """Where the subject speaks `protocol`."""
        return Endpoint(
            protocol=protocol,
            host=self.host,
            port=self.ports[PORT_OF[protocol]],
            authority=self.certificate.authority,
            threads=self.threads,
            delay_ms=self.delay_ms,
            database=self.database.asked if self.database else None,
        )

    @property
    def watched(self) -> tuple[int, ...]:
        """The processes whose CPU and memory are its own, with all that descends from them."""
        if not self.subject.spec.readiness.watched:
            return (self.pid,)
        told = (self.folder / WATCHED).read_text(encoding="ascii").split()
        if not told or not all(Path("/proc", pid).is_dir() for pid in told):
            raise SubjectFailed(
                f"{self.subject.spec.name}: the processes to watch are gone ({' '.join(told)})",
                "see what it prints when it is run by hand",
            )
        return tuple(map(int, told))

    def wait_ready(self, claims: Sequence[tuple[ContractName, Protocol]] | None = None) -> None:
        """Returns when every port answers, and on it the contracts that are wanted: None, all."""
        self.wait_ports()
        self._wait_answer()
        for contract, protocol in self.subject.spec.claims() if claims is None else claims:
            # The engine rehearses traffic before it sends any.
            if contract != TRAFFIC:
                probe(self.endpoint(protocol), contract)

    def wait_ports(self) -> None:
        """Returns when every port of the subject accepts a connection, or answers QUIC."""
        deadline = time.monotonic() + self.subject.spec.readiness.deadline_s
        for name, port in self.ports.items():
            self._wait_port(name, port, deadline)

    def ended(self) -> str | None:
        """How the subject, or what was started behind it, ended, in words; None while both run."""
        if self._end is None and select.select([self.pidfd], [], [], 0)[0]:
            self._end = self._how_it_ended()
        if self._end is None and self.backend and (how := self.backend.ended()):
            return f"its backend ended: {how}"
        return self._end

    def last_words(self) -> str:
        """The last line that the subject wrote."""
        self._log.flush()
        return last_words((self.folder / "output.log").read_text(errors="replace"))

    def close(self) -> None:
        """Ends the subject with all that it has begun, and forgets the run folder."""
        os.close(self.pidfd)
        self._forget()

    def _forget(self) -> None:
        end_program(self._keeper, STOP_LIMIT_S)
        self._log.close()
        self._forget_what_is_behind()

    def _forget_what_is_behind(self) -> None:
        """Ends what was started for the subject, and gives up its folder and its ports."""
        if self._own_database:
            self._own_database.close()
        if self.backend:
            self.backend.close()
        shutil.rmtree(self.folder, ignore_errors=True)
        release(self.ports.values())

    @contextmanager
    def _or_nothing(self) -> Iterator[None]:
        """Leaves nothing where the subject can't be started for want of what it needs."""
        try:
            yield
        except BaseException:
            self._forget_what_is_behind()
            raise

    def _how_it_ended(self) -> str:
        what, _, number = (told(self._keeper, KEEPER_LIMIT_S) or "").partition(" ")
        if what == "killed":
            how = f"signal {signal.Signals(int(number)).name}"
            if int(number) == signal.SIGKILL and facts.oom_kills() != self._oom_kills:
                how += ", and the kernel was out of memory"
        elif what == "exited":
            how = f"exit status {number}"
        else:
            how = "how is not known, its keeper ended too"
        last = self.last_words()
        return f"{how} ({last})" if last else how

    def _wait_answer(self) -> None:
        """Returns when it answers what `[readiness]` asks, and has told what to watch."""
        wanted = self.subject.spec.readiness
        deadline = time.monotonic() + wanted.deadline_s
        while wanted.path and not (last := self._answers(wanted.path)).startswith("2"):
            self._require_time(deadline, f"answers GET {wanted.path} with {last}")
        while wanted.watched and not (self.folder / WATCHED).is_file():
            self._require_time(deadline, "does not tell which processes to watch")

    def _answers(self, path: str) -> str:
        """The status of its reply to a GET, or why there is none."""
        connection = http.client.HTTPConnection(self.host, self.ports["port"], timeout=1.0)
        try:
            connection.request("GET", path)
            return str(connection.getresponse().status)
        except (OSError, http.client.HTTPException) as error:
            return f"no reply ({str(error) or type(error).__name__})"
        finally:
            connection.close()

    def _require_time(self, deadline: float, what: str) -> None:
        """Waits a little; raises where the server has ended, or had its time."""
        if how := self.ended():
            raise SubjectFailed(f"{self.subject.spec.name} ended at its start: {how}")
        if time.monotonic() >= deadline:
            limit = self.subject.spec.readiness.deadline_s
            raise SubjectFailed(
                f"{self.subject.spec.name} {what} after {limit:g} s",
                "raise [readiness] deadline_s, or run it by hand",
            )
        time.sleep(READY_PAUSE_S)

    def _wait_port(self, name: str, port: int, deadline: float) -> None:
        while True:
            how = self.ended()
            if how:
                raise SubjectFailed(f"{self.subject.spec.name} ended at its start: {how}")
            try:
                if name == QUIC_PORT:
                    quic_versions.ask(self.host, port, KNOCK_S)
                else:
                    connected(self.host, port, KNOCK_S).close()
                return
            except OSError as error:
                if time.monotonic() >= deadline:
                    limit = self.subject.spec.readiness.deadline_s
                    last = self.last_words()
                    raise SubjectFailed(
                        f"{self.subject.spec.name} does not answer on {self.host}:{port} after"
                        f" {limit:g} s{f' (its last line: {last})' if last else ''}",
                        "raise [readiness] deadline_s, or run it by hand",
                    ) from error
            time.sleep(READY_PAUSE_S)


def _started(
    name: str,
    flags: Sequence[str],
    *,
    engine: Path,
    threads: int,
    cpus: Sequence[int],
    isolation: Namespace | None,
    host: str,
) -> Server:
    """The backend of that name, which listens: a proxy may look for it as it starts."""
    found = registry.find(name)
    backend = Server(
        found.with_flags(flags),
        install(found, engine),
        "default",
        engine=engine,
        threads=threads,
        cpus=cpus,
        isolation=isolation,
        host=host,
    )
    try:
        backend.wait_ports()
    except BaseException:
        backend.close()
        raise
    return backend


def _named(backend: Endpoint) -> dict[str, str]:
    """What files and commands call it."""
    return {"backend_host": backend.host, "backend_port": str(backend.port)}


def _ports(subject: Subject, host: str, isolation: Namespace | None) -> dict[str, int]:
    """A port for each placeholder: the subject's own one, or a free one."""
    names, own = subject.spec.port_names(), subject.spec.port
    if own is None:
        return free_ports([host], names, isolation)
    if isolation is None:
        claim(own, host, subject.spec.name)
    others = [name for name in names if name != "port"]
    return {"port": own, **free_ports([host], others, isolation)}
