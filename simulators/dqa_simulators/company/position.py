"""The player's view of a company: its books, and the next decision."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from dqa.core.errors import UsageError
from dqa.worlds.observed import ObservedPosition
from dqa.worlds.world import GameEvent, Node
from dqa_simulators.company.foresight import REPLIES, expect_period
from dqa_simulators.company.plans import FORM, propose_plans
from dqa_simulators.company.reading import Reading

if TYPE_CHECKING:
    from dqa.core.question import Candidate

COMPETITOR: Final = "competitor"
"""The name of the player who moves after a plan."""


@dataclass(frozen=True)
class CompanyPosition(ObservedPosition):
    """The state before a decision.

    Attributes
    ----------
    reading
        The books.
    proposal
        The kind of the proposal that is decided next; empty if a plan is decided next.
    left
        The number of remaining periods, including this one.
    plan
        The chosen plan. It is empty before the choice and after the competitor's reply.
    """

    reading: Reading = field(default=Reading({}), repr=False)
    proposal: str = ""
    left: int = 0
    plan: str = ""

    @property
    def node(self) -> Node:  # type: ignore[override]
        """The kind of the next step: the end if no period remains, otherwise a decision."""
        return "decision" if self.left else "terminal"

    @property
    def mover(self) -> str | None:  # type: ignore[override]
        """The player who acts next: after a plan the competitor, otherwise the viewer.

        The value is None at the end.
        """
        return (COMPETITOR if self.plan else self.viewer) if self.left else None

    def after(self, action: Candidate) -> CompanyPosition:
        """Return the next position.

        The result of a period is an expectation, see `expect_period`.
        """
        if not self.left or not self.accepts(action):
            raise UsageError(f"'{action}' cannot be chosen in this position.")
        if self.proposal:
            event = GameEvent(len(self.events) + 1, self.proposal, self.viewer, str(action))
            return self._next(event, propose_plans(self.reading), free_form=FORM, proposal="")
        stage = f"period {self.reading.periods + 1}"
        if not self.plan:
            event = GameEvent(len(self.events) + 1, stage, self.viewer, str(action))
            return self._next(event, tuple(REPLIES), free_form="", plan=str(action))
        reading, result = expect_period(self.reading, self.plan, str(action))
        event = GameEvent(len(self.events) + 1, stage, COMPETITOR, str(action), result)
        actions = propose_plans(reading) if self.left > 1 else ()
        return self._next(
            event, actions, free_form=FORM, plan="", reading=reading, left=self.left - 1
        )

    def _next(
        self,
        event: GameEvent,
        actions: tuple[Candidate, ...],
        **changed: Any,  # noqa: ANN401  (its own fields)
    ) -> CompanyPosition:
        return replace(self, events=(*self.events, event), actions=actions, **changed)

    def describe(self) -> str:
        """Describe the result of the last period, the prices, and the player's stock."""
        reading = self.reading
        prices = zip(reading.items, reading.own_prices[-1], reading.rival_prices[-1], strict=True)
        listed = ", ".join(f"{item} {own} ({rival})" for item, own, rival in prices)
        public = f"Last prices, with the competitor's in brackets: {listed}."
        if self.plan:
            return public
        stock = ", ".join(
            f"{reading.items[item]} {reading.sites[site]} {units:.0f} "
            f"(+{reading.coming[item, site]:.0f})"
            for (item, site), units in np.ndenumerate(reading.stock)
        )
        return f"{super().describe()}\n{public}\nStock (and open orders): {stock}."
