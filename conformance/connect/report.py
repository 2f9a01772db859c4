"""What the suite prints: the cases that were run, and what was wrong with some of them.

Pure. Knows the program's words; must not know which verdicts are wanted.
"""

from __future__ import annotations

import re
from typing import Literal, get_args

Verdict = str
"""`passed`, or `failed: what was wrong`."""
Way = Literal["tls", "plain", "grpc-go"]
"""Over TLS or by prior knowledge with connect-go, which the suite is made of; or with grpc-go."""
Results = dict[Way, dict[str, Verdict]]

WAYS: tuple[Way, ...] = get_args(Way)
PASSED, FAILED = "passed", "failed: "
IN_GZIP = ", in gzip"
"""Behind a case whose messages are."""

_RUN = re.compile(r'Sending request for "(.+)"\.\.\.$')
_TOLD = re.compile(r"(?:FAILED|INFO): (.+?)(?: failed \(as expected\))?:$")
_OTHER = re.compile(r"\(grpc \w+ impl\)")
# What all cases have in common, but TLS and gzip.
_AXIS = re.compile(r"\w+:\w+")
_GZIP = "Compression:COMPRESSION_GZIP"


def read(text: str) -> Results:
    """The cases of one run, as `Timeouts/unary` and `Timeouts/unary, in gzip`."""
    found: Results = {way: {} for way in WAYS}
    lines = text.splitlines()
    for line, behind in zip(lines, [*lines[1:], ""], strict=True):
        if run := _RUN.search(line):
            way, case = _placed(run[1])
            found[way].setdefault(case, PASSED)
        elif told := _TOLD.match(line):
            way, case = _placed(told[1])
            found[way][case] = FAILED + behind.strip()
    return found


def _placed(name: str) -> tuple[Way, str]:
    parts = name.split("/")
    case = "/".join(part for part in parts if not (_AXIS.fullmatch(part) or _OTHER.fullmatch(part)))
    if _GZIP in parts:
        case += IN_GZIP
    if any(_OTHER.fullmatch(part) for part in parts):
        return "grpc-go", case
    return "tls" if "TLS:true" in parts else "plain", case
