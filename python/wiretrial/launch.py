"""Starts another program so that it can't outlive us, on the CPUs that it was given.

Knows prctl(2), setns(2), sched_setaffinity(2) and execve(2); must not know what it starts, and
imports nothing but the standard library: it runs as a file of its own, so that no Python code runs
in a forked copy of a process with threads.

There are two ways. `command_line` becomes the program, which gets a signal when whoever started it
ends. `keeper_command_line` stays beside the program and ends all that it has begun, descendants of
descendants included, when whoever started it closes the pipe that is the keeper's standard input:
on purpose, or because the kernel closed it after a crash.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import os
import select
import signal
import sys
import time
from collections.abc import Sequence
from pathlib import Path

PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36
CLONE_NEWNET = 0x4000_0000
STOP_GRACE_S = 5.0
"""What a kept program gets between being asked to end and being ended."""
KILL_LIMIT_S = 5.0
"""How long the kernel may take to end what was killed."""


def command_line(
    command: Sequence[str],
    *,
    cpus: Sequence[int] = (),
    namespace: Path | None = None,
    death_signal: int = signal.SIGTERM,
) -> list[str]:
    """The command line that starts `command` on `cpus` (empty: on any).

    `namespace` is the file of a network namespace to run it in. `death_signal` is what the program
    gets when the thread that started it ends.
    """
    options = ["--parent", str(os.getpid()), "--death-signal", str(int(death_signal))]
    if namespace is not None:
        options += ["--namespace", str(namespace)]
    return _line([*options, *_cpus(cpus)], command)


def keeper_command_line(
    command: Sequence[str],
    *,
    cpus: Sequence[int] = (),
    namespace: Path | None = None,
    folder: Path | None = None,
    streams: tuple[int, int] | None = None,
    timed: bool = False,
) -> list[str]:
    """The command line that keeps `command` until standard input is closed.

    The keeper writes two lines to standard output: the program's process id when it runs, and
    `exited N` or `killed N` when it has ended. It stays until its standard input ends, so that the
    id is nobody else's before. `streams` are inherited descriptors that become the program's
    standard input and output; without, it reads nothing, and what it writes goes to standard error.
    `namespace` is the file of a network namespace to run it in. `folder` is removed if whoever
    started the keeper is gone when it ends. `timed`: behind the process id stands the instant just
    before the fork, in nanoseconds of the monotonic clock, which all processes share.
    """
    options = ["--keep", "--parent", str(os.getpid()), "--death-signal", str(int(signal.SIGKILL))]
    if namespace is not None:
        options += ["--namespace", str(namespace)]
    if folder is not None:
        options += ["--folder", str(folder)]
    if streams is not None:
        options += ["--streams", "{},{}".format(*streams)]
    if timed:
        options.append("--timed")
    return _line([*options, *_cpus(cpus)], command)


def main() -> None:
    """Becomes the program that the command line names, or keeps it."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--parent", type=int, required=True)
    parser.add_argument("--death-signal", type=int, required=True)
    parser.add_argument("--cpus", default="")
    parser.add_argument("--keep", action="store_true")
    parser.add_argument("--namespace")
    parser.add_argument("--folder")
    parser.add_argument("--streams")
    parser.add_argument("--timed", action="store_true")
    parser.add_argument("command", nargs="+")
    arguments = parser.parse_args()
    if arguments.keep:
        _keep(arguments)
    else:
        _become(arguments, arguments.parent)


def _line(options: Sequence[str], command: Sequence[str]) -> list[str]:
    return [sys.executable, "-I", "-S", __file__, *options, "--", *command]


def _cpus(cpus: Sequence[int]) -> list[str]:
    return ["--cpus", ",".join(str(cpu) for cpu in cpus)] if cpus else []


def _become(arguments: argparse.Namespace, parent: int) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(PR_SET_PDEATHSIG, arguments.death_signal) != 0:
        sys.exit(f"prctl: {os.strerror(ctypes.get_errno())}")
    if os.getppid() != parent:
        sys.exit("whoever started this is gone")
    if arguments.namespace:
        with Path(arguments.namespace).open("rb") as file:
            if libc.setns(file.fileno(), CLONE_NEWNET) != 0:
                sys.exit(f"setns: {os.strerror(ctypes.get_errno())}")
    if arguments.cpus:
        os.sched_setaffinity(0, {int(cpu) for cpu in arguments.cpus.split(",")})
    try:
        os.execvp(arguments.command[0], arguments.command)
    except OSError as error:
        sys.exit(f"{arguments.command[0]}: {error.strerror}")


def _keep(arguments: argparse.Namespace) -> None:
    # Descendants whose parents end become ours, so that none of them is out of reach.
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1)
    keeper = os.getpid()
    begun_ns = time.monotonic_ns()
    child = os.fork()
    if child == 0:
        os.setsid()
        _take_streams(arguments.streams)
        _become(arguments, keeper)
    _tell(f"{child} {begun_ns}" if arguments.timed else str(child))
    _watch(child)
    _end(child)
    # Our parent is another if whoever started us is gone; who is there cleans up by itself.
    if arguments.folder and os.getppid() != arguments.parent:
        import shutil

        shutil.rmtree(arguments.folder, ignore_errors=True)


def _take_streams(streams: str | None) -> None:
    if streams is None:
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(2, 1)
        return
    for wanted, given in enumerate(int(number) for number in streams.split(",")):
        os.dup2(given, wanted)
        os.close(given)


def _watch(child: int) -> None:
    """Returns when standard input ends, and tells meanwhile how the program did."""
    told = False
    wake_read, wake_write = os.pipe()
    os.set_blocking(wake_write, False)
    signal.set_wakeup_fd(wake_write, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    while True:
        how = _reap(but=child)
        if how and not told:
            _tell(how)
            told = True
        ready, _, _ = select.select([0, wake_read], [], [])
        if 0 in ready and not os.read(0, 1):
            return
        if wake_read in ready:
            os.read(wake_read, 4096)


def _end(child: int) -> None:
    """Ends the program's group, and then whatever else it has begun."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child, signal.SIGTERM)
        select.select([os.pidfd_open(child)], [], [], STOP_GRACE_S)
        os.killpg(child, signal.SIGKILL)
    limit = time.monotonic() + KILL_LIMIT_S
    while time.monotonic() < limit:
        for other in _children():
            if other != child:
                os.kill(other, signal.SIGKILL)
        try:
            # Children of ours that ended are waited for here only, so no id is stale above.
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            return
        time.sleep(0.005)


def _reap(but: int) -> str | None:
    """Forgets adopted descendants that have ended. How `but` ended, once it has.

    It is left unreaped: its id, and its group's, must not become another's.
    """
    while True:
        found = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOWAIT | os.WNOHANG)
        if found is None:
            return None
        if found.si_pid == but:
            how = "exited" if found.si_code == os.CLD_EXITED else "killed"
            return f"{how} {found.si_status}"
        os.waitid(os.P_PID, found.si_pid, os.WEXITED)


def _children() -> list[int]:
    """Our children, as the process table has them: not every kernel lists them by parent."""
    own = str(os.getpid())
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            # The name in parentheses may hold anything; the parent stands two fields after it.
            stat = (folder / "stat").read_text(encoding="ascii", errors="replace")
            if stat.rpartition(")")[2].split()[1] == own:
                found.append(int(folder.name))
    return found


def _tell(line: str) -> None:
    with contextlib.suppress(BrokenPipeError):
        os.write(1, f"{line}\n".encode())


if __name__ == "__main__":
    main()
