"""The grammar of findings: one short sentence each, the figure first.

Knows findings; must not know where a sentence is shown. Full paragraphs with every figure are
`sentences` and `summaries`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from wiretrial.report import figure_words, metrics, sentences, summaries, units
from wiretrial.report.break_even import Crossing
from wiretrial.report.findings import Finding, Multiple
from wiretrial.stats import bounds

MOST_NAMED = 3
"""More names are counted."""
MOST_KNEES = 4


def say(finding: Finding) -> str:
    """The finding as one sentence, with its workload in front where there are several."""
    text = _SAID[finding.kind](finding)
    if finding.where:
        return figure_words.sentence(f"{finding.where}: {text}.")
    labels = (*finding.leaders, finding.base, *(other.label for other in finding.others))
    return figure_words.sentence(f"{text}.", [label for label in labels if label])


def shorter(finding: Finding) -> str:
    """The same with only the first of those that are worse."""
    return say(replace(finding, others=finding.others[:1]))


def bottleneck(counts: Mapping[str, int], marked: int) -> str:
    """Where most trials were limited, in a few words."""
    total = sum(counts.values())
    first = max(counts, key=counts.__getitem__)
    of = units.plural(total, "trial")
    text = f"Bottleneck: {sentences.BOTTLENECKS[first]} in {counts[first]} of {of}"
    return f"{text}; {marked} {'is' if marked == 1 else 'are'} marked." if marked else f"{text}."


def leads(findings: Sequence[Finding]) -> str | None:
    """Over many workloads: who leads in how many of them; None where that tells nothing."""
    led: dict[str, int] = {}
    rest = 0
    told = [finding for finding in findings if finding.metric]
    for finding in told:
        if finding.kind == "best":
            led[finding.leaders[0]] = led.get(finding.leaders[0], 0) + 1
        else:
            rest += 1
    if not led or len(told) < 2:
        return None
    ordered = sorted(led, key=lambda label: -led[label])
    (first, *others) = ordered[:MOST_NAMED]
    text = f"{first} leads in {led[first]} of {len(told)} workloads"
    text += "".join(f", {label} in {led[label]}" for label in others)
    if more := sum(led[label] for label in ordered[MOST_NAMED:]):
        text += f", others in {more}"
    return f"{text}; {summaries.unled(rest)}." if rest else f"{text}."


def quantity(finding: Finding) -> str:
    """The finding's metric within a sentence."""
    assert finding.metric is not None
    return finding.metric.quantity(finding.what)


def times(other: Multiple) -> str:
    """`2.10 (2.05 to 2.16)`, with `at least` or `at most` where it is a bound."""
    if other.bound == "unknown":
        return f"about {units.significant(other.ratio)}"
    sign = f"{other.bound} " if other.bound != "exact" else ""
    text = f"{sign}{units.significant(other.ratio)}"
    if other.low is None or other.high is None:
        return text
    return f"{text} ({units.significant(other.low)} to {units.significant(other.high)})"


def figure(finding: Finding) -> str:
    """The first leader's figure with its unit; empty where there is none."""
    if finding.figure is None or finding.metric is None:
        return ""
    value = finding.figure.median
    unit = units.fitting(finding.metric.units, (value,))
    return f"{bounds.SIGNS[finding.bound]}{unit.text(value)}"


def _alone(finding: Finding) -> str:
    assert finding.metric is not None
    found, label, what = finding.figure, finding.leaders[0], quantity(finding)
    if found is None:
        return f"{label}: {what} is not known"
    unit = units.fitting(finding.metric.units, (found.median,))
    if found.low is None or found.high is None:
        return f"{label}: {what} {figure(finding)}"
    span = f"{unit.figure(found.low)} to {unit.figure(found.high)}"
    if finding.levels > 1:
        return f"{label}: {what} {span} {unit.short} over {finding.levels} levels"
    return f"{label}: {what} {figure(finding)} (95 % interval {span})"


def _best(finding: Finding) -> str:
    assert finding.metric is not None
    shown, is_tie = figure(finding), len(finding.leaders) > 1
    text = f"{finding.metric.superlative(finding.what)} with {_names(finding.leaders)}"
    asides = [shown] if shown else []
    asides += ["tie"] if is_tie else []
    asides += [f"over {units.every(finding.levels)} levels"] if finding.levels > 1 else []
    aside = f" ({', '.join(asides)})" if asides else ""
    return f"{text}{aside}{_behind(finding)}"


def _behind(finding: Finding) -> str:
    """The next and the last of those that are worse."""
    assert finding.metric is not None
    if not finding.others:
        return ""
    worse = finding.metric.worse
    ends = dict.fromkeys((finding.others[0], finding.others[-1]))
    first, *last = ends
    if finding.metric.higher_is_better:
        text = f", {times(first)} times {worse} {first.label}"
        return text + "".join(f" and {times(one)} times {one.label}" for one in last)
    text = f"; {first.label} {times(first)} times {worse}"
    return text + "".join(f", last {one.label} {times(one)}" for one in last)


