"""The player's view of a company: its books, and the decision that is due."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING

from dqa.worlds.observed import ObservedPosition
from dqa_simulators.company.reading import Reading

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dqa_simulators.company.books import Row


@dataclass(frozen=True)
class CompanyPosition(ObservedPosition):
    """The books before a decision.

    Attributes
    ----------
    tables
        All rows of the books, by table.
    proposal
        The kind of proposal that is to be decided; empty for a plan.
    left
        The periods that are left, with this one.
    """

    tables: Mapping[str, tuple[Row, ...]] = field(default_factory=dict, repr=False)
    proposal: str = ""
    left: int = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "tables", MappingProxyType(dict(self.tables)))

    @cached_property
    def reading(self) -> Reading:
        """The books as arrays."""
        return Reading(self.tables)
