"""What the suite prints: a rule each, and whether it was kept.

Pure. Knows the words of the program; must not know which verdicts are wanted.
"""

from __future__ import annotations

import re

Verdict = str
"""`passed`; `failed: what came`, where it says so; or `skipped`."""
Results = dict[str, Verdict]
"""By rule: `HTTP/3 4.1: MUST send …`."""

PASSED, FAILED, SKIPPED = "passed", "failed: ", "skipped"

_RULE = re.compile(
    r"^\s+(?P<words>\S.*?)\s*\[(?P<part>Transport|TLS|HTTP/3|QPACK) (?P<section>[^\]]+)\]"
    r"(?P<rest>.*)$"
)
_FAILURE = re.compile(r"^\s+(?P<number>\d+)\) ")


def read(text: str) -> Results:
    """The rules of one run, in the order in which they were tried."""
    found: Results = {}
    wrong: dict[int, str] = {}
    told, _, failures = text.partition("\nFailures:\n")
    for line in told.splitlines():
        rule = _RULE.match(line)
        if not rule:
            continue
        case = f"{rule['part']} {rule['section']}: {rule['words']}"
        found[case] = PASSED
        if failed := re.search(r"FAILED \[(\d+)\]", rule["rest"]):
            wrong[int(failed[1])] = case
            found[case] = f"{FAILED}?"
        elif "PENDING" in rule["rest"]:
            found[case] = SKIPPED
    number = 0
    for line in failures.splitlines():
        if failure := _FAILURE.match(line):
            number = int(failure["number"])
        elif number in wrong and line.strip():
            # The first line behind the title.
            found[wrong.pop(number)] = FAILED + line.strip()
    return found
