"""The table in `docs/traffic.md` says what is supported.

WIRETRIAL_UPDATE_GOLDEN=1 writes it anew.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

from wiretrial.traffic.hurl import support, words

PAGE = Path(__file__).resolve().parents[2] / "docs" / "traffic.md"
TABLE = re.compile(r"(?<=<!-- supported -->\n).*?(?=<!-- end -->)", re.DOTALL)


def test_the_page_has_the_table() -> None:
    page = PAGE.read_text(encoding="utf-8")
    if "WIRETRIAL_UPDATE_GOLDEN" in os.environ:
        page = TABLE.sub(lambda _: support.markdown(), page)
        PAGE.write_text(page, encoding="utf-8")
    found = TABLE.search(page)
    assert found
    assert found[0] == support.markdown()


def test_every_word_is_in_the_table() -> None:
    shown = support.markdown()
    for row in words.TABLE:
        assert row.word in shown
        assert row.note or row.remedy
