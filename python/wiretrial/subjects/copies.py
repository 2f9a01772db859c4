"""Several copies of one unmodified server, each on an address of its own, as one subject.

Knows how to start and end them together; must not know how load is spread over them.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from ipaddress import IPv4Address
from pathlib import Path
from types import TracebackType

from wiretrial.errors import UsageProblem
from wiretrial.machine.namespaces import Namespace
from wiretrial.plan import Congestion
from wiretrial.subjects.build import Build
from wiretrial.subjects.database import Database
from wiretrial.subjects.ports import free_ports
from wiretrial.subjects.process import Server
from wiretrial.subjects.spec import ConfigurationName, ContractName, Protocol, Subject

FIRST_LOOPBACK = IPv4Address("127.0.16.1")
"""Far from 127.0.0.1, where everything else is, and from our own sources."""


class Copies:
    """`count` starts of one subject on the same ports of different addresses.

    A context manager: leaving it ends all. Without `isolation` they are on 127.0.16.1 and those
    after it; with it, on the addresses of the namespace. They share the CPUs that are given, and
    one database or backend, on CPUs of its own where there are any. One alone is where it always
    is, or at `host`. `backend_flags` are what the backend's command has beside its own words.
    """

    def __init__(
        self,
        subject: Subject,
        build: Build,
        configuration: ConfigurationName,
        count: int,
        *,
        engine: Path,
        threads: int = 1,
        cpus: Sequence[int] = (),
        isolation: Namespace | None = None,
        host: str | None = None,
        delay_ms: int = 0,
        congestion: Congestion | None = None,
        behind_cpus: Sequence[int] = (),
        backend_flags: Sequence[str] = (),
    ) -> None:
        hosts = _hosts(count, isolation) if count > 1 else []
        ports = free_ports(hosts, subject.spec.port_names(), isolation) if hosts else None
        self.servers: list[Server] = []
        self.database: Database | None = None
        """Of all copies together; None: the subject needs none."""
        with ExitStack() as started:
            if subject.spec.database:
                on = behind_cpus or cpus
                self.database = started.enter_context(Database(cpus=on, isolation=isolation))
            for place in hosts or (host,):
                server = Server(
                    subject,
                    build,
                    configuration,
                    engine=engine,
                    threads=threads,
                    cpus=cpus,
                    isolation=isolation,
                    host=place,
                    ports=ports,
                    delay_ms=delay_ms,
                    congestion=congestion,
                    database=self.database,
                    backend=self.servers[0].behind if self.servers else None,
                    behind_cpus=behind_cpus,
                    backend_flags=backend_flags,
                )
                self.servers.append(started.enter_context(server))
            self._started = started.pop_all()

    def __enter__(self) -> Copies:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._started.close()

    @property
    def pids(self) -> tuple[int, ...]:
        """What an observer adds up: of each copy, the processes that it is."""
        return tuple(pid for server in self.servers for pid in server.watched)

    @property
    def backend(self) -> Server | None:
        """The one behind all copies; None: there is none."""
        return self.servers[0].backend

    def wait_ready(self, claims: Sequence[tuple[ContractName, Protocol]] | None = None) -> None:
        """Returns when every copy keeps these contracts: None, all of its."""
        for server in self.servers:
            server.wait_ready(claims)

    def ended(self) -> str | None:
        """How the first one that is gone ended, in words; None while all run."""
        for server in self.servers:
            how = server.ended()
            if how:
                return f"{server.host}: {how}" if len(self.servers) > 1 else how
        return None


def _hosts(count: int, isolation: Namespace | None) -> list[str]:
    if isolation is None:
        return [str(FIRST_LOOPBACK + place) for place in range(count)]
    if count > len(isolation.addresses):
        raise UsageProblem(
            f"{count} copies need {count} addresses, the namespace has {len(isolation.addresses)}",
            "make it with as many",
        )
    return list(isolation.addresses[:count])
