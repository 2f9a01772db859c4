"""Replies that break a rule which was learned: how many, what that shows, what would accept them.

Pure. Knows rules and counts; must not know how either was found.
"""

from __future__ import annotations

from collections.abc import Sequence

from wiretrial.plan import Plan
from wiretrial.results.learned import FEW, LearnedRule
from wiretrial.snapshot import Summary

RULE = "mismatch"
"""The class of replies that break a rule."""


def words(rules: Sequence[LearnedRule], plan: Plan, summary: Summary) -> str | None:
    """`3 of 9,000 replies did not fit what was learned from 30`, and why; None: all fit."""
    told = [
        _told(rule, broken, done)
        for rule in rules
        for broken, done in (_counts(rule, plan, summary),)
        if broken
    ]
    return "; ".join(told) or None


def remedy(rules: Sequence[LearnedRule]) -> str:
    """What accepts replies that do not fit."""
    if any(rule.route for rule in rules):
        return "write a response part for what is right, or begin from that of --learn-to FILE"
    return "accept others with --expect shape, --expect json:PATH or --expect status"


def _told(rule: LearnedRule, broken: int, done: int) -> str:
    of = f" to {rule.route}" if rule.route else ""
    text = f"{broken:,} of {done:,} replies{of} did not fit what was learned from {rule.samples}"
    if broken < FEW * done:
        return f"{text}; {rule.bound_words}"
    return f"{text}: {remedy((rule,))}"


def _counts(rule: LearnedRule, plan: Plan, summary: Summary) -> tuple[int, int]:
    """Replies that broke the rule, and all that were held against it."""
    ok, errors = summary.counters.ok, summary.counters.errors
    if rule.route is not None:
        if plan.traffic is None or summary.traffic is None:
            return 0, 0
        names = [one.name for one in plan.traffic.asked]
        figures = dict(zip(names, summary.traffic.routes, strict=False)).get(rule.route)
        if figures is None:
            return 0, 0
        ok, errors = figures.ok, figures.errors
    broken = errors.get(RULE, 0)
    return broken, ok + broken
