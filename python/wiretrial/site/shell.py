"""What every page of the site has: its head, the way to the other pages, its foot.

Knows addresses within the site, all of them relative, so that it works from a file and below any
path; must not know what stands in a page.
"""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import quote

from markupsafe import Markup

import wiretrial

FIRST, SUBJECTS, SEARCH, METHOD = "index.html", "subjects.html", "search.html", "method.html"
TRENDS = "trends.html"
STYLE, SCRIPT, INDEX = "assets/site.css", "assets/site.js", "assets/index.js"
NAVIGATION = {
    FIRST: "Studies",
    TRENDS: "Over time",
    SUBJECTS: "Subjects",
    METHOD: "How these numbers were made",
}

_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{title}</title>
<meta name="description" content="{description}">
<link rel="icon" href="data:,">
{canonical}<link rel="stylesheet" href="{root}{style}">
</head>
<body>
<a class="skip" href="#content">Skip to the content</a>
<nav aria-label="Pages">
<a class="home" href="{root}{first}">{site}</a>
{links}
<form role="search" action="{root}{search}">
<label class="said" for="everywhere">Search all studies, subjects and scenarios</label>
<input id="everywhere" type="search" name="q" placeholder="Search"><button>Search</button>
</form>
</nav>
<main id="content">
{content}
</main>
<footer><p>Made by wiretrial {version} from the results that are linked here.</p></footer>
{scripts}</body>
</html>
"""


@dataclass(frozen=True)
class Shell:
    """The frame of a site's pages. `base`: where it will be published; None: not known."""

    site: str
    base: str | None = None
    has_trends: bool = False
    """Whether results over time are shown."""

    def page(self, path: str, title: str, description: str, content: Markup, *scripts: str) -> str:
        """The page at `path`."""
        root = "../" * path.count("/")
        links = Markup("\n").join(
            Markup('<a href="{}{}"{}>{}</a>').format(
                root, to, Markup(' aria-current="page"') if to == path else "", name
            )
            for to, name in NAVIGATION.items()
            if to != TRENDS or self.has_trends
        )
        return str(
            Markup(_PAGE).format(
                title=title if title == self.site else f"{title} – {self.site}",
                description=" ".join(description.split()),
                canonical=Markup('<link rel="canonical" href="{}">\n').format(self.address(path))
                if self.base
                else "",
                root=root,
                style=STYLE,
                first=FIRST,
                search=SEARCH,
                site=self.site,
                links=links,
                content=content,
                version=wiretrial.__version__,
                scripts=Markup("").join(
                    Markup('<script src="{}{}" defer></script>\n').format(root, script)
                    for script in scripts
                ),
            )
        )

    def address(self, path: str) -> str:
        """Where the page will be published; the first page is the folder itself."""
        return f"{self.base}{quote('' if path == FIRST else path)}"


def link(path: str, text: str | Markup) -> Markup:
    """A link to an address, relative to the page."""
    return Markup('<a href="{}">{}</a>').format(quote(path, safe="/#.~"), text)
