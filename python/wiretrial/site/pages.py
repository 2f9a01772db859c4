"""The pages of results: all of them, one with its report and its data, its scenarios; the method.

Pure: from entries to HTML; must not know files. A study's report is the report's own column.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from importlib.resources import files

from markupsafe import Markup

from wiretrial.report import units
from wiretrial.report.blocks import NOTHING, SIGNS
from wiretrial.report.canvas import inline_svg
from wiretrial.site.entries import DATA, Download, Entry
from wiretrial.site.measured import Figure, Measured, slug
from wiretrial.site.shell import FIRST, METHOD, SEARCH, SUBJECTS, link

PART = "The trials of one occasion by themselves. Places are given over three of them."
"""What stands in the place of the question, which is that of the study above."""
_EMPTY = Markup("")
SUMS = f"{DATA}/SHA256SUMS"


def study_path(entry: Entry) -> str:
    """Where a result's page is."""
    return f"studies/{entry.name}.html"


def scenarios_path(entry: Entry) -> str:
    """Where its scenarios are, each with its permalink."""
    return f"scenarios/{entry.name}.html"


def data_path(owner: str, name: str) -> str:
    """Where a file of a result's data is."""
    return f"{DATA}/{owner}/{name}"


def first(title: str, entries: Sequence[Entry], subjects: int, over_time: Markup) -> Markup:
    """Every result with its question and its answer, and how much there is.

    `over_time` stands before the results; empty: nothing is followed.
    """
    scenarios = sum(len(entry.measured) for entry in entries)
    trials = sum(entry.trials for entry in entries)
    counts = ", ".join(
        (
            studies(entries),
            units.plural(subjects, "subject"),
            units.plural(scenarios, "scenario"),
            units.plural(trials, "trial"),
        )
        if entries
        else ("Results over time",)
    )
    return Markup(
        '<header><h1>{}</h1><p class="question">{}, with intervals,'
        " limits and data: {}.</p></header>\n{}"
    ).format(
        title,
        counts,
        link(METHOD, "how these numbers were made"),
        Markup("\n").join([over_time, *map(_card, entries)]),
    )


def studies(entries: Sequence[Entry]) -> str:
    """How many studies they are of: `5 studies`."""
    count = len({entry.study for entry in entries})
    return f"{count:,} {'study' if count == 1 else 'studies'}"


def _card(entry: Entry) -> Markup:
    answer = _EMPTY.join(Markup("<p>{}</p>").format(sentence) for sentence in entry.answer)
    return Markup(
        '<article class="study"><div><h2>{}</h2><p class="question">{}</p>'
        '<div class="answer">{}</div><p class="muted">{}</p><p>{} · {}</p></div>{}</article>'
    ).format(
        link(study_path(entry), entry.heading),
        PART if entry.part else entry.question,
        answer,
        about(entry),
        link(
            study_path(entry),
            Markup('Whole report<span class="said"> of {}</span>').format(entry.heading),
        ),
        link(
            scenarios_path(entry),
            Markup('{}<span class="said"> of {}</span>').format(
                units.plural(len(entry.measured), "scenario"), entry.heading
            ),
        ),
        _small(entry),
    )


def _small(entry: Entry) -> Markup:
    if entry.small is None:
        return _EMPTY
    return Markup(
        "<figure><figcaption>{}</figcaption>{}<p class='muted key'>{}</p></figure>"
    ).format(
        entry.small.title,
        Markup(inline_svg(entry.small.picture, "picture")),
        entry.small.note,
    )


def about(entry: Entry) -> str:
    """Date, machine, and how much was measured."""
    over = f"{units.plural(entry.trials, 'trial')} over {units.plural(entry.occasions, 'occasion')}"
    return " · ".join(filter(None, (entry.date, entry.machine, over)))


