"""Gives a kept study its secrets again, from the study's own files.

Knows where a study comes from; must not know who goes on with it. Nothing else of the study is read
again: what is measured stays what was begun.
"""

from __future__ import annotations

import shlex

from wiretrial.errors import UsageProblem
from wiretrial.studies import matrix, registry
from wiretrial.studies.spec import Case, Study

STUDY_COMMAND = ("wiretrial", "study", "run")


def with_secrets(study: Study) -> Study:
    """The study with the header fields and data of its files, where these are but for their
    secrets what was kept.

    What has changed since then, or is no longer there, still lacks them.
    """
    if not study.lacking():
        return study
    whole = {case.scenario.name: case for case in _in_files(study)}
    cases = tuple(
        _filled(case, whole[name]) if (name := case.scenario.name) in whole else case
        for case in study.cases
    )
    return study.model_copy(update={"cases": cases})


def _in_files(study: Study) -> tuple[Case, ...]:
    words = shlex.split(study.command)
    named = len(STUDY_COMMAND)
    if tuple(words[:named]) != STUDY_COMMAND or len(words) == named:
        return ()
    try:
        found = registry.find(words[named])
        return matrix.expand(
            found.name, found.document, command=study.command, seed=study.seed
        ).cases
    except UsageProblem:
        return ()


def _filled(case: Case, whole: Case) -> Case:
    kept = whole.redacted()
    return case.model_copy(
        update={
            "http": whole.http if case.http == kept.http else case.http,
            "traffic": whole.traffic if case.traffic == kept.traffic else case.traffic,
        }
    )
