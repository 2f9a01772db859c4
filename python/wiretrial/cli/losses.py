"""What a running study could not measure: subjects, trials, scenarios; and what subjects weigh.

Knows the runner's events and the folder that keeps them; must not know what is shown meanwhile.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from wiretrial.results import absent, adoption
from wiretrial.results.absent import Absent
from wiretrial.results.adoption import Adopted
from wiretrial.results.store import ResultsFolder
from wiretrial.studies import events
from wiretrial.studies.spec import Study


@dataclass
class Losses:
    """Collected over one run."""

    study: Study
    problems: dict[str, list[events.TrialFailed]] = field(default_factory=dict)
    """Why trials failed, and which did for that reason."""
    absent: list[Absent] = field(default_factory=list)
    adopted: dict[str, Adopted] = field(default_factory=dict)
    _has_begun: bool = False

    def see(self, event: events.Event) -> None:
        """Takes one event."""
        self._has_begun = True
        match event:
            case events.Weighed(adopted):
                self.adopted[adopted.subject] = adopted
            case events.Unavailable(subject, reason, scenarios):
                self.absent.append(Absent(subject=subject, reason=reason, scenarios=scenarios))
            case events.TrialFailed(reason=reason):
                self.problems.setdefault(reason, []).append(event)

    def keep(self, results: ResultsFolder) -> None:
        """Stores them with the results.

        A run that had nothing to do leaves what is stored as it was.
        """
        if not self._has_begun:
            return
        absent.keep(results, [*self.absent, *self._without_a_trial(results)])
        if self.study.adoption:
            adoption.keep(results, self.adopted.values())

    def _without_a_trial(self, results: ResultsFolder) -> Iterator[Absent]:
        """The scenarios of which every trial failed so far, a row for each subject and reason."""
        if not self.problems:
            return
        stored = {trial.scenario.search or trial.scenario.name for trial in results.trials()}
        for reason, failed in self.problems.items():
            subjects: dict[str, dict[str, None]] = {}
            for event in failed:
                if event.scenario not in stored:
                    subject = self.study.case(event.scenario).scenario.subject
                    subjects.setdefault(subject, {})[event.scenario] = None
            for subject, names in subjects.items():
                yield Absent(subject=subject, reason=reason, scenarios=tuple(names))
