"""The pages of subjects: all of them with filters, and one with all that was measured of it.

Pure: from entries and the catalogue's specs to HTML; must not know files.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from wiretrial.report import units
from wiretrial.report.blocks import NOTHING
from wiretrial.results.adoption import Adopted
from wiretrial.site import measured, pages
from wiretrial.site.entries import Entry
from wiretrial.site.measured import Measured
from wiretrial.site.shell import SUBJECTS, link
from wiretrial.subjects.spec import Limit, Spec

KINDS = {"server": "server", "client": "client library"}
SEPARATOR = "|"
"""Between the values of one filter."""


@dataclass(frozen=True)
class Shown:
    """One subject: what it says of itself, and what each result says of it."""

    name: str
    spec: Spec | None
    """None: it is in no catalogue, such as a URL that was compared."""
    rows: Mapping[str, tuple[Measured, ...]]
    """Its scenarios, by the name of the result."""

    @property
    def kind(self) -> str:
        """`server` or `client library`; empty where nobody says."""
        return KINDS[self.spec.kind] if self.spec else ""

    @property
    def language(self) -> str:
        """As it says itself, else as a trial recorded it."""
        return self.spec.language if self.spec else _first(one.language for one in self.every)

    @property
    def protocols(self) -> tuple[str, ...]:
        """What it speaks, else what it was measured with."""
        if self.spec:
            return self.spec.speaks
        return tuple(dict.fromkeys(one.protocol for one in self.every if one.protocol))

    @property
    def contracts(self) -> tuple[str, ...]:
        """What it claims to answer."""
        return self.spec.contracts if self.spec else ()

    @property
    def every(self) -> tuple[Measured, ...]:
        """All of its scenarios."""
        return tuple(one for rows in self.rows.values() for one in rows)


def shown(entries: Sequence[Entry], specs: Sequence[Spec]) -> tuple[Shown, ...]:
    """Every subject that was measured, and every one of the catalogue's that is given, by name."""
    known = {spec.name: spec for spec in specs}
    rows: dict[str, dict[str, tuple[Measured, ...]]] = {name: {} for name in known}
    for entry in entries:
        for subject, own in measured.by_subject(entry.measured).items():
            rows.setdefault(subject, {})[entry.name] = tuple(own)
    return tuple(Shown(name, known.get(name), rows[name]) for name in sorted(rows))


def index(every: Sequence[Shown]) -> Markup:
    """All subjects, a row each."""
    heads = ("Subject", "Kind", "Language", "Licence", "Speaks", "Contracts")
    choices = {
        "kind": sorted({one.kind for one in every if one.kind}),
        "language": sorted({one.language for one in every if one.language}),
        "protocol": sorted({name for one in every for name in one.protocols}),
        "contract": sorted({name for one in every for name in one.contracts}),
    }
    return Markup(
        '<header><h1>Subjects</h1><p class="question">{} that can be measured or were: servers, and'
        " client libraries behind a driver.</p></header>{}"
        '<div class="scroll"><table id="rows"><thead><tr>{}<th class="num" scope="col">Scenarios'
        "</th></tr></thead><tbody>{}</tbody></table></div>"
    ).format(
        units.plural(len(every), "subject"),
        pages.filter_form("rows", choices),
        Markup("").join(Markup('<th scope="col">{}</th>').format(head) for head in heads),
        Markup("").join(map(_row, every)),
    )


def _row(one: Shown) -> Markup:
    spec = one.spec
    summary = spec.summary if spec else ""
    cells = (
        one.kind or NOTHING,
        one.language or NOTHING,
        spec.licence if spec else NOTHING,
        ", ".join(one.protocols) or NOTHING,
        ", ".join(one.contracts) or NOTHING,
    )
    return Markup(
        '<tr data-words="{}" data-kind="{}" data-language="{}" data-protocol="{}"'
        ' data-contract="{}"><th scope="row">{}<small>{}</small></th>{}<td class="num">{}</td></tr>'
    ).format(
        pages.words(one.name, summary, *cells),
        one.kind,
        one.language,
        SEPARATOR.join(one.protocols),
        SEPARATOR.join(one.contracts),
        link(pages.subject_path(one.name), one.name),
        summary,
        Markup("").join(Markup("<td>{}</td>").format(cell) for cell in cells),
        len(one.every) or NOTHING,
    )


