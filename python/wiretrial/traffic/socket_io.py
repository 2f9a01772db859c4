"""What Socket.IO asks of a URL and of what is sent.

Knows version 4 over WebSocket; must not know steps.
"""

from __future__ import annotations

import re

from wiretrial.plan_traffic import Text, Words
from wiretrial.traffic.filling import merged
from wiretrial.traffic.places import Place, TrafficProblem

PATH, QUERY = "/socket.io/", "EIO=4&transport=websocket"
_EVENT = re.compile(r'\[\s*"')


def target(written: Text) -> Text:
    """Path and query, with those that Socket.IO needs where they are not written."""
    texts = [part.text if isinstance(part, Words) else "" for part in written]
    if any("EIO=" in text for text in texts):
        return written
    parts = [*written]
    if (texts[0] == "/" and not parts[1:]) or texts[0].startswith("/?"):
        texts[0] = PATH + texts[0][1:]
        parts[0] = Words(text=texts[0])
    asking = next((place for place, text in enumerate(texts) if "?" in text), None)
    if asking is None:
        return merged(iter([*parts, Words(text=f"?{QUERY}")]))
    parts[asking] = Words(text=texts[asking].replace("?", f"?{QUERY}&", 1))
    return merged(iter(parts))


def event(written: str, place: Place) -> str:
    """What is sent, without what stands before the array."""
    text = written.lstrip()
    if not _EVENT.match(text):
        raise TrafficProblem(
            place,
            "Socket.IO sends events, and this is none",
            """write send = '["name", {"key": "value"}]'""",
        )
    return text
