"""One result of the site: a study's kept figures, its kept trials, or a result of one's own.

Knows reports and what is kept of them; must not know files, or which page shows what.
"""

from __future__ import annotations

import hashlib
import html as text
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from markupsafe import Markup

from wiretrial.report import brief, facts, html, page
from wiretrial.report.blocks import Section
from wiretrial.report.found import Found
from wiretrial.report.model import ReportModel
from wiretrial.results.absent import Absent
from wiretrial.results.adoption import Adopted
from wiretrial.results.answers import first_sentence
from wiretrial.site import measured, small
from wiretrial.site.measured import Measured
from wiretrial.site.small import Small

MOST_SENTENCES = 2
"""Of the answer on the first page."""
LONGEST = 260
"""Letters of a sentence there, where no shorter one was written."""
DATA = "data"


@dataclass(frozen=True)
class Download:
    """A file of the site, as it is kept."""

    name: str
    """Below the result's own folder of data."""
    what: str
    data: bytes

    @property
    def digest(self) -> str:
        """SHA-256, in hex."""
        return hashlib.sha256(self.data).hexdigest()


@dataclass(frozen=True)
class Entry:
    """One result, ready to be shown."""

    name: str
    """Its address: no other result of the site has it."""
    title: str
    question: str
    answer: tuple[str, ...]
    """What was found, in a sentence or two."""
    date: str
    machine: str
    trials: int
    occasions: int
    column: Markup
    """What its page shows, as its report does."""
    small: Small | None
    measured: tuple[Measured, ...]
    downloads: tuple[Download, ...]
    part: str = ""
    """Which part of a study it is, such as `occasion-1`; empty: all of it."""
    absent: tuple[Absent, ...] = ()
    adopted: tuple[Adopted, ...] = ()
    fault: str = ""
    """What of it is known not to be right; empty: nothing."""

    @property
    def study(self) -> str:
        """The study that it is of, or is."""
        return self.name.removesuffix(f"-{self.part}") if self.part else self.name

    @property
    def heading(self) -> str:
        """Its title, told apart from the other results of the study."""
        return f"{self.title} ({self.part.replace('-', ' ')})" if self.part else self.title


def of_model(
    name: str,
    model: ReportModel,
    downloads: Sequence[Download],
    *,
    answer: Sequence[str] = (),
    part: str = "",
) -> Entry:
    """A result whose trials are there. `answer`: what somebody wrote in the place of our own."""
    return Entry(
        name=name,
        title=model.title,
        question=model.question,
        answer=tuple(answer[:MOST_SENTENCES]) or _answer(model),
        date=max(trial.started_at for trial in model.trials)[:10],
        machine=facts.machines_words(model.trials),
        trials=model.trials_measured,
        occasions=len({trial.occasion for trial in model.trials}),
        column=_column(model, answer),
        small=None if model.is_run else small.of(page.sections(model)),
        measured=measured.of_model(model),
        downloads=tuple(downloads),
        part=part,
        absent=model.absent,
        adopted=model.adopted,
    )


def of_kept(
    name: str,
    found: Found,
    title: str,
    question: str,
    subjects: Collection[str],
    downloads: Sequence[Download],
    answer: Sequence[str] = (),
) -> Entry:
    """A study of which figures are kept and no trials. `subjects`: those it may speak of."""
    told = answer or [_shortened(first_sentence(one)) for one in found.sentences]
    sections = [Section(one.title, one.blocks) for one in found.sections]
    return Entry(
        name=name,
        title=title,
        question=question,
        answer=tuple(told[:MOST_SENTENCES]),
        date=found.date,
        machine=found.machine,
        trials=found.trials,
        occasions=found.occasions,
        column=html.kept(found, title, question, answer, _pictures(name, downloads)),
        small=small.of(sections),
        measured=measured.of_kept(found, subjects),
        downloads=tuple(downloads),
    )


def address(name: str) -> str:
    """A name as part of an address and of a path, whatever it is called."""
    return re.sub(r"[^\w.-]+", "-", name).strip("-.") or "result"


def _column(model: ReportModel, answer: Sequence[str]) -> Markup:
    """The report, without the two tables that the file of trials beside the page holds, too."""
    if model.is_run:
        return html.content(model)
    shown = tuple(one for one in model.facts if one.title not in (facts.PLANS, facts.ORDER))
    note = Markup('<p class="muted">{} and {} are in the trials: see Data.</p>').format(
        facts.PLANS, facts.ORDER.lower()
    )
    return html.content(replace(model, facts=shown), note, answer)


def _answer(model: ReportModel) -> tuple[str, ...]:
    """What the report says first; what limited the trials only where there is nothing else."""
    told = brief.answer(model, brief.WIDTH)
    return tuple(_shortened(one) for one in (told[:-1] or told)[:MOST_SENTENCES])


def _shortened(sentence: str) -> str:
    """The sentence, cut between two words where it is a whole table in itself."""
    if len(sentence) <= LONGEST:
        return sentence
    return f"{sentence[:LONGEST].rpartition(' ')[0].rstrip(',;:')} …"


def _pictures(name: str, downloads: Sequence[Download]) -> Markup:
    """The study's own pictures, each with what it shows."""
    figures = []
    for one in downloads:
        if one.name.endswith(".svg"):
            shown = _alternative(one.data.decode())
            figure = Markup(
                '<figure class="kept"><figcaption>{}</figcaption>'
                '<img src="../{}/{}/{}" alt="{}" loading="lazy"></figure>\n'
            )
            caption = shown.partition(": ")[0]
            figures.append(figure.format(caption, DATA, name, one.name, shown))
    return Markup("").join(figures)


def _alternative(svg: str) -> str:
    """What a picture says of itself."""
    title = re.search(r"<title>(.*?)</title>", svg, re.DOTALL)
    return text.unescape(title[1]) if title else ""
