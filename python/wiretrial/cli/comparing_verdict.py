"""What a comparison ends with for continuous integration: a bound, JUnit XML, a summary.

Knows a margin and the files that were asked for; must not know how a bound is judged.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from wiretrial import quantities
from wiretrial.cli import gating, output, reports
from wiretrial.errors import EXIT_GOOD, EXIT_INVALID, UsageProblem
from wiretrial.plan import OpenLoop
from wiretrial.report import brief, cells
from wiretrial.report.gate import Row, parse
from wiretrial.report.model import ReportModel
from wiretrial.results.model import SubjectFacts
from wiretrial.results.store import ResultsFolder
from wiretrial.studies import spec
from wiretrial.studies.spec import Case

SUITE = "wiretrial compare"
_NONE = "–"


@dataclass(frozen=True)
class Verdict:
    """What was asked for. `margin`: how much slower than the first server is still no fault."""

    margin: str | None = None
    junit: Path | None = None
    markdown: Path | None = None

    def require(self) -> None:
        """Raises for what can't be done, before anything is measured."""
        if self.margin is not None:
            quantities.share(self.margin, "--margin")
        if self.junit and self.margin is None:
            raise UsageProblem("--junit tells whether a margin is kept", "give one: --margin 5%")
        if self.junit:
            output.require_writable(self.junit, "--junit")
        if self.markdown:
            output.require_writable(self.markdown, "--markdown")

    def require_two(self, servers: int) -> None:
        """Raises where there is nothing to be slower than."""
        if self.margin is not None and servers < 2:
            raise UsageProblem(
                "--margin is between two servers", "name another one, or leave it out"
            )

    def judged(self, results: ResultsFolder, code: int) -> int:
        """The exit code of the comparison, which ended with `code`; the files are written."""
        if code not in (EXIT_GOOD, EXIT_INVALID) or not results.paths():
            return code
        rows = self._rows(results)
        if self.markdown:
            text = "\n".join(summary(reports.whole(results), rows))
            output.emit(text + "\n", self.markdown)
        if not rows:
            return code
        if self.junit:
            output.emit(gating.as_junit(rows, SUITE), self.junit)
        output.emit(f"\n{gating.as_text(rows)}", None)
        # Trials that are no use were left out: what the others tell is the answer.
        return gating.exit_code(rows)

    def _rows(self, results: ResultsFolder) -> list[Row]:
        if self.margin is None:
            return []
        study = spec.parse(results.document())
        first = study.cases[0]
        bound = parse(_bound(first, quantities.share(self.margin, "--margin")))
        return gating.relative(results, bound, first.scenario.name)


def _bound(case: Case, margin: float) -> str:
    """How much slower the others may be, in the figure that the servers are ranked by."""
    if isinstance(case.load.executor, OpenLoop):
        return f"response.p99 <= {1 + margin:.6g}x"
    if case.scenario.ranked_by:
        return f"service.{case.scenario.ranked_by} <= {1 + margin:.6g}x"
    return f"throughput >= {1 - margin:.6g}x"


def summary(made: ReportModel, rows: Sequence[Row]) -> Iterator[str]:
    """A few lines of Markdown for a pull request."""
    yield f"### {cells.text(made.title)}"
    yield ""
    first, *others = brief.answer(made, brief.WIDTH)
    yield f"**{cells.text(first)}** {cells.text(' '.join(others))}".strip()
    yield ""
    if found := brief.scenarios(made):
        facts: dict[str, SubjectFacts | None] = {
            trial.scenario.name: trial.subject for trial in made.trials
        }
        heads = ("server", "revision", *map(cells.text, found.heads[1:]))
        servers = (
            (cells.name(name), _revision(facts.get(name)), *map(cells.text, figures))
            for name, *figures in found.rows
        )
        yield from cells.table(heads, servers, figures=range(2, len(heads)))
        yield ""
    if rows:
        yield gating.as_markdown(rows)


def _revision(facts: SubjectFacts | None) -> str:
    if facts is None:
        return _NONE
    if facts.revision is None:
        return cells.text(facts.version)
    return (
        f"`{facts.revision.commit[:10]}`{', uncommitted changes' if facts.revision.dirty else ''}"
    )
