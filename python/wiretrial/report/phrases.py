"""The grammar of findings: each in one plain sentence, the figure first, in two lengths.

Knows findings; must not know how they were found or where a sentence is shown. The short form names
the ends of a ranking; the whole form names all others with multiple and interval.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from operator import attrgetter

from wiretrial.report import case_tables, figure_words, route_words, trial_words, units
from wiretrial.report.break_even import Crossing
from wiretrial.report.figure_words import before, interval_text, ratio_interval, sentence
from wiretrial.report.finding import Finding, Multiple, Part
from wiretrial.report.knees import Knee
from wiretrial.stats import bounds

MOST_NAMED = 3
"""In the short form more names are counted."""
MOST_KNEES = 4
MOST_WHOLE = 8
"""In the whole form more names are counted."""
NAMED = 5
"""Of more, so many are named from the best on, and the last."""


def say(finding: Finding, *, whole: bool = False) -> str:
    """The finding as one sentence, with its workload in front where there are several."""
    text = _SAID[finding.kind](finding, whole)
    if finding.where:
        return sentence(f"{finding.where}: {text}.")
    return sentence(f"{text}.", finding.names)


def shorter(finding: Finding) -> str:
    """The same with only the first of those that are worse, or of those among them that lead; the
    load is in the sentence in full.
    """
    leading = tuple(one for one in finding.others if one.label in finding.leaders)
    others = (leading or finding.others)[:1]
    return say(replace(finding, others=others, is_closed_loop=False))


def paragraphs(findings: Sequence[Finding]) -> tuple[str, ...]:
    """The findings in full, those of one workload together under its name."""
    return tuple(
        " ".join([say(first, whole=True), *(_untitled(one) for one in rest)])
        for first, *rest in (tuple(own) for _, own in groupby(findings, attrgetter("where")))
    )


def note(findings: Sequence[Finding]) -> str:
    """The findings in full, to stand where the workload's name stands already."""
    return " ".join(map(_untitled, findings))


def _untitled(finding: Finding) -> str:
    return say(replace(finding, where=""), whole=True)


def leads(findings: Sequence[Finding]) -> str | None:
    """Over many workloads: who leads in how many of them; None where that tells nothing."""
    told = [finding for finding in findings if finding.metric]
    led = Counter(finding.leaders[0] for finding in told if finding.kind == "best")
    if not led or len(told) < 2:
        return None
    (first, n), *others = led.most_common()
    text = f"{first} leads in {n} of {len(told)} workloads"
    text += "".join(f", {label} in {m}" for label, m in others[: MOST_NAMED - 1])
    if more := sum(m for _, m in others[MOST_NAMED - 1 :]):
        text += f", others in {more}"
    rest = len(told) - led.total()
    return f"{text}; {_unled(rest)}." if rest else f"{text}."


def times(other: Multiple) -> str:
    """`2.10 (2.05 to 2.16)`, of a bound `at least 2.10`; `1.45 to 5.28 (by level)`."""
    if other.is_range:
        return f"{ratio_interval(other)} (by level)"
    if other.bound == "unknown":
        return f"about {units.significant(other.ratio)}"
    sign = f"{other.bound} " if other.bound != "exact" else ""
    text = f"{sign}{units.significant(other.ratio)}"
    interval = ratio_interval(other)
    return f"{text} ({interval})" if interval else text


def figure(finding: Finding) -> str:
    """The first leader's figure with its unit; empty where there is none."""
    if finding.figure is None or finding.metric is None:
        return ""
    value = finding.figure.median
    unit = units.fitting(finding.metric.units, (value,))
    return f"{bounds.SIGNS[finding.bound]}{unit.text(value)}"


def _alone(finding: Finding, _: bool) -> str:
    assert finding.metric is not None
    found, label, what = finding.figure, finding.leaders[0], _quantity(finding)
    if found is None:
        return f"{label}: {what} is not known"
    unit = units.fitting(finding.metric.units, (found.median,))
    span = interval_text(found, unit)
    if not span:
        return f"{label}: {what} {figure(finding)}"
    if finding.levels > 1:
        sign = bounds.SIGNS[finding.bound]
        return f"{label}: {what} {sign}{span} {unit.short} over {_levels(finding)}"
    return f"{label}: {what} {figure(finding)} ({figure_words.interval_name([found])} {span})"


