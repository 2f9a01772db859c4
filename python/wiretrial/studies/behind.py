"""What a workload says of the server behind a proxy: what it does wrong there, and how often.

Pure. Knows the words and the flags that they come to; must not know who is started with them.
"""

from __future__ import annotations

import re
from typing import Annotated, Final

from pydantic import AfterValidator

RIGHT: Final = "right"
"""It does nothing wrong: the level beside those that do."""
FAULTS: Final = ("close", "reset", "truncate", "garbage", "silent", "status", "slow")
"""Of single replies; what clients see of each stands in docs/reference-server.md."""
SCRIPTS: Final = ("stall", "delay", "close-after")
_FAULT = re.compile(rf"(?:{'|'.join(FAULTS)})@[1-9]\d*")
_SCRIPT = re.compile(rf"({'|'.join(SCRIPTS)})=(\S+)")


def _known(level: str) -> str:
    if level == RIGHT or _FAULT.fullmatch(level) or _SCRIPT.fullmatch(level):
        return level
    raise ValueError(
        f"{level!r}: write {RIGHT}, a fault of each so many replies, such as close@100 (also"
        f" {', '.join(FAULTS[1:])}), or a script: stall=1s/200ms, delay=5ms, close-after=100"
    )


Behaviour = Annotated[str, AfterValidator(_known)]


def flags(level: str | None) -> tuple[str, ...]:
    """What the reference server is started with."""
    if level is None or level == RIGHT:
        return ()
    if script := _SCRIPT.fullmatch(level):
        return (f"--{script[1]}", script[2])
    return ("--fault", level)
