"""Runs ssh as its user has set it up, and says in a line why a host is not reached.

Knows ssh's command line and what it says when it fails; must not know what runs on the host. Keys,
agent, known hosts, ports and jump hosts are those of ssh's own configuration. Nothing is asked: a
password or an unknown host key is a refusal.
"""

from __future__ import annotations

import os
import re
import shlex
from dataclasses import dataclass
from typing import Final

from wiretrial.closing import last_words
from wiretrial.errors import ObserverFailed
from wiretrial.observers.address import Remote

ENVIRONMENT: Final = "WIRETRIAL_SSH"
"""A command that is run in place of `ssh`, with options of its own: `ssh -F lab.config`."""

CONNECT_LIMIT_S: Final = 10
EXIT_FAILED: Final = 255
"""Exit status of ssh where the connection failed; else it is that of what ran there."""
ALIVE_S: Final = 3
"""A host that is silent for so long is asked whether it is there."""
ALIVE_ASKED: Final = 3
"""So many questions in a row without an answer end the connection."""

_OPTIONS: Final = {
    "BatchMode": "yes",
    "ConnectTimeout": str(CONNECT_LIMIT_S),
    "ServerAliveInterval": str(ALIVE_S),
    "ServerAliveCountMax": str(ALIVE_ASKED),
    # A connection that is shared already is used; ours ends with us, so nobody else may share it.
    "ControlMaster": "no",
    "ClearAllForwardings": "yes",
    "RemoteCommand": "none",
    "LogLevel": "INFO",
}


def command(remote: Remote, words: str) -> list[str]:
    """The command line that has the shell of the host run `words`."""
    options = [word for name, value in _OPTIONS.items() for word in ("-o", f"{name}={value}")]
    return [*_program(), "-T", "-a", "-x", *options, *_destination(remote), words]


def by_hand(remote: Remote) -> str:
    """What a person types to log in there."""
    words = [*_program(), *_destination(remote)]
    return shlex.join(word for word in words if word != "--")


def refusal(remote: Remote, said: str) -> ObserverFailed:
    """Why the host was not reached. `said`: everything that ssh wrote to standard error."""
    last = last_words(said)
    for known in _KNOWN:
        if re.search(known.pattern, said):
            problem = known.problem.format(last=last)
            remedy = known.remedy.format(
                ssh=by_hand(remote), host=remote.host, known=_known_as(remote)
            )
            return ObserverFailed(f"{remote.text}: {problem}", remedy)
    return ObserverFailed(
        f"{remote.text}: ssh failed ({last or 'it said nothing'})",
        f"try `{by_hand(remote)}` until it logs in without a question",
    )


def missing() -> ObserverFailed:
    """There is no ssh on this machine."""
    return ObserverFailed(
        f"there is no {program()} on this machine",
        f"install it (apt-get install openssh-client), or name it in {ENVIRONMENT}",
    )


def program() -> str:
    """What is run to reach a host."""
    return _program()[0]


def _program() -> list[str]:
    return shlex.split(os.environ.get(ENVIRONMENT, "")) or ["ssh"]


def _destination(remote: Remote) -> list[str]:
    port = ["-p", str(remote.port)] if remote.port is not None else []
    user = ["-l", remote.user] if remote.user is not None else []
    return [*port, *user, "--", remote.host]


def _known_as(remote: Remote) -> str:
    """How the file of known hosts names it."""
    usual = remote.port in (None, 22)
    return remote.host if usual else shlex.quote(f"[{remote.host}]:{remote.port}")


@dataclass(frozen=True)
class _Known:
    """Words of ssh, what they mean, and what helps. The first that is found counts."""

    pattern: str
    problem: str
    remedy: str


_KNOWN: Final = (
    _Known(
        r"REMOTE HOST IDENTIFICATION HAS CHANGED",
        "its host key is not the one that is known",
        "ask who runs it; where the change is right, `ssh-keygen -R {known}`, then `{ssh}` once",
    ),
    _Known(
        r"Host key verification failed|host key is known for",
        "its host key is not known here",
        "log in once with `{ssh}`, compare the fingerprint and accept it",
    ),
    _Known(
        r"Too many authentication failures",
        "it was offered too many keys",
        "name the right one in ~/.ssh/config: IdentityFile, and IdentitiesOnly yes",
    ),
    _Known(
        r"Permission denied",
        "it lets in none of our keys, and no password is asked for",
        "add the key with ssh-add or `ssh-copy-id`, or put the user before {host}, with an @",
    ),
    _Known(
        r"Could not resolve hostname",
        "there is no host of this name",
        "correct it, or describe it in ~/.ssh/config",
    ),
    _Known(
        r"Connection refused",
        "nothing takes ssh connections there",
        "start sshd, or name its port: ssh://{host}:PORT",
    ),
    _Known(
        r"[Bb]ad configuration option|Bad owner or permissions|configuration file|user config file",
        "ssh does not take its configuration ({last})",
        "correct it until `{ssh}` logs in",
    ),
    _Known(
        r"timed out|No route to host|unreachable|not responding",
        "it can't be reached ({last})",
        "check the address, the network between and its firewall",
    ),
    _Known(
        r"kex_exchange_identification|banner|Connection (?:closed|reset)",
        "it closed the connection before a login ({last})",
        "see that the port is that of sshd, and what its log says",
    ),
)
