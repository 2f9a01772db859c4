"""What `compare --traffic FILE` puts to each server: the same sessions, at an address of its own.

Knows the file and the options that go with it; must not know how servers are compared.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from wiretrial import redaction, suggest
from wiretrial.cli import traffic_wanted, urls, workload
from wiretrial.cli.options import Asked, Loop
from wiretrial.cli.spoken import require_encrypted, unsaid
from wiretrial.errors import UsageProblem
from wiretrial.plan import Http, Tls
from wiretrial.results.model import Scenario
from wiretrial.studies import sessions
from wiretrial.studies.spec import Case
from wiretrial.subjects import registry
from wiretrial.subjects.own import PLAIN, Own
from wiretrial.subjects.spec import PROTOCOLS_OF, TRAFFIC, ConfigurationName, Protocol
from wiretrial.traffic import loads
from wiretrial.traffic.compiler import compile_at
from wiretrial.traffic.variables import given
from wiretrial.words import HTTP

TALKED = tuple(protocol for protocol in PROTOCOLS_OF[TRAFFIC] if protocol not in HTTP)
"""What conversations go over."""


@dataclass(frozen=True)
class Played:
    """A traffic file with the options of one comparison."""

    path: Path
    variables: Sequence[str]
    loop: Loop
    asked: Asked
    connections: str
    """What -c is where it is not given."""
    is_timed: bool
    """Whether the command line says how long; otherwise stages do where there are any."""

    def require(self) -> tuple[Protocol, ...]:
        """What its sessions go over, the plain one first.

        Raises for options that are at odds with the file, and for what is wrong in it.
        """
        traffic_wanted.require_sessions(self.path, self.loop, self.asked)
        scenario = compile_at(self.path, given(self.variables), None, learns=self.asked.learns)
        return sessions.protocols(scenario)

    def of_url(self, name: str, url: str, tls: Tls, over: Sequence[Protocol]) -> Case:
        """The file's sessions at a server of the user's own, over one of these or their like."""
        target = urls.parse(url, HTTP if over[0] in HTTP else TALKED)
        host = f"[{target.host}]" if ":" in target.host else target.host
        own = {"url": f"{target.protocol}://{host}:{target.port}/", "tls": tls}
        case = self._case(name, redaction.text(url), "default", target.protocol, url)
        return case.model_copy(update=own)

    def of_subject(
        self, name: str, subject: str, configuration: ConfigurationName, protocol: Protocol
    ) -> Case:
        """The same at a server that is started here."""
        case = self._case(name, subject, configuration, protocol, None)
        return case.model_copy(update={"contract": TRAFFIC, "path": "/"})

    def of_own(self, name: str, subject: str, own: Own, over: Sequence[Protocol]) -> Case:
        """The same at a server of the user's own that is started here."""
        protocol = plain(self.path, over)
        case = self._case(name, subject, "default", protocol, None)
        spoken_here = own.model_copy(update={"protocol": protocol})
        return case.model_copy(update={"contract": TRAFFIC, "path": "/", "own": spoken_here})

    def _case(
        self,
        name: str,
        subject: str,
        configuration: ConfigurationName,
        protocol: Protocol,
        base: str | None,
    ) -> Case:
        scenario = compile_at(self.path, given(self.variables), base)
        instead = traffic_wanted.instead(self.loop, self.asked, self.connections)
        sending = loads.sending(scenario, instead, seed=self.loop.seed)
        require_encrypted(sending.http, protocol)
        title = f"{self.path.name}, {sessions.words(sending)}"
        own = workload.http_of(protocol, unsaid(self.asked)).headers
        return Case(
            scenario=Scenario(
                name=name,
                group=title,
                subject=subject,
                configuration=configuration,
                protocol=protocol,
                workload=title,
                ranked_by=sessions.ranked_by(sending),
                file=str(self.path),
                goals=scenario.goals,
            ),
            protocol=protocol,
            http=Http(version=sending.http, headers=(*scenario.headers, *own)),
            traffic=sending.traffic,
            load=sending.load,
            duration_ns=None if self.is_timed else sending.stages_ns,
        )


def plain(path: Path, over: Sequence[Protocol]) -> Protocol:
    """What a file's sessions go over to a server of the user's own that is started here."""
    protocol = next((one for one in over if one in PLAIN), None)
    if protocol is None:
        raise UsageProblem(
            f"{path} goes over {' and '.join(over)}, and a server of your own is asked over"
            f" {', '.join(PLAIN)}",
            "change `base` in the file, or start the server yourself and name its URL",
        )
    return protocol


def spoken(
    subjects: Sequence[str], wanted: str | None, over: Sequence[Protocol]
) -> Protocol | None:
    """What all the subjects speak of what the sessions go over; `wanted`: that and no other."""
    if not subjects:
        return None
    if wanted is not None and wanted not in over:
        raise UsageProblem(
            f"--protocol {wanted}: traffic goes over {' and '.join(over)}",
            suggest.remedy(wanted, over, "leave it out"),
        )
    speak = [registry.find(subject).spec.speaks for subject in subjects]
    for protocol in over:
        if wanted in (None, protocol) and all(protocol in one for one in speak):
            return protocol
    raise UsageProblem(
        f"{' and '.join(dict.fromkeys(subjects))} do not all speak {wanted or over[0]}",
        "see `wiretrial subject list` for what each speaks",
    )
