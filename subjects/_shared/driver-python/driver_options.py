"""The command line of a client driver, as subjects/_contract/README.md gives it.

Knows words and files; must not know any library. What is wrong with it ends the process with 2.
"""

from __future__ import annotations

import argparse
import ssl
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn
from urllib.parse import urlsplit


@dataclass(frozen=True)
class Options:
    """What to do. Times are seconds."""

    url: str
    message: bytes
    expected: bytes
    """The right reply."""
    trust: ssl.SSLContext | None
    """Trusts the authority and nobody else; None without TLS."""
    authority: bytes
    """The authority alone, PEM; empty without TLS."""
    kept: bool
    warmup: int
    iterations: int
    repetitions: int
    timeout: float
    tuned: bool
    http2: bool = False
    """HTTP/2 and nothing else."""


def read_options(name: str, library: str, schemes: Sequence[str], words: Sequence[str]) -> Options:
    """The options that the command line gives; `--version` prints the library and ends."""
    parser = _Parser(prog=name, allow_abbrev=False, add_help=False)
    parser.add_argument("--version", action="version", version=library)
    parser.add_argument("--url", required=True)
    parser.add_argument("--payload", type=_count(0), required=True)
    parser.add_argument("--warmup", type=_count(0), required=True)
    parser.add_argument("--iterations", type=_count(1), required=True)
    parser.add_argument("--repetitions", type=_count(1), required=True)
    parser.add_argument("--mode", choices=("kept", "fresh"), required=True)
    parser.add_argument("--cacert", type=Path)
    parser.add_argument("--expect", type=Path)
    parser.add_argument("--timeout", type=_seconds, default=10.0)
    parser.add_argument("--http", choices=("1.1", "2"), default="1.1")
    parser.add_argument("--tuned", action="store_true")
    given = parser.parse_args(words)
    scheme = urlsplit(given.url).scheme
    if scheme not in schemes:
        parser.error(f"--url: {' or '.join(schemes)} is needed")
    message = bytes(33 + index % 90 for index in range(given.payload))
    page = scheme in ("http", "https") and not message
    if page and not given.expect:
        parser.error("--expect: needed for a GET (--payload 0)")
    trust, authority = None, b""
    if scheme in ("https", "wss", "grpcs"):
        if not given.cacert:
            parser.error(f"--cacert: needed for {scheme}")
        trust = _trust(parser, given.cacert)
        authority = given.cacert.read_bytes()
    return Options(
        url=given.url,
        message=message,
        expected=_content(parser, given.expect) if page else message,
        trust=trust,
        authority=authority,
        kept=given.mode == "kept",
        warmup=given.warmup,
        iterations=given.iterations,
        repetitions=given.repetitions,
        timeout=given.timeout,
        tuned=given.tuned,
        http2=given.http == "2",
    )


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        """One line, without the usage."""
        self.exit(2, f"{self.prog}: {message}\n")


def _count(least: int) -> Callable[[str], int]:
    def read(text: str) -> int:
        if not text.isdecimal() or int(text) < least:
            raise argparse.ArgumentTypeError(f"a whole number from {least} is needed")
        return int(text)

    return read


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds <= 1_000_000:
        raise argparse.ArgumentTypeError("seconds above 0 are needed, at most 1000000")
    return seconds


def _content(parser: argparse.ArgumentParser, path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        parser.error(f"--expect: {path}: {error.strerror}")


def _trust(parser: argparse.ArgumentParser, path: Path) -> ssl.SSLContext:
    try:
        return ssl.create_default_context(cafile=path)
    except OSError as error:
        parser.error(f"--cacert: {path}: {error.strerror or error}")
