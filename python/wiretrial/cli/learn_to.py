"""`--learn-to FILE`: what was learned is written as a `.hurl` file.

Knows what was typed and what was learned; must not know the format.
"""

from __future__ import annotations

import base64
from collections.abc import Sequence
from pathlib import Path

from wiretrial.cli import output
from wiretrial.errors import UsageProblem
from wiretrial.plan import FixedPayload, NoPayload, Payload, Target, TemplatePayload
from wiretrial.traffic.compiler import compile_file
from wiretrial.traffic.importing.parts import Sent
from wiretrial.traffic.learning import Learned
from wiretrial.traffic.learning.keeping import of_request, of_scenario
from wiretrial.traffic.variables import given

FLAG = "--learn-to"


def require_free(path: Path) -> None:
    """Raises where the file can't be written, or is there already."""
    if path.suffix != ".hurl":
        raise UsageProblem(f"{FLAG} {path}: not a .hurl file", "give it this ending")
    if path.exists():
        raise UsageProblem(f"{FLAG} {path} is there already", "name a new file")


def of_url(path: Path, target: Target, found: Learned) -> None:
    """Writes the request to one URL, and what is right of its replies."""
    body = _text(target.message.source)
    headers = target.http.headers
    media = next((value for name, value in headers if name.lower() == "content-type"), "")
    method = target.http.method or ("GET" if body is None else "POST")
    text = of_request(Sent(method, target.url, headers, body, media), found)
    _write(path, text)


def of_file(path: Path, traffic: Path, variables: Sequence[str], found: Sequence[Learned]) -> None:
    """Writes the entries of a traffic file with what was learned from those without a response."""
    text = of_scenario(traffic, compile_file(traffic, given(variables)), found)
    _write(path, text)


def _text(payload: Payload) -> str | None:
    match payload:
        case NoPayload():
            return None
        case FixedPayload(base64=encoded):
            try:
                return base64.b64decode(encoded).decode()
            except UnicodeDecodeError:
                pass
        case TemplatePayload(text=text):
            return text.replace("{seq}", "{{seq}}")
        case _:
            pass
    raise UsageProblem(f"{FLAG}: this payload is no text", "send a text: --json or --payload @FILE")


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text)
    except OSError as error:
        raise UsageProblem(f"{FLAG} {path}: {error.strerror}", "name another file") from error
    output.say(f"{path} has what was learned as response parts")
