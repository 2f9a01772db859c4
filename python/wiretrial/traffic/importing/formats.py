"""The formats that can be imported, by the names that people type.

Knows which module reads which; must not know how files are written.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit

from wiretrial.errors import UsageProblem
from wiretrial.traffic.importing import access_log, curl, har, openapi, postman
from wiretrial.traffic.importing.draft import Draft

_READERS: Mapping[str, Callable[[str, str], Draft]] = {
    "curl": curl.draft,
    "har": har.draft,
    "access-log": access_log.draft,
    "openapi": openapi.draft,
    "postman": postman.draft,
}


def draft(kind: str, source: str, path: Path, base: str | None) -> Draft:
    """What a file's text is made to; `base` takes the place of the server that it names."""
    made = _READERS[kind](source, str(path))
    if base is None:
        return made
    parts = urlsplit(base)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise UsageProblem(f"--base {base} is no URL of a server", "write http://HOST:PORT")
    return replace(made, base=base.rstrip("/"))
