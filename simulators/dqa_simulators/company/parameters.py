"""Define the parameters of a company: its settings, its memos, its proposals and its future."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, Field

Floats: TypeAlias = NDArray[np.float64]
Integers: TypeAlias = NDArray[np.int64]

PAST: Final = 104
"""The number of periods (weeks) of history before the first decision."""
LEVELS: Final = np.array([0.8, 0.9, 1.0, 1.1, 1.2])
"""Price levels 1 to 5, as shares of the reference price."""
NORMAL: Final = 2
"""The index of the price level that equals the reference price."""
SUPPLIERS: Final = 5
LONGEST: Final = 4
"""The longest lead time of a supplier, in periods."""
UNLIMITED: Final = 9
"""The shelf life of an item that does not expire."""
NAMES: Final = ("olive oil", "rapeseed oil", "fresh pasta", "ground coffee", "ravioli", "muesli")
SITES: Final = ("north", "south", "west")


class CompanySettings(BaseModel, extra="forbid", frozen=True):
    """The settings of the world.

    Attributes
    ----------
    periods
        The number of periods to decide.
    items, sites
        The number of items, and the number of sites.
    noise
        The standard deviation of the logarithm of demand.
    events
        The number of events during the episode, such as a supplier that raises its prices.
    unannounced
        The number of these events that no memo announces.
    delay
        The number of periods that are added to every lead time.
    proposals
        Whether the player decides on contracts, promotions and the closing of a site.
    """

    periods: int = Field(default=12, ge=2, le=24, description="number of periods to decide")
    items: int = Field(default=6, ge=1, le=6, description="number of items")
    sites: int = Field(default=2, ge=1, le=3, description="number of sites")
    noise: float = Field(
        default=0.17, ge=0.0, le=1.0, description="standard deviation of the logarithm of demand"
    )
    events: int = Field(default=6, ge=0, le=12, description="number of events during the episode")
    unannounced: int = Field(
        default=1, ge=0, le=12, description="number of events that no memo announces"
    )
    delay: int = Field(
        default=0, ge=0, le=2, description="number of periods that are added to every lead time"
    )
    proposals: bool = Field(
        default=True,
        description="whether the player decides on contracts, promotions and closing a site",
    )

    @property
    def total(self) -> int:
        """The number of periods, including the history."""
        return PAST + self.periods


class Memo(NamedTuple):
    """A text that the company receives in a period (from 0)."""

    period: int
    text: str


class Proposal(NamedTuple):
    """A decision that the player makes before the plan of a period.

    Attributes
    ----------
    period
        The period of the decision, from 0.
    kind
        ``"contract"``, ``"promotion"`` or ``"closing"``.
    text
        The question.
    choices
        The candidates. The first candidate has no effect.
    supplier
        The supplier of a contract.
    minimum
        The number of units that a contract requires.
    """

    period: int
    kind: str
    text: str
    choices: tuple[str, ...]
    supplier: int = 0
    minimum: int = 0


@dataclass
class Company:
    """All hidden and visible parameters of an episode.

    Attributes
    ----------
    settings
        The settings of the world.
    reference
        By item, the reference price.
    volume
        By item, the storage volume of a unit.
    shelf
        By item, the shelf life in periods.
    holding
        By item, the cost of storing a unit for a period.
    penalty
        By item, the cost of a customer who finds no stock.
    salvage
        By item, the value of a unit after the end.
    base
        Mean demand by item and site at reference prices.
    elasticity, cross
        By item, the elasticity of demand: `elasticity` with respect to our price, `cross` with
        respect to the competitor's price.
    season, shift
        By period and item, the factors of the season and of the events on demand.
    promoted
        By period and item, whether the item was promoted in the history.
    lift, dip
        The effect of a promotion on demand: `lift` in its own period, `dip` in the next period.
    cost
        By item and supplier, the list price; NaN without an offer.
    promised
        By item and supplier, the promised lead time.
    leads
        By item and supplier, the probabilities of lead times of 1 to 4 periods.
    defects
        By item and supplier, the mean share of defective units.
    default
        The usual supplier of each item.
    cost_factor
        By period and supplier, the factor on list prices.
    late
        By period and supplier, the delay in periods.
    least
        By period and supplier, the smallest order without a fee.
    start
        By item and site, three numbers: the units in stock before the history, and the units that
        arrive in each of the first two periods of the history.
    cash
        The money at the end of the history.
    capacity
        The storage volume by period and site.
    fixed
        By site, the fixed cost of a period.
    moved
        The share of a closed site's customers who go to another site.
    follow
        By item, how fast the competitor's price follows ours.
    undercut
        By item, the competitor's target price, as a share of our price.
    floor
        By item, the competitor's lowest price.
    demand_noise, lead_noise, defect_noise, competitor_noise
        The random values of demand, lead times, defects and the competitor's prices, by period.
    memos, proposals
        The memos and the proposals of the episode, in the order of their periods.
    """

    settings: CompanySettings
    reference: Floats
    volume: Floats
    shelf: Integers
    holding: Floats
    penalty: Floats
    salvage: Floats
    base: Floats
    elasticity: Floats
    cross: Floats
    season: Floats
    shift: Floats
    promoted: NDArray[np.bool_]
    lift: float
    dip: float
    cost: Floats
    promised: Integers
    leads: Floats
    defects: Floats
    default: Integers
    cost_factor: Floats
    late: Integers
    least: Floats
    start: Floats
    cash: float
    capacity: Floats
    fixed: Floats
    moved: float
    follow: Floats
    undercut: Floats
    floor: Floats
    demand_noise: Floats
    lead_noise: Floats
    defect_noise: Floats
    competitor_noise: Floats
    memos: tuple[Memo, ...] = ()
    proposals: tuple[Proposal, ...] = ()

    ORDER_FEE: Final = 150.0
    OVERFLOW: Final = 2.0
    RELABELLING: Final = 25.0
    PROMOTION: Final = 400.0
    CLOSING: Final = 1500.0
    DISCOUNT: Final = 0.08
    SHORTFALL: Final = 1.5

    def price(self, levels: Integers) -> Floats:
        """Return the price of each item at its price level, rounded to cents."""
        return np.asarray(np.round(self.reference * LEVELS[levels], 2))