def _untold(finding: Finding) -> str:
    assert finding.metric is not None
    names = _names(finding.leaders)
    return f"no difference in {quantity(finding)} is shown between {names}"


def _bound(finding: Finding) -> str:
    assert finding.metric is not None
    what = f"the {quantity(finding)} of {_names(finding.leaders)}"
    bound = summaries.bound_words(finding.metric)
    return f"{what} is {bound}, not ranked: the load generator saturated first"


def _lacking(finding: Finding) -> str:
    return f"too few usable trials to compare {_names(finding.leaders)}"


def _multiples(finding: Finding) -> str:
    assert finding.metric is not None
    what = quantity(finding)
    if len(finding.others) == 1:
        (other,) = finding.others
        return f"{other.label} has {_range(other, finding)} times the {what} of {finding.base}"
    ends = dict.fromkeys((finding.others[0], finding.others[-1]))
    told = ", ".join(f"{other.label} {_range(other, finding)}" for other in ends)
    return f"{what} as multiples of {finding.base}: {told}"


def _range(other: Multiple, finding: Finding) -> str:
    """Over several levels the lowest and the highest; else the figure with its interval."""
    if finding.levels == 1 or other.low is None or other.high is None:
        return times(other)
    ends = dict.fromkeys(units.significant(end) for end in (other.low, other.high))
    sign = "" if other.bound == "exact" else "about " if other.bound == "unknown" else other.bound
    return f"{sign} {' to '.join(ends)}".strip()


def _nearest(finding: Finding) -> str:
    assert finding.metric is not None
    if not finding.others or len(finding.leaders) > MOST_NAMED:
        return f"no library is shown to need the least CPU; {finding.base} is the baseline"
    by_label = {other.label: other for other in finding.others}
    first = by_label[finding.leaders[0]]
    names = units.listed(finding.leaders).replace(" and ", " or ")
    text = f"{names} {'is' if len(finding.leaders) == 1 else 'are'} nearest to {finding.base}"
    text += f", {times(first)} times its CPU"
    last = finding.others[-1]
    return text if last.label in finding.leaders else f"{text}; {last.label} {times(last)}"


def _safest(finding: Finding) -> str:
    first, *rest = finding.others
    text = (
        f"{first.label} is the safest choice: never more than {units.significant(first.ratio)} "
        f"times the best time, in {finding.levels} cases"
    )
    if not rest:
        return text
    ends = dict.fromkeys((rest[0], rest[-1]))
    return f"{text}; {', '.join(f'{one.label} {units.significant(one.ratio)}' for one in ends)}"


def _counted(finding: Finding) -> str:
    assert finding.metric is not None
    (first, n), *rest = finding.counts
    levels, at = ("cases", "in") if finding.metric is metrics.ELAPSED else ("levels", "at")
    text = f"{finding.metric.superlative(finding.what)} with {first} {at} "
    if n == finding.levels:
        return f"{text}{units.every(n)} {levels}"
    text += f"{n} of {finding.levels} {levels}"
    text += "".join(f", with {label} {at} {count}" for label, count in rest[: MOST_NAMED - 1])
    undecided = finding.levels - sum(count for _, count in finding.counts)
    return f"{text}; {summaries.unled(undecided)}" if undecided else text


def _knees(finding: Finding) -> str:
    ordered = sorted(finding.knees, key=lambda knee: knee.sustained or 0.0, reverse=True)
    told = [f"{knee.label} {knee.figure}" for knee in ordered[:MOST_KNEES]]
    if (more := len(ordered) - MOST_KNEES) > 0:
        told.append(f"{more} more")
    objective = finding.knees[0].objective.words
    return f"highest rate with {objective}, {finding.knees[0].what.many}/s: {units.listed(told)}"


def _break_even(finding: Finding) -> str:
    first = finding.crossings[0]
    own = [
        crossing
        for crossing in finding.crossings
        if (crossing.socket.label, crossing.http.label) == (first.socket.label, first.http.label)
    ]
    told = ", ".join(f"{one.quantity.name} {_crossing(one)}" for one in own)
    return f"a {first.socket.label} connection costs less than {first.http.label}: {told}"


def _crossing(one: Crossing) -> str:
    match one.found.outcome:
        case "always B":
            return "always"
        case "always A":
            return "never"
        case "cannot be told":
            return "not known"
    return f"{one.after} {one.number} messages"


def _names(labels: Sequence[str]) -> str:
    if len(labels) <= MOST_NAMED:
        return units.listed(labels)
    return f"{', '.join(labels[: MOST_NAMED - 1])} and {len(labels) - MOST_NAMED + 1} more"


_SAID = {
    "alone": _alone,
    "best": _best,
    "shared": _best,
    "untold": _untold,
    "bound": _bound,
    "lacking": _lacking,
    "multiples": _multiples,
    "nearest": _nearest,
    "safest": _safest,
    "counted": _counted,
    "knees": _knees,
    "break-even": _break_even,
}
