"""A running subject: started in a session of its own, pinned, watched, ended by process id.

Knows processes, ports and run folders; must not know what is measured. Readiness is the port's
answer and the contract's, never a pause.
"""

from __future__ import annotations

import contextlib
import os
import random
import select
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType

from wiretrial import launch
from wiretrial.errors import SubjectFailed, UsageProblem
from wiretrial.machine import facts
from wiretrial.subjects import certificates
from wiretrial.subjects.build import Build
from wiretrial.subjects.endpoint import Endpoint
from wiretrial.subjects.spec import PORT_OF, ConfigurationName, Protocol, Subject, fill
from wiretrial.subjects.verify import probe

STOP_GRACE_S = 5.0
READY_PAUSE_S = 0.01
FIRST_PORT = 20_000
PORT_TRIES = 200


class Server:
    """One start of one subject. A context manager: leaving it ends every process."""

    def __init__(
        self,
        subject: Subject,
        build: Build,
        configuration: ConfigurationName,
        *,
        engine: Path,
        threads: int = 1,
        cpus: Sequence[int] = (),
        host: str = "127.0.0.1",
        delay_ms: int = 0,
    ) -> None:
        most = subject.spec.max_threads
        if most is not None and threads > most:
            raise UsageProblem(
                f"{subject.spec.name} uses {most} thread{'s' if most > 1 else ''} at most, not"
                f" {threads}",
                "compare it with others at that number",
            )
        self.subject = subject
        self.host = host
        self.folder = Path(tempfile.mkdtemp(prefix=f"wiretrial-{subject.spec.name}-"))
        # A server started by root may serve as another user; the key has its own, narrower mode.
        self.folder.chmod(0o755)
        self.ports = _free_ports(host, subject.spec.port_names())
        self.certificate = certificates.make(self.folder, host)
        chosen = subject.configuration(configuration)
        values = {
            "host": host,
            "threads": str(threads),
            "cpus": ",".join(str(cpu) for cpu in cpus),
            "delay_ms": str(delay_ms),
            "cert": str(self.certificate.chain),
            "key": str(self.certificate.key),
            "source": str(subject.folder),
            "build": str(build.folder),
            "run": str(self.folder),
            "engine": str(engine),
            **{name: str(port) for name, port in self.ports.items()},
        }
        for name, source in chosen.files.items():
            text = (subject.folder / source).read_text(encoding="utf-8")
            (self.folder / name).write_text(fill(text, values), encoding="utf-8")
        self.command = tuple(fill(word, values) for word in chosen.command)
        self._oom_kills = facts.oom_kills()
        self._log = (self.folder / "output.log").open("w+b")
        self._process = subprocess.Popen(
            launch.command_line(self.command, cpus=cpus),
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            stdout=self._log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        self.pidfd = os.pidfd_open(self._process.pid)
        """Becomes readable when the subject's first process ends."""

    @property
    def pid(self) -> int:
        """Process id of the subject's first process; its children are in the same group."""
        return self._process.pid

    def __enter__(self) -> Server:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    def endpoint(self, protocol: Protocol) -> Endpoint:
        """Where the subject speaks `protocol`."""
        return Endpoint(
            protocol=protocol,
            host=self.host,
            port=self.ports[PORT_OF[protocol]],
            authority=self.certificate.authority,
        )

    def wait_ready(self) -> None:
        """Returns when every contract that the subject claims answers on its port."""
        deadline = time.monotonic() + self.subject.spec.readiness.deadline_s
        for contract, protocol in self.subject.spec.claims():
            self._wait_port(self.ports[PORT_OF[protocol]], deadline)
            probe(self.endpoint(protocol), contract)

    def ended(self) -> str | None:
        """How the subject ended, in words; None while it runs."""
        status = self._process.poll()
        if status is None:
            return None
        how = f"signal {signal.Signals(-status).name}" if status < 0 else f"exit status {status}"
        if status == -signal.SIGKILL and facts.oom_kills() != self._oom_kills:
            how += ", and the kernel was out of memory"
        last = self.last_words()
        return f"{how} ({last})" if last else how

    def last_words(self) -> str:
        """The last line that the subject wrote."""
        self._log.flush()
        lines = (self.folder / "output.log").read_text(errors="replace").strip().splitlines()
        return lines[-1][:300] if lines else ""

    def stop(self) -> None:
        """Ends the whole process group and forgets the run folder."""
        self._signal_group(signal.SIGTERM)
        select.select([self.pidfd], [], [], STOP_GRACE_S)
        # Whatever of the group outlived its leader goes too; the leader is not reaped yet, so that
        # the group's number can't have become another's.
        self._signal_group(signal.SIGKILL)
        self._process.wait()
        os.close(self.pidfd)
        self._log.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _signal_group(self, number: signal.Signals) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, number)

    def _wait_port(self, port: int, deadline: float) -> None:
        while True:
            how = self.ended()
            if how:
                raise SubjectFailed(f"{self.subject.spec.name} ended at its start: {how}")
            try:
                socket.create_connection((self.host, port), timeout=1.0).close()
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


def _free_ports(host: str, names: Sequence[str]) -> dict[str, int]:
    """A free port for each name, below the range that outgoing connections take theirs from."""
    first_ephemeral = int(
        Path("/proc/sys/net/ipv4/ip_local_port_range").read_text(encoding="ascii").split()[0]
    )
    last = first_ephemeral - 1 if first_ephemeral > FIRST_PORT + PORT_TRIES else 65_535
    ports: dict[str, int] = {}
    for name in names:
        for _ in range(PORT_TRIES):
            port = random.randint(FIRST_PORT, last)
            if port not in ports.values() and _is_free(host, port):
                ports[name] = port
                break
        else:
            raise SubjectFailed(
                f"no free port on {host} between {FIRST_PORT} and {last} in {PORT_TRIES} tries",
                "end what holds them",
            )
    return ports


def _is_free(host: str, port: int) -> bool:
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as trial:
        trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            trial.bind((host, port))
        except OSError:
            return False
        return True
