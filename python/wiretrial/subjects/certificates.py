"""A certificate for one run: an authority of its own, and a leaf for the loopback names.

Knows trustme and files; must not know who presents or checks the certificate. Nothing of it is
ever added to a trust store.
"""

from __future__ import annotations

from pathlib import Path

import trustme
from pydantic import BaseModel, ConfigDict


class Certificate(BaseModel):
    """PEM files."""

    model_config = ConfigDict(frozen=True)

    authority: Path
    chain: Path
    key: Path


def make(folder: Path, host: str) -> Certificate:
    """A fresh certificate for `host` and `localhost`, below `folder`."""
    authority = trustme.CA()
    leaf = authority.issue_cert(host, "localhost")
    made = Certificate(
        authority=folder / "authority.pem", chain=folder / "chain.pem", key=folder / "key.pem"
    )
    key = made.key
    key.touch(mode=0o600)
    leaf.private_key_pem.write_to_path(key)
    made.chain.write_bytes(b"".join(blob.bytes() for blob in leaf.cert_chain_pems))
    authority.cert_pem.write_to_path(made.authority)
    return made
