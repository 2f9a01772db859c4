"""Starts another program so that it can't outlive us, on the CPUs that it was given.

Knows prctl(2), sched_setaffinity(2) and execve(2); must not know what it starts, and imports
nothing but the standard library: it runs as a file of its own, between fork and exec, so that no
Python code runs in a forked copy of a process with threads.
"""

from __future__ import annotations

import argparse
import ctypes
import os
import signal
import sys
from collections.abc import Sequence

PR_SET_PDEATHSIG = 1


def command_line(
    command: Sequence[str], *, cpus: Sequence[int] = (), death_signal: int = signal.SIGTERM
) -> list[str]:
    """The command line that starts `command` on `cpus` (empty: on any).

    `death_signal` is what the program gets when the thread that started it ends.
    """
    options = ["--parent", str(os.getpid()), "--death-signal", str(int(death_signal))]
    if cpus:
        options += ["--cpus", ",".join(str(cpu) for cpu in cpus)]
    return [sys.executable, "-I", "-S", __file__, *options, "--", *command]


def main() -> None:
    """Becomes the program that the command line names."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--parent", type=int, required=True)
    parser.add_argument("--death-signal", type=int, required=True)
    parser.add_argument("--cpus", default="")
    parser.add_argument("command", nargs="+")
    arguments = parser.parse_args()

    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(PR_SET_PDEATHSIG, arguments.death_signal) != 0:
        sys.exit(f"prctl: {os.strerror(ctypes.get_errno())}")
    if os.getppid() != arguments.parent:
        sys.exit("whoever started this is gone")
    if arguments.cpus:
        os.sched_setaffinity(0, {int(cpu) for cpu in arguments.cpus.split(",")})
    try:
        os.execvp(arguments.command[0], arguments.command)
    except OSError as error:
        sys.exit(f"{arguments.command[0]}: {error.strerror}")


if __name__ == "__main__":
    main()
