"""Redirects that requests follow, where nobody has said so request by request.

Knows what is right for a route; must not know how redirects are followed.
"""

from __future__ import annotations

from wiretrial.plan_traffic import RouteExpect, Traffic


def followed(traffic: Traffic, most: int) -> Traffic:
    """The same, and requests follow so many redirects.

    One that says itself how many keeps that, and so does one whose right reply is a redirect.
    """
    routes = (
        route
        if route.follow or _wants_redirect(route.expect)
        else route.model_copy(update={"follow": most})
        for route in traffic.routes
    )
    return traffic.model_copy(update={"routes": tuple(routes)})


def _wants_redirect(expect: RouteExpect) -> bool:
    status = expect.status
    return not isinstance(status, str) and any(300 <= one < 400 for one in status.statuses)