def page(one: Shown, entries: Sequence[Entry]) -> Markup:
    """All that is known of one subject."""
    return Markup("\n").join(
        part
        for part in (
            Markup(
                '<header><p class="bar">{}</p><h1>{}</h1><p class="question">{}</p>{}</header>'
            ).format(
                link(f"../{SUBJECTS}", "All subjects"),
                one.name,
                one.spec.summary if one.spec else "",
                _listed(_facts(one, entries)),
            ),
            *_measured(one, entries),
            *_configurations(one.spec),
            _limits(one.spec),
        )
        if part
    )


def _listed(facts: Iterator[tuple[str, str]]) -> Markup:
    rows = (Markup("<dt>{}</dt><dd>{}</dd>").format(*fact) for fact in facts)
    return Markup('<dl class="facts">{}</dl>').format(Markup("").join(rows))


def _facts(one: Shown, entries: Sequence[Entry]) -> Iterator[tuple[str, str]]:
    spec = one.spec
    versions = dict.fromkeys(row.version for row in one.every if row.version)
    if one.kind:
        yield "kind", one.kind
    if versions:
        yield "version", ", ".join(versions)
    if one.language:
        yield "language", one.language
    if spec:
        yield "licence", spec.licence
        # It is only led to; nothing of it is loaded.
        yield "homepage", Markup('<a href="{0}" rel="noreferrer">{0}</a>').format(spec.homepage)
        if spec.version.released:
            yield "released", spec.version.released.isoformat()
    yield "speaks", ", ".join(one.protocols)
    if one.contracts:
        yield "contracts", ", ".join(one.contracts)
    if spec and spec.modes:
        yield "connections", ", ".join(spec.modes)
    if weight := _weight(one.name, entries):
        yield "weight", weight


def _weight(name: str, entries: Sequence[Entry]) -> str:
    """What it is like to adopt, by the newest result that weighed it."""
    rows = [(entry.date, row) for entry in entries for row in entry.adopted if row.subject == name]
    if not rows:
        return ""
    _, row = max(rows, key=lambda pair: pair[0])
    return "; ".join(_weighed(row))


def _weighed(row: Adopted) -> Iterator[str]:
    if row.dependencies is not None:
        size = f", {row.dependency_bytes / 1e6:.1f} MB" if row.dependency_bytes else ""
        yield f"{units.plural(row.dependencies, 'package')}{size}"
    if row.program_bytes is not None:
        yield f"program {row.program_bytes / 1e3:,.0f} kB"
    if row.build_wall_ns is not None:
        yield f"build {units.duration(row.build_wall_ns)}"
    if row.service_lines is not None:
        yield f"{units.plural(row.service_lines, 'line')} of our service"


def _measured(one: Shown, entries: Sequence[Entry]) -> Iterator[Markup]:
    for entry in entries:
        rows = one.rows.get(entry.name, ())
        missing = [absent.reason for absent in entry.absent if absent.subject == one.name]
        if not rows and not missing:
            continue
        parts = [Markup("<p>Not measured: {}</p>").format(reason) for reason in missing]
        if rows:
            parts.append(pages.fault(entry))
            told = [(entry, row) for row in rows]
            parts.append(pages.table(told, "../", shows_subject=False, has_anchors=False))
        yield Markup('<section><h2>{}</h2><p class="muted">{}</p>{}</section>').format(
            link(f"../{pages.study_path(entry)}", entry.heading),
            pages.about(entry),
            Markup("").join(parts),
        )
    if not one.rows:
        yield Markup("<section><p>No result of this site measured it.</p></section>")


def _configurations(spec: Spec | None) -> Iterator[Markup]:
    if spec is None:
        return
    rows = Markup("").join(
        Markup('<tr><th scope="row">{}</th><td>{}</td></tr>').format(name, one.description)
        for name, one in spec.configurations.items()
    )
    yield Markup(
        '<section><h2>Configurations</h2><div class="scroll"><table><tbody>{}</tbody></table></div>'
        "</section>"
    ).format(rows)


def _limits(spec: Spec | None) -> Markup:
    if spec is None or not spec.limits:
        return Markup("")
    items = Markup("").join(
        Markup("<li><strong>{}</strong>{}: {}</li>").format(one.part, _where(one), one.why)
        for one in spec.limits
    )
    return Markup("<section><h2>What it is known not to keep</h2><ul>{}</ul></section>").format(
        items
    )


def _where(one: Limit) -> str:
    told = ", ".join((*one.contracts, *one.protocols, *one.configurations))
    return f" ({told})" if told else ""


def _first(found: Iterator[str]) -> str:
    return next(filter(None, found), "")
