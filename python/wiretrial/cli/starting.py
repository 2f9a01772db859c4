"""A server that a search starts for itself: a folder, a command, a container, or a subject.

Knows what was typed, and the CPUs of each instance; must not know how a rate is searched for.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from wiretrial import quantities
from wiretrial.catalogues import SUBJECTS
from wiretrial.cli import comparing_own, comparing_traffic, output, urls, workload
from wiretrial.cli.comparing_own import Side
from wiretrial.cli.loading import Typed
from wiretrial.engine import Engine
from wiretrial.errors import SubjectFailed, UsageProblem
from wiretrial.machine import pinning
from wiretrial.machine.pinning import Dealt
from wiretrial.studies import sessions
from wiretrial.studies.contracts import COMPARED, PATHS
from wiretrial.subjects import build, containers, own_build, registry
from wiretrial.subjects.build import Build
from wiretrial.subjects.own import PLAIN
from wiretrial.subjects.process import Server
from wiretrial.subjects.spec import ConfigurationName, Protocol, Subject
from wiretrial.traffic.compiler import compile_at, is_traffic
from wiretrial.traffic.variables import given

Own = comparing_own.Typed
"""How a server is started, as it was typed."""
Tell = Callable[[str], None]
NO_OWN = Own()
"""Nothing is said of a server that is to be started."""


@dataclass(frozen=True)
class Startable:
    """A server that was built, and how it is asked."""

    name: str
    subject: Subject
    build: Build
    configuration: ConfigurationName
    protocol: Protocol
    path: str
    by_hand: str = ""
    """What to try where it does not start."""


@dataclass(frozen=True)
class Meant:
    """What was typed. `traffic`: a file of sessions, in place of requests for a path."""

    shown: str
    make: Callable[[Tell], Startable]
    """Builds it, where it is not built yet, and tells the steps."""
    port: int | None = None
    """The only one on which it listens; None: it is told one."""
    traffic: Path | None = None


class Instances:
    """Instances of one server that run."""

    def __init__(self, what: Meant, typed: Typed, cpus: Dealt | None) -> None:
        self.shared_cpus = None if cpus else len(os.sched_getaffinity(0))
        """On so many all run, and the load generator beside them; None: each has its own."""
        self.shown = what.shown
        self._what = what
        self._cpus = cpus
        self._typed = typed
        self._started = ExitStack()
        self._servers: list[Server] = []
        self._of: Startable | None = None

    def close(self) -> None:
        """Ends all."""
        self._started.close()

    def start(self) -> None:
        """Starts one more. Raises `SubjectFailed` where it does not come up."""
        self._of = self._of or self._what.make(output.say)
        one, place = self._of, len(self._servers)
        cpus = self._cpus.instances[place] if self._cpus else ()
        spec = one.subject.spec
        threads = max(len(cpus), spec.least_threads)
        first = self._servers[0] if self._servers else None
        try:
            server = self._started.enter_context(
                Server(
                    one.subject,
                    one.build,
                    one.configuration,
                    engine=Engine.find().binary,
                    threads=min(threads, spec.max_threads or threads),
                    cpus=cpus,
                    # What all instances of an application ask is one.
                    database=first.database if first else None,
                )
            )
            server.wait_ready(())
        except SubjectFailed as error:
            raise SubjectFailed(error.message, error.remedy or one.by_hand) from error
        self._servers.append(server)

    @property
    def typed(self) -> Typed:
        """What was typed, aimed at what runs."""
        one, server = self._of, self._servers[0]
        assert one is not None
        endpoint = server.endpoint(one.protocol)
        typed, traffic = self._typed, self._what.traffic
        if traffic is None:
            typed = replace(typed, url=endpoint.url(one.path))
        else:
            variables = (*typed.further.variables, f"base={endpoint.url()}")
            further = replace(typed.further, variables=variables)
            typed = replace(typed, url=str(traffic), further=further)
        if self._cpus and typed.generator.cpus is None:
            cpus = ",".join(map(str, self._cpus.generator))
            typed = replace(typed, generator=replace(typed.generator, cpus=cpus))
        # Who names one part of an application sees no other that has no name.
        if typed.servers:
            typed = replace(typed, servers=(*self._named(one.name), *typed.servers))
        return typed

    @property
    def addresses(self) -> tuple[str, ...]:
        """Where all of them answer, as `IP:PORT`."""
        assert self._of is not None
        found = [server.endpoint(self._of.protocol) for server in self._servers]
        return tuple(f"{one.host}:{one.port}" for one in found)

    def _named(self, name: str) -> Iterator[str]:
        for place, server in enumerate(self._servers, 1):
            called = name if place == 1 else f"{name} {place}"
            yield f"{called}=pid:{server.watched[0]}"


def meant(typed: Typed, own: Own) -> Meant | None:
    """What is to be started; None: what was typed is sent to a server that runs."""
    text, option = typed.url, own.given()
    traffic = Path(text) if is_traffic(text) else None
    named = text if text and traffic is None else None
    if named is None:
        if option is None:
            return None
    elif not containers.is_meant(named) and urls.is_meant(named, workload.LOADED):
        if option:
            raise UsageProblem(
                f"{option} with {named}: the one is started here, the other runs already",
                "leave one of them out",
            )
        return None
    elif _is_subject(named) and not own.command:
        return _of_subject(named, option)
    elif not (containers.is_meant(named) or _is_folder(named)):
        if option:
            raise UsageProblem(
                f"{named} is neither a folder nor a traffic file", "name one, such as ./server"
            )
        return None
    side, *others = comparing_own.sides([named] if named else [], own)
    if others:
        raise UsageProblem(f"{named} and --command are two servers", "leave one of them out")
    if traffic is not None and own.path is not None:
        raise UsageProblem(f"--path and {traffic} exclude each other", "keep one")
    return _of_own(side, traffic or side.traffic, typed)


@contextmanager
def running(what: Meant, typed: Typed, cpus: Dealt | None) -> Iterator[Instances]:
    """The first instance, ready; further ones are started later. All end with the context."""
    instances = Instances(what, typed, cpus)
    try:
        instances.start()
        yield instances
    finally:
        instances.close()


def dealt(typed: Typed, many: int) -> Dealt | None:
    """CPUs for so many instances beside the load generator; None: there are too few."""
    threads = quantities.count(typed.generator.threads, "--threads", most=1024)
    text = typed.generator.cpus
    chosen = () if text is None else quantities.cpus(text, "--cpus")
    return pinning.deal(many, threads, chosen)


def _is_folder(text: str) -> bool:
    return ("/" in text or text in (".", "..")) and Path(text).is_dir()


def _is_subject(text: str) -> bool:
    """Whether it names a subject of the catalogue, or a folder that is one."""
    name = text.partition(":")[0]
    if "/" in name or name in (".", ".."):
        return SUBJECTS.is_one(Path(name))
    root = SUBJECTS.root()
    return root is not None and SUBJECTS.is_one(root / name)


def _of_subject(text: str, option: str | None) -> Meant:
    if option:
        raise UsageProblem(
            f"{option} is for servers of your own", "name a folder, such as ./server, or --command"
        )
    name, _, configuration = text.partition(":")
    subject, chosen = registry.find(name), configuration or "default"
    if subject.spec.kind != "server":
        raise UsageProblem(f"{name} is a client library, not a server", "name a server")
    subject.configuration(chosen)
    asked = [
        (contract, protocol)
        for contract, protocol in subject.spec.claims()
        if contract in COMPARED and protocol in PLAIN
    ]
    if not asked:
        raise UsageProblem(
            f"{name} keeps no contract of one message over {', '.join(PLAIN)}",
            f"start it (wiretrial subject run {name}), and name its URL or a traffic file",
        )
    contract, protocol = asked[0]

    def make(tell: Tell) -> Startable:
        built = build.install(subject, Engine.find().binary, tell)
        return Startable(name, subject, built, chosen, protocol, PATHS[contract])

    return Meant(text, make, subject.spec.port)


def _of_own(side: Side, traffic: Path | None, typed: Typed) -> Meant:
    server = side.own
    assert server is not None
    if traffic is not None:
        variables, learns = given(typed.further.variables), typed.asked.learns
        over = sessions.protocols(compile_at(traffic, variables, None, learns=learns))
        plain = comparing_traffic.plain(traffic, over)
        server = server.model_copy(update={"protocol": plain})
    wanted = server

    def make(tell: Tell) -> Startable:
        found = own_build.built(wanted, tell)
        by_hand = own_build.by_hand(wanted)
        subject, protocol, path = found.subject, wanted.protocol, wanted.path
        return Startable(wanted.name, subject, found.build, "default", protocol, path, by_hand)

    return Meant(side.shown, make, server.port, traffic)
