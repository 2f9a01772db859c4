"""Which server and protocol, as one HTML file that needs nothing else.

Knows the order of the page; must not know how a view is made.
"""

from __future__ import annotations

from wiretrial.report import choice as told
from wiretrial.report import html
from wiretrial.results.choice import Chosen


def render(chosen: Chosen) -> str:
    """The whole page."""
    return html.plain(
        title="Which server and protocol?",
        question=f"Messages of {chosen.payload:,} bytes, from the kept studies.",
        verdict=(told.headline(chosen),),
        facts=told.lines(chosen),
        sections=told.sections(chosen),
        command="wiretrial advise --catalogue",
        document=chosen.to_json(),
    )
