"""What runs on each host of a fleet, inside a Dask worker: one engine at a time, on a lease.

Knows the engine and whoever calls it by name; must not know Dask, nor other agents. The engine ends
with the worker's process, by the kernel; and it is ended when nobody has called for the length of
the lease, whatever became of the coordinator, the scheduler or the network between.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import resource
import socket
import tempfile
import threading
import time
from collections import deque
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil

from wiretrial import __version__
from wiretrial.engine import Engine, EngineRun
from wiretrial.errors import EngineFailed, WiretrialError
from wiretrial.machine import facts, preflight
from wiretrial.plan import Plan
from wiretrial.snapshot import Failure

WATCH_S = 0.1
"""How often it is looked at whether the lease has run out."""
ENGINES = Path("~/.cache/wiretrial/engines")
"""Where engines are kept that came from a coordinator."""


@dataclass(frozen=True)
class Orders:
    """What the coordinator wants, said with every beat, so that none can be lost for good."""

    plan: str | None = None
    """The plan to run, JSON; None: not yet, or known to have come."""
    authority: bytes | None = None
    """The certificate authorities that the plan trusts, PEM."""
    begin_ns: int | None = None
    """Offset at which the load begins."""
    stop: bool = False
    """Send no more, and end gracefully."""
    end: bool = False
    """End at once."""


@dataclass(frozen=True)
class Told:
    """The answer to a beat."""

    clock_ns: int
    """Our monotonic clock."""
    first: int
    """The number of the first of these lines."""
    lines: tuple[bytes, ...]
    """Snapshots that were not acknowledged yet, as the engine wrote them."""
    has_plan: bool
    is_over: bool
    """Nothing comes after these lines."""
    problem: str | None = None
    """Why it ended otherwise than by its plan."""


@dataclass(frozen=True)
class Described:
    """An agent's machine."""

    version: str
    engine: str | None
    """Why there is no engine that fits; None: there is one."""
    host: str
    boot: str
    """Names this start of this machine."""
    pid: int
    cpus: tuple[int, ...]
    descriptors: int
    memory_bytes: int
    facts: dict[str, Any] = field(default_factory=dict)


def describe() -> Described:
    """What a coordinator must know before it gives this host any work."""
    _raise_descriptor_limit()
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return Described(
        version=__version__,
        engine=_engine_problem(),
        host=socket.gethostname(),
        boot=_boot(),
        pid=os.getpid(),
        cpus=tuple(sorted(os.sched_getaffinity(0))),
        descriptors=soft,
        memory_bytes=psutil.virtual_memory().available,
        facts=facts.collect(),
    )


def clock() -> int:
    """Our monotonic clock, nanoseconds."""
    return time.monotonic_ns()


def keep_engine(data: bytes, digest: str) -> str | None:
    """Stores an engine for this host's use; why that failed, or None."""
    if hashlib.sha256(data).hexdigest() != digest:
        return "it was damaged on its way"
    path = _kept_engine()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as file:
            file.write(data)
        Path(file.name).chmod(0o755)
        Path(file.name).replace(path)
    except OSError as error:
        return f"{path}: {error.strerror}"
    return _engine_problem()


def examine(plan: str, server_here: bool) -> str | None:
    """What this host lacks for a plan, with the remedy; None: nothing."""
    asked = Plan.model_validate_json(plan)
    missing = sorted(set(asked.generator.cpus) - os.sched_getaffinity(0))
    if missing:
        return f"there is no CPU {missing[0]} for us: correct --cpus"
    try:
        preflight.require(
            preflight.Demand(
                connections=asked.load.connections,
                threads=asked.generator.threads,
                source_addresses=max(1, len(asked.target.sources)),
                server_here=server_here,
            )
        )
    except WiretrialError as error:
        return error.line()
    return None


def serve(run: str, lease_s: float) -> None:
    """The task that holds a worker for one run; returns when that is over and told.

    Raises `EngineFailed` where the lease ran out, or another run uses this host.
    """
    duty = Duty(lease_s)

    def is_free() -> bool:
        return all(_fleet_of(other) == _fleet_of(run) for other in _DUTIES)

    with _LEFT:
        # The run before it may be about to leave.
        if not _LEFT.wait_for(is_free, timeout=lease_s):
            raise EngineFailed("another run uses this host", "wait until it is over")
        _DUTIES[run] = duty
    try:
        duty.work()
    finally:
        with _LEFT:
            _DUTIES.pop(run, None)
            _LEFT.notify_all()


def beat(run: str, acknowledged: int, orders: Orders) -> Told | None:
    """Renews the lease of a run, says what is wanted, asks what is new.

    `acknowledged` is the number of lines that have arrived. None: this host holds no such run.
    """
    with _LEFT:
        duty = _DUTIES.get(run)
    return duty.beat(acknowledged, orders) if duty else None


