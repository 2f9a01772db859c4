"""What a study found, in one sentence, kept beside its trials.

Knows where the sentence lies; must not know how it was found.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from wiretrial.results.store import ResultsFolder, folders

FILE = "answer.json"


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


def _read(results: ResultsFolder) -> Answer | None:
    try:
        text = (results.folder / FILE).read_text(encoding="utf-8")
        return Answer.model_validate_json(text)
    except (OSError, ValidationError):
        return None
