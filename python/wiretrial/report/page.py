"""What stands in a report, said once: its sections in order, as blocks.

Knows which part of a model each section shows; must not know how a block is rendered.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from wiretrial.report import knees as searches_of
from wiretrial.report import (
    load_words,
    metrics,
    moments,
    page_load,
    page_results,
    receiving,
    route_courses,
    route_findings,
    run,
    traffic,
)
from wiretrial.report.blocks import (
    Block,
    Drawing,
    Item,
    Items,
    Section,
    Table,
    Text,
    fold,
    heading,
    key,
    plain,
    words,
)
from wiretrial.report.break_even import Place
from wiretrial.report.families import Family
from wiretrial.report.knees import Knee
from wiretrial.report.measures import Measured
from wiretrial.report.model import ReportModel
from wiretrial.report.tables import (
    adoption,
    break_even,
    browsed,
    capacities,
    claims,
    decided,
    held,
    limits,
    occasions,
    receivers,
    resolution,
    routes,
    searches,
    starts,
    watched,
)
from wiretrial.report.tables import receiving as receiving_tables
from wiretrial.report.views import (
    amortised,
    courses,
    knee,
    over_time,
    predicted,
    ranking,
    route_lines,
)
from wiretrial.results.model import Trial
from wiretrial.words import part_of

MOST_ROWS = 12
"""A table of the page that is longer is folded."""
KNEE_KEY = "Dot: a trial at that rate. Cross: the rate was refused. Ring: the knee."


def sections(model: ReportModel) -> tuple[Section, ...]:
    """The sections that have content."""
    made = _of_run(model) if model.is_run else _of_study(model)
    return tuple(section for section in (*made, *_ends(model)) if section.blocks)


def _of_study(model: ReportModel) -> Iterator[Section]:
    inside_first = _in_order(model.families)
    # Where capacities are predicted, the study is about them: what else it has comes behind.
    yield _capacities(model)
    yield from page_results.side_by_side(model)
    for family in inside_first:
        yield from page_results.of_family(model, family)
        yield page_load.section(family)
        yield from _routes(model, family)
    for found in searches_of.together(model.knees):
        yield _searches(found)
    yield page_results.times(model, inside_first)
    if model.groups:
        yield page_results.costs(model)
    yield courses.section(model)
    charged = receiving.charged(model.families)
    yield Section(receiving_tables.TITLE, tuple(receiving_tables.blocks(charged)))
    yield _break_even(model)
    yield _browsed(model)
    yield Section("Held connections", held.blocks(model))
    yield Section(receivers.TITLE, receivers.blocks(model.trials))
    yield Section("What each is like to adopt", adoption.blocks(model.adopted))
    yield Section(starts.TITLE, starts.blocks(model.starts))
    yield Section(claims.TITLE, (claims.table(model.claims),) if model.claims else ())
    yield _limits(model)
    yield Section(decided.TITLE, decided.section(model))
    yield Section(resolution.TITLE, resolution.section(model))
    yield Section(occasions.TITLE, occasions.section(model))
    absent = (Item(row.reason) for row in model.absent)
    yield Section("Not measured", (Items("not measured", tuple(absent)),) if model.absent else ())


def _in_order(families: Sequence[Family]) -> list[Family]:
    """As the study has them, those outside of the verdict last.

    Where throughput would stand first, what a message costs at a common rate does.
    """
    ordered = sorted(families, key=lambda family: family.is_outside)
    if not ordered or ordered[0].metric is not metrics.THROUGHPUT:
        return ordered
    costs = [one for one in ordered if one.metric is metrics.SERVER and not one.is_outside][:1]
    return [*costs, *(one for one in ordered if one not in costs)]


def _routes(model: ReportModel, family: Family) -> Iterator[Section]:
    """The routes of each group, the failing and the slowest first."""
    for group in family.groups:
        parts = part_of(group.what).many.capitalize()
        title = f"{parts}: {group.title}" if len(model.groups) > 1 else parts
        yield Section(title, routes.of_group(group, route_findings.against(group, model.baselines)))


def _of_run(model: ReportModel) -> Iterator[Section]:
    """One run by itself: what the terminal shows, its course, its distribution, its cost."""
    (trial,) = model.trials
    yield Section("What it took", (Table(words("", ""), plain(list(run.rows(trial)))),))
    routed = Measured(trial).routed
    yield Section(traffic.part(routed).many.capitalize(), traffic.blocks(routed))
    yield Section(watched.TITLE, watched.blocks(trial.places, load_words.sent(trial)))
    yield Section("Over time", tuple(_course(trial)), is_detail=True)
    yield page_results.times(model, model.families)
    if any(scenario.estimates for scenario in model.scenarios):
        yield page_results.costs(model)


def _ends(model: ReportModel) -> Iterator[Section]:
    yield Section("Warnings", (_warnings(model),))
    tables = (
        block
        for one in model.facts
        for block in fold(one.title, Table(words(*one.head), plain(one.rows)))
    )
    yield Section("Facts", tuple(tables), is_detail=True)


def _warnings(model: ReportModel) -> Block:
    if not model.warnings:
        return Text("None.", is_detail=True)
    return Items(
        "warning",
        tuple(
            Item(f"{row.message[:1].upper()}{row.message[1:]}.", row.where, row.advice)
            for row in model.warnings
        ),
    )


def _course(trial: Trial) -> Iterator[Block]:
    course = moments.course(trial)
    if course is None:
        return
    for name in over_time.names(course):
        yield Drawing(partial(over_time.picture, course, name))
    if not course.has_errors:
        yield Text(f"No {course.what.one} failed.")
    routes = route_courses.of_trial(trial)
    for name in route_lines.names(routes):
        assert routes is not None
        yield Drawing(partial(route_lines.picture, course, routes, name))
    left_out = route_lines.key(routes, course.what) if routes else ""
    yield key(" ".join(filter(None, (over_time.key(course), left_out))))


def _searches(found: tuple[Knee, ...]) -> Section:
    told: list[Block] = [searches.found(found)]
    if knee.can_be_drawn(found):
        told = [Drawing(partial(knee.picture, found), key=KNEE_KEY), *told]
    steps = fold("Every step of the search", searches.steps(found))
    title = f"Highest rate with {found[0].objective.words}: {found[0].group}"
    return Section(title, (*told, *steps))


def _capacities(model: ReportModel) -> Section:
    """Predicted against measured, with a picture where there is anything to see."""
    told = capacities.blocks(model.capacities)
    if predicted.can_be_drawn(model.capacities):
        told = (Drawing(partial(predicted.picture, model.capacities), key=predicted.KEY), *told)
    return Section(capacities.TITLE, told)


def _break_even(model: ReportModel) -> Section:
    told: list[Block] = []
    for number, place in enumerate(model.places):
        told.append(heading(place.title[:1].upper() + place.title[1:]))
        told += _drawn(model, place) if number == 0 else ()
        told.append(break_even.table(place))
    told += [key(break_even.KEY)] if told else ()
    return Section("Break-even: set-up against messages", tuple(told))


def _browsed(model: ReportModel) -> Section:
    """Each place's ways, the first place with a picture of those at once."""
    told: list[Block] = []
    for number, place in enumerate(model.browsed):
        told.append(heading(browsed.title(place)))
        if number == 0:
            told.append(Drawing(partial(ranking.picture, place.group), key=page_results.DOTS))
        told.append(browsed.table(place))
    told += [key(browsed.KEY)] if told else ()
    return Section("Requests from a browser", tuple(told))


def _drawn(model: ReportModel, place: Place) -> Iterator[Block]:
    for quantity in amortised.quantities(place):
        yield Drawing(partial(amortised.picture, model, place, quantity), key=amortised.KEY)


def _limits(model: ReportModel) -> Section:
    """Who limited how many trials; a long table of them is folded."""
    table = limits.table(model)
    is_long = len(model.scenarios) > MOST_ROWS
    title = "Evidence"
    if is_long:
        title = f"By scenario{', with the evidence' if limits.has_evidence(model) else ''}"
    marked = limits.marked(model)
    listed = (heading("Marked trials (hollow in the ranking)"), marked) if marked else ()
    told = Text(model.bottleneck_sentence)
    return Section("Who was the bottleneck", (told, *fold(title, table), *listed))
