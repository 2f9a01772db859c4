"""Gets the observer of this laboratory to run on another host, over one ssh connection.

Knows the lines of `assets/far.sh`, which runs there, and which engine can run where; must not know
what an observer says. Nothing is installed there: the engine is streamed into a file without a
name, unless one of our version is on the host's PATH.
"""

from __future__ import annotations

import contextlib
import functools
import gzip
import hashlib
import os
import select
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Final, NoReturn

from wiretrial import __version__, launch
from wiretrial.closing import MOST_CHARACTERS, Closing, last_words
from wiretrial.errors import ObserverFailed
from wiretrial.observers import ssh
from wiretrial.observers.address import Remote
from wiretrial.observers.program import Words, own_words

ANSWER_LIMIT_S: Final = 30.0
"""For the connection with its jump hosts and login, and for each answer after it."""
STALLED_S: Final = 10.0
"""While the engine is sent, something must go on within this time."""
END_LIMIT_S: Final = 2.0
MOST_NOISE: Final = 64 * 1024
"""Bytes that a shell's start may write before we are heard."""
PIECE: Final = 64 * 1024
PACKING: Final = 1
"""Of gzip: higher levels take seconds, and save a tenth."""
TOLD: Final = "wiretrial: "
ASK: Final = "ask"

_ENGINE: Final = "wiretrial-engine"


@dataclass(frozen=True)
class Found:
    """Where a part is on the host: in a control group, or a process and its descendants."""

    pid: int | None = None
    cgroup: str | None = None


