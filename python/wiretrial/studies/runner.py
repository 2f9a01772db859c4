"""Runs a study: trials in random order, each stored before the next begins, in four stages.

First come the scenarios whose load is known, in blocks, and after them those that mostly wait,
several at a time; then those whose rate the first decide; then the searches for the highest
sustained rate, one step of each in turn; then those whose rate a search decides. Starts that are
timed come when all trials are over.
Knows the order of things; must not know how progress is shown. It is a generator of events: leaving
it at any moment ends every process and loses the trials in progress at most.
"""

from __future__ import annotations

import gc
import random
from collections import Counter
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

import psutil

from wiretrial import redaction
from wiretrial.engine import Engine
from wiretrial.errors import EngineFailed, EveryMessageFailed, SubjectFailed, UsageProblem
from wiretrial.machine import facts
from wiretrial.results import searches
from wiretrial.results.files import STUDY_FILE
from wiretrial.results.model import Trial
from wiretrial.results.searches import Searched, Step
from wiretrial.results.store import ResultsFolder
from wiretrial.stats.knee import Search
from wiretrial.studies import calibration, order, rates, starting, taught
from wiretrial.studies.bench import Bench
from wiretrial.studies.estimate import estimate, left_ns, trials_in
from wiretrial.studies.events import Event, TrialBegun, TrialDone, TrialFailed, Unavailable
from wiretrial.studies.order import Slot
from wiretrial.studies.prepare import Ready, prepare, require
from wiretrial.studies.spec import Case, Study
from wiretrial.studies.together import Begun, Ended, Job, together
from wiretrial.studies.trial import measure

COMPARE = "compare"
"""The study whose command takes headers again, to go on with."""
MOST_STEPS = 60
"""A search that has not ended by then never will."""


def run(
    study: Study, results: ResultsFolder, engine: Engine, occasion: int | None = None
) -> Iterator[Event]:
    """Measures whatever of `study` is not in `results` yet.

    `occasion`: on which one, where that is not the last that is there; everything that was built
    before this machine started is built again for it.
    """
    require(study, results.folder)
    stored = _stored(study, results)
    occasion = occasion or _last_occasion(stored) or 1
    steps = _steps(study, stored, occasion, searches.read(results))
    if _is_complete(study, stored, occasion, steps) and starting.is_complete(
        study, results, occasion
    ):
        return
    _require_secrets(study, results)
    since = psutil.boot_time() if occasion > 1 else None
    ready = yield from prepare(study, engine, since)
    if study.learning and ready:
        bench = Bench(study, engine, facts.collect())
        study = yield from taught.taught(study, bench, ready)
        # From here on this is the study: whoever goes on with it learns nothing anew.
        results.write(STUDY_FILE, study.document(indent=1).encode())
    # Where others send, our own generator takes no part.
    ours = [case for case in study.cases if case.sending is None]
    cases = [case for case in ours if case.url or case.scenario.name in ready]
    budget_ns = round(calibration.SHARE * estimate(study, occasion).total_ns)
    alone = yield from calibration.ensure(study, cases, results, engine, budget_ns, occasion)
    bench = Bench(study, engine, facts.collect(), alone)
    yield from _Run(study, results, bench, ready, stored, occasion, steps).stages()
    _leave_garbage_alone()
    yield from starting.measure(study, results, engine, ready, occasion)


def require_secrets(study: Study, results: ResultsFolder) -> None:
    """Refuses to go on with a study whose secrets were taken out, where a trial is missing."""
    stored = _stored(study, results)
    occasion = _last_occasion(stored) or 1
    steps = _steps(study, stored, occasion, searches.read(results))
    if study.lacking() and not _is_complete(study, stored, occasion, steps):
        _require_secrets(study, results)


def next_occasion(results: ResultsFolder) -> int:
    """The number of the occasion that would come next.

    Raises `UsageProblem` where this boot of this machine is one already.
    """
    stored = results.trials()
    here = facts.boot()
    for trial in stored:
        if here and trial.machine.facts.get("boot") == here:
            raise UsageProblem(
                f"{results.folder} has trials of this boot of this machine (occasion"
                f" {trial.occasion}): more of them say nothing of another day",
                "start the machine anew or use another one, or --resume DIR --trials N",
            )
    return _last_occasion(stored) + 1


