"""One endpoint for the metrics of a load or a study: collected here, sent beside it.

Knows which encoding an address means, and what the own work costs; must not know what is shown.
"""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from wiretrial.errors import UsageProblem
from wiretrial.metrics import address
from wiretrial.metrics.address import OPTION, Address
from wiretrial.metrics.collector import Collector, Trial
from wiretrial.metrics.families import Labels
from wiretrial.metrics.sender import Account, Encode, Sender
from wiretrial.services import Service
from wiretrial.snapshot import Interval, Snapshot

VARIABLE: Final = "WIRETRIAL_METRICS_TOKEN"
"""Environment variable with a bearer token; with `_FILE` behind it, of a file with one."""
JOB: Final = "wiretrial"


@dataclass(frozen=True)
class Outcome:
    """What became of the metrics, and what they cost in this process."""

    address: str
    sent: int
    lost: int
    requests: int
    cpu_ns: int
    problem: str | None


class Exporter:
    """Sends the metrics of trial after trial."""

    def __init__(self, where: Address) -> None:
        """Raises `UsageProblem` where what encodes them is not installed."""
        self._address = where
        encode, headers = _encoding(where)
        service = Service.of("the endpoint for metrics", where.url, VARIABLE)
        self._sender = Sender(service, encode, headers, _source(), VARIABLE)
        self._collector: Collector | None = None
        self._cpu_ns = 0

    @classmethod
    def of(cls, typed: str) -> Exporter:
        """The one that was typed. Raises `UsageProblem`."""
        return cls(address.parse(typed))

    def begin(self, trial: Trial) -> None:
        """What is told from now on is this trial's."""
        self.end()
        self._collector = Collector(trial)

    def see(
        self,
        snapshot: Snapshot,
        server_ns: int | None = None,
        agents: Mapping[str, Interval] | None = None,
    ) -> None:
        """Takes in a snapshot of the trial; see `Collector.see`."""
        if self._collector is None:
            return
        begun_ns = time.thread_time_ns()
        for batch in self._collector.see(snapshot, server_ns, agents):
            self._sender.put(batch)
        self._cpu_ns += time.thread_time_ns() - begun_ns

    def close(self) -> Outcome:
        """Sends what is left, within seconds; what became of everything."""
        self.end()
        told: Account = self._sender.close()
        return Outcome(
            address=self._address.text,
            sent=told.sent,
            lost=told.lost,
            requests=told.requests,
            cpu_ns=self._cpu_ns + told.cpu_ns,
            problem=told.problem,
        )

    def end(self) -> None:
        """The trial is over; one that was cut short ends, too."""
        if self._collector is not None:
            for batch in self._collector.end():
                self._sender.put(batch)
        self._collector = None


def _source() -> Labels:
    """Two runs at once on one host are two sources."""
    return (("instance", f"{socket.gethostname()}:{os.getpid()}"), ("job", JOB))


def _encoding(where: Address) -> tuple[Encode, Mapping[str, str]]:
    try:
        if where.protocol == "otlp":
            from wiretrial.metrics import otlp

            return otlp.encode, otlp.HEADERS
        from wiretrial.metrics import remote_write
    except ModuleNotFoundError as error:
        raise UsageProblem(
            f"{OPTION} {where.text} needs {error.name}, which is not installed",
            "pip install 'wiretrial[metrics]'",
        ) from error
    return remote_write.encode, remote_write.HEADERS