def _best(finding: Finding, whole: bool) -> str:
    superlative = _superlative(finding)
    shown, is_tie = figure(finding), len(finding.leaders) > 1
    asides = [shown] if shown else []
    asides += ["tie"] if is_tie else []
    asides += [f"over {_levels(finding)}"] if finding.levels > 1 else []
    aside = f" ({', '.join(asides)})" if asides else ""
    text = f"{superlative} with {_names(finding.leaders, whole)}{aside}{_behind(finding, whole)}"
    return f"{text}{_unshown(finding)}{_taken_alone(finding)}" if whole else text


def _behind(finding: Finding, whole: bool) -> str:
    """Those that are worse, from the next on; in the short form the next and the last."""
    assert finding.metric is not None
    if not finding.others:
        return ""
    told = _worse(finding, _ends(finding, whole))
    gap = ", " if finding.metric.higher_is_better else "; "
    if whole:
        return f"{gap}{'; '.join(_few(told))}"
    last = " and " if finding.metric.higher_is_better else ", last "
    return f"{gap}{last.join(told)}"


def _worse(finding: Finding, others: Sequence[Multiple]) -> list[str]:
    """`gorilla 2.31 times as much`, `ws 6.92`; where more is better, `2.31 times that of ws`."""
    assert finding.metric is not None
    worse = finding.metric.worse
    first, *rest = others
    if finding.metric.higher_is_better:
        told = [f"{times(one)} times that of {one.label}" for one in rest]
        return [f"{times(first)} times {worse} {first.label}", *told]
    told = [f"{before(one.label)} {times(one)}" for one in rest]
    return [f"{before(first.label)} {times(first)} times {worse}", *told]


def _taken_alone(finding: Finding) -> str:
    """Levels that show nothing alone, where all of them together do."""
    if not finding.parts:
        return ""
    (part,) = finding.parts
    levels = f"{part.n} of {finding.levels} levels show{'s' if part.n == 1 else ''} no"
    levels = "no level shows a" if part.n == finding.levels else levels
    return f"; taken alone, {levels} difference{f' ({part.at})' if part.at else ''}"


def _untold(finding: Finding, whole: bool) -> str:
    names = _names(finding.leaders, whole)
    over = f" at any of {finding.levels} {_level(finding)}s" if whole and finding.levels > 1 else ""
    text = f"no difference in {_quantity(finding)} is shown between {names}{over}"
    return text + figure_words.unseen(finding.resolution)


def _bound(finding: Finding, whole: bool) -> str:
    assert finding.metric is not None
    what = f"the {_quantity(finding)} of {_names(finding.leaders, whole)}"
    text = f"{what} is {_bound_words(finding)}, not ranked: the load generator saturated first"
    if not (whole and finding.others):
        return text
    has = " has" if finding.metric.higher_is_better else ":"
    told = "; ".join(_few(_worse(finding, finding.others)))
    return f"{text}; {finding.base} ({figure(finding)}){has} {told}"


def _overloaded(finding: Finding, whole: bool) -> str:
    names = _names(finding.leaders, whole)
    return f"the {_quantity(finding)} of {names} is not ranked: the offered rate was not reached"


def _short(finding: Finding, whole: bool) -> str:
    names = _names(finding.leaders, whole)
    return f"too few {finding.what.many} to tell a {_quantity(finding)} of {names}"


def _single(finding: Finding, whole: bool) -> str:
    return f"one trial each of {_names(finding.leaders, whole)}, which shows no difference"


def _lacking(finding: Finding, whole: bool) -> str:
    return f"too few usable trials to compare {_names(finding.leaders, whole)}"