def _require_secrets(study: Study, results: ResultsFolder) -> None:
    lacking = study.lacking()
    if not lacking:
        return
    is_header = all(one.startswith(redaction.HEADER) for one in lacking)
    names = [one.removeprefix(redaction.HEADER) for one in lacking]
    again = " ".join(f"-H '{name}: ...'" for name in names)
    raise UsageProblem(
        f"{' and '.join(lacking)} {'was' if len(lacking) == 1 else 'were'} redacted in"
        f" {results.folder}, and can't be sent",
        f"give it again ({again}), or begin a new study with {redaction.KEEP}"
        if is_header and study.name == COMPARE
        else f"begin a new study with {redaction.KEEP}",
    )


def trials_wanted(study: Study, occasion: int = 1) -> int:
    """How many trials an occasion of the study takes, as far as that is known before it runs."""
    return sum(trials_in(study, case, occasion) for case in study.cases)


class _Run:
    """What one call of `run` needs from stage to stage."""

    def __init__(
        self,
        study: Study,
        results: ResultsFolder,
        bench: Bench,
        ready: dict[str, Ready],
        stored: list[Trial],
        occasion: int,
        steps: Mapping[str, Sequence[Step]],
    ) -> None:
        self._study = study
        self._results = results
        self._bench = bench
        self._ready = ready
        self._trials = stored
        self._steps = {name: list(made) for name, made in steps.items()}
        """Of each search, on this occasion: told once, since a step's times are many."""
        self._occasion = occasion
        self._number = sum(trial.occasion == occasion for trial in stored)
        can_run = tuple(filter(self._can_run, study.cases))
        self._possible = study.model_copy(update={"cases": can_run})
        """Without what can't be measured here: it takes no time."""
        self._total = trials_wanted(self._possible, occasion)
        self._given_up: set[str] = set()
        """Scenarios in which every message of a trial failed: they are not measured again."""

    def stages(self) -> Iterator[Event]:
        """Everything that is missing, stage by stage."""
        yield from self._blocks(self._study.stage(1))
        yield from self._decided(self._study.stage(2))
        yield from self._searches()
        yield from self._decided(self._study.stage(4))

    def _decided(self, cases: Sequence[Case]) -> Iterator[Event]:
        """Those whose rate others have decided by now."""
        settled: list[Case] = []
        without: dict[str, list[Case]] = {}
        # Of what can't be measured here it is told already.
        for case in filter(self._can_run, cases):
            rate = self._rate_of(case)
            if rate is None:
                own = case.scenario
                without.setdefault(own.level_of or own.name, []).append(case)
            else:
                settled.append(rates.at_rate(case, rate))
        for name, some in without.items():
            is_top = some[0].scenario.level_of is not None
            what = f"shares of what {name} carries have" if is_top else f"{name} has"
            yield Unavailable(
                some[0].scenario.subject,
                f"{what} no rate: none of the scenarios that decide it was measured",
                tuple(case.scenario.name for case in some),
            )
        yield from self._blocks(settled)

    def _rate_of(self, case: Case) -> float | None:
        """What others decide; None where those were not measured."""
        rate_from, top = case.rate_from, case.scenario.level_of
        assert rate_from is not None
        if top is None:
            # The same on all occasions: at another rate a message is another cost.
            return rates.common(rate_from, (t for t in self._trials if t.occasion == 1))
        # A share of what it carries here, on this occasion.
        source = self._study.case(top)
        if source.knee is None:
            return rates.common(
                rate_from, (t for t in self._trials if t.occasion == self._occasion)
            )
        found = self._search(source).confirmed
        return None if found is None else rates.below(found, rate_from.share)

    def _blocks(self, cases: list[Case] | tuple[Case, ...]) -> Iterator[Event]:
        wanted = list(self._wanted(cases))
        for case, slot in wanted:
            if case.scenario.together == 1 and case.scenario.name not in self._given_up:
                yield from self._one(case, slot)
        for most in sorted({case.scenario.together for case, _ in wanted} - {1}):
            some = [pair for pair in wanted if pair[0].scenario.together == most]
            # The longest first, so that none goes on alone at the end; their order stays random
            # among those that are as long.
            some.sort(key=lambda pair: -(pair[0].scenario.floor_ns or 0))
            yield from self._together(some, most)

    def _wanted(self, cases: Sequence[Case]) -> Iterator[tuple[Case, Slot]]:
        """Whatever is missing, in order."""
        for case, slot in _missing(self._study, cases, self._trials, self._occasion):
            if self._can_run(case):
                yield case, slot

    def _searches(self) -> Iterator[Event]:
        cases = [case for case in self._study.stage(3) if self._can_run(case)]
        given_up: set[str] = set()
        for turn in range(MOST_STEPS):
            steps: list[tuple[Case, float]] = []
            for case in cases:
                made, rate = len(self._made(case)), self._search(case).next_rate()
                if rate is not None and made <= turn and case.scenario.name not in given_up:
                    steps.append((case, rate))
            seed = random.Random(f"{self._study.seed}/search/{turn}").getrandbits(32)
            random.Random(seed).shuffle(steps)
            for position, (case, rate) in enumerate(steps):
                step = rates.at_rate(case, rate)
                block = turn + _first_block(self._trials, self._occasion)
                slot = Slot(block, position, step.scenario.name, seed, self._occasion)
                before = len(self._trials)
                yield from self._one(step, slot)
                if len(self._trials) == before:
                    given_up.add(case.scenario.name)

    def _search(self, case: Case) -> Search:
        return _search(self._study, case, self._made(case))

    def _made(self, case: Case) -> Sequence[Step]:
        return self._steps.get(case.scenario.name, ())

    def _one(self, case: Case, slot: Slot) -> Generator[Event, None, None]:
        number = self._next_number()
        yield self._begun(slot, number)
        try:
            trial = yield from self._measure(case, slot)
        except (SubjectFailed, EngineFailed, EveryMessageFailed) as error:
            name = case.scenario.search or case.scenario.name
            if isinstance(error, EveryMessageFailed):
                self._given_up.add(name)
            yield TrialFailed(slot=slot, reason=error.line(), scenario=name)
            return
        yield self._kept(trial, number)

    def _together(self, wanted: Sequence[tuple[Case, Slot]], most: int) -> Iterator[Event]:
        numbers: dict[Slot, int] = {}
        running: list[Slot] = []
        shown: Slot | None = None
        jobs = [Job(slot, partial(self._measure, case, slot)) for case, slot in wanted]
        for message in together(jobs, most):
            slot = message.key
            if isinstance(message, Begun):
                numbers[slot] = self._next_number()
                running.append(slot)
            elif not isinstance(message, Ended):
                # One trial's progress at a time is told: that of the one which runs the longest.
                if slot == shown:
                    yield message.told
            else:
                running.remove(slot)
                if isinstance(message.outcome, SubjectFailed | EngineFailed | EveryMessageFailed):
                    yield TrialFailed(slot, message.outcome.line(), slot.scenario)
                elif isinstance(message.outcome, BaseException):
                    raise message.outcome
                else:
                    yield self._kept(message.outcome, numbers[slot])
            if running and running[0] != shown:
                shown = running[0]
                yield self._begun(shown, numbers[shown])

    def _next_number(self) -> int:
        _leave_garbage_alone()
        self._number += 1
        self._total = max(self._total, self._number)
        return self._number

    def _begun(self, slot: Slot, number: int) -> TrialBegun:
        here = (trial for trial in self._trials if trial.occasion == self._occasion)
        measured = Counter(trial.scenario.search or trial.scenario.name for trial in here)
        left = left_ns(self._possible, measured, self._occasion)
        return TrialBegun(slot, number, self._total, left)

    def _kept(self, trial: Trial, number: int) -> TrialDone:
        self._results.add(trial)
        self._trials.append(trial)
        if (name := trial.scenario.search) and (knee := self._study.case(name).knee):
            self._steps.setdefault(name, []).append(rates.step(knee, trial))
        return TrialDone(trial=trial, number=number, total=self._total)

    def _measure(self, case: Case, slot: Slot) -> Generator[Event, None, Trial]:
        ready = self._ready.get(case.scenario.search or case.scenario.name)
        return (yield from measure(self._bench, case, slot, ready))

    def _can_run(self, case: Case) -> bool:
        is_ready = case.url is not None or case.scenario.name in self._ready
        return is_ready and case.is_of(self._occasion)


