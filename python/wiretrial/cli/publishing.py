"""Collects what a site shows, and writes it.

Knows where kept studies and results lie, and that nothing with secrets may be published; must not
know what a page looks like.
"""

from __future__ import annotations

import gzip
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path
from urllib.parse import urlsplit

from wiretrial import suggest
from wiretrial.cli import output, publishing_trends, reports
from wiretrial.errors import EXIT_GOOD, StoreError, UsageProblem
from wiretrial.report import found as found_of
from wiretrial.report import kept as packed_of
from wiretrial.report import units
from wiretrial.report.exports import table
from wiretrial.report.model import ReportModel
from wiretrial.results import answers, kept
from wiretrial.results.files import STUDY_FILE
from wiretrial.results.store import ResultsFolder, folders, loads
from wiretrial.site import build, entries, folder, pages
from wiretrial.site.build import Site
from wiretrial.site.entries import Download, Entry
from wiretrial.site.shell import FIRST
from wiretrial.studies import registry
from wiretrial.studies.registry import Found
from wiretrial.subjects import registry as subjects
from wiretrial.subjects.spec import Spec

WILD = frozenset("*?[")
TRIALS = "all trials, with their figures: JSON lines in xz"
FIGURES = "every figure of the report, as JSON"


@dataclass(frozen=True)
class Wanted:
    """What is published; nothing named: every study that keeps a result."""

    studies: tuple[str, ...]
    results: tuple[Path, ...]
    trend: str | None = None
    """A folder or a store whose scenarios are followed over its results."""

    @property
    def is_all(self) -> bool:
        """Whether nothing was named."""
        return not self.studies and not self.results and self.trend is None


def publish(target: Path, wanted: Wanted, title: str, base: str | None, *, force: bool) -> int:
    """Writes the site, and says where it begins."""
    folder.require_ours(target, force=force)
    address = _base(base)
    found = tuple(_entries(wanted))
    followed = publishing_trends.read(wanted.trend)
    if not found and not followed:
        raise UsageProblem("there is no result to publish", "name one with --study or --results")
    _require_apart(found)
    site = Site(title, found, tuple(_specs(wanted, found)), address, followed)
    made = build.made(site)
    folder.write(target, made)
    scenarios = units.plural(sum(len(entry.measured) for entry in found), "scenario")
    output.emit(str(target / FIRST), None)
    over_time = f", {len(followed)} over time" if followed else ""
    output.say(
        f"{pages.studies(found)}, {units.plural(len(site.subjects), 'subject')},"
        f" {scenarios}{over_time}: {units.plural(len(made), 'file')},"
        f" {pages.size(sum(map(len, made.values())))}"
    )
    return EXIT_GOOD


def _base(base: str | None) -> str | None:
    """The URL of the folder, ending in a slash."""
    if base is None:
        return None
    parts = urlsplit(base)
    if parts.scheme not in {"http", "https"} or not parts.netloc or parts.query or parts.fragment:
        raise UsageProblem(
            f"--base {base} is not the URL of a folder",
            "write it as https://results.example/bench/",
        )
    return base if base.endswith("/") else f"{base}/"


def _entries(wanted: Wanted) -> Iterator[Entry]:
    for study in _studies(wanted):
        output.say(f"reading {study.name}")
        fault = answers.fault(study.folder) or ""
        made = tuple(replace(entry, fault=fault) for entry in _of_study(study))
        if not made and not wanted.is_all:
            raise StoreError(
                f"{study.name} keeps no result yet",
                f"run it, and name its folder: --results results/{study.name}-…",
            )
        yield from made
    for path in wanted.results:
        yield from _of_results(path)


def _studies(wanted: Wanted) -> list[Found]:
    if wanted.is_all:
        return registry.catalogue()
    named: dict[str, Found] = {}
    for name in wanted.studies:
        if WILD & set(name):
            known = registry.catalogue()
            fitting = [study for study in known if fnmatchcase(study.name, name)]
            if not fitting:
                remedy = suggest.remedy(name, (study.name for study in known))
                raise UsageProblem(f"--study {name}: no study matches", remedy)
        else:
            fitting = [registry.find(name)]
        named |= {study.name: study for study in fitting}
    return list(named.values())


