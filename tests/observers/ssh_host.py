"""A host that is reached by ssh: a real sshd in a network namespace, with folders of its own.

Keys, both configurations and the file of known hosts are made on the spot. The host sees our
processes, so that a server of a test is one of its own, and has its own /tmp, /dev/shm and /run.
"""

from __future__ import annotations

import http.client
import os
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import psutil
import pytest

from tests.fleet.conftest import ended, started
from tests.lab.test_isolation import may_isolate
from tests.waiting import until
from wiretrial import launch
from wiretrial.engine import Engine
from wiretrial.fleet import own
from wiretrial.machine import namespaces
from wiretrial.machine.namespaces import Namespace

NAME = "lab"
"""The alias by which our ssh configuration knows it."""
STRANGER = "stranger"
"""The same host for a person who has no key there."""
UNKNOWN = "unknown"
"""The same host for a person who has never seen its key."""
JUMPED = "jumped"
"""The same host, over itself as a jump host."""
SHARED = "shared"
"""The same host, over a connection that is there already."""
OTHER_USER = "plain"
"""A user there without rights."""
USER_ID = 12_345
PORT = 2222
LIMIT_S = 20.0
REQUESTS = 300
FOLDERS = ("tmp", "dev/shm")

needs_ssh = [
    pytest.mark.skipif(not may_isolate(), reason="network namespaces need root"),
    pytest.mark.skipif(
        shutil.which("ssh") is None or shutil.which("sshd") is None,
        reason="needs openssh-server and openssh-client",
    ),
]

SERVER = """
Port {port}
ListenAddress {address}
HostKey /run/lab/host_key
AuthorizedKeysFile /run/lab/authorized_keys
PidFile none
UsePAM no
StrictModes no
PermitRootLogin prohibit-password
PasswordAuthentication no
KbdInteractiveAuthentication no
SetEnv PATH=/run/lab/bin:/usr/bin:/bin
"""
CLIENT = """
Host {unknown}
  UserKnownHostsFile /dev/null
Host {stranger}
  IdentityFile {folder}/other_key
Host {name} {unknown} {jumped} {shared}
  IdentityFile {folder}/key
Host {jumped}
  ProxyCommand ssh -F {folder}/config -W %h:%p {name}
Host {shared}
  ControlPath {folder}/shared
Host {name} {stranger} {unknown} {jumped} {shared}
  HostName {address}
  Port {port}
  User root
  IdentitiesOnly yes
  IdentityAgent none
  GlobalKnownHostsFile /dev/null
  UserKnownHostsFile {folder}/known_hosts
"""
"""The first value that ssh finds counts, and keys add up."""

BEGIN = """
set -e
mount -t tmpfs tmpfs /run
mkdir -p /run/sshd /run/lab /run/home
chmod 755 /run/sshd
mount --bind {host} /run/lab
mount --bind /run/lab/passwd /etc/passwd
mount --bind /run/lab/shadow /etc/shadow
printf "echo Welcome\\n" >/run/home/.bashrc
{mounts}
exec {sshd} -D -e -f /run/lab/sshd_config
"""


@dataclass(frozen=True)
class SshHost:
    """The host, and how we reach it."""

    folder: Path
    namespace: Namespace
    sshd: subprocess.Popen[bytes]

    @property
    def ssh(self) -> str:
        """For `WIRETRIAL_SSH`."""
        return f"ssh -F {self.folder / 'config'}"

    @property
    def address(self) -> str:
        return self.namespace.addresses[0]

    def inside(self, path: str) -> Path:
        """A path of the host, seen from here."""
        return Path(f"/proc/{self.sshd.pid}/root/{path}")

    def install(self, name: str, text: str) -> None:
        """Puts a program on its PATH."""
        program = self.folder / "host" / "bin" / name
        program.write_text(text, encoding="utf-8")
        program.chmod(0o755)

    def link(self, name: str, program: Path) -> None:
        """Puts a program of ours on its PATH."""
        (self.folder / "host" / "bin" / name).symlink_to(program.resolve())

    def remove(self, name: str) -> None:
        """Takes a program off its PATH."""
        (self.folder / "host" / "bin" / name).unlink()

    def files(self) -> list[str]:
        """Everything that was left in the folders for short-lived files."""
        return [str(one) for name in FOLDERS for one in self.inside(name).rglob("*")]

    def sessions(self) -> list[psutil.Process]:
        """What runs on it by ssh: the logins, and the programs that they began."""
        return [one for one in psutil.Process(self.sshd.pid).children(recursive=True) if runs(one)]

    def observers(self) -> list[psutil.Process]:
        """The observers among them."""
        return [one for one in self.sessions() if runs(one, "observe")]

    def cut(self) -> None:
        """Takes the cable out: nothing goes either way, and nobody is told."""
        with namespaces.routes_of(os.getpid()) as ours:
            (index,) = ours.link_lookup(ifname=self.namespace.interface)
            ours.link("set", index=index, state="down")