class Duty:
    """One run on this host. `work` in a thread of its own; `beat` from any other."""

    def __init__(self, lease_s: float) -> None:
        self._lease_s = lease_s
        self._lock = threading.Lock()
        self._changed = threading.Condition(self._lock)
        self._called = time.monotonic()
        self._lines: deque[bytes] = deque()
        self._gone = 0
        """Lines that have arrived, and were dropped here."""
        self._plan: str | None = None
        self._authority: bytes | None = None
        self._engine: EngineRun | None = None
        self._begun = False
        self._stopped = False
        self._ended = False
        self._expired = False
        self._over = False
        self._over_told = False
        self._problem: str | None = None

    def work(self) -> None:
        """Waits for a plan, runs it, stays until all of it was told. Raises `EngineFailed`."""
        watch = threading.Thread(target=self._watch, name="wiretrial-lease", daemon=True)
        watch.start()
        try:
            plan = self._await_plan()
            if plan is not None:
                self._run(plan)
        except WiretrialError as error:
            self._problem = error.line()
        except Exception as error:  # noqa: BLE001 (whatever it is, the coordinator must hear of it)
            self._problem = f"{type(error).__name__}: {error}"
        finally:
            with self._changed:
                self._over = True
            self._await_told()
            with self._changed:
                self._ended = True
                self._changed.notify_all()
            watch.join()
        if self._expired:
            raise EngineFailed(
                f"the coordinator has not called for {self._lease_s:g} s: the load was ended",
                "check the coordinator and the network",
            )

    def beat(self, acknowledged: int, orders: Orders) -> Told:
        """See the function of this name."""
        with self._changed:
            if not self._expired:
                self._called = time.monotonic()
            while self._gone < acknowledged and self._lines:
                self._lines.popleft()
                self._gone += 1
            if orders.plan is not None and self._plan is None:
                self._plan, self._authority = orders.plan, orders.authority
            self._obey(orders)
            self._over_told |= self._over
            self._changed.notify_all()
            return Told(
                clock_ns=time.monotonic_ns(),
                first=self._gone,
                lines=tuple(self._lines),
                has_plan=self._plan is not None,
                is_over=self._over,
                problem="nobody called for the length of the lease"
                if self._expired
                else self._problem,
            )

    def _obey(self, orders: Orders) -> None:
        """Passes on to the engine what it has not heard yet."""
        if orders.end:
            self._ended = True
        if self._engine is None:
            return
        if orders.begin_ns is not None and not self._begun:
            self._begun = True
            self._engine.begin(orders.begin_ns)
        if orders.stop and not self._stopped:
            self._stopped = True
            self._engine.stop()
        if orders.end:
            self._engine.kill()

    def _await_plan(self) -> Plan | None:
        """The plan; None where it is over before there was one."""
        with self._changed:
            self._changed.wait_for(lambda: self._plan is not None or self._is_cut)
            if self._is_cut or self._plan is None:
                return None
            text = self._plan
        return Plan.model_validate_json(text)

    def _run(self, plan: Plan) -> None:
        with contextlib.ExitStack() as stack:
            if self._authority is not None:
                plan = _trusting(plan, self._authority, stack)
            run = stack.enter_context(EngineRun(_engine().binary, plan))
            with self._changed:
                if self._is_cut:
                    return
                self._engine = run
            last = b""
            for line in run.lines():
                last = line
                with self._changed:
                    self._lines.append(line)
            if b'"summary"' not in last[:40] and b'"failure"' not in last[:40]:
                self._put_failure(run.death())

    def _put_failure(self, error: EngineFailed) -> None:
        told = {"class": "client", "message": error.line(), "exit_code": error.exit_code}
        line = Failure.model_validate(told).model_dump_json(by_alias=True)
        with self._changed:
            self._lines.append(line.encode())

    def _await_told(self) -> None:
        """Returns when all of it is known to the coordinator, or nobody wants it."""
        with self._changed:
            self._changed.wait_for(lambda: (self._over_told and not self._lines) or self._is_cut)

    @property
    def _is_cut(self) -> bool:
        return self._expired or self._ended

    def _watch(self) -> None:
        """Ends the run when its lease has run out."""
        while True:
            with self._changed:
                if self._changed.wait_for(lambda: self._ended, timeout=WATCH_S):
                    return
                if time.monotonic() - self._called < self._lease_s:
                    continue
                self._expired = True
                if self._engine is not None:
                    self._engine.kill()
                self._changed.notify_all()
                return


_LEFT = threading.Condition()
"""A run has left."""
_DUTIES: dict[str, Duty] = {}
"""Runs that this process holds, by name. Those of one fleet differ behind a slash."""


def _fleet_of(run: str) -> str:
    return run.partition("/")[0]


def _trusting(plan: Plan, authority: bytes, stack: contextlib.ExitStack) -> Plan:
    """The plan with the authorities in a file of this machine."""
    folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="wiretrial-")))
    path = folder / "authority.pem"
    path.write_bytes(authority)
    tls = plan.target.tls.model_copy(update={"ca_file": str(path)})
    return plan.model_copy(update={"target": plan.target.model_copy(update={"tls": tls})})


def _engine() -> Engine:
    """The engine that was installed here, or the one that came from a coordinator."""
    try:
        return Engine.find()
    except EngineFailed:
        if _kept_engine().exists():
            return Engine(_kept_engine())
        raise


def _engine_problem() -> str | None:
    try:
        _engine()
    except EngineFailed as error:
        return error.line()
    return None


def _kept_engine() -> Path:
    return ENGINES.expanduser() / __version__ / "wiretrial-engine"


def _boot() -> str:
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    except OSError:
        return ""


def _raise_descriptor_limit() -> None:
    """The engine inherits as many descriptors as this user may have."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
