"""`wiretrial subject`: what can be measured here, and whether it keeps its word.

Knows the options; must not know how a subject is installed, started or verified.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from wiretrial.cli import names, options
from wiretrial.cli.output import Format
from wiretrial.cli.screen import Face

EXAMPLES = """\b
Examples:
  wiretrial subject list
  wiretrial subject install nginx ws
  wiretrial subject new ./mine
  wiretrial subject verify ./mine
  wiretrial subject run ws --configuration tuned
"""
LIST_EXAMPLES = """\b
Examples:
  wiretrial subject list
  wiretrial subject list --kind client
  wiretrial subject list --format json
"""
NEW_EXAMPLES = """\b
Examples:
  wiretrial subject new ./mine
  wiretrial subject new ./shop-1 --traffic shop.toml
  wiretrial subject verify ./mine
  wiretrial compare ./mine ws
"""
INSTALL_EXAMPLES = """\b
Examples:
  wiretrial subject install nginx ws
  wiretrial subject install --all
  wiretrial subject install crow --prefix /opt/crow
"""
VERIFY_EXAMPLES = """\b
Examples:
  wiretrial subject verify ./mine
  wiretrial subject verify --all --page subjects.md
  wiretrial subject verify nginx --page subjects.md
  wiretrial subject verify crow --prefix /opt/crow --format json
"""

app = Face(EXAMPLES)

Name = Annotated[
    str,
    typer.Argument(
        metavar="NAME|FOLDER",
        help="A name from `subject list`, or a folder.",
        autocompletion=names.subjects,
    ),
]
Names = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[NAME|FOLDER]...",
        help="Names from `subject list`, or folders.",
        autocompletion=names.subjects,
    ),
]
All = Annotated[bool, typer.Option("--all", help="All subjects of the catalogue.")]
OfStudy = Annotated[
    str | None,
    typer.Option(
        "--study",
        metavar="NAME",
        help="The subjects that this study measures.",
        autocompletion=names.studies,
    ),
]


@app.add("list", "List what can be measured.", epilog=LIST_EXAMPLES)
def list_(
    kind: Annotated[
        str | None,
        typer.Option(
            "--kind", metavar="server|client", help="Only servers, or only client libraries."
        ),
    ] = None,
    format_: options.FormatOption = Format.TEXT,
) -> int:
    """List the catalogue: version, language, licence, protocols, and whether it is installed."""
    from wiretrial.cli import subject_list

    return subject_list.list_(kind, format_)


@app.add("show", "Show one subject.")
def show(name: Name, format_: options.FormatOption = Format.TEXT) -> int:
    """Show one subject: recipe, contracts, configurations."""
    from wiretrial.cli import subject_show

    return subject_show.show(name, format_)


@app.add("new", "Write the files of a new subject.", epilog=NEW_EXAMPLES)
def new(
    folder: Annotated[
        Path, typer.Argument(metavar="FOLDER", help="Folder to create; must not exist yet.")
    ],
    traffic: Annotated[
        Path | None,
        typer.Option(
            "--traffic",
            metavar="FILE",
            help="Traffic file, .toml or .hurl, with the requests that your server answers.",
        ),
    ] = None,
) -> int:
    """Write a small server with its subject.toml, to change into a subject of your own.

    With --traffic write a subject.toml for a server that you have: put in the command that
    starts it. It is verified with the requests of the file.
    """
    from wiretrial.cli import subject_new

    return subject_new.new(folder, traffic)


@app.add("install", "Install and build subjects.", epilog=INSTALL_EXAMPLES)
def install(
    named: Names = None,
    all_: All = False,
    study: OfStudy = None,
    prefix: options.Prefix = None,
    format_: options.FormatOption = Format.TEXT,
) -> int:
    """Install and build subjects. Those that can't be installed are listed, with the reason."""
    from wiretrial.cli import subject_install
    from wiretrial.cli.subject_names import Wanted

    return subject_install.install(Wanted(named, all_, study), prefix, format_)


@app.add("verify", "Check that subjects keep their contracts.", epilog=VERIFY_EXAMPLES)
def verify(
    named: Names = None,
    all_: All = False,
    study: OfStudy = None,
    prefix: options.Prefix = None,
    format_: options.FormatOption = Format.TEXT,
    again: Annotated[
        bool,
        typer.Option(
            "--again", help="Check unchanged subjects again, too. [on where subjects are named]"
        ),
    ] = False,
    page_file: Annotated[
        Path | None,
        typer.Option(
            "--page",
            metavar="FILE",
            help="Write the findings as Markdown, too; of named subjects, into an old page.",
        ),
    ] = None,
) -> int:
    """Check every contract that subjects claim, on every protocol, in each configuration.

    Subjects that are named are checked now. With --all and --study, earlier findings are
    used where recipe, sources, version and checks are the same; --again checks those again, too.
    """
    from wiretrial.cli import subject_verify
    from wiretrial.cli.subject_names import Wanted

    wanted = Wanted(named, all_, study)
    return subject_verify.verify(wanted, prefix, format_, again=again, page_file=page_file)


@app.add("run", "Start a server of the catalogue by hand.")
def run(
    name: Name,
    configuration: Annotated[
        str,
        typer.Option(
            "--configuration",
            metavar="NAME",
            help="Configuration: default, tuned, or one of its own.",
        ),
    ] = "default",
    threads: Annotated[int, typer.Option("--threads", min=1, help="Threads of the subject.")] = 1,
    prefix: options.Prefix = None,
) -> int:
    """Start a server, print its URLs, and keep it until Ctrl-C."""
    from wiretrial.cli import subject_run

    return subject_run.run(name, configuration, threads, prefix)
