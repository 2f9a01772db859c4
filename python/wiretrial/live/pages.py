"""The pages: the list of results, and one result while it grows.

Pure: from what is known to HTML; must not know sockets.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from urllib.parse import quote

from markupsafe import Markup

from wiretrial import words
from wiretrial.live import charts
from wiretrial.report.head import HEAD
from wiretrial.results.beacon import State

_PAGE = (
    HEAD
    + """<body data-watched="{watched}">
<main>
{body}
</main>
<script>{script}</script>
</body>
</html>
"""
)


UNFINISHED = "It was not finished: there is no answer yet."
IMPORTED = "Figures of another tool: hold them against others with `wiretrial results compare`."


@dataclass(frozen=True)
class Listed:
    """One result in the list."""

    name: str
    """Its folder's."""
    title: str
    began: str
    trials: int
    marked: int
    answer: str | None
    running: State | None
    subjects: tuple[str, ...] = ()
    """What was measured, each once."""

    def has(self, words: Sequence[str]) -> bool:
        """Whether each word is part of its name, title, date, answer or subjects."""
        text = " ".join((self.name, self.title, self.began, self.answer or "", *self.subjects))
        return all(word.lower() in text.lower() for word in words)


def index(listed: Sequence[Listed], base: str, wanted: str = "") -> str:
    """All results; those that have each word of `wanted`, where there is one."""
    shown = [one for one in ordered(listed) if one.has(wanted.split())]
    body = Markup("\n").join(card(one) for one in shown)
    if not listed:
        body = Markup("<p>Nothing was measured into <code>{}</code> yet.</p>").format(base)
    elif not shown:
        body = Markup("<p>No result has “{}”. <a href='./'>Show all</a></p>").format(wanted)
    page = Markup(
        "<header><h1>wiretrial</h1><p class='question'>Results in <code>{}</code></p></header>"
        '<form class="bar" action="./"><input type="search" name="q" value="{}" '
        'placeholder="study, subject or date" aria-label="Filter results">'
        "<button>Filter</button></form>"
        '<form class="bar" id="pair" action="beside"><button>Side by side</button>'
        '<span class="muted">Choose two results below.</span> <a href="trend">Over time</a></form>'
        '<div id="list">{}</div>'
    )
    return whole("wiretrial", page.format(base, wanted, body), "")


def beside(names: Sequence[str]) -> str:
    """The reports of two results in two columns; of another number, what to do."""
    if len(names) != 2:
        text = Markup('<p><a href="./">All results</a></p><p>Choose two results, not {}.</p>')
        return whole("Side by side", text.format(len(names)), "")
    frames = Markup("").join(
        Markup(
            '<div><p><a href="{0}">{1}</a></p><iframe title="{1}" src="{0}/report"></iframe></div>'
        ).format(quote(name), name)
        for name in names
    )
    body = Markup(
        '<p><a href="./">All results</a></p><header><h1>Side by side</h1></header>'
        '<div class="beside">{}</div>'
    )
    return whole("Side by side", body.format(frames), "")


def ordered(listed: Sequence[Listed]) -> list[Listed]:
    """The running ones first, then the newest."""
    return sorted(listed, key=lambda one: (one.running is not None, one.began), reverse=True)


def running(name: str, title: str, state: State, report: str | None) -> str:
    """A study in progress: what it does now, and below it the report so far."""
    frame = (
        Markup('<iframe id="report" title="Report of the trials so far" src="{}"></iframe>').format(
            f"{name}/report"
        )
        if report is not None
        else Markup("<p class='muted'>No trial has ended yet.</p>")
    )
    body = Markup(
        '<p><a href="./">All results</a></p><header><h1>{}</h1></header>'
        '<div id="now" aria-live="polite">{}</div><div id="course">{}</div>{}'
    ).format(title, now(state), charts.drawn(state.lines), frame)
    return whole(title, body, name)


def now(state: State) -> Markup:
    """What a running study does, in one block."""
    figures = [
        ("trial", f"{state.number} of {state.total}" if state.total else "–"),
        ("now", state.step or "–"),
        (f"{_sent(state)}/s", f"{state.rate:,.0f}" if state.rate is not None else "–"),
        ("p50", _time(state.p50_ns)),
        ("p99", _time(state.p99_ns)),
        ("time left", _left(state.left_s)),
    ]
    cells = Markup("").join(
        Markup("<div><dt>{}</dt><dd>{}</dd></div>").format(name, value) for name, value in figures
    )
    return Markup(
        '<p class="scenario">{}</p><progress max="{}" value="{}">{}</progress><dl>{}</dl>'
    ).format(
        state.scenario or "preparing", max(state.total, 1), max(state.number - 1, 0), "", cells
    )


def card(one: Listed) -> Markup:
    """One result in the list."""
    said = one.answer or ("" if one.running else UNFINISHED)
    marked = Markup(", {} marked").format(one.marked) if one.marked else ""
    live = (
        Markup('<p><strong class="live">running</strong> trial {} of {}: {}</p>').format(
            one.running.number, one.running.total, one.running.scenario or one.running.step
        )
        if one.running
        else Markup("")
    )
    began = one.began[:16].replace("T", " ")
    return Markup(
        '<section class="card"><h2><a href="{}">{}</a></h2>{}<p>{}</p>'
        '<p class="muted"><label><input type="checkbox" name="name" value="{}" form="pair"> side by'
        " side</label> · {} · {}{} · <code>{}</code></p></section>"
    ).format(
        quote(one.name),
        one.title,
        live,
        said,
        one.name,
        began,
        "1 trial" if one.trials == 1 else f"{one.trials} trials",
        marked,
        one.name,
    )


def _sent(state: State) -> str:
    """What the trial in progress sends."""
    is_http = any(line.is_http for line in state.lines if line.scenario == state.scenario)
    return (words.REQUEST if is_http else words.MESSAGE).many


def _time(ns: float | None) -> str:
    if ns is None:
        return "–"
    return f"{ns / 1e6:.3g} ms" if ns >= 1e6 else f"{ns / 1e3:.3g} µs"


def _left(seconds: float | None) -> str:
    if seconds is None:
        return "–"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest:02} s" if minutes else f"{rest} s"


def whole(title: str, body: Markup, watched: str) -> str:
    """A page. `watched`: the result whose changes it follows; empty: all of them."""
    assets = files("wiretrial.live").joinpath("assets")
    report = files("wiretrial.report").joinpath("assets/report.css").read_text("utf-8")
    style = report + assets.joinpath("live.css").read_text("utf-8")
    script = assets.joinpath("live.js").read_text("utf-8")
    return str(
        Markup(_PAGE).format(
            title=title,
            style=Markup(style),
            body=body,
            script=Markup(script),
            watched=watched,
        )
    )
