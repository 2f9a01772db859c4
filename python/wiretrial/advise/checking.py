"""The command that confirms an advice: one instance, loaded at its advised rate.

Knows the command by which the capacity was measured; must not know what its options do.
"""

from __future__ import annotations

import math
import shlex
from collections.abc import Iterator, Sequence

OWN = frozenset(
    (
        *("--users", "--think", "--peak", "--rate", "--shared", "--machine", "--growth"),
        *("--start", "--from", "--to", "--searches", "--within", "--tolerance", "--instances"),
        *("--size", "--instead"),
        *("--format", "-o", "--output", "--report"),
    )
)
"""Options of sizing and of the search, each with a value: the check has its own."""
DIGITS = 3


def command(measured: str, rate: float, pinned: Sequence[int] = ()) -> str:
    """`wiretrial limit` at this rate and no higher, with all else as it was measured.

    Its exit code is 0 where the rate is kept. The rate is rounded up to three digits. `pinned`: the
    CPUs that it had, where a machine has more of them.
    """
    on = ("taskset", "-c", ",".join(map(str, sorted(pinned)))) if pinned else ()
    program, _, *rest = shlex.split(measured)
    asked = f"{_up(rate):.10g}"
    searched = ("--from", asked, "--to", asked, "--searches", "1")
    return shlex.join((*on, program, "limit", *_others(rest), *searched))


def _up(rate: float) -> float:
    step = 10.0 ** (math.floor(math.log10(rate)) + 1 - DIGITS)
    return math.ceil(rate / step - 1e-9) * step


def _others(words: Sequence[str]) -> Iterator[str]:
    """The words that are no option of our own, nor its value."""
    skips = False
    for word in words:
        if skips:
            skips = False
            continue
        name, sign, _ = word.partition("=")
        if name in OWN:
            skips = not sign
            continue
        yield word
