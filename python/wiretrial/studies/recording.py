"""One run of the engine beside one watched server, and the trial's record made from it.

Knows how the two clocks are laid on each other and what a record needs; must not know in what
order trials run or where they are kept.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from datetime import datetime
from types import TracebackType
from typing import Any

from wiretrial import warnings
from wiretrial.engine import Engine, EngineRun
from wiretrial.errors import EngineFailed
from wiretrial.machine import facts
from wiretrial.plan import Plan
from wiretrial.results.model import Machine, ProcessSample, Scenario, SubjectFacts, Trial
from wiretrial.snapshot import Interval, Snapshot, Start, Summary
from wiretrial.studies import judge
from wiretrial.subjects import observe


class Recording:
    """Runs a plan and keeps everything that was seen. A context manager; iterate for snapshots."""

    def __init__(self, engine: Engine, plan: Plan, server_pid: int | None = None) -> None:
        self.plan = plan
        self.begun_at = datetime.now().astimezone().isoformat(timespec="milliseconds")
        self.start: Start | None = None
        self.intervals: list[Interval] = []
        self.summary: Summary | None = None
        self._steal_before = facts.steal_ticks()
        self._server_cpus = len(os.sched_getaffinity(server_pid)) if server_pid else 1
        self._run: EngineRun = engine.run(plan)
        self._observer = observe.Observer(server_pid, self._run.stop) if server_pid else None

    def __enter__(self) -> Recording:
        if self._observer:
            self._observer.__enter__()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._run.close()
        if self._observer:
            self._observer.__exit__(kind, error, trace)

    def __iter__(self) -> Iterator[Snapshot]:
        for snapshot in self._run:
            if isinstance(snapshot, Start):
                self.start = snapshot
            elif isinstance(snapshot, Interval):
                self.intervals.append(snapshot)
            elif isinstance(snapshot, Summary):
                self.summary = snapshot
            yield snapshot

    def stop(self) -> None:
        """Asks for a graceful end; iteration goes on to the summary."""
        self._run.stop()

    @property
    def server_died(self) -> bool:
        """Whether the watched server ended during the run."""
        return self._observer is not None and self._observer.died

    def trial(
        self,
        *,
        study: str,
        study_digest: str,
        block: int,
        position: int,
        order_seed: int,
        scenario: Scenario,
        subject: SubjectFacts | None,
        machine: dict[str, Any],
        server_end: str | None = None,
    ) -> Trial:
        """The record, judged. `server_end` says how a server that died ended."""
        if self.start is None or self.summary is None:
            raise EngineFailed("the engine ended before its summary", "run it again")
        samples = self._samples()
        window = judge.window_of(
            self.intervals,
            self.summary,
            warmup_allowance_ns=self.plan.phases.warmup_ns,
            duration_ns=self.plan.stop.duration_ns,
        )
        trial = Trial(
            study=study,
            study_digest=study_digest,
            block=block,
            position=position,
            order_seed=order_seed,
            scenario=scenario,
            started_at=self.begun_at,
            plan=self.plan,
            start=self.start,
            intervals=tuple(self.intervals),
            summary=self.summary,
            subject=subject,
            subject_samples=samples,
            window=window,
            judgement=judge.judge(
                self.intervals,
                self.summary,
                window,
                self.plan.load,
                server=self._server_use(window.start_ns, window.end_ns, subject),
                server_died=(server_end or "how is not known") if self.server_died else None,
            ),
            machine=Machine(facts={**machine, "steal_ticks": self._stolen()}),
        )
        return trial.model_copy(update={"warnings": warnings.of_trial(trial)})

    def _samples(self) -> tuple[ProcessSample, ...]:
        begun = self._run.begun_ns
        if self._observer is None or begun is None:
            return ()
        return tuple(
            ProcessSample(
                offset_ns=reading.at_ns - begun,
                cpu_user_ns=reading.cpu_user_ns,
                cpu_system_ns=reading.cpu_system_ns,
                rss_bytes=reading.rss_bytes,
                context_switches=reading.context_switches,
                run_queue_ns=reading.run_queue_ns,
            )
            for reading in self._observer.readings
        )

    def _server_use(
        self, start_ns: int, end_ns: int, subject: SubjectFacts | None
    ) -> judge.ServerUse | None:
        """What the server did with its CPUs in the window; None if that is unknown.

        Of a server that we didn't start, the number of threads is unknown: its busiest thread, or
        all of its CPUs, may be at the limit.
        """
        begun = self._run.begun_ns
        if self._observer is None or begun is None:
            return None
        readings = self._observer.readings
        inside = [r for r in readings if start_ns <= r.at_ns - begun <= end_ns]
        if len(inside) < 2:
            inside = readings
        if len(inside) < 2:
            return None
        first, last = inside[0], inside[-1]
        elapsed = last.at_ns - first.at_ns
        used = (last.cpu_user_ns + last.cpu_system_ns) - (first.cpu_user_ns + first.cpu_system_ns)
        if subject is not None and subject.threads:
            threads, busy = subject.threads, used / elapsed / subject.threads
        else:
            threads = 1
            busy = max(used / elapsed / self._server_cpus, observe.busiest_thread(first, last))
        queued = (last.run_queue_ns - first.run_queue_ns) / elapsed / threads
        return judge.ServerUse(busy=busy, queued=min(queued, max(1 - busy, 0.0)))

    def _stolen(self) -> int | None:
        after = facts.steal_ticks()
        if after is None or self._steal_before is None:
            return None
        return after - self._steal_before
