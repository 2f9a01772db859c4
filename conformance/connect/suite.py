"""The suite itself: built from pinned modules, started.

Knows the program's options; must not know what is tested with it.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from conformance import modules
from conformance.process import Process

VERSION = "1.0.7"
PROGRAM = "connectconformance"
PACKAGE = f"connectrpc.com/conformance/cmd/{PROGRAM}"
MODULE = Path(__file__).resolve().parent / "module"

Side = Literal["server", "client"]

# What is claimed, in the suite's own words: everything else is not run.
FEATURES = """\
features:
  versions: [HTTP_VERSION_2]
  protocols: [PROTOCOL_GRPC]
  codecs: [CODEC_PROTO]
  compressions: [COMPRESSION_IDENTITY, COMPRESSION_GZIP]
  supports_h2c: true
  supports_tls: true
  supports_tls_client_certs: false
"""


class Suite:
    """The program, built."""

    def __init__(self, folder: Path) -> None:
        self._program = folder / PROGRAM

    @classmethod
    def build(cls, folder: Path) -> Suite:
        """In `folder`, built there unless it already is."""
        modules.build(folder, MODULE, [PACKAGE])
        return cls(folder)

    def try_side(self, side: Side, testee: Sequence[str], log: Path) -> Process:
        """Starts `testee` as often as it likes, and tells it what to do."""
        features = log.with_suffix(".yaml")
        features.write_text(FEATURES, encoding="utf-8")
        command = [str(self._program), "--mode", side, "--conf", str(features), "--vv"]
        return Process([*command, "--", *testee], log=log)
