"""Who may talk to a fleet: the certificates of its three roles, and where they are asked for.

Knows addresses and files; must not know what a fleet does. Whoever may talk to the
scheduler may run code on every agent, so that beyond one machine both sides must show a
certificate. Nothing of it is ever added to a trust store.
"""

from __future__ import annotations

import ipaddress
import os
import socket
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from wiretrial.errors import UsageProblem

ROLES = ("scheduler", "agent", "client")
AUTHORITY = "authority.pem"
PLAIN, SECURE = "tcp", "tls"
DEFAULT_PORT = 8786


@dataclass(frozen=True)
class Certificates:
    """A folder that `authority.make` wrote, or a part of it for one role."""

    folder: Path

    @property
    def authority(self) -> Path:
        """Whom everybody trusts."""
        return self.folder / AUTHORITY

    def chain(self, role: str) -> Path:
        """What the role shows."""
        return self.folder / f"{role}.pem"

    def key(self, role: str) -> Path:
        """What it proves that with."""
        return self.folder / f"{role}.key"

    def require(self, role: str) -> None:
        """Raises `UsageProblem` where the role's files can't be read."""
        for path in (self.authority, self.chain(role), self.key(role)):
            if not os.access(path, os.R_OK):
                raise UsageProblem(
                    f"{path} can't be read",
                    f"make it with `wiretrial fleet certificates DIR`, and bring {AUTHORITY},"
                    f" {role}.pem and {role}.key here",
                )


@dataclass(frozen=True)
class Address:
    """Where a scheduler listens."""

    scheme: str
    host: str
    port: int

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{host}:{self.port}"

    @classmethod
    def parse(cls, text: str, *, secure: bool) -> Address:
        """`HOST`, `HOST:PORT` or with `tcp://` or `tls://`; `secure`: there are certificates.

        Raises `UsageProblem`, also where it is beyond this machine and not secure.
        """
        named = text if "://" in text else f"{SECURE if secure else PLAIN}://{text}"
        parts = urlsplit(named)
        try:
            port = parts.port or DEFAULT_PORT
        except ValueError as error:
            raise UsageProblem(f"--fleet {text}: {error}", "write tls://HOST:8786") from error
        if parts.scheme not in (PLAIN, SECURE) or not parts.hostname:
            raise UsageProblem(
                f"--fleet {text}: not the address of a Dask scheduler", "write tls://HOST:8786"
            )
        found = cls(parts.scheme, parts.hostname, port)
        found.require_safe(secure=secure)
        return found

    @property
    def is_here(self) -> bool:
        """Whether nobody beyond this machine can reach it."""
        return is_loopback(self.host)

    def require_safe(self, *, secure: bool) -> None:
        """Raises `UsageProblem` unless both sides must show who they are."""
        if self.scheme == SECURE and not secure:
            raise UsageProblem(
                f"--fleet {self}: TLS needs certificates on both sides",
                "add --fleet-certificates DIR",
            )
        if self.scheme == PLAIN and secure:
            raise UsageProblem(
                f"--fleet {self}: certificates need TLS",
                f"write {SECURE}://{self.host}:{self.port}",
            )
        if self.scheme == PLAIN and not self.is_here:
            raise refused(f"--fleet {self}")


def is_loopback(host: str) -> bool:
    """Whether a host's name or address stays on this machine."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def refused(what: str) -> UsageProblem:
    """Says why a fleet beyond this machine goes without TLS nowhere, and what to do."""
    return UsageProblem(
        f"{what}: beyond this machine a fleet needs TLS, because anyone who reaches the scheduler"
        " can run code on the agents",
        "make certificates with `wiretrial fleet certificates DIR` and start scheduler and agents"
        " with --certificates DIR",
    )


def own_address_towards(host: str) -> str:
    """The address of ours that packets to `host` leave from."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_DGRAM) as any_socket:
        # Nothing is sent: the kernel only chooses a route.
        any_socket.connect((host, 9))
        return str(any_socket.getsockname()[0])
