"""Shows what results there are, and their trials.

Knows how they are laid out; must not know how they are kept.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict
from pathlib import Path

from wiretrial.cli import output
from wiretrial.cli.output import Format
from wiretrial.errors import EXIT_FAILED, EXIT_GOOD, StoreError
from wiretrial.report import load_json
from wiretrial.results.index import Index, Row
from wiretrial.results.store import ResultsFolder, read_trial


def list_(base: Path, format_: Format) -> int:
    """Shows the stored studies with their trials, and the loads kept in files."""
    if not base.is_dir():
        raise StoreError(
            f"there is no folder {base}", "measure something first, or name it (--results)"
        )
    index = Index(base)
    rows = index.rows()
    if format_ is Format.JSON:
        document = {
            "schema": "wiretrial-results",
            "version": 1,
            "trials": [asdict(row) for row in rows],
            "problems": index.problems,
        }
        output.emit(output.as_json(document), None)
    else:
        loads: list[Row] = []
        studies: dict[str, list[Row]] = {}
        for row in rows:
            name, within, _ = row.path.partition("/")
            (studies.setdefault(name, []) if within else loads).append(row)
        for name, mine in studies.items():
            verdicts = Counter(row.verdict for row in mine)
            listed = ", ".join(f"{n} {verdict}" for verdict, n in verdicts.most_common())
            started = mine[0].started_at[:16]
            output.emit(f"{base / name}   {started}   {len(mine)} trials: {listed}", None)
        for row in loads:
            told = f"a load of {row.scenario}: {row.verdict}"
            output.emit(f"{base / row.path}   {row.started_at[:16]}   {told}", None)
        if not rows:
            output.emit(f"no trial in {base}", None)
    for problem in index.problems:
        output.say(problem)
    return EXIT_FAILED if index.problems else EXIT_GOOD


def show(path: Path, format_: Format) -> int:
    """Shows a study's trials in the order in which they ran, or one trial whole."""
    trials = [read_trial(path)] if path.is_file() else ResultsFolder.open(path).trials()
    if format_ is Format.JSON:
        documents = [load_json(trial) for trial in trials]
        output.emit(
            output.as_json(
                documents[0]
                if path.is_file()
                else {"schema": "wiretrial-trials", "version": 1, "trials": documents}
            ),
            None,
        )
        return EXIT_GOOD
    for trial in trials:
        output.emit(
            f"block {trial.block + 1:>2}  {trial.scenario.name:<36} {trial.judgement.verdict:<12}"
            f" {trial.judgement.evidence}",
            None,
        )
        for warning in trial.warnings:
            output.emit(f"          {warning.message}: {warning.advice}", None)
    return EXIT_GOOD