def _of_study(study: Found) -> Iterator[Entry]:
    """What is kept with it: its trials, else its figures; and the trials of single occasions."""
    name, answer = entries.address(study.name), answers.in_short(study.folder)
    own, told = study.folder / kept.FILE, _read(study)
    figures = [_figures(study.folder / answers.KEPT)] if told else []
    others = [path for path in sorted(own.parent.glob(f"*{kept.SUFFIX}")) if path.name != own.name]
    if own.is_file():
        model = _unpacked(own)
        data = [_packed(own), *figures, _table(model), *map(_packed, others)]
        yield entries.of_model(name, model, data, answer=answer)
        return
    if told:
        asked, data = study.document, [*figures, *_pictures(study)]
        may_speak_of = registry.subjects_in(asked)
        yield entries.of_kept(name, told, asked.title, asked.question, may_speak_of, data, answer)
    for path in others:
        part, model = path.name.removesuffix(kept.SUFFIX), _unpacked(path)
        data = [_packed(path), _table(model)]
        yield entries.of_model(f"{name}-{part}", model, data, part=part)


def _read(study: Found) -> found_of.Found | None:
    """The figures that are kept with it; None where none are."""
    try:
        return found_of.read(study.folder)
    except ValueError as error:
        path = study.folder / answers.KEPT
        raise StoreError(
            f"{path} is not a kept result of this version",
            f"write it again: wiretrial report DIR --format compact -o {path}",
        ) from error


def _unpacked(path: Path) -> ReportModel:
    """The report of kept trials."""
    model = reports.of_kept(kept.read(path))
    _require_no_secrets(path, model)
    return model


def _packed(path: Path) -> Download:
    return Download(path.name, TRIALS, path.read_bytes())


def _figures(path: Path) -> Download:
    return Download(path.name, FIGURES, path.read_bytes())


def _table(model: ReportModel) -> Download:
    """A row per trial, packed: it has a hundred columns."""
    told = table.as_csv(model.trials, model.adopted).encode()
    packed = gzip.compress(told, compresslevel=9, mtime=0)
    return Download("trials.csv.gz", "a row per trial: CSV in gzip", packed)


def _pictures(study: Found) -> Iterator[Download]:
    """The pictures that the study names, as far as they are kept."""
    for name in study.document.pictures:
        path = study.folder / Path(answers.KEPT).parent / name
        if path.is_file():
            yield Download(name, "a picture of the report", path.read_bytes())


def _of_results(path: Path) -> Iterator[Entry]:
    """A study's folder, a load's file, or all of these that a folder holds."""
    if path.is_file():
        yield _of_load(path)
    elif (path / STUDY_FILE).is_file():
        yield _of_folder(ResultsFolder.open(path))
    else:
        own = [*folders(path)] if path.is_dir() else []
        files = [*loads(path)] if path.is_dir() else []
        if not own and not files:
            raise StoreError(
                f"{path} holds no results", "name a folder that `wiretrial results list` shows"
            )
        for results in own:
            if results.paths():
                yield _of_folder(results)
            else:
                output.say(f"left out: {results.folder} holds no trial yet")
        yield from map(_of_load, files)


def _of_folder(results: ResultsFolder) -> Entry:
    name = entries.address(results.folder.resolve().name)
    output.say(f"reading {results.folder}")
    model = reports.whole(results)
    _require_no_secrets(results.folder, model)
    trials = packed_of.pack(results)
    figures = found_of.of_report(model).to_json().encode()
    return entries.of_model(
        name,
        model,
        [
            Download(Path(kept.FILE).name, TRIALS, trials),
            Download(Path(answers.KEPT).name, FIGURES, figures),
            _table(model),
        ],
    )


def _of_load(path: Path) -> Entry:
    output.say(f"reading {path}")
    name, model = entries.address(path.name), reports.of(path)
    _require_no_secrets(path, model)
    data = [Download(name, "the load, with its trial", path.read_bytes()), _table(model)]
    return entries.of_model(Path(name).stem, model, data)


def _require_no_secrets(path: Path, model: ReportModel) -> None:
    if any(trial.keeps_secrets for trial in model.trials):
        raise UsageProblem(
            f"{path} holds secrets: it was measured with --keep-secrets",
            "measure it again without, or publish others",
        )


def _require_apart(found: Sequence[Entry]) -> None:
    """Raises where two results have one address."""
    names = [entry.name for entry in found]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice:
        raise UsageProblem(f"two results are called {twice}", "rename one, or publish only one")


def _specs(wanted: Wanted, found: Sequence[Entry]) -> Iterator[Spec]:
    """What the catalogue says: of all where all is published, else of those that were measured."""
    measured = {one.subject for entry in found for one in entry.measured}
    measured |= {absent.subject for entry in found for absent in entry.absent}
    for subject in subjects.catalogue():
        if wanted.is_all or subject.spec.name in measured:
            yield subject.spec