@contextmanager
def ssh_host(folder: Path, mounts: Sequence[str] = ("exec", "exec")) -> Iterator[SshHost]:
    """The host; `mounts`: options of its /tmp and its /dev/shm."""
    with Namespace() as namespace:
        _write(folder, namespace.addresses[0])
        script = BEGIN.format(
            host=folder / "host",
            sshd=shutil.which("sshd"),
            mounts="\n".join(
                f"mount -t tmpfs -o mode=1777,{options} tmpfs /{name}"
                for name, options in zip(FOLDERS, mounts, strict=True)
            ),
        )
        with (folder / "sshd.log").open("wb") as log:
            sshd = subprocess.Popen(
                launch.command_line(
                    ["unshare", "--mount", "--propagation", "private", "sh", "-c", script],
                    namespace=namespace.file,
                ),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        host = SshHost(folder, namespace, sshd)
        try:
            until(lambda: own.listens(host.address, PORT) or sshd.poll() is not None, "sshd")
            if sshd.poll() is not None:
                pytest.skip(f"no sshd here: {(folder / 'sshd.log').read_text(encoding='utf-8')}")
            yield host
        finally:
            for one in host.sessions():
                with suppress(psutil.NoSuchProcess):
                    one.kill()
            ended(sshd)


def runs(process: psutil.Process, word: str | None = None) -> bool:
    """Whether it has not ended, and has this word on its command line."""
    try:
        alive = process.status() != psutil.STATUS_ZOMBIE
        return alive and (word is None or word in process.cmdline())
    except psutil.NoSuchProcess:
        return False


def _write(folder: Path, address: str) -> None:
    host = folder / "host"
    (host / "bin").mkdir(parents=True)
    host.chmod(0o755)
    for name in (folder / "key", folder / "other_key", host / "host_key"):
        words = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "", "-f", str(name)]
        subprocess.run(words, check=True)
    shutil.copy(folder / "key.pub", host / "authorized_keys")
    (host / "authorized_keys").chmod(0o644)
    (host / "sshd_config").write_text(SERVER.format(port=PORT, address=address), encoding="utf-8")
    public = (host / "host_key.pub").read_text(encoding="utf-8")
    known = f"[{address}]:{PORT} {public}"
    (folder / "known_hosts").write_text(known, encoding="utf-8")
    config = CLIENT.format(
        name=NAME,
        stranger=STRANGER,
        unknown=UNKNOWN,
        jumped=JUMPED,
        shared=SHARED,
        address=address,
        port=PORT,
        folder=folder,
    )
    (folder / "config").write_text(config, encoding="utf-8")
    (host / "passwd").write_text(_passwd(), encoding="utf-8")
    shadow = "".join(
        f"{name}:*:19000:0:99999:7:::\n" for name in ("root", "sshd", "nobody", OTHER_USER)
    )
    (host / "shadow").write_text(shadow, encoding="utf-8")


def _passwd() -> str:
    """That of this machine, with a user without rights; the shell of root writes a greeting."""
    found = Path("/etc/passwd").read_text(encoding="utf-8").splitlines()
    users = [line for line in found if not line.startswith("root:")]
    users.append("root:x:0:0::/run/home:/bin/bash")
    users.append(f"{OTHER_USER}:x:{USER_ID}:{USER_ID}::/run/home:/bin/sh")
    return "".join(f"{line}\n" for line in users)


class Served:
    """A server on the host, or beside it where there is none."""

    def __init__(self, stack: ExitStack, host: SshHost | None, engine: Engine) -> None:
        address = host.address if host else "127.0.0.1"
        namespace = host.namespace.file if host else None
        command = [str(engine.binary), "respond", "--http", f"{address}:0"]
        self.process = started(stack, command, namespace=namespace)
        assert self.process.stdout is not None
        line = self.process.stdout.readline().decode().strip()
        self.url = f"http://{line.rpartition('http=')[2]}/"
        self.pid = self.process.pid

    def ask(self) -> None:
        """Gives it something to do."""
        ask(self.url)


def ask(url: str) -> None:
    """Gives the server there something to do."""
    place = urlsplit(url)
    connection = http.client.HTTPConnection(str(place.hostname), place.port)
    for _ in range(REQUESTS):
        connection.request("GET", "/")
        connection.getresponse().read()
    connection.close()
