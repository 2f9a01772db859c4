"""Passwords as the database keeps them."""

from __future__ import annotations

import hashlib
import hmac
import os

# A tenth of what a real shop should spend: a load test of the example is not one of scrypt.
COST = 2**11


def hashed(password: str) -> str:
    """Salt and hash of a password."""
    salt = os.urandom(16)
    return f"{salt.hex()}${_hash(password, salt).hex()}"


def matches(password: str, kept: str) -> bool:
    """Whether this is the password of which the hash was kept."""
    salt, _, digest = kept.partition("$")
    return hmac.compare_digest(_hash(password, bytes.fromhex(salt)).hex(), digest)


def _hash(password: str, salt: bytes) -> bytes:
    return hashlib.scrypt(password.encode(), salt=salt, n=COST, r=8, p=1)
