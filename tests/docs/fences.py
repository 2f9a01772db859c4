"""Fenced blocks of Markdown, and the command lines in them.

Knows how pages are written; must not know what a command means.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

from tools.docs.layout import ROOT, pages

FENCE = re.compile(r"^ *```(?P<language>\w*)\n(?P<body>.*?)^ *```$", re.MULTILINE | re.DOTALL)
CONTINUED = re.compile(r"\\\n\s*")
COMMAND = re.compile(r"^\s*(?:\$ |run: )?(?:\.venv/bin/)?wiretrial (?P<words>.*)$", re.MULTILINE)
# `${name:+words}`: words that are there if the variable is.
CONDITIONAL = re.compile(r"\$\{\w+:\+([^}]*)\}")
# What a page says of a command stands behind it: after a `#`, or a gap of two columns.
ASIDE = re.compile(r"\s+#\s.*$|\s{2,}(?!-).*$")
ENDS = re.compile(r"\s(?:&&?|\|\|?|>>?|2>)(?:\s|$)")


def blocks(page: Path, language: str | None = None) -> Iterator[str]:
    """The blocks of a page; those marked with a language where one is named."""
    for fence in FENCE.finditer((ROOT / page).read_text(encoding="utf-8")):
        if language in (None, fence["language"]):
            yield CONTINUED.sub("", fence["body"])


def commands() -> Iterator[tuple[Path, list[str]]]:
    """Each command line of `wiretrial` on each page, without its first word."""
    for page in pages():
        for block in blocks(page):
            for line in COMMAND.finditer(block):
                words = ENDS.split(ASIDE.sub("", line["words"]))[0]
                yield page, shlex.split(CONDITIONAL.sub(r"\1", words))
