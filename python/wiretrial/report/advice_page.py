"""An advice about machines as one HTML file that needs nothing else.

Knows the order of the page; must not know how a view is made.
"""

from __future__ import annotations

from wiretrial.report import advice as told
from wiretrial.report import html
from wiretrial.results.advice import Advice


def render(advice: Advice) -> str:
    """The whole page."""
    return html.plain(
        title=advice.limit.target,
        question="How many instances?",
        verdict=(told.headline(advice),),
        facts=told.lines(advice),
        sections=told.sections(advice),
        command=advice.command,
        again="Confirm it",
        document=advice.to_json(),
    )
