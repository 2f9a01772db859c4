"""An advice about servers and protocols from the kept studies: what was typed, and what is shown.

Knows where kept trials lie; must not know the arithmetic.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from wiretrial import quantities
from wiretrial.catalogues import STUDIES
from wiretrial.cli import output
from wiretrial.cli.advising import Sized
from wiretrial.cli.limiting import Kept
from wiretrial.errors import EXIT_GOOD, UsageProblem
from wiretrial.results import kept as files
from wiretrial.results import known
from wiretrial.results.known import Row

PAYLOAD = "64"
"""Bytes, where nothing is typed."""


def require_alone(url: str | None, measuring: Mapping[str, object]) -> None:
    """Raises where something was typed that only a measurement can tell."""
    if url is not None:
        raise UsageProblem(
            f"{url} with --catalogue: the one is measured, the kept studies were",
            "name one of them",
        )
    for flag, value in measuring.items():
        if value:
            raise UsageProblem(
                f"{flag} with --catalogue: the kept studies know nothing of it",
                "leave it out, or measure with `wiretrial advise URL`",
            )


def answer(sized: Sized, payload: str | None, kept: Kept) -> int:
    """Reads all kept trials, and shows which servers carry the demand."""
    from wiretrial.advise import catalogue
    from wiretrial.report import choice_text

    kept.require_writable()
    if sized.shared or sized.growth:
        raise UsageProblem(
            "--shared and --growth are about a server that was measured", "leave them out"
        )
    demand = sized.demand().of_kept()
    size = quantities.size_bytes(payload or PAYLOAD, "--payload")
    made = catalogue.chosen(_rows(), demand, size, sized.types())
    kept.show(made, choice_text.render)
    if kept.page:
        # Not at the top: the drawing library takes long to load.
        from wiretrial.report import choice_page

        output.write_page(choice_page.render(made), kept.page, "--report")
    return EXIT_GOOD


def _rows() -> Iterator[Row]:
    found = [folder / files.FILE for folder in STUDIES.members()]
    there = [path for path in found if path.is_file()]
    if not there:
        raise UsageProblem(
            "no kept trials are installed beside the studies",
            "name the folder of studies with WIRETRIAL_STUDIES, or measure with"
            " `wiretrial advise URL`",
        )
    for path in there:
        yield from known.rows(path)