def _multiples(finding: Finding, whole: bool) -> str:
    what, known = _quantity(finding), figure(finding)
    base = f"{finding.base} ({known})" if whole and known else finding.base
    if len(finding.others) == 1 and finding.told is None and not whole:
        (other,) = finding.others
        return f"{other.label} has {_range(other, finding)} times the {what} of {base}"
    over = f" at {_levels(finding)}" if finding.told or (whole and finding.levels > 1) else ""
    over = f" over {_levels(finding)}" if finding.is_together else over
    told = [f"{before(one.label)} {_range(one, finding)}" for one in _ends(finding, whole)]
    listed = "; ".join(_few(told)) if whole else ", ".join(told)
    text = f"{what} as multiples of {base}{over}: {listed}"
    if not whole:
        return text
    rest = [_part(part, finding) for part in finding.parts]
    return "; ".join([text + _without(finding) + _unshown(finding), *rest])


def _range(other: Multiple, finding: Finding) -> str:
    """Over several levels the lowest and the highest; else the figure with its interval."""
    if (
        finding.is_together
        or (finding.told or finding.levels) == 1
        or other.low is None
        or other.high is None
    ):
        return times(other)
    ends = dict.fromkeys(units.significant(end) for end in (other.low, other.high))
    sign = "" if other.bound == "exact" else "about " if other.bound == "unknown" else other.bound
    return f"{sign} {' to '.join(ends)}".strip()


def _without(finding: Finding) -> str:
    """Whom a range must not speak for at some levels."""
    told = finding.told or finding.levels
    known = [f"{label} ({n} of {told})" for label, n in finding.lacking]
    return f"; without a figure in each: {units.listed(known)}" if known else ""


def _nearest(finding: Finding, whole: bool) -> str:
    assert finding.metric is not None
    what, known = finding.metric.head, figure(finding)
    base = f"{finding.base} ({known})" if whole and known else finding.base
    told = [f"{one.label} {times(one)}" for one in finding.others]
    if not finding.leaders or len(finding.leaders) > MOST_NAMED:
        superlative = _superlative(finding)
        text = f"no library is shown to have the {superlative}"
        if not whole:
            return f"{text}; {base} is the baseline"
        return f"{text}; as multiples of {base}: {'; '.join(_few(told))}"
    by_label = {other.label: other for other in finding.others}
    first = by_label[finding.leaders[0]]
    names = units.listed(finding.leaders).replace(" and ", " or ")
    text = f"{names} is nearest to {base}"
    text += f", {times(first)} times its {what}"
    if whole:
        rest = [f"{one.label} {times(one)}" for one in finding.others if one is not first]
        return "; ".join([text, *_few(rest)])
    last = finding.others[-1]
    return text if last.label in finding.leaders else f"{text}; {last.label} {times(last)}"


def _safest(finding: Finding, whole: bool) -> str:
    first, *rest = finding.others
    text = (
        f"{first.label} is the safest choice: never more than {units.significant(first.ratio)} "
        f"times the best time, in {_levels(finding)}"
    )
    ends = rest if whole else dict.fromkeys((*rest[:1], *rest[-1:]))
    told = [f"{one.label} {units.significant(one.ratio)}" for one in ends]
    if not whole:
        return f"{text}; {', '.join(told)}" if told else text
    text = "; ".join([text, *_few(told)])
    for part in finding.parts:
        named = units.listed(f"“{name}”" for name in part.labels)
        text += f"; not over {named}, where the best time is only a bound"
    return f"{text}{_without(finding)}"


def _counted(finding: Finding, whole: bool) -> str:
    assert finding.metric is not None
    if whole:
        return "; ".join(_by_level(finding))
    undecided = finding.levels - sum(count for _, count in finding.counts)
    if not finding.counts:
        what = _quantity(finding)
        return f"no single winner in {what} at any of {finding.levels} {_level(finding)}s"
    (first, n), *rest = finding.counts
    at = "in" if finding.is_cases else "at"
    text = f"{_superlative(finding)} with {first} {at} "
    if n == finding.levels:
        return f"{text}{_levels(finding)}"
    text += f"{n} of {finding.levels} {_level(finding)}s"
    text += "".join(f", with {label} {at} {count}" for label, count in rest[: MOST_NAMED - 1])
    return f"{text}; {_unled(undecided)}" if undecided else text


