"""The front: an nginx before the server, so that a browser can reach it in each way it speaks.

Knows the front's folder and its three ports; must not know what is asked through it. A page may
not ask another origin, nor see how long the parts of a request took, unless the server allows it;
the front does. It costs a fraction of a millisecond, the same for every transport.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from wiretrial.browser.jobs import Http
from wiretrial.errors import UsageProblem
from wiretrial.machine.namespaces import Namespace
from wiretrial.subjects import build, registry, spec
from wiretrial.subjects.build import Build
from wiretrial.subjects.ports import free_ports
from wiretrial.subjects.process import LOOPBACK, Server
from wiretrial.words import HTTP

FOLDER = Path(__file__).parent / "front"
SUBJECT = "nginx"
"""What the front is, by its name in the catalogue."""
PORTS: dict[Http, str] = {"1.1": "port", "1.1 over TLS": "tls_port", "2": "multiplexed_port"}


@dataclass(frozen=True)
class Upstream:
    """Whom the front asks."""

    scheme: str
    """`http` or `https`."""
    host: str
    port: int

    @classmethod
    def of_url(cls, url: str) -> Upstream:
        """A server of the user's own. Raises `UsageProblem` for what is no URL of one."""
        parts = urlsplit(url)
        try:
            port = parts.port
        except ValueError as error:
            raise UsageProblem(f"--target {url}: {error}", "write it as http://host:port") from None
        if parts.scheme not in HTTP or not parts.hostname:
            raise UsageProblem(
                f"--target {url} is not an HTTP URL", "write it as http://host:port/path"
            )
        return cls(parts.scheme, parts.hostname, port or (443 if parts.scheme == "https" else 80))

    @property
    def address(self) -> str:
        """Host and port."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{host}:{self.port}"


def installed(engine: Path) -> Build:
    """The nginx of the catalogue. Raises `SubjectUnavailable` where it can't be had."""
    return build.install(registry.find(SUBJECT), engine)


class Front(Server):
    """One start of the front before `upstream`. A context manager, as every server."""

    def __init__(
        self,
        upstream: Upstream,
        built: Build,
        *,
        engine: Path,
        cpus: Sequence[int] = (),
        isolation: Namespace | None = None,
    ) -> None:
        host = isolation.addresses[0] if isolation else LOOPBACK
        super().__init__(
            spec.load(FOLDER),
            built,
            "default",
            engine=engine,
            cpus=cpus,
            isolation=isolation,
            ports=free_ports([host], list(PORTS.values()), isolation),
            values={
                "scheme": upstream.scheme,
                "upstream": upstream.address,
                "upstream_host": upstream.address,
                "upstream_name": upstream.host,
            },
        )

    def base(self, http: Http) -> str:
        """Scheme, host and port by which a browser speaks that version of HTTP."""
        scheme = "http" if http == "1.1" else "https"
        return f"{scheme}://{self.host}:{self.ports[PORTS[http]]}"