def _missing(
    study: Study, cases: Sequence[Case], stored: Sequence[Trial], occasion: int
) -> Iterator[tuple[Case, Slot]]:
    """The trials of these cases that are not stored, in the order of all."""
    by_name = {case.scenario.name: case for case in cases}
    done = {(trial.block, trial.scenario.name) for trial in stored}
    first = _first_block(stored, occasion)
    # A subject that can't be measured changes nobody else's place.
    blocks = range(first, first + study.trials)
    for slot in order.slots(_compared(cases), blocks, study.seed):
        case, key = by_name[slot.scenario], (slot.block, slot.scenario)
        if slot.block - first < study.trials_of(case, occasion) and key not in done:
            yield case, replace(slot, occasion=occasion)


def _compared(cases: Sequence[Case]) -> list[list[str]]:
    """The names of the cases by group: one that is measured twice is compared with itself."""
    group_of = {case.scenario.name: case.scenario.group for case in cases}
    groups: dict[str, list[str]] = {}
    for case in cases:
        own = case.scenario
        groups.setdefault(group_of.get(own.twin_of or own.name, own.group), []).append(own.name)
    return list(groups.values())


def _last_occasion(stored: Sequence[Trial]) -> int:
    """0: there is none yet."""
    return max((trial.occasion for trial in stored), default=0)


