"""Where metrics go: `otlp:http://host:4318`, `prometheus:http://host:9090`.

Pure. Knows how an address is written and which path a protocol has; must not know whether anything
answers there.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal
from urllib.parse import urlsplit

from wiretrial import redaction, services, suggest
from wiretrial.errors import UsageProblem

OPTION: Final = "--metrics"
Protocol = Literal["otlp", "prometheus"]
EXAMPLES: Final[dict[Protocol, str]] = {
    "otlp": "otlp:http://HOST:4318",
    "prometheus": "prometheus:http://HOST:9090",
}
_OTLP_PATH: Final = "/v1/metrics"
_WRITE_PATH: Final = "/api/v1/write"


@dataclass(frozen=True)
class Address:
    """An endpoint: the protocol, and the whole URL that is posted to."""

    protocol: Protocol
    url: str

    @property
    def text(self) -> str:
        """Without secrets."""
        return f"{self.protocol}:{redaction.url(self.url)}"


def parse(text: str) -> Address:
    """The endpoint that was typed. Raises `UsageProblem` with the remedy."""
    typed = f"{OPTION} {redaction.text(text)}"
    kind, colon, rest = text.partition(":")
    protocol = next((one for one in EXAMPLES if one == kind), None)
    if not colon or protocol is None:
        raise UsageProblem(
            f"{typed}: not where metrics can go",
            suggest.remedy(kind, EXAMPLES, f"write {' or '.join(EXAMPLES.values())}"),
        )
    url = services.checked(rest, typed, EXAMPLES[protocol])
    path = urlsplit(url).path
    if protocol == "otlp" and not path.endswith(_OTLP_PATH):
        url = _with_path(url, path + _OTLP_PATH)
    elif protocol == "prometheus" and not path:
        url = _with_path(url, _WRITE_PATH)
    return Address(protocol, url)


def _with_path(url: str, path: str) -> str:
    return urlsplit(url)._replace(path=path).geturl()
