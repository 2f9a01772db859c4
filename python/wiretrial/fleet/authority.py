"""Makes the certificates of a fleet.

Knows trustme and files; must not know what a certificate is asked for.
"""

from __future__ import annotations

from pathlib import Path

import trustme

from wiretrial.errors import UsageProblem
from wiretrial.fleet.security import ROLES, Certificates


def make(folder: Path) -> Certificates:
    """An authority of the fleet's own, and a certificate for each role. Keys are the owner's alone.

    The authority's own key is not kept: whoever wants another certificate makes a new set.
    """
    made = Certificates(folder)
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if any(folder.iterdir()):
            raise UsageProblem(f"{folder} is not empty", "name a new folder")
        authority = trustme.CA(organization_name="a fleet of wiretrial")
        authority.cert_pem.write_to_path(made.authority)
        for role in ROLES:
            # Both sides check the authority, none a name: agents come and go.
            leaf = authority.issue_cert(f"{role}.fleet.internal")
            key = made.key(role)
            key.touch(mode=0o600)
            leaf.private_key_pem.write_to_path(key)
            made.chain(role).write_bytes(b"".join(blob.bytes() for blob in leaf.cert_chain_pems))
    except OSError as error:
        raise UsageProblem(f"{folder}: {error.strerror}", "name another folder") from error
    return made
