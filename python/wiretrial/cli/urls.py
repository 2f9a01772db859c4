"""What was meant to be a URL: `localhost:8080`, `http:/host`, `ws//host`, and the right URL.

Pure. Knows how URLs are misspelled; must not know which of them a command takes.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

HERE = "127.0.0.1"
PLAIN = "http"
"""What is meant where no scheme is named."""
_PORT = re.compile(r":?(\d+)(?=$|/)")
_ADDRESS = re.compile(r"(?:localhost|[\w-]+(?:\.[\w-]+)*|\[[0-9a-fA-F:.]+\]|):\d+(?:/.*)?")


def corrected(text: str, schemes: Sequence[str]) -> str | None:
    """The URL that `text` is meant to be; None where nothing follows the scheme."""
    known = "|".join(re.escape(scheme) for scheme in sorted(schemes, key=len, reverse=True))
    named = re.match(rf"({known})(?:[:;]+/*|//+)", text, re.IGNORECASE)
    scheme = named[1].lower() if named else PLAIN
    rest = text[named.end() :] if named else text.lstrip(":;/")
    if not rest:
        return None
    port = _PORT.match(rest)
    where = f"{HERE}:{port[1]}{rest[port.end() :]}" if port else rest
    return f"{scheme}://{where}"


def is_meant(text: str, schemes: Sequence[str]) -> bool:
    """Whether it is rather a URL, right or misspelled, than a subject's name or a folder."""
    if "://" in text:
        return True
    known = "|".join(map(re.escape, schemes))
    beginning = re.match(rf"(?:{known})(?::/|;/|//)", text, re.IGNORECASE)
    within = re.sub(rf"^(?:{known}):", "", text, flags=re.IGNORECASE)
    return bool(beginning or _ADDRESS.fullmatch(text) or _ADDRESS.fullmatch(within))
