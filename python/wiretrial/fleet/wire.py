"""The way to a fleet: a Dask client in a thread of its own, and a deadline on everything asked.

Knows Dask's client; must not know what is asked. Dask waits for ever where nobody says how long, so
every question here says it.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import importlib
import logging
import threading
import warnings
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self, TypeVar

from wiretrial.errors import FleetFailed
from wiretrial.fleet.commands import require_dask
from wiretrial.fleet.security import Address, Certificates

CONNECT_S = 20.0
CLOSE_S = 3.0
ASK_ALL_S = 60.0

_Answer = TypeVar("_Answer")


class Unreachable(Exception):
    """A question that was not answered; the text says how that showed."""


@dataclass(frozen=True)
class Held:
    """A task that holds a worker."""

    future: Any
    gone: asyncio.Event
    """Set when it is over, one way or another."""

    def failed(self) -> bool:
        """Whether it is known to be over without a result."""
        return self.future.status in ("error", "cancelled", "lost")

    async def reason(self) -> str:
        """Why."""
        with contextlib.suppress(Exception):
            error = await asyncio.wait_for(self.future.exception(), CLOSE_S)
            if error is not None:
                return _words(error)
        return str(self.future.status)


class Wire:
    """A connection to a scheduler. A context manager. Coroutines run in its own thread."""

    def __init__(self, address: Address, certificates: Certificates | None) -> None:
        require_dask()
        self.address = address
        self._certificates = certificates
        self._client: Any = None
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(
            target=self._loop.run_forever, name="wiretrial-fleet", daemon=True
        )

    def __enter__(self) -> Self:
        # It takes seconds to load on a busy machine, which is no fault of the scheduler's.
        importlib.import_module("distributed")
        self._thread.start()
        try:
            self.call(self._connect(), CONNECT_S + 1)
        except BaseException as error:
            self._halt()
            if isinstance(error, OSError):
                raise FleetFailed(
                    f"no scheduler answers at {self.address} ({_words(error)})",
                    "start one with `wiretrial fleet scheduler`, or correct --fleet",
                ) from error
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        with contextlib.suppress(Exception):
            self.call(self._disconnect(), CLOSE_S + 1)
        self._halt()

    def call(self, what: Coroutine[Any, Any, _Answer], limit_s: float | None) -> _Answer:
        """Runs a coroutine there, and waits for it. Raises `TimeoutError` after `limit_s`."""
        future = self.begin(what)
        try:
            return future.result(limit_s)
        except BaseException:
            future.cancel()
            raise

    def begin(self, what: Coroutine[Any, Any, _Answer]) -> concurrent.futures.Future[_Answer]:
        """Runs a coroutine there."""
        return asyncio.run_coroutine_threadsafe(what, self._loop)

    def soon(self, what: Callable[[], object]) -> None:
        """Calls something there, from any thread or signal handler."""
        with contextlib.suppress(RuntimeError):
            self._loop.call_soon_threadsafe(what)

    async def ask(
        self, worker: str, limit_s: float, function: Callable[..., _Answer], *arguments: object
    ) -> _Answer:
        """What a function gives on a worker. Raises `Unreachable`."""
        try:
            answers = await asyncio.wait_for(
                self._client.run(function, *arguments, workers=[worker], on_error="return"),
                limit_s,
            )
            answer = answers[worker]
        except Exception as error:
            raise Unreachable(_words(error)) from error
        if isinstance(answer, BaseException):
            raise Unreachable(_words(answer)) from answer
        found: _Answer = answer
        return found

    async def ask_all(self, function: Callable[[], _Answer]) -> dict[str, _Answer | BaseException]:
        """What a function gives on each worker, or how it failed there, by address."""
        try:
            answers: dict[str, _Answer | BaseException] = await asyncio.wait_for(
                self._client.run(function, on_error="return"), ASK_ALL_S
            )
        except Exception as error:
            raise FleetFailed(
                f"the scheduler at {self.address} does not answer ({_words(error)})",
                "check its log and the network",
            ) from error
        return answers

    def hold(
        self, worker: str, key: str, function: Callable[..., None], *arguments: object
    ) -> Held:
        """Begins a task on a worker, on no other, and never again."""
        future = self._client.submit(
            function,
            *arguments,
            key=key,
            workers=[worker],
            allow_other_workers=False,
            pure=False,
            retries=0,
        )
        held = Held(future, asyncio.Event())
        future.add_done_callback(lambda _: self.soon(held.gone.set))
        return held

    async def release(self, held: Held) -> None:
        """Forgets a task; one that nobody can run any more is taken away."""
        with contextlib.suppress(Exception):
            if held.future.status != "finished":
                await asyncio.wait_for(self._client.cancel([held.future], force=True), CLOSE_S)
            held.future.release()

    async def _connect(self) -> None:
        from distributed import Client, Security

        _be_quiet()

        files = self._certificates
        security = (
            Security(
                require_encryption=True,
                tls_ca_file=str(files.authority),
                tls_client_cert=str(files.chain("client")),
                tls_client_key=str(files.key("client")),
            )
            if files
            else None
        )
        with warnings.catch_warnings():
            # Versions of ours are compared by ourselves; Dask's may differ a little.
            warnings.simplefilter("ignore")
            self._client = await Client(
                str(self.address),
                asynchronous=True,
                security=security,
                timeout=CONNECT_S,
                set_as_default=False,
                name="wiretrial",
            )

    async def _disconnect(self) -> None:
        await asyncio.wait_for(self._client.close(), CLOSE_S)

    def _halt(self) -> None:
        with contextlib.suppress(Exception):
            self.call(_cancel_others(), CLOSE_S)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(CLOSE_S)
        if not self._loop.is_running():
            self._loop.close()


async def _cancel_others() -> None:
    """Ends what Dask still does in the background."""
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)


def _be_quiet() -> None:
    """What Dask logs of a lost connection we say ourselves, in a line."""
    for name in list(logging.root.manager.loggerDict):
        if name.split(".")[0] in ("distributed", "tornado", "asyncio"):
            logging.getLogger(name).setLevel(logging.CRITICAL + 1)


def _words(error: BaseException) -> str:
    """An exception in one line."""
    text = " ".join(str(error).split()) or type(error).__name__
    return text[:200]
