"""The settings of a company."""

from __future__ import annotations

from typing import Final

from pydantic import BaseModel, ConfigDict, Field

PAST: Final = 104
"""Periods (weeks) of history before the first decision."""


class CompanySettings(BaseModel):
    """The settings.

    Attributes
    ----------
    periods
        The number of periods to decide.
    items, sites
        The size of the company.
    noise
        The standard deviation of the logarithm of demand.
    events
        The number of changes during the episode, such as a dearer supplier.
    unannounced
        How many of them no memo announces.
    delay
        Periods that every delivery takes longer than the supplier's own lead time.
    proposals
        Whether contracts, promotions and the closing of a site are to be decided.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    periods: int = Field(default=12, ge=2, le=24, description="periods to decide")
    items: int = Field(default=6, ge=1, le=6, description="items")
    sites: int = Field(default=2, ge=1, le=3, description="sites")
    noise: float = Field(default=0.17, ge=0.0, le=1.0, description="spread of demand (log)")
    events: int = Field(default=6, ge=0, le=12, description="changes during the episode")
    unannounced: int = Field(default=1, ge=0, le=12, description="changes without a memo")
    delay: int = Field(default=0, ge=0, le=2, description="more periods for every delivery")
    proposals: bool = Field(
        default=True, description="decide on contracts, promotions and closing a site"
    )

    @property
    def total(self) -> int:
        """The number of periods with those of the history."""
        return PAST + self.periods