def _by_level(finding: Finding) -> Iterator[str]:
    """A clause per answer, what most levels show first; those with a leader in one clause."""
    assert finding.metric is not None
    is_first = True
    for is_led, own in groupby(finding.parts, key=lambda part: part.kind == "best"):
        clauses: list[str] = []
        for part in own:
            if is_led:
                head = "" if clauses else f"{_superlative(finding)} "
                clauses.append(f"{head}with {part.labels[0]} {_amount(part, finding, is_first)}")
            else:
                clauses.append(_part(part, finding, is_first=is_first))
            is_first = False
        yield ", ".join(_few(clauses)) if is_led else "; ".join(_few(clauses))


def _part(part: Part, finding: Finding, *, is_first: bool = False) -> str:
    """What some levels show where nobody leads them alone."""
    amount, what = _amount(part, finding, is_first), _quantity(finding)
    names = _names(part.labels, whole=True)
    match part.kind:
        case "shared":
            return f"a tie of {names} {amount}"
        case "untold":
            text = f"no difference in {what} shown {amount}"
            return figure_words.with_unseen(text, part.resolution)
        case "bound":
            limited = f"where the {what} of {names.replace(' and ', ' or ')} is"
            why = "the load generator saturated first"
            return f"not ranked {amount}, {limited} {_bound_words(finding)}: {why}"
        case "overloaded":
            return f"not ranked {amount}: the offered rate was not reached by {names}"
        case "short":
            return f"too few {finding.what.many} to tell a {what} {amount}"
        case "single":
            return f"one trial each, which shows no difference, {amount}"
        case "alone":
            return f"only {names} measured {amount}"
        case _:
            return f"too few usable trials {amount}"


def _amount(part: Part, finding: Finding, is_first: bool) -> str:
    """`at 2 of 3 levels (10 and 100 connections)`, later `at 1 (1,000 connections)`."""
    levels = f"{part.n} of {finding.levels} {_level(finding)}s" if is_first else str(part.n)
    levels = f"{units.every(part.n)} {_level(finding)}s" if part.n == finding.levels else levels
    at = f" ({part.at})" if part.at else ""
    return f"{'in' if finding.is_cases else 'at'} {levels}{at}"


def _stalls(finding: Finding, _: bool) -> str:
    told = (f"{part.labels[0]} in {units.plural(part.n, 'case')}" for part in finding.parts)
    return f"stopped answering (stalled): {units.listed(told)}"


def _floors(finding: Finding, whole: bool) -> str:
    n, on_it = finding.levels, finding.told or 0
    within = f"{case_tables.ON_THE_FLOOR:.0%}".replace("%", " %")
    text = (
        f"{units.plural(n, 'time')} {'has' if n == 1 else 'have'} a theoretical minimum; "
        f"{on_it} {'is' if on_it == 1 else 'are'} within {within} of it"
    )
    if whole and on_it:
        text += f" and measure{'s' if on_it == 1 else ''} the pause, not the framework"
    for furthest in finding.others:
        above = case_tables.excess(furthest.ratio - 1)
        text += f"; the furthest above is {furthest.label}'s ({above})"
    return text


def _knees(finding: Finding, whole: bool) -> str:
    ordered = sorted(finding.knees, key=lambda knee: knee.sustained or 0.0, reverse=True)
    told = [_knee(knee) for knee in ordered]
    if whole:
        told = _few(told)
    elif (more := len(ordered) - MOST_KNEES) > 0:
        told = [*told[:MOST_KNEES], f"{more} more"]
    objective = finding.knees[0].objective.words
    return f"highest rate with {objective}, {finding.knees[0].what.many}/s: {units.listed(told)}"


def _knee(knee: Knee) -> str:
    return f"{knee.label} {knee.figure}{' (not confirmed)' if knee.is_open else ''}"


