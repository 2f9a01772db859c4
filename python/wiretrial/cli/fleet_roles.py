"""Makes a fleet's certificates, and turns this process into one of its roles.

Knows roles and files; must not know how a fleet is led.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from wiretrial.cli import output
from wiretrial.errors import EXIT_GOOD, UsageProblem
from wiretrial.fleet import authority, commands, security
from wiretrial.fleet.security import Address, Certificates


def certificates(folder: Path) -> int:
    """Makes an authority and certificates for scheduler, agents and client."""
    made = authority.make(folder)
    for role in security.ROLES:
        names = f"{made.authority.name} {made.chain(role).name} {made.key(role).name}"
        output.emit(f"{role:<10} {names}", None)
    output.emit("anyone with one of these keys can run code on every agent", None)
    return EXIT_GOOD


def scheduler(host: str, port: int, files: Path | None) -> int:
    """Runs a fleet's Dask scheduler on this machine until Ctrl-C."""
    given = _given(files, "scheduler")
    if given is None and not security.is_loopback(host):
        raise security.refused(f"--host {host}")
    scheme = security.SECURE if given else security.PLAIN
    return _become(commands.scheduler(Address(scheme, host, port), given))


def agent(address: str, files: Path | None, *, name: str | None, host: str | None) -> int:
    """Runs an agent of the fleet of this scheduler, until the scheduler ends or Ctrl-C."""
    given = _given(files, "agent")
    # An agent without an engine gets one; who has one says so at once if it does not fit.
    return _become(
        commands.agent(
            Address.parse(address, secure=given is not None), given, name=name, host=host
        )
    )


def _given(folder: Path | None, role: str) -> Certificates | None:
    if folder is None:
        return None
    found = Certificates(folder)
    found.require(role)
    return found


def _become(command: list[str]) -> int:
    """Turns this process into another program; returns only where that is refused."""
    commands.require_dask()
    sys.stdout.flush()
    try:
        os.execve(command[0], command, commands.environment())
    except OSError as error:
        raise UsageProblem(f"{command[0]}: {error.strerror}", "reinstall wiretrial") from error