def fault(entry: Entry) -> Markup:
    """Stands before its figures, wherever they stand without its answer."""
    return Markup("<p><strong>{}</strong></p>").format(entry.fault) if entry.fault else _EMPTY


def study(entry: Entry) -> Markup:
    """The result's report, and behind it the data that it was made from."""
    part = f"{entry.part.replace('-', ' ').capitalize()} alone · " if entry.part else ""
    return Markup('<p class="bar muted">{}{} · {}</p>\n{}\n{}').format(
        part,
        about(entry),
        link(
            f"../{scenarios_path(entry)}",
            f"{units.plural(len(entry.measured), 'scenario')} with permalinks",
        ),
        entry.column,
        data({data_path(entry.name, one.name): one for one in entry.downloads}),
    )


def data(paths: Mapping[str, Download]) -> Markup:
    """What can be downloaded, by its path, for a page one folder below the first."""
    if not paths:
        return _EMPTY
    rows = _EMPTY.join(
        Markup(
            "<tr><td>{}</td><td>{}</td><td class='num'>{}</td><td><code>{}</code></td></tr>"
        ).format(link(f"../{path}", one.name), one.what, size(len(one.data)), one.digest)
        for path, one in paths.items()
    )
    return Markup(
        '<section id="data"><h2>Data</h2><div class="scroll"><table><thead><tr><th scope="col">File'
        '</th><th scope="col">What it is</th><th class="num" scope="col">Size</th>'
        '<th scope="col">SHA-256</th></tr></thead><tbody>{}</tbody></table></div>'
        "<p class='muted'>All sums are in {}, for <code>sha256sum -c</code>.</p></section>"
    ).format(rows, link(f"../{SUMS}", SUMS))


def size(octets: int) -> str:
    """Bytes in the unit that fits."""
    return units.octets(octets)


def scenarios(entry: Entry) -> Markup:
    """Every scenario of the result, each with an address that stays."""
    return Markup(
        '<header><p class="bar">{}</p><h1>Scenarios: {}</h1><p class="question">Each row is one'
        " scenario. Its # is a permalink: it follows from the scenario's name, whatever is"
        " measured beside it.</p></header>{}{}{}"
    ).format(
        link(f"../{study_path(entry)}", "Back to the report"),
        entry.heading,
        fault(entry),
        filter_form("rows", {}),
        table(
            [(entry, one) for one in entry.measured], "../", shows_subject=True, has_anchors=True
        ),
    )


def table(
    rows: Sequence[tuple[Entry, Measured]], root: str, *, shows_subject: bool, has_anchors: bool
) -> Markup:
    """A row per scenario. With anchors it is their home; without, each leads there."""
    heads = ["Scenario", *(["Subject"] if shows_subject else []), "Place", "Figure", "Beside it"]
    head = _EMPTY.join(Markup('<th scope="col">{}</th>').format(text) for text in heads)
    body = _EMPTY.join(
        _row(entry, one, root, shows_subject=shows_subject, has_anchors=has_anchors)
        for entry, one in rows
    )
    return Markup(
        '<div class="scroll"><table class="scenarios"{}><thead><tr>{}'
        '<th class="num" scope="col">Trials</th></tr></thead><tbody>{}</tbody></table></div>'
    ).format(Markup(' id="rows"') if has_anchors else _EMPTY, head, body)


