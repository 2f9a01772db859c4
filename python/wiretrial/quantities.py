"""Reads quantities as people write them: 10s, 1min, 64KiB, 1k, 1000rps, 0-3.

Pure. What can't be read is a `UsageProblem` that shows a right form.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterator

from wiretrial import suggest
from wiretrial.errors import UsageProblem

_NUMBER = re.compile(r"^(\d+(?:\.\d+)?)\s*([a-zA-Zµ]*|%)$")
_LENGTH = re.compile(r"(\d+(?:\.\d+)?)\s*([a-zA-Zµ]*)\s*")
_RATE = re.compile(
    r"^(?P<number>\d+(?:\.\d+)?)\s*(?P<thousands>[km]?)\s*"
    r"(?P<what>(?:req|reqs|request|requests|msg|msgs|message|messages)(?=\s*/)|rps|qps|)\s*"
    r"(?:/\s*(?P<unit>[a-z]+))?$",
    re.IGNORECASE,
)
_SPELLINGS = {
    1: ("ns", "nsec", "nanosecond", "nanoseconds"),
    10**3: ("us", "µs", "usec", "microsecond", "microseconds"),
    10**6: ("ms", "msec", "millisecond", "milliseconds"),
    10**9: ("s", "sec", "secs", "second", "seconds"),
    60 * 10**9: ("m", "min", "mins", "minute", "minutes"),
    3600 * 10**9: ("h", "hr", "hrs", "hour", "hours"),
}
_TIMES = {name: factor for factor, names in _SPELLINGS.items() for name in names}
_SHORT_TIMES = "ns, us, ms, s, m or h"
_SIZES = {
    "": 1,
    "b": 1,
    "kb": 10**3,
    "mb": 10**6,
    "gb": 10**9,
    "k": 2**10,
    "m": 2**20,
    "g": 2**30,
    "byte": 1,
    "bytes": 1,
    "kib": 2**10,
    "mib": 2**20,
    "gib": 2**30,
}
_COUNTS = {"": 1, "k": 10**3, "m": 10**6}
MOST_SOURCES = 4096


def duration_ns(text: str, flag: str, least_ns: int = 0) -> int:
    """Nanoseconds, at least `least_ns`; a bare number is seconds. Parts add up: 1m30s."""
    parts = list(_parts_of_length(text.strip()))
    if not parts:
        raise UsageProblem(
            f"{flag} {text}: not a duration", "write a duration such as 10s, 500ms or 2m"
        )
    if len(parts) > 1 and not all(unit for _, unit in parts):
        raise UsageProblem(f"{flag} {text}: a number without a unit", f"add {_SHORT_TIMES}")
    value = sum(round(float(number) * _time(unit or "s", text, flag)) for number, unit in parts)
    if value < least_ns:
        raise UsageProblem(f"{flag} {text}: too short", f"use {least_ns / 1e6:g}ms or more")
    return value


def _parts_of_length(text: str) -> Iterator[tuple[str, str]]:
    """Each number with its unit; nothing where something else stands between them."""
    found = list(_LENGTH.finditer(text))
    if "".join(part[0] for part in found) == text:
        yield from ((part[1], part[2]) for part in found)


def _time(unit: str, text: str, flag: str) -> int:
    """Nanoseconds in a unit."""
    factor = _TIMES.get(unit.lower())
    if factor is None:
        raise UsageProblem(
            f"{flag} {text}: no such unit of time",
            suggest.remedy(unit, _TIMES, f"use {_SHORT_TIMES}"),
        )
    return factor


def size_bytes(text: str, flag: str) -> int:
    """Bytes; K, M, G and KiB, MiB, GiB are powers of 1024, KB, MB, GB of 1000."""
    number, unit = _parts(text, flag, "a size such as 64, 64KiB or 1MB")
    factor = _SIZES.get(unit.lower())
    if factor is None:
        known = (name for name in _SIZES if len(name) > 1)
        raise UsageProblem(
            f"{flag} {text}: no such unit of size",
            suggest.remedy(unit, known, "use B, KiB, MiB, KB or MB"),
        )
    return round(number * factor)


def count(text: str, flag: str, least: int = 1, most: int = 2**32 - 1) -> int:
    """A whole number; 1k is 1,000 and 1m is 1,000,000."""
    number, unit = _parts(
        text.replace(",", "").replace("_", ""), flag, "a number such as 100 or 1k"
    )
    factor = _COUNTS.get(unit.lower())
    value = number * factor if factor is not None else None
    if value is None or value != int(value) or not least <= value <= most:
        raise UsageProblem(
            f"{flag} {text}: not a whole number from {least:,} to {most:,}", "correct it"
        )
    return int(value)


def trials(typed: str | None) -> int | None:
    """How many trials of each scenario; None: as many as the command has by itself."""
    return None if typed is None else count(typed, "--trials", most=1000)


def rate(text: str, flag: str) -> float:
    """Messages per second: 10k, 10k/s and 10k rps are the same, 600/m is 10."""
    found = _RATE.match(text.strip().replace(",", "").replace("_", ""))
    if not found:
        raise UsageProblem(
            f"{flag} {text}: not messages per second", "write a number such as 5000, 10k or 600/m"
        )
    number = float(found["number"]) * _COUNTS[found["thousands"].lower()]
    if number <= 0:
        raise UsageProblem(
            f"{flag} {text}: not a rate above zero", "use a number such as 5000 or 10k"
        )
    return number * 1e9 / _time(found["unit"] or "s", text, flag)


def share(text: str, flag: str) -> float:
    """A part of the whole, from 0 to below 1: 0.1% and 0.001 are the same."""
    number, unit = _parts(text, flag, "a share such as 0.1% or 0.001")
    value = number / 100 if unit == "%" else number
    if unit not in ("", "%") or not 0 <= value < 1:
        raise UsageProblem(f"{flag} {text}: not a share below 100%", "write it as 0.1% or 0.001")
    return value


def factor(text: str, flag: str) -> float:
    """A number above zero, such as 1.5."""
    number, unit = _parts(text, flag, "a number such as 1.5")
    if unit or number <= 0:
        raise UsageProblem(f"{flag} {text}: not a number above zero", "write it as 1.5")
    return number


def cpus(text: str, flag: str) -> tuple[int, ...]:
    """CPU numbers: 0,2-4."""
    chosen: list[int] = []
    for part in text.split(","):
        match = re.fullmatch(r"(\d+)(?:-(\d+))?", part.strip())
        if not match or (match[2] and int(match[2]) < int(match[1])):
            raise UsageProblem(f"{flag} {text}: not a list of CPUs", "write it as 0,2-4")
        chosen.extend(range(int(match[1]), int(match[2] or match[1]) + 1))
    return tuple(chosen)


def addresses(text: str, flag: str) -> tuple[str, ...]:
    """Addresses: a list of single ones and of networks, whose usable hosts are taken."""
    found: list[str] = []
    for part in text.split(","):
        try:
            network = ipaddress.ip_network(part.strip(), strict=False)
        except ValueError as error:
            raise UsageProblem(
                f"{flag} {text}: {error}", "write it as 127.0.1.0/28 or 10.0.0.1,10.0.0.2"
            ) from error
        if network.num_addresses > MOST_SOURCES:
            raise UsageProblem(
                f"{flag} {text}: {network.num_addresses:,} addresses",
                f"use a network of {MOST_SOURCES:,} at most",
            )
        found.extend(str(host) for host in network.hosts())
    return tuple(found)


def _parts(text: str, flag: str, wanted: str) -> tuple[float, str]:
    match = _NUMBER.match(text.strip())
    if not match:
        raise UsageProblem(f"{flag} {text}: not {wanted.split(' such')[0]}", f"write {wanted}")
    return float(match[1]), match[2]
