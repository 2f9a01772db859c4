"""The two suites themselves: built from pinned modules, started.

Knows both programs' options; must not know what is tested with them.
"""

from __future__ import annotations

import socket
from collections.abc import Sequence
from pathlib import Path

from conformance import modules
from conformance.process import Process, Unavailable
from wiretrial.subjects.certificates import Certificate

VERSION = "2.2.1"
SERVERS, CLIENTS = "h2spec", "h2specd"
PACKAGE = "github.com/summerwind/h2spec/cmd"

MODULE = Path(__file__).resolve().parent / "module"
# A right answer comes at once. What must not come is waited for as long.
PATIENCE_S = 2
# Below the ports that the kernel gives to clients.
PORTS = range(20_000, 32_000, 64)


class Suite:
    """Both programs, built."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @classmethod
    def build(cls, folder: Path) -> Suite:
        """Both in `folder`, built there unless they already are."""
        modules.build(folder, MODULE, [f"{PACKAGE}/{name}" for name in (SERVERS, CLIENTS)])
        return cls(folder)

    def try_server(
        self, address: str, path: str, sections: Sequence[str], log: Path, *, secure: bool
    ) -> Process:
        """Asks the server at `address`, in ways right and wrong."""
        host, _, port = address.rpartition(":")
        command = [str(self._folder / SERVERS), "--host", host, "--port", port, "--path", path]
        command += ["--strict", "--verbose", "--timeout", str(PATIENCE_S)]
        command += ["--tls", "--insecure"] if secure else []
        return Process([*command, *sections], log=log)

    def try_client(
        self,
        command: str,
        first_port: int,
        section: str,
        log: Path,
        certificate: Certificate | None,
    ) -> Process:
        """Starts `command URL` for each case, and answers it in ways right and wrong."""
        options = ["--exec", command, "--from-port", str(first_port), "--verbose"]
        if certificate is not None:
            options += ["--tls", "--cert-file", str(certificate.chain)]
            options += ["--cert-key-file", str(certificate.key)]
        options += ["--timeout", str(PATIENCE_S), section]
        return Process([str(self._folder / CLIENTS), *options], log=log)


def free_ports(count: int, beginning: int) -> int:
    """The first of `count` ports in a row that nobody listens on; from the `beginning`th row on.

    The suite wants one for each case, in a row, and takes none that the kernel would choose.
    """
    for place in range(len(PORTS)):
        first = PORTS[(beginning + place) % len(PORTS)]
        if all(_is_free(port) for port in range(first, first + count)):
            return first
    raise Unavailable(f"no {count} ports in a row are free between {PORTS.start} and {PORTS.stop}")


def _is_free(port: int) -> bool:
    with socket.socket() as taken:
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            taken.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True
