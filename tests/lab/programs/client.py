"""A client driver over plain sockets that keeps the drivers' contract, but for the faults given.

Usage: client.py [FAULT...] --url tcp://HOST:PORT --payload BYTES ...
"""

from __future__ import annotations

import argparse
import json
import resource
import socket
import sys
import time
from urllib.parse import urlsplit

from hdrh.histogram import HdrHistogram

MOST_FAILURES = 10


class Client:
    """One socket at a time, and what is sent over it."""

    def __init__(self, flags: argparse.Namespace) -> None:
        self.flags = flags
        url = urlsplit(flags.url)
        self.address = (url.hostname, url.port)
        self.message = bytes(33 + index % 90 for index in range(flags.payload))
        self.socket: socket.socket | None = None
        self.opened = 0
        self.failed_in_a_row = 0

    def iterate(self) -> str | None:
        """One iteration; what went wrong with it."""
        if self.flags.mode == "fresh" and "hoarding" not in self.flags.faults:
            self.drop()
        if "wasteful" in self.flags.faults:
            self.drop()
        try:
            reply = self._exchange()
        except OSError as error:
            self.drop()
            return self._failed(str(error))
        if reply != self.message and "trusting" not in self.flags.faults:
            self.drop()
            return self._failed("a wrong reply")
        self.failed_in_a_row = 0
        return None

    def connect(self) -> socket.socket:
        """The open connection, a new one where there is none."""
        if self.socket is None:
            timeout = None if "patient" in self.flags.faults else self.flags.timeout
            if "fallback" in self.flags.faults:
                self.socket = self._first_of("::1", "127.0.0.1")
            else:
                self.socket = socket.create_connection(self.address, timeout)
            self.opened += 1
        return self.socket

    def _first_of(self, first: str, second: str) -> socket.socket:
        """As many clients do with a name of two addresses: 200 ms for the first."""
        try:
            return socket.create_connection((first, self.address[1]), 0.2)
        except OSError:
            return socket.create_connection((second, self.address[1]), self.flags.timeout)

    def drop(self) -> None:
        """Leaves no connection open."""
        if self.socket:
            self.socket.close()
        self.socket = None

    def _exchange(self) -> bytes:
        connection = self.connect()
        connection.sendall(self.message)
        reply = b""
        while len(reply) < len(self.message):
            piece = connection.recv(65_536)
            if not piece:
                raise OSError("the server closed")
            reply += piece
        return reply

    def _failed(self, how: str) -> str:
        self.failed_in_a_row += 1
        if self.failed_in_a_row >= MOST_FAILURES:
            sys.exit(f"{how}, {self.failed_in_a_row} times in a row")
        return how


def main() -> None:
    """Does what the command line says, and one repetition after the other."""
    flags = parse()
    if "mute" in flags.faults:
        return
    if "hanging" in flags.faults:
        time.sleep(60)
    while "endless" in flags.faults:
        print("x" * 65_536)
    client = Client(flags)
    if flags.mode == "kept":
        try:
            client.connect()
        except OSError as error:
            sys.exit(f"{flags.url}: {error}" + ("\n(traceback)" if "wordy" in flags.faults else ""))
    for _ in range(flags.warmup):
        client.iterate()
    for number in range(flags.repetitions):
        print(json.dumps(repetition(client, number)), flush=True)
    if "failing" in flags.faults:
        sys.exit("it failed after all")


def repetition(client: Client, number: int) -> dict[str, object]:
    """One repetition, as it is told."""
    flags = client.flags
    histogram = HdrHistogram(1, 60_000_000_000, 3)
    errors, first_error, opened = 0, None, client.opened
    user, system = cpu_ns()
    began = time.perf_counter_ns()
    for _ in range(flags.iterations):
        start = time.perf_counter_ns()
        problem = client.iterate()
        if problem is None:
            histogram.record_value(time.perf_counter_ns() - start)
        else:
            errors += 1
            first_error = first_error or problem
    wall = time.perf_counter_ns() - began
    user_after, system_after = cpu_ns()
    if "miscounting" in flags.faults:
        histogram.record_value(1)
    told: dict[str, object] = {
        "schema": "wiretrial-driver",
        "version": 1,
        "library": "socket",
        "repetition": number,
        "mode": flags.mode,
        "iterations": flags.iterations,
        "errors": errors,
        "first_error": first_error,
        "connections": 1 if flags.mode == "kept" else client.opened - opened,
        "wall_ns": wall // 1000 if "coarse" in flags.faults else wall,
        "cpu_user_ns": user_after - user,
        "cpu_system_ns": system_after - system,
        "histogram": histogram.encode().decode(),
    }
    if "boasting" in flags.faults:
        told["rate"] = 1
    if "garbled" in flags.faults:
        told["histogram"] = "HISTgarbled"
    return told


def cpu_ns() -> tuple[int, int]:
    """User and system time of this process."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return round(used.ru_utime * 1e9), round(used.ru_stime * 1e9)


def parse() -> argparse.Namespace:
    """The contract's command line, after the faults."""
    parser = argparse.ArgumentParser()
    parser.add_argument("faults", nargs="*")
    parser.add_argument("--url", required=True)
    parser.add_argument("--payload", type=int, required=True)
    parser.add_argument("--warmup", type=int, required=True)
    parser.add_argument("--iterations", type=int, required=True)
    parser.add_argument("--repetitions", type=int, required=True)
    parser.add_argument("--mode", choices=["kept", "fresh"], required=True)
    parser.add_argument("--timeout", type=float, default=10.0)
    return parser.parse_args()


main()
