"""The search for the highest rate as one HTML file that needs nothing else.

Knows the order of the page; must not know how a view is made.
"""

from __future__ import annotations

from wiretrial.report import html, limits
from wiretrial.results.limits import Limit


def render(limit: Limit) -> str:
    """The whole page."""
    answer, *rest = (limits.headline(limit), *limits.sentences(limit))
    return html.plain(
        title=limit.target,
        question="Which rate keeps the goals?" if limit.goals else "Which rate is sustained?",
        verdict=(answer, *rest),
        sections=limits.sections(limit),
        command=limit.command,
        document=limit.to_json(),
    )
