"""Faults put in on purpose, to see whether a load test finds them: FAULT=total, or several.

Without FAULT there are none. They are no part of how a shop should be written.
"""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Annotated

from fastapi import Depends, HTTPException, Request

KINDS = {
    "total": "the total of each 1,000th reply that has one is a cent too high",
    "slow": "a search takes 400 ms",
    "leak": "each 50th list of orders is another customer's",
    "overload": "an order is answered with a 500 where two others are being placed",
}


class Faults:
    """Those that were asked for."""

    def __init__(self, asked: str) -> None:
        self._asked = frozenset(filter(None, asked.split(",")))
        self._seen = {kind: itertools.count(1) for kind in KINDS}
        self._placing = 0
        if unknown := self._asked - KINDS.keys():
            raise SystemExit(f"FAULT={', '.join(sorted(unknown))}: one of {', '.join(KINDS)}")

    def strikes(self, kind: str, every: int = 1) -> bool:
        """Whether this is an occasion for the fault: each so many-th is, if it was asked for."""
        return kind in self._asked and next(self._seen[kind]) % every == 0

    @asynccontextmanager
    async def bottleneck(self) -> AsyncIterator[None]:
        """Room for two at a time, where `overload` was asked for."""
        if "overload" not in self._asked:
            yield
            return
        if self._placing >= 2:
            raise HTTPException(500, "too many orders at once")
        self._placing += 1
        try:
            await asyncio.sleep(0.02)
            yield
        finally:
            self._placing -= 1


def planted(request: Request) -> Faults:
    """The faults of the application that got this request."""
    found: Faults = request.app.state.faults
    return found


Planted = Annotated[Faults, Depends(planted)]
