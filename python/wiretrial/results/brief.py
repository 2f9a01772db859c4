"""One trial in short, as far as results over time need it: kept in the index, made again freely.

Knows the form; must not know how a figure is taken from a trial.
"""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Figure(_Part):
    """One figure of the trial. `withheld`: why it can't be told, as of too few replies."""

    value: float | None = None
    withheld: str | None = None


class Brief(_Part):
    """What a trial is, where and on what it ran, and its figures by the metric's key."""

    study: str
    scenario: str
    occasion: int
    block: int
    at: str
    """When it began, ISO 8601."""
    protocol: str
    is_twin: bool = False
    """It is an A/A pair's second name."""
    is_usable: bool
    is_client_bound: bool
    is_driven: bool = False
    keeps_secrets: bool = False
    """It was measured with --keep-secrets: its names may hold some."""
    ranked_by: str
    """Key of the metric that its scenario is ranked by."""
    labels: dict[str, str] = Field(default_factory=dict)
    version: str | None = None
    """The subject's."""
    boot: str | None = None
    terms: dict[str, str] = Field(default_factory=dict)
    """What must be alike so that it can be compared."""
    reference: float | None = None
    """Messages per second that the generator reaches against the reference server."""
    figures: dict[str, Figure] = Field(default_factory=dict)
