"""What the suites print: a case each, what came last in it, and whether that was right.

Pure. Knows the words of both programs; must not know which verdicts are wanted.
"""

from __future__ import annotations

import re

Verdict = str
"""`passed`, and how that was seen: `GOAWAY`, `RST_STREAM`, `closed` (the connection ended) or
`answered` (anything else); or `failed: what came`, or `skipped`."""
Results = dict[str, Verdict]

ERRORS = ("GOAWAY", "RST_STREAM")
CLOSED, ANSWERED, SKIPPED, FAILED = "closed", "answered", "skipped", "failed: "

ROOTS = {
    "Generic tests for HTTP/2 server": "generic",
    "Hypertext Transfer Protocol Version 2 (HTTP/2)": "http2",
    "HPACK: Header Compression for HTTP/2": "hpack",
    "Generic tests for HTTP/2 client": "client",
}

_SECTION = re.compile(r"(\d+(?:\.\d+)*)\. ")
_CASE = re.compile(r"(?:(✔|×) )?(\d+): ")
_CAME = re.compile(r"\[recv\] (.*)")
_WRONG = re.compile(r"(?:Actual|Error): (.*)")


def read(text: str) -> Results:
    """The cases of one run, as `http2/6.5.2/1`, in the order in which they ran."""
    found: Results = {}
    root = section = case = ""
    last = ""
    for raw in text.replace("\r", "\n").splitlines():
        line = raw.strip()
        if line.startswith("Failures:"):
            # All of them again.
            break
        if line in ROOTS:
            root = ROOTS[line]
        elif came := _CAME.search(line):
            last = came[1]
        elif title := _SECTION.match(line):
            section = title[1]
        elif told := _CASE.match(line):
            case = f"{root}/{section}/{told[2]}"
            found[case] = {"✔": _seen(last), "×": f"{FAILED}?"}.get(told[1], SKIPPED)
            last = ""
        elif (wrong := _WRONG.match(line)) and found.get(case, "").startswith(FAILED):
            found[case] = FAILED + wrong[1]
    return found


def _seen(last: str) -> Verdict:
    if last == "Connection closed":
        return CLOSED
    return next((name for name in ERRORS if last.startswith(name)), ANSWERED)
