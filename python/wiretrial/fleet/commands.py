"""The command lines that start a fleet's scheduler and agents, with the settings it needs.

Knows Dask's programs and their settings; must not know what runs there. Whoever has a cluster
already may use it as it is: what the settings bring about, a fleet sees to by itself too, later.
"""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from wiretrial.errors import UsageProblem
from wiretrial.fleet.security import Address, Certificates

SETTINGS: Mapping[str, str] = {
    # A run whose agent is gone is over; Dask would begin it again, elsewhere or later.
    "DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": "0",
    "DASK_DISTRIBUTED__SCHEDULER__WORK_STEALING": "False",
    # A host that says nothing is forgotten after seconds, not minutes.
    "DASK_DISTRIBUTED__SCHEDULER__WORKER_TTL": "5s",
    # The profiler looks at every thread a hundred times a second.
    "DASK_DISTRIBUTED__WORKER__PROFILE__ENABLED": "False",
    # Pages about the cluster, for anybody who asks, and without TLS.
    "DASK_DISTRIBUTED__SCHEDULER__HTTP__ROUTES": "[]",
    "DASK_DISTRIBUTED__WORKER__HTTP__ROUTES": "[]",
    # It would tell of every beat.
    "DASK_LOGGING": "{'distributed.worker': 'warning'}",
}
DEATH_TIMEOUT_S = 60
NO_PAGES = ("--no-dashboard", "--dashboard-address", "127.0.0.1:0")


def environment() -> dict[str, str]:
    """That of a scheduler or an agent: ours, with the settings a fleet needs."""
    return {**os.environ, **SETTINGS}


def require_dask() -> None:
    """Raises `UsageProblem` where Dask is not installed."""
    if importlib.util.find_spec("distributed") is None:
        raise UsageProblem(
            "fleets need Dask.distributed, which is not installed", "pip install 'wiretrial[fleet]'"
        )


def scheduler(address: Address, certificates: Certificates | None) -> list[str]:
    """The command line of a scheduler that listens there."""
    return [
        *_program("dask_scheduler"),
        *("--protocol", address.scheme, "--host", address.host, "--port", str(address.port)),
        *NO_PAGES,
        *_tls(certificates, "scheduler"),
    ]


def agent(
    address: Address, certificates: Certificates | None, *, name: str | None, host: str | None
) -> list[str]:
    """The command line of this machine's agent, which joins the scheduler there."""
    return [
        *_program("dask_worker"),
        str(address),
        # One process, so that the kernel ends the engine with it; and one piece of work at a time.
        *("--no-nanny", "--nworkers", "1", "--nthreads", "1", *NO_PAGES),
        *("--memory-limit", "0", "--death-timeout", str(DEATH_TIMEOUT_S)),
        *(("--name", name) if name else ()),
        *(("--host", host) if host else ()),
        *_tls(certificates, "agent"),
    ]


def _program(name: str) -> Sequence[str]:
    return (sys.executable, "-m", f"distributed.cli.{name}")


def _tls(certificates: Certificates | None, role: str) -> Sequence[str]:
    if certificates is None:
        return ()
    paths: Sequence[tuple[str, Path]] = (
        ("--tls-ca-file", certificates.authority),
        ("--tls-cert", certificates.chain(role)),
        ("--tls-key", certificates.key(role)),
    )
    return [word for flag, path in paths for word in (flag, str(path.absolute()))]