class Far(Closing):
    """A host, from the login to the observer that runs there: a `program.Program`.

    `remote` says how it is reached. `engine` is the binary of this machine. Every step raises
    `ObserverFailed` with what happened and the remedy, and takes no longer than its limit.
    """

    def __init__(self, remote: Remote, engine: Path) -> None:
        self._remote = remote
        self._engine = engine
        if shutil.which(ssh.program()) is None:
            raise ssh.missing()
        self._noise = ""
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 (closed by close)
        script = _script()
        # The login shell may be any: this line means the same to all of them.
        words = f"exec sh -c 'eval \"$(head -c {len(script)})\"'"
        try:
            self._process = subprocess.Popen(
                launch.command_line(ssh.command(remote, words), death_signal=signal.SIGKILL),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._errors,
                # A session of its own: Ctrl-C ends the load, and us at its end.
                start_new_session=True,
            )
        except BaseException:
            self._errors.close()
            raise
        try:
            self._write(script)
            self._host = self._told()
            self._require_linux()
        except BaseException:
            self.close()
            raise

    def find(self, parts: Sequence[Remote]) -> tuple[Found | None, ...]:
        """Where each of the parts is; None: the host alone was named."""
        named = [(one.what, one.value) for one in parts if one.what is not None]
        lines = [f"{what} {value}\n" for what, value in named]
        self._write("".join([*lines, "\n"]).encode())
        places = self._places(len(named))
        found = iter(places)
        return tuple(None if one.what is None else next(found) for one in parts)

    def begin(self, words: Words) -> subprocess.Popen[bytes]:
        """Runs the observer with these words; what it says comes from the process's output."""
        rest = "".join(f"{word}\n" for word in [*words, ""])
        if self._host.get("engine", "") == f"{_ENGINE} {__version__}":
            self._write(f"own\n{rest}".encode())
        else:
            engine = self._carried()
            self._write(f"{engine.order}\n{rest}".encode())
            self._await("send")
            self._write(engine.sent)
        self._await("begin")
        return self._process

    def why_ended(self, status: int) -> str:
        """In the words of the observer, or of ssh where the connection went away."""
        said = self._said()
        if status != ssh.EXIT_FAILED and status >= 0:
            return own_words(said, status)
        last = last_words(said) or "the observer was ended there, or the host went away"
        return f"the ssh connection was lost ({last})"

    def close(self) -> None:
        """Ends the connection, with what runs at its other end."""
        process = self._process
        for stream in (process.stdin, process.stdout):
            assert stream is not None
            with contextlib.suppress(OSError):
                stream.close()
        try:
            process.wait(END_LIMIT_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        self._errors.close()

    def _said(self) -> str:
        """Everything that ssh and the observer have written to standard error."""
        self._errors.seek(0)
        return self._errors.read().decode(errors="replace")

    def _require_linux(self) -> None:
        system = self._host.get("system")
        if system != "Linux":
            raise ObserverFailed(
                f"{self._remote.text}: it runs {system or 'no system that it tells'}",
                "only servers on Linux can be observed",
            )

    def _carried(self) -> Carried:
        """The engine of this machine, where it can run there."""
        ours, theirs = os.uname().machine, self._host.get("machine", "")
        if ours != theirs:
            raise ObserverFailed(
                f"{self._remote.text}: its machine is {theirs}, and this engine is for {ours}",
                f"put {_ENGINE} {__version__} for {theirs} on its PATH",
            )
        return carried(self._engine, is_packed="gzip" in self._host)

    def _told(self) -> Mapping[str, str]:
        """The lines until it asks, by their first words."""
        found = {}
        while (line := self._line()) != ASK:
            name, _, value = line.partition(" ")
            found[name] = value.strip()
        return found

    def _places(self, wanted: int) -> list[Found]:
        found = []
        while (line := self._line()) != ASK:
            kind, _, value = line.partition(" ")
            is_pid = kind == "pid" and value.isascii() and value.isdigit()
            found.append(Found(pid=int(value)) if is_pid else Found(cgroup=value))
        if len(found) != wanted:
            raise self._unanswered(f"it told of {len(found)} servers, and was asked for {wanted}")
        return found

    def _await(self, word: str) -> None:
        line = self._line()
        if line != word:
            raise self._unanswered(f"it said '{line}' in place of '{word}'")

    def _line(self) -> str:
        """The next line that is meant for us; those of the shell's own start are left out."""
        deadline = time.monotonic() + ANSWER_LIMIT_S
        for _ in range(MOST_NOISE):
            line = self._raw_line(deadline)
            if line.startswith(TOLD):
                told = line.removeprefix(TOLD).strip()
                kind, _, rest = told.partition(" ")
                if kind == "refused":
                    self._refuse(rest)
                return told
            self._noise = line.strip()[:MOST_CHARACTERS] or self._noise
        raise self._unanswered("its shell writes without end")

    def _raw_line(self, deadline: float) -> str:
        """Byte by byte: what comes after the last of our lines is the observer's."""
        assert self._process.stdout is not None
        output = self._process.stdout.fileno()
        line = bytearray()
        while len(line) < MOST_NOISE:
            left = max(0.0, deadline - time.monotonic())
            if not select.select([output], [], [], left)[0]:
                raise self._unanswered(f"no answer in {ANSWER_LIMIT_S:g} s")
            byte = os.read(output, 1)
            if not byte:
                raise self._ended()
            if byte == b"\n":
                break
            line += byte
        return line.decode(errors="replace")

    def _write(self, data: bytes) -> None:
        """Sends, as long as something of it goes on, and the host has nothing to say against it."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        output, input_ = self._process.stdout.fileno(), self._process.stdin.fileno()
        left = memoryview(data)
        os.set_blocking(input_, False)
        # Who closed the pipe says why where it is read.
        with contextlib.suppress(BrokenPipeError):
            while left:
                heard, ready, _ = select.select([output], [input_], [], STALLED_S)
                if not ready and not heard:
                    raise self._unanswered(f"nothing was taken for {STALLED_S:g} s")
                if not ready:
                    break
                left = left[os.write(input_, left[:PIECE]) :]
        os.set_blocking(input_, True)

    def _ended(self) -> ObserverFailed:
        """Why the connection is over before the observer began."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(END_LIMIT_S)
        said, status = self._said(), self._process.poll()
        if status == ssh.EXIT_FAILED:
            return ssh.refusal(self._remote, said)
        last = last_words(said) or self._noise or f"exit status {status}"
        return ObserverFailed(
            f"{self._remote.text}: its shell ended before the observer ran ({last})",
            f"see that `{ssh.by_hand(self._remote)} uname` works",
        )

    def _unanswered(self, why: str) -> ObserverFailed:
        return ObserverFailed(
            f"{self._remote.text}: {why}",
            f"try `{ssh.by_hand(self._remote)}`, until it logs in without a question",
        )

    def _refuse(self, line: str) -> NoReturn:
        kind, _, said = line.partition(" ")
        problem, remedy = _REFUSED.get(kind, _REFUSED["start"])
        known = {
            "said": said.rstrip(";"),
            "ssh": ssh.by_hand(self._remote),
            "host": self._remote.host,
        }
        raise ObserverFailed(
            f"{self._remote.text}: {problem.format(**known)}", remedy.format(**known)
        )


@dataclass(frozen=True)
class Carried:
    """An engine as it is sent, and the line that announces it."""

    order: str
    sent: bytes


@functools.cache
def carried(engine: Path, *, is_packed: bool) -> Carried:
    """The engine of this machine, to be sent to another one."""
    binary = engine.read_bytes()
    sent = gzip.compress(binary, PACKING, mtime=0) if is_packed else binary
    kib = -(-len(binary) // 1024)
    digest = hashlib.sha256(binary).hexdigest()
    return Carried(f"take {len(sent)} {kib} {digest} {'gzip' if is_packed else 'plain'}", sent)


@functools.cache
def _script() -> bytes:
    return resources.files(__package__).joinpath("assets/far.sh").read_bytes()


_ON_PATH: Final = f"put {_ENGINE} {__version__}, built for that host, on its PATH"
_LISTED: Final = "shows those that run, and root sees all of them"
_REFUSED: Final[Mapping[str, tuple[str, str]]] = {
    "pid": ("{said}", f"`{{ssh}} ps -e` {_LISTED}"),
    "unit": ("{said}", f"`{{ssh}} systemctl list-units` {_LISTED}"),
    "container": ("{said}", f"`{{ssh}} docker ps`, or podman's, {_LISTED}"),
    "tool": ("it has no {said} on its PATH", "name the process: ssh://{host}/pid/N"),
    "place": ("no folder there takes a program: {said}", f"{_ON_PATH}, or make room in /dev/shm"),
    "damaged": ("what arrived there is not the engine that was sent", "try again"),
    "start": ("the engine of this machine does not run there ({said})", _ON_PATH),
}
"""What the host's refusals mean, and what helps, by their first words."""
