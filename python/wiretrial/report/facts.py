"""The facts behind a result: machine, versions, plan, seed, order of trials.

Knows which facts a reader needs to judge or repeat a study; must not know how they are laid out.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import wiretrial
from wiretrial import words
from wiretrial.plan import (
    AutoContent,
    FieldsContent,
    MatchingContent,
    ShapedContent,
    StatusContent,
)
from wiretrial.report import control_words, header_words, http3_words, units
from wiretrial.results.learned import LearnedRule
from wiretrial.results.model import SubjectFacts, Trial
from wiretrial.words import CALLS, HTTP

PLANS, ORDER = "Load plans", "Order of trials"


@dataclass(frozen=True)
class Section:
    """A titled table of facts. A row is a tuple of cells; `head` names the columns."""

    title: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def sections(trials: Sequence[Trial], command: str) -> tuple[Section, ...]:
    """All facts, the most asked for first."""
    made = (
        _study(trials, command),
        _machine(trials),
        _subjects(trials),
        _rules(trials),
        _header_fields(trials),
        _datagrams(trials),
        _controls(trials),
        _plans(trials),
        _ceilings(trials),
        _order(trials),
    )
    return tuple(section for section in made if section.rows)


def verified_words(trial: Trial) -> str:
    """How far right replies were checked: `all verified`, or by what where they may vary."""
    if not trial.summary.counters.ok:
        return "no right reply"
    every = "" if any(trial.summary.counters.errors.values()) else "all "
    if trial.scenario.learned and trial.plan.traffic is None:
        samples = trial.scenario.learned[0].samples
        return f"{every}verified by what {samples} replies had in common"
    if trial.plan.publish is not None:
        return f"{every}verified, by number and content"
    match trial.plan.target.expect.content:
        case AutoContent() if trial.plan.target.http.sse:
            # The reference server numbers its events, and stamps them.
            if "delivery_time" in trial.summary.histograms:
                return f"{every}verified, by number and content"
            return f"{every}well-formed, content not checked"
        case StatusContent():
            how = "well-formed"
            if trial.scenario.protocol in HTTP:
                how = f"with status {trial.plan.target.expect.status}"
            elif trial.scenario.protocol in CALLS:
                how = "with the right status"
            return f"{every}{how}, content not checked"
        case MatchingContent(rules=rules):
            return f"{every}verified by {units.plural(len(rules), 'rule')}"
        case ShapedContent():
            return f"{every}verified by a schema"
        case FieldsContent(shape=shape):
            return f"{every}verified by {units.plural(len(shape.fields), 'field')}"
        case _:
            return f"{every}verified"


def learned(trials: Sequence[Trial]) -> list[LearnedRule]:
    """The rules of these trials, each once."""
    return list(dict.fromkeys(one for trial in trials for one in trial.scenario.learned))


def machines_words(trials: Sequence[Trial]) -> str:
    """The machine of the trials; of several occasions, each machine once."""
    return "; ".join(dict.fromkeys(machine_words(trial.machine.facts) for trial in trials))


def machine_words(facts: Mapping[str, Any]) -> str:
    """`2 CPUs, MODEL, Linux 6.1`."""
    cpu = facts.get("cpu")
    cpu = cpu if isinstance(cpu, dict) else {"model": cpu}
    parts = (
        units.plural(cpu["logical"], "CPU") if cpu.get("logical") else "",
        cpu.get("model") or "",
        f"Linux {facts['kernel']}" if facts.get("kernel") else "",
        "each connection tracked (nf_conntrack)" if facts.get("tracks_connections") else "",
    )
    return ", ".join(part for part in parts if part) or "a machine of which nothing is recorded"


def _study(trials: Sequence[Trial], command: str) -> Section:
    first = trials[0]
    rows = [
        ("Study", first.study),
        ("Digest of the study", ", ".join(sorted({t.study_digest for t in trials}))),
        ("Seed of the order", ", ".join(sorted({str(t.order_seed) for t in trials}))),
        ("First trial", min(t.started_at for t in trials)),
        ("Last trial", max(t.started_at for t in trials)),
        ("wiretrial", wiretrial.__version__),
        ("Engine", ", ".join(sorted({t.start.engine for t in trials if not t.driven}))),
        ("Libraries", ", ".join(sorted({t.driven.library for t in trials if t.driven}))),
        ("Warm-up rule", ", ".join(sorted({t.window.rule for t in trials}))),
        ("Labels", ", ".join(sorted({f"{k}={v}" for t in trials for k, v in t.labels.items()}))),
        ("Run again", command),
    ]
    return Section("Study", ("Fact", "Value"), tuple(row for row in rows if row[1]))


def _rules(trials: Sequence[Trial]) -> Section:
    """What was learned from replies; of one run it stands above."""
    rules = learned(trials) if len(trials) > 1 else []
    rows = tuple(
        (one.of or "all servers", one.route or "the message", f"{one.samples:,}", one.told)
        for one in rules
    )
    return Section("Learned rules", ("Held to it", "Route", "Replies", "In common"), rows)


def _header_fields(trials: Sequence[Trial]) -> Section:
    """What header profiles cost in bytes, by scenario; of one run it stands above."""
    by_scenario: dict[str, list[Trial]] = {}
    for trial in trials if len(trials) > 1 else ():
        if trial.start.header_profile:
            by_scenario.setdefault(trial.scenario.search or trial.scenario.name, []).append(trial)
    rows = tuple(
        (name, *header_words.cells(measured)) for name, measured in sorted(by_scenario.items())
    )
    head = ("Scenario", "Header profile", "Names and values of a request", "Sent as")
    return Section("Header fields", head, rows)


def _datagrams(trials: Sequence[Trial]) -> Section:
    """How QUIC carried what was sent over HTTP/3, by scenario; of one run it stands above."""
    by_scenario: dict[str, list[Trial]] = {}
    for trial in trials if len(trials) > 1 else ():
        if trial.summary.http3:
            by_scenario.setdefault(_whose(trial), []).append(trial)
    rows = tuple(
        (name, *http3_words.cells(measured)) for name, measured in sorted(by_scenario.items())
    )
    return Section("Datagrams over HTTP/3", ("Scenario", *http3_words.COLUMNS), rows)


def _controls(trials: Sequence[Trial]) -> Section:
    """Which congestion control both sides had, by scenario; of one run it stands above."""
    told = {
        _whose(trial): control_words.cells(trial)
        for trial in (trials if len(trials) > 1 else ())
        if control_words.is_told(trial)
    }
    rows = tuple((name, *cells) for name, cells in sorted(told.items()))
    return Section("Congestion control", ("Scenario", *control_words.COLUMNS), rows)


def _machine(trials: Sequence[Trial]) -> Section:
    """As it was when each occasion began. What differs has one value after the other, each once."""
    told: dict[str, dict[str, None]] = {}
    for trial in _first_of_occasions(trials):
        for fact, value in _flat(trial.machine.facts):
            told.setdefault(fact, {})[value] = None
    rows = tuple((fact, "; ".join(values)) for fact, values in told.items())
    return Section("Machine", ("Fact", "Value"), rows)


def _first_of_occasions(trials: Sequence[Trial]) -> list[Trial]:
    first: dict[int, Trial] = {}
    for trial in sorted(trials, key=lambda one: one.started_at):
        first.setdefault(trial.occasion, trial)
    return [trial for _, trial in sorted(first.items())]


def _subjects(trials: Sequence[Trial]) -> Section:
    found: dict[SubjectFacts, None] = {}
    for trial in trials:
        for subject in (trial.subject, trial.server):
            if subject is not None:
                found.setdefault(subject)
    rows = (
        (
            subject.name,
            subject.version,
            subject.language,
            _threads(subject),
            units.duration(subject.primed_ns) if subject.primed_ns else "no",
            _cpus(subject),
            subject.digest or "none",
            " ".join(subject.command),
        )
        for subject in sorted(found, key=lambda s: (s.name, s.command))
    )
    head = ("Subject", "Version", "Language", "Threads", "Primed", "CPUs", "Digest", "Command")
    # How often a limit held is another number in each trial.
    return Section("Subjects", head, tuple(dict.fromkeys(rows)))


def _cpus(subject: SubjectFacts) -> str:
    known = ", ".join(map(str, subject.cpus)) or "any"
    return f"{known}, {subject.limit.cpus:g} CPUs in all" if subject.limit else known


def _threads(subject: SubjectFacts) -> str:
    threads = "unknown" if subject.threads is None else str(subject.threads)
    return threads if subject.copies == 1 else f"{threads} in each of {subject.copies} copies"


def _plans(trials: Sequence[Trial]) -> Section:
    # The steps of a search, and the levels below a top, differ in their rate only.
    by_scenario = {_whose(trial): trial for trial in trials if not trial.scenario.level_of}
    rows = tuple(
        (name, json.dumps(json.loads(trial.plan.to_json()), separators=(", ", ": ")))
        for name, trial in sorted(by_scenario.items())
    )
    return Section(PLANS, ("Scenario", "Plan"), rows)


def _whose(trial: Trial) -> str:
    """The scenario that a trial stands for."""
    return trial.scenario.search or trial.scenario.name


def _ceilings(trials: Sequence[Trial]) -> Section:
    """What the generator reached by itself, against the reference server, with each load."""
    rows = tuple(
        (
            name,
            f"{ceiling.messages_per_second:,.0f} {what}/s",
            f"{ceiling.reached:,.0f} {what}/s, loop {units.percent(ceiling.loop_utilisation)} busy",
        )
        for name, (ceiling, what) in sorted(
            {
                _whose(t): (
                    t.ceiling,
                    words.of(t.scenario.protocol).many,
                )
                for t in trials
                if not t.scenario.level_of
            }.items()
        )
        if ceiling is not None
    )
    head = ("Scenario", "Ceiling", "Reached against the reference server")
    return Section("The generator by itself", head, rows)


def _order(trials: Sequence[Trial]) -> Section:
    rows = tuple(
        (
            str(trial.block),
            str(trial.position),
            trial.scenario.name,
            units.duration(max(trial.window.start_ns - trial.summary.first_send_ns, 0)),
            units.duration(trial.window.end_ns - trial.window.start_ns),
            trial.judgement.verdict,
            trial.judgement.evidence,
        )
        for trial in sorted(trials, key=lambda t: (t.block, t.position))
    )
    head = ("Block", "Place", "Scenario", "Warm-up", "Counted", "Verdict", "Evidence")
    return Section(ORDER, head, rows)


def _flat(facts: Mapping[str, Any], prefix: str = "") -> list[tuple[str, str]]:
    rows: list[tuple[str, str]] = []
    for key, value in facts.items():
        name = f"{prefix}{key}"
        if isinstance(value, Mapping):
            rows += _flat(value, f"{name} ")
        elif isinstance(value, list | tuple):
            rows.append((name, ", ".join(map(str, value))))
        else:
            rows.append((name, str(value)))
    return rows
