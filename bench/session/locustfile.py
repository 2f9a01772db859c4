"""The session for Locust: FastHttpUser, each reply checked. Tells what it counted as JSON.

Settings come as environment variables: THINK is mean seconds between requests, 0 for none.
"""

from __future__ import annotations

import csv
import itertools
import json
import os
import random
import time
from pathlib import Path

from locust import FastHttpUser, events, task

THINK = float(os.environ.get("THINK", "0"))
with Path("users.csv").open(encoding="utf-8") as rows:
    FEED = itertools.cycle(list(csv.DictReader(rows)))


class Shopper(FastHttpUser):
    """One user, with one session after the other."""

    @task
    def session(self) -> None:
        row = next(FEED)
        login = self._ask("login", "POST", "/login", {"user": row["user"]}, row, 200)
        if not login or "token" not in login:
            return
        token = {"Authorization": f"Bearer {login['token']}"}
        page = int(row["page"])
        listed = self._ask("list", "GET", f"/items?page={page}", None, row, 200, token)
        if not listed:
            return
        item = listed["items"][0]["id"]
        if not self._ask("item", "GET", f"/items/{item}", None, row, 200, token, id=item):
            return
        order = {"item": item, "quantity": int(row["quantity"])}
        total = int(row["total"])
        self._ask("create", "POST", "/orders", order, row, 201, token, item=item, total_cents=total)

    def _ask(self, name, method, path, body, row, status, headers=None, **wanted):
        """The reply, where it is right; what is wrong is a failure of this route."""
        if THINK:
            time.sleep(random.uniform(THINK / 2, THINK * 1.5))
        wanted["user"] = row["user"]
        if name == "list":
            wanted["page"] = int(row["page"])
        with self.client.request(
            method, path, name=name, json=body, headers=headers or {}, catch_response=True
        ) as reply:
            if reply.status_code != status:
                reply.failure("status")
                return None
            if "json" not in reply.headers.get("Content-Type", ""):
                reply.failure("Content-Type")
                return None
            said = reply.json()
            for member, value in wanted.items():
                if said.get(member) != value:
                    reply.failure(member)
                    return None
            if name == "list" and len(said["items"]) != 20:
                reply.failure("items")
                return None
            return said


@events.quitting.add_listener
def tell(environment, **_):
    """Prints what was right, and what was wrong by route and check."""
    stats = environment.stats
    wrong: dict[str, int] = {}
    for error in stats.errors.values():
        # A failure is shown as an exception with its text.
        member = str(error.error).split("'")[1] if "'" in str(error.error) else str(error.error)
        wrong[f"{error.name} {member}"] = error.occurrences
    right = stats.total.num_requests - stats.total.num_failures
    listed = stats.get("list", "GET")
    print(
        json.dumps(
            {
                "right": right,
                "wrong": wrong,
                "list_p99_ms": listed.get_response_time_percentile(0.99) or 0,
            }
        )
    )
