"""The description of a server that a user adds, as the tests write it."""

from __future__ import annotations

import json
from collections.abc import Sequence


def described(
    name: str,
    command: Sequence[str],
    *,
    traffic: str,
    language: str = "Python",
    description: str = "As it runs in production.",
) -> str:
    """Its `subject.toml`: it speaks HTTP, and keeps what `traffic` says of it."""
    return f"""
name = "{name}"
kind = "server"
summary = "A server of the tests"
language = "{language}"
homepage = "https://example.org"
licence = "Apache-2.0"
speaks = ["http"]
traffic = "{traffic}"

[version]
command = ["echo", "1"]
pattern = '(.+)'

[configurations.default]
description = "{description}"
command = {json.dumps(list(command))}
"""
