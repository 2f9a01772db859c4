"""What importers are given, and what they write of it."""

from __future__ import annotations

import json
from pathlib import Path

from wiretrial.traffic.compiler import compile_file
from wiretrial.traffic.importing import formats
from wiretrial.traffic.importing.draft import Draft, save


def made(kind: str, source: str, base: str | None = None) -> Draft:
    return formats.draft(kind, source, Path("source"), base)


def written(draft: Draft, folder: Path) -> dict[str, str]:
    """The files by their names; they compile."""
    files = save(draft, folder / "new", "source")
    compile_file(files[0], {})
    return {file.name: file.read_text(encoding="utf-8") for file in files}


def log(*requests: str, combined: bool = True) -> str:
    """A request every two seconds."""
    lines = []
    for index, request in enumerate(requests):
        minute, second = divmod(2 * index, 60)
        at = f"{minute:02}:{second:02}"
        what, _, status = request.rpartition(" ")
        method, _, path = what.partition(" ")
        lines.append(
            f'1.2.3.4 - ann [01/Jan/2026:10:{at} +0000] "{what} HTTP/1.1" {status} 5 "-" "x"'
            if combined
            else json.dumps(
                {
                    "time": f"2026-01-01T10:{at}Z",
                    "request_method": method,
                    "uri": path,
                    "status": int(status),
                }
            )
        )
    return "\n".join(lines)


def fields(**named: str) -> list[dict[str, str]]:
    return [{"name": name.replace("_", "-"), "value": value} for name, value in named.items()]