def _row(
    entry: Entry, one: Measured, root: str, *, shows_subject: bool, has_anchors: bool
) -> Markup:
    home = f"{'' if has_anchors else root + scenarios_path(entry)}#{one.anchor}"
    name: Markup | str = one.name
    if has_anchors:
        sign = Markup('<a class="permalink" href="{}" aria-label="Permalink of {}">#</a> ').format(
            home, one.name
        )
        name = sign + Markup("{}").format(one.name)
    else:
        name = link(home, one.name)
    told = [one.configuration if one.configuration not in ("", "default") else "", one.protocol]
    whose = Markup("<td>{}</td>").format(link(f"{root}{subject_path(one.subject)}", one.subject))
    first_figure, *beside = one.figures
    return Markup('<tr{} data-words="{}"><th scope="row">{}{}</th>{}<td>{}</td>{}{}{}</tr>').format(
        Markup(' id="{}"').format(one.anchor) if has_anchors else _EMPTY,
        words(one.name, one.subject, one.protocol, one.version),
        name,
        _small_words(", ".join(filter(None, (*told, one.version)))),
        whose if shows_subject else _EMPTY,
        one.place or NOTHING,
        Markup("<td{}>{}</td>").format(
            Markup(' class="{}"').format(first_figure.mark) if first_figure.mark else _EMPTY,
            _figure(first_figure),
        ),
        Markup('<td class="beside">{}</td>').format(
            Markup("<br>").join(map(_beside, beside)) or NOTHING
        ),
        Markup('<td class="num">{}</td>').format(NOTHING if one.trials is None else one.trials),
    )


def _figure(one: Figure) -> Markup:
    sign = SIGNS[one.mark]
    return Markup("{}{}{}").format(
        Markup(
            '<span class="mark" aria-hidden="true">{}</span> <span class="said">{}: </span>'
        ).format(sign, one.mark)
        if sign
        else _EMPTY,
        Markup("<strong>{}</strong>").format(one.text),
        _small_words(f"{one.interval} · {one.metric}" if one.interval else one.metric),
    )


def _beside(one: Figure) -> Markup:
    interval = f" ({one.interval})" if one.interval else ""
    return Markup('{} {}<span class="muted">{}</span>').format(one.metric, one.text, interval)


def _small_words(text: str) -> Markup:
    return Markup("<small>{}</small>").format(text) if text else _EMPTY


def subject_path(name: str) -> str:
    """Where a subject's page is."""
    return f"subjects/{slug(name)}.html"


def words(*texts: str) -> str:
    """What a row is found by."""
    return " ".join(" ".join(texts).lower().split())


def filter_form(rows: str, choices: Mapping[str, Iterable[str]]) -> Markup:
    """The filter above a list on the page; hidden until the script that filters is there."""
    selects = _EMPTY.join(
        Markup(
            '<label>{} <select name="{}"><option value="">all</option>{}</select></label> '
        ).format(
            name.capitalize(),
            name,
            _EMPTY.join(Markup("<option>{}</option>").format(value) for value in values),
        )
        for name, values in choices.items()
    )
    return Markup(
        '<form class="filter" data-list="{}" hidden><label>Filter <input type="search" name="q">'
        '</label> {}<output aria-live="polite"></output></form>'
    ).format(rows, selects)


def search() -> Markup:
    """The search over everything; without scripts, the ways to the lists."""
    return Markup(
        "<header><h1>Search</h1></header>"
        '<form id="search" class="filter" role="search" action="{}"><label>Words '
        '<input type="search" name="q" autofocus></label> <label>Kind <select name="kind">'
        '<option value="">all</option><option>study</option><option>subject</option>'
        "<option>scenario</option><option>trend</option></select></label>"
        '<output aria-live="polite"></output></form>'
        "<noscript><p>The search needs JavaScript. Without it: {} and {}.</p></noscript>"
        '<ul id="found" class="found"></ul>'
    ).format(SEARCH, link(FIRST, "all studies"), link(SUBJECTS, "all subjects"))


def method(entries: Sequence[Entry]) -> Markup:
    """How the figures came about, and where each study's own facts stand."""
    text = files("wiretrial.site").joinpath("assets/method.html").read_text("utf-8")
    facts = _EMPTY.join(
        Markup("<li>{}: {}</li>").format(link(study_path(entry), entry.heading), about(entry))
        for entry in entries
    )
    return Markup(text) + Markup(
        "<section><h2>Machine, date and trials of each study</h2><ul>{}</ul></section>"
    ).format(facts)
