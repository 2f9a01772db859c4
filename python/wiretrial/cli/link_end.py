"""A command at one end of a link, ended with all that it began.

Knows the keeper's two lines and what listens in a namespace; must not know what the command is.
"""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

from wiretrial import launch
from wiretrial.closing import Closing, end_program, told
from wiretrial.errors import EXIT_SIGNAL, MeasurementInvalid, SubjectFailed
from wiretrial.machine import namespaces
from wiretrial.machine.links import End, Wire

START_LIMIT_S = 30.0
LISTEN_LIMIT_S = 10.0
STOP_LIMIT_S = launch.STOP_GRACE_S + launch.KILL_LIMIT_S + 5.0
LOOK_S = 0.2
TCP_LISTENS, UDP_IS_BOUND = "0A", "07"


class Kept(Closing):
    """A running command. A context manager: leaving it ends every process.

    `{far}` and `{near}` in its words become the link's addresses. `streams` are the descriptors
    that become its standard input and output.
    """

    def __init__(
        self,
        command: Sequence[str],
        wire: Wire,
        end: End,
        *,
        streams: tuple[int, int] | None = None,
    ) -> None:
        near, far = (one.addresses[0] for one in wire.ends)
        self._wire = wire
        self._end = end
        self._words = [word.replace("{far}", far).replace("{near}", near) for word in command]
        # Under other numbers, since the keeper's own take their places.
        inherited = tuple(os.dup(stream) for stream in streams or ())
        try:
            self._keeper = subprocess.Popen(
                launch.keeper_command_line(
                    self._words,
                    namespace=namespaces.file_of(end.pid),
                    streams=(inherited[0], inherited[1]) if inherited else None,
                ),
                env={**os.environ, "WIRETRIAL_FAR": far, "WIRETRIAL_NEAR": near},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                pass_fds=inherited,
                start_new_session=True,
                # Two lines come, and the first must not take the second into a buffer.
                bufsize=0,
            )
        finally:
            for stream in inherited:
                os.close(stream)
        try:
            if not self._told(START_LIMIT_S):
                raise SubjectFailed(f"{self._words[0]} could not be started: its keeper ended")
        except BaseException:
            self.close()
            raise

    def wait(self) -> int:
        """Its exit code, once it has ended. Raises when the link ends before."""
        while (line := self._told(LOOK_S)) is None:
            if how := self._wire.ended():
                raise MeasurementInvalid(f"the link ended while {self._words[0]}: {how}")
        how, _, number = line.partition(" ")
        return int(number) + (EXIT_SIGNAL if how == "killed" else 0)

    def wait_listening(self) -> None:
        """Returns when something takes connections or packets at its end.

        Whoever never does may still be meant, as a client: after some time it returns, too.
        """
        deadline = time.monotonic() + LISTEN_LIMIT_S
        while not _listens(self._end.pid) and time.monotonic() < deadline:
            if how := self._told(0.02):
                raise SubjectFailed(
                    f"{self._words[0]} at the far end {how} before it listened", "run it by hand"
                )

    def close(self) -> None:
        """Ends it with all that it began."""
        end_program(self._keeper, STOP_LIMIT_S)

    def _told(self, seconds: float) -> str | None:
        """The keeper's next line; None where none comes in time."""
        line = told(self._keeper, seconds)
        if line == "":
            raise SubjectFailed(f"the keeper of {self._words[0]} ended", "run it again")
        return line


def _listens(pid: int) -> bool:
    """Whether anything takes TCP connections or UDP packets in the namespace of `pid`."""
    for name, state in (("tcp", TCP_LISTENS), ("udp", UDP_IS_BOUND)):
        for family in ("", "6"):
            file = Path(f"/proc/{pid}/net/{name}{family}")
            lines = file.read_text(encoding="ascii").splitlines()[1:] if file.exists() else []
            if any(line.split()[3] == state for line in lines):
                return True
    return False