def _first_block(stored: Sequence[Trial], occasion: int) -> int:
    """Blocks count on over the occasions."""
    return max((trial.block + 1 for trial in stored if trial.occasion < occasion), default=0)


def _steps(
    study: Study, stored: Sequence[Trial], occasion: int, kept: Sequence[Searched]
) -> dict[str, list[Step]]:
    """What each search has made on an occasion, by scenario.

    `kept`: searches that are on record, of which not all trials have to be stored.
    """
    found = {row.scenario: list(row.steps) for row in kept if row.occasion == occasion}
    asked = {
        case.scenario.name: case.knee
        for case in study.cases
        if case.knee and case.scenario.name not in found
    }
    for trial in stored:
        name = trial.scenario.search
        if trial.occasion == occasion and name and (knee := asked.get(name)):
            found.setdefault(name, []).append(rates.step(knee, trial))
    return found


def _search(study: Study, case: Case, made: Iterable[Step]) -> Search:
    """The case's search, as far as these steps have brought it."""
    assert case.knee is not None
    return rates.search(case.knee, study.duration_of(case), made, rates.replies_each(case))


def _is_complete(
    study: Study, stored: Sequence[Trial], occasion: int, steps: Mapping[str, Sequence[Step]]
) -> bool:
    timed = (*study.stage(1), *study.stage(2), *study.stage(4))
    if any(_missing(study, timed, stored, occasion)):
        return False
    searched = (case for case in study.stage(3) if case.is_of(occasion))
    found = (_search(study, case, steps.get(case.scenario.name, ())) for case in searched)
    return all(search.next_rate() is None for search in found)


def _stored(study: Study, results: ResultsFolder) -> list[Trial]:
    digest = study.digest()
    stored = results.trials()
    for trial in stored:
        if trial.study_digest != digest:
            raise UsageProblem(
                f"{results.folder} holds trials of another study than its study.json describes",
                "begin a new folder",
            )
    return stored


def _leave_garbage_alone() -> None:
    """What is in memory by now is looked through once more, before a trial, and then never again.

    A search through all trials so far takes a CPU from generator or server for tens of
    milliseconds.
    """
    gc.collect()
    gc.freeze()
