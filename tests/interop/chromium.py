"""A headless Chromium, driven by the DevTools protocol over the package websockets.

Knows how to start it, open a page and run a function there; must not know what is tested.
"""

from __future__ import annotations

import base64
import contextlib
import hashlib
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from pydantic import JsonValue
from websockets.sync.client import ClientConnection, connect

from conformance.process import Process

LIMIT_S = 60.0
FLAGS = (
    "--headless=new",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--remote-debugging-port=0",
)


class Page:
    """One page of a running Chromium."""

    def __init__(self, devtools: ClientConnection) -> None:
        self._devtools = devtools
        self._calls = 0
        self._session: JsonValue = None
        self._loads = 0
        self.problems: list[str] = []
        """What went wrong in the pages since `watch`."""
        self.asked: list[str] = []
        """Every address that they asked for since then."""
        self.upgraded: list[int] = []
        """With which status each WebSocket was accepted since then: 101, or 200 over HTTP/2."""
        target = self._call("Target.createTarget", {"url": "about:blank"})
        attach = {"targetId": target["targetId"], "flatten": True}
        self._session = self._call("Target.attachToTarget", attach)["sessionId"]
        self._call("Page.enable", {})

    def open(self, url: str) -> None:
        """Loads a page and waits for it."""
        answer = self._call("Page.navigate", {"url": url})
        assert "errorText" not in answer, answer
        self._event("Page.loadEventFired")

    def follow(self, expression: str) -> None:
        """Does what leads to another page, and waits for that."""
        before = self._loads
        self._call("Runtime.evaluate", {"expression": expression})
        while self._loads == before:
            self._heard()

    def watch(self) -> None:
        """From now on, keeps what goes wrong and what is asked for."""
        for domain in ("Runtime", "Log", "Network"):
            self._call(f"{domain}.enable", {})

    def run(self, expression: str) -> JsonValue:
        """What the promise that `expression` gives comes to."""
        answer = self._call(
            "Runtime.evaluate",
            {"expression": expression, "awaitPromise": True, "returnByValue": True},
        )
        problem = answer.get("exceptionDetails")
        assert problem is None, problem
        result = answer["result"]
        assert isinstance(result, dict)
        return result.get("value")

    def look(self, width: int, height: int, *, dark: bool = False) -> None:
        """Sees the page in a window of that size, with the reader's wish for the dark."""
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
        self._call("Emulation.setDeviceMetricsOverride", {**size})
        wish = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self._call("Emulation.setEmulatedMedia", {"features": [{**wish}]})

    def picture(self) -> bytes:
        """What the window shows, as PNG."""
        data = self._call("Page.captureScreenshot", {"format": "png"})["data"]
        assert isinstance(data, str)
        return base64.b64decode(data)

    def paper(self) -> bytes:
        """The page as it would be printed, as PDF."""
        data = self._call("Page.printToPDF", {"preferCSSPageSize": True})["data"]
        assert isinstance(data, str)
        return base64.b64decode(data)

    def _call(self, method: str, parameters: dict[str, JsonValue]) -> dict[str, JsonValue]:
        self._calls += 1
        message: dict[str, JsonValue] = {"id": self._calls, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        self._devtools.send(json.dumps(message))
        while True:
            answer = self._heard()
            if answer.get("id") == self._calls:
                assert "error" not in answer, answer
                result: dict[str, JsonValue] = answer["result"]
                return result

    def _event(self, method: str) -> None:
        while self._heard().get("method") != method:
            pass

    def _heard(self) -> dict[str, Any]:
        """The next message, with its problem and its address kept."""
        message: dict[str, Any] = json.loads(self._devtools.recv(LIMIT_S))
        told = message.get("params", {})
        match message.get("method"):
            case "Runtime.exceptionThrown":
                self.problems.append(json.dumps(told["exceptionDetails"]))
            case "Runtime.consoleAPICalled" if told["type"] in {"error", "warning", "assert"}:
                self.problems.append(json.dumps(told["args"]))
            case "Log.entryAdded" if told["entry"]["level"] in {"error", "warning"}:
                self.problems.append(json.dumps(told["entry"]))
            case "Page.loadEventFired":
                self._loads += 1
            case "Network.requestWillBeSent":
                self.asked.append(told["request"]["url"])
            case "Network.webSocketHandshakeResponseReceived":
                self.upgraded.append(told["response"]["status"])
        return message


@contextlib.contextmanager
def page(
    binary: str, certificate: Path | None, folder: Path, quic: str | None = None
) -> Iterator[Page]:
    """An empty page. The key of `certificate` is trusted; nothing else is changed in the trust.

    `quic`: the address that is asked over HTTP/3 alone; None: nobody is.
    """
    flags = [*FLAGS, f"--user-data-dir={folder / 'profile'}"]
    flags += ["--enable-quic", f"--origin-to-force-quic-on={quic}"] if quic else ["--disable-quic"]
    if certificate:
        flags.append(f"--ignore-certificate-errors-spki-list={_fingerprint(certificate)}")
    if os.geteuid() == 0:
        # Chromium refuses to put root into its sandbox.
        flags.append("--no-sandbox")
    with Process([binary, *flags, "about:blank"], log=folder / "log") as process:
        address = process.hear(r"DevTools listening on (ws://\S+)")
        with connect(address, max_size=None, compression=None) as devtools:
            yield Page(devtools)


def _fingerprint(certificate: Path) -> str:
    leaf = x509.load_pem_x509_certificate(certificate.read_bytes())
    key = leaf.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    return base64.b64encode(hashlib.sha256(key).digest()).decode()
