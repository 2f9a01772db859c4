"""Several trials at a time, where each mostly waits: for work that is a pause, for a long link.

Knows threads and how they come to their end; must not know what a trial is. What the trials tell
comes out as one stream, in the thread of whoever asks.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass
from queue import SimpleQueue
from threading import Event as Flag
from threading import Thread
from typing import Generic, TypeVar

Key = TypeVar("Key")
Told = TypeVar("Told")
Result = TypeVar("Result")


@dataclass(frozen=True)
class Job(Generic[Key, Told, Result]):
    """One of them: what it is called, and what tells of it step by step and ends in its result."""

    key: Key
    start: Callable[[], Generator[Told, None, Result]]


@dataclass(frozen=True)
class Begun(Generic[Key]):
    """It starts."""

    key: Key


@dataclass(frozen=True)
class Said(Generic[Key, Told]):
    """It tells something."""

    key: Key
    told: Told


@dataclass(frozen=True)
class Ended(Generic[Key, Result]):
    """It is over: with its result, or with what was raised."""

    key: Key
    outcome: Result | BaseException


def together(
    jobs: Sequence[Job[Key, Told, Result]], most: int
) -> Iterator[Begun[Key] | Said[Key, Told] | Ended[Key, Result]]:
    """Runs the jobs in their order, `most` at a time; each that ends makes room for the next.

    Leaving it at any moment closes those that run, each in its own thread and at its next step,
    and returns when all have ended.
    """
    waiting = deque(jobs)
    heard: SimpleQueue[Said[Key, Told] | Ended[Key, Result]] = SimpleQueue()
    leaving = Flag()
    running: dict[Key, Thread] = {}
    try:
        while waiting or running:
            while waiting and len(running) < most:
                job = waiting.popleft()
                yield Begun(job.key)
                thread = Thread(target=_carry_out, args=(job, heard, leaving))
                thread.start()
                running[job.key] = thread
            message = heard.get()
            if isinstance(message, Ended):
                running.pop(message.key).join()
            yield message
    finally:
        leaving.set()
        for thread in running.values():
            thread.join()


def _carry_out(
    job: Job[Key, Told, Result],
    heard: SimpleQueue[Said[Key, Told] | Ended[Key, Result]],
    leaving: Flag,
) -> None:
    steps = job.start()
    try:
        outcome: Result | BaseException
        while True:
            try:
                told = next(steps)
            except StopIteration as end:
                outcome = end.value
                break
            if leaving.is_set():
                return
            heard.put(Said(job.key, told))
    except BaseException as error:  # noqa: BLE001 (raised again by whoever asked, in its thread)
        outcome = error
    finally:
        steps.close()
    heard.put(Ended(job.key, outcome))