def _break_even(finding: Finding, whole: bool) -> str:
    socket, http = finding.crossings[0].socket.label, finding.crossings[0].http.label
    if not whole:
        told = ", ".join(f"{one.quantity.name} {_crossing(one)}" for one in finding.crossings)
        return f"a {socket} connection costs less than {http}: {told}"
    ordered = sorted(finding.crossings, key=_when)
    gaps = (":" if one.found.outcome == "cannot be told" else "" for one in ordered)
    pairs = zip(ordered, gaps, strict=True)
    less = "; ".join(f"in {one.quantity.name}{gap} {one.words}" for one, gap in pairs)
    return f"set-up included, a connection of {socket} costs less than one of {http} {less}"


def _when(one: Crossing) -> tuple[int, float]:
    """The soonest first, then never, then what cannot be told."""
    last = {"always B": 0, "always A": 2, "cannot be told": 3}.get(one.found.outcome, 1)
    return last, one.found.messages or 0.0


def _crossing(one: Crossing) -> str:
    match one.found.outcome:
        case "always B":
            return "always"
        case "always A":
            return "never"
        case "cannot be told":
            return "not known"
    beyond = f" ({one.beyond})" if one.beyond else ""
    return f"{one.after} {one.number} messages{beyond}"


def _quantity(finding: Finding) -> str:
    """The finding's metric within a sentence."""
    assert finding.metric is not None
    return finding.metric.quantity(finding.what) + _load(finding)


def _superlative(finding: Finding) -> str:
    """The best of its metric, within a sentence."""
    assert finding.metric is not None
    return finding.metric.superlative(finding.what) + _load(finding)


def _load(finding: Finding) -> str:
    return " (closed loop)" if finding.is_closed_loop else ""


def _bound_words(finding: Finding) -> str:
    assert finding.metric is not None
    return "a lower bound" if finding.metric.higher_is_better else "an upper bound"


def _level(finding: Finding) -> str:
    return "case" if finding.is_cases else "level"


def _levels(finding: Finding) -> str:
    """`all 3 levels`, `2 of 3 levels`."""
    known = finding.told
    told = units.every(finding.levels) if known is None else f"{known} of {finding.levels}"
    return f"{told} {_level(finding)}s"


def _unled(count: int) -> str:
    """So many cases, levels or workloads without one leader."""
    return f"{count} {'has' if count == 1 else 'have'} no single winner"


def _unshown(finding: Finding) -> str:
    names = _names(finding.unshown, whole=True)
    unseen = figure_words.unseen(finding.resolution)
    return f"; for {names} no difference is shown{unseen}" if names else ""


def _ends(finding: Finding, whole: bool) -> Sequence[Multiple]:
    """All others; in the short form the first and the last."""
    if whole or len(finding.others) < 3:
        return finding.others
    return (finding.others[0], finding.others[-1])


def _few(clauses: Sequence[str]) -> list[str]:
    """Clauses from the best on, those between the first and the last counted if they are many."""
    if len(clauses) <= MOST_WHOLE:
        return list(clauses)
    return [*clauses[:NAMED], f"{len(clauses) - NAMED - 1} more, and last {clauses[-1]}"]


def _names(labels: Sequence[str], whole: bool) -> str:
    most = MOST_WHOLE if whole else MOST_NAMED
    # Labels that have commas of their own are told apart by semicolons.
    gap = "; " if any(", " in label for label in labels) else ", "
    if len(labels) <= most:
        return units.listed(labels, gap)
    return f"{gap.join(labels[: most - 1])} and {len(labels) - most + 1} more"


_SAID = {
    "alone": _alone,
    "best": _best,
    "shared": _best,
    "untold": _untold,
    "bound": _bound,
    "overloaded": _overloaded,
    "short": _short,
    "single": _single,
    "lacking": _lacking,
    "counted": _counted,
    "multiples": _multiples,
    "nearest": _nearest,
    "safest": _safest,
    "stalls": _stalls,
    "floors": _floors,
    "knees": _knees,
    "break-even": _break_even,
    "slowest": route_words.slowest,
    "apart": route_words.apart,
    "bottleneck": trial_words.bottleneck,
    "twins": trial_words.twins,
}
