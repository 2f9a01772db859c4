"""`wiretrial site DIR`: kept studies and own results as pages to publish.

Knows the options; must not know how a site is made.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from wiretrial.cli import names
from wiretrial.cli.screen import Face

EXAMPLES = """\b
Examples:
  wiretrial site public
  wiretrial site public --study rest-frameworks --study 'http-*'
  wiretrial site public --results results/echo-20260101-120000 --title 'Our echo servers'
  wiretrial site public --study '*' --trend results
  wiretrial site public --trend postgresql://db.example.org/lab
  wiretrial site public --study '*' --results results --base https://results.example/bench/

Without --study, --results and --trend every study that keeps a result is published; with them,
only what they name. The pages work from a file and below any path, and load nothing from elsewhere.
A second run replaces the site; files in DIR that are not of a site stay.
"""

app = Face()


@app.add("site", epilog=EXAMPLES)
def site(
    folder: Annotated[
        Path,
        typer.Argument(metavar="DIR", help="Folder of the site: new, empty, or an older site."),
    ],
    study: Annotated[
        list[str] | None,
        typer.Option(
            "--study",
            metavar="NAME|FOLDER",
            help="Publish this study's kept result; 'http-*' is a pattern. Repeatable.",
            show_default=False,
            autocompletion=names.studies,
        ),
    ] = None,
    results: Annotated[
        list[Path] | None,
        typer.Option(
            "--results",
            metavar="DIR|FILE",
            help="Publish this result: a study's folder, a load's file, or a folder of these. "
            "Repeatable.",
            show_default=False,
            autocompletion=names.results,
        ),
    ] = None,
    trend: Annotated[
        str | None,
        typer.Option(
            "--trend",
            metavar="DIR|URL",
            help="Publish each scenario of this folder, or of a team's store in PostgreSQL, over "
            "its results, as `wiretrial trend` follows it (env: $WIRETRIAL_STORE).",
            show_default=False,
        ),
    ] = None,
    title: Annotated[
        str, typer.Option("--title", metavar="TEXT", help="Title of the site.")
    ] = "Measured with wiretrial",
    base: Annotated[
        str | None,
        typer.Option(
            "--base",
            metavar="URL",
            help="Address of the published site: adds canonical links and a sitemap.",
        ),
    ] = None,
    force: Annotated[
        bool,
        typer.Option(
            "--force", help="Write into a folder that holds other files; they stay beside the site."
        ),
    ] = False,
) -> int:
    """Make a static site of kept studies and of results, to be published."""
    from wiretrial.cli import publishing

    wanted = publishing.Wanted(tuple(study or ()), tuple(results or ()), trend)
    return publishing.publish(folder, wanted, title, base, force=force)
