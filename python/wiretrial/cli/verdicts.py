"""Studies that say more than the automatic sentences."""

from __future__ import annotations

from wiretrial.cli import browser_words, demo, progress
from wiretrial.cli.progress import Verdict
from wiretrial.studies import demo as demo_study
from wiretrial.studies import ways
from wiretrial.studies.spec import Study


def of(study: Study) -> Verdict:
    """What the study adds to its verdict."""
    if study.name == ways.NAME:
        return browser_words.verdict
    return demo.verdict if study.name == demo_study.NAME else progress.no_more_to_say
