"""What a study found, in one sentence, kept beside its trials; and what is kept with a study.

Knows where the sentences lie; must not know how they were found.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from wiretrial.results.store import ResultsFolder, folders

FILE = "answer.json"
KEPT = "results/found.json"
README = "README.md"
_IN_SHORT = re.compile(r"^## In short\n(.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)
_PLAIN = re.compile(r"\s*\*\*(.+?)\*\*\n", re.DOTALL)
_FAULT = re.compile(r"^(\*\*Known fault: .*?)(?=\n\s*\n|\Z)", re.MULTILINE | re.DOTALL)
_ASIDE = re.compile(r"\s\(\[[^\]]*\]\([^)]*\)\)")
"""A link in parentheses, which leads nowhere from another page."""
_POINT = re.compile(r"^\d+\. (.*?)(?=^\d+\. |^\s*$|\Z)", re.MULTILINE | re.DOTALL)
_END = re.compile(r"(?<=[a-z0-9)”]\.) (?=[A-Z])")
"""Where a sentence ends: names and figures have points too."""


class Answer(BaseModel):
    """The last word of a study."""

    model_config = ConfigDict(frozen=True, populate_by_name=True)

    schema_name: Literal["wiretrial-answer"] = Field(default="wiretrial-answer", alias="schema")
    version: Literal[1] = 1
    study: str
    sentence: str
    trials: int
    at: str
    """When the last trial began, ISO 8601."""
    folder: Path = Field(default=Path(), exclude=True)


class Kept(BaseModel):
    """What was found when a study ran whole, for whoever has not run it."""

    model_config = ConfigDict(frozen=True)

    date: str
    machine: str
    occasions: int = 1
    sentences: tuple[str, ...] = Field(min_length=1)

    @property
    def sentence(self) -> str:
        """The first of them."""
        return first_sentence(self.sentences[0])


def kept(study: Path) -> Kept | None:
    """What is kept in a study's folder; None where nothing is."""
    try:
        return Kept.model_validate_json((study / KEPT).read_text(encoding="utf-8"))
    except (OSError, ValidationError):
        return None


def in_plain_words(study: Path) -> str | None:
    """The answer with which a study's first page begins; None where it begins with none."""
    return _answer(said_in_short(study))


def in_short(study: Path) -> tuple[str, ...]:
    """What stands under "In short" on a study's first page: the answer, then a known fault of the
    kept result, then its points."""
    said = said_in_short(study)
    return tuple(filter(None, (_answer(said), _fault(said), *map(_plain, _POINT.findall(said)))))


def fault(study: Path) -> str | None:
    """The paragraph there that begins with "Known fault": what of the kept result is not to be
    believed. None without one."""
    return _fault(said_in_short(study))


def said_in_short(study: Path) -> str:
    """That section of a study's first page, as it is written; empty without one."""
    page = study / README
    found = _IN_SHORT.search(page.read_text("utf-8", "replace")) if page.is_file() else None
    return found[1] if found else ""


def first_sentence(paragraph: str) -> str:
    """The paragraph up to the end of its first sentence."""
    return _END.split(paragraph, maxsplit=1)[0]


def keep(results: ResultsFolder, answer: Answer) -> None:
    """Stores the answer with its trials."""
    results.write(FILE, answer.model_dump_json(by_alias=True, indent=1).encode())


def of(results: ResultsFolder) -> str | None:
    """What was found, in one sentence; None where the study has not ended."""
    answer = _read(results)
    return answer.sentence if answer else None


def latest(base: Path) -> dict[str, Answer]:
    """The newest answer of each study below `base`."""
    found: dict[str, Answer] = {}
    for results in folders(base):
        answer = _read(results)
        if answer is None:
            continue
        known = found.get(answer.study)
        if known is None or known.at <= answer.at:
            found[answer.study] = answer.model_copy(update={"folder": results.folder})
    return found


def _answer(said: str) -> str | None:
    found = _PLAIN.match(said)
    return _plain(found[1]) if found else None


def _fault(said: str) -> str | None:
    found = _FAULT.search(said)
    return _plain(_ASIDE.sub("", found[1]).replace("**", "")) if found else None


def _plain(text: str) -> str:
    return " ".join(text.replace("`", "").split())


def _read(results: ResultsFolder) -> Answer | None:
    try:
        text = (results.folder / FILE).read_text(encoding="utf-8")
        return Answer.model_validate_json(text)
    except (OSError, ValidationError):
        return None
