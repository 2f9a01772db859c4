"""Warnings as rows: each said once, with the number of trials that gave cause.

Knows the rules that raise warnings; must not know how they are shown.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from wiretrial import warnings
from wiretrial.report import trial_words, units
from wiretrial.report.contest import Pair
from wiretrial.report.scenarios import ScenarioResult
from wiretrial.results.model import Trial

ARTEFACTS = (
    warnings.Code.DELAYED_ACK,
    warnings.Code.RETRANSMISSION,
    warnings.Code.SYN_RETRANSMISSION,
    warnings.Code.RECONNECTS,
)


@dataclass(frozen=True)
class WarningRow:
    """One warning, said once. `trials`: how many gave cause; 0 where it is about the study."""

    code: str
    message: str
    advice: str
    trials: int
    scenarios: tuple[str, ...]

    @property
    def where(self) -> str:
        """`2 trials: A and B`, empty where it is about the study."""
        if not self.trials:
            return ""
        first, rest = self.scenarios[:2], len(self.scenarios) - 2
        names = units.listed((*first, f"{rest} more") if rest > 0 else first)
        return f"{units.plural(self.trials, 'trial')}: {names}"


def raised(
    trials: Sequence[Trial], scenarios: Sequence[ScenarioResult], twins: Sequence[Pair]
) -> tuple[WarningRow, ...]:
    """Every warning once per code and message, with the number of its trials.

    Where figures differ from trial to trial, the first message stands for all.
    """
    found: dict[str, list[tuple[str, str, str]]] = {}
    for trial in trials:
        known = {warning.code: warning for warning in (*warnings.of_trial(trial), *trial.warnings)}
        for warning in known.values():
            entry = (warning.message, warning.advice, trial.scenario.name)
            found.setdefault(warning.code, []).append(entry)
    rows = [_warning_row(code, entries) for code, entries in found.items()]
    differing = [trial_words.twin_warning(pair) for pair in twins if pair.winner is not None]
    usable = {s.name: s.usable for s in scenarios if not s.is_declared}
    compared = (*warnings.of_controls(trials), *warnings.of_occasions(trials)) if scenarios else ()
    for warning in (*differing, *warnings.of_study(usable), *compared):
        rows.append(WarningRow(warning.code, warning.message, warning.advice, 0, ()))
    gravest = [code.value for code in warnings.Code]
    return tuple(
        sorted(rows, key=lambda r: gravest.index(r.code) if r.code in gravest else len(gravest))
    )


def artefacts(rows: Sequence[WarningRow]) -> tuple[str, ...]:
    """The known artefacts among the warnings, a sentence each."""
    return tuple(
        f"{row.message[:1].upper()}{row.message[1:]} ({row.where})."
        for row in rows
        if row.code in ARTEFACTS
    )


def of_run(trials: Sequence[Trial]) -> tuple[WarningRow, ...]:
    """Those of one run: where they are from is no question."""
    return tuple(replace(row, trials=0, scenarios=()) for row in raised(trials, (), ()))


def _warning_row(code: str, entries: Sequence[tuple[str, str, str]]) -> WarningRow:
    message, advice, _ = entries[0]
    names = tuple(dict.fromkeys(name for _, _, name in entries))
    return WarningRow(code, message, advice, len(entries), names)
