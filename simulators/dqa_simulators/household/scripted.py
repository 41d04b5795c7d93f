"""How scripted models act in households (entry point `dqa.world_scripts`).

The analyst goes by the explorer's rules, but searches a room in the order in which it is described,
remembers few observations, and takes "a hot mug" for a mug that is hot already. So it wins some
games, and runs out of commands in others.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from dqa.core.errors import UsageError
from dqa.worlds.scripted import Shown
from dqa.worlds.world import GameEvent
from dqa_simulators.household.knowledge import Goal, Knowledge, read_goal
from dqa_simulators.household.players import advise

_GOAL: Final = re.compile(r"^Goal: (?P<goal>.+)$", re.MULTILINE)
_BEST, _NEW, _KNOWN, _IDLE = 0.9, 0.5, 0.2, 0.05
"""What actions are worth: the advised one, one that shows something new, others that do something,
and those that change nothing."""
_THINGS: Final = re.compile(r"you see [^.]*\.")
_IDLING: Final = ("examine ", "look", "inventory", "help", "close ")


class HouseholdScript:
    """A forgetful searcher; see `dqa.worlds.scripted.WorldScript`."""

    def infer(self, shown: Shown, player: str, name: str, states: tuple[str, ...]) -> str:
        """Return the middle state: nobody hides anything in a household."""
        del shown, player, name
        return states[len(states) // 2]

    def expect(self, shown: Shown) -> str:
        """Return what the analyst itself would do: there is nobody else."""
        worth = self.estimate(shown)
        return max(shown.actions, key=lambda action: worth[action])

    def estimate(self, shown: Shown) -> Mapping[str, float]:
        """Return what each action is worth, by the goal and what was seen lately."""
        found = _GOAL.search(shown.state)
        if found is None:
            raise UsageError(f"This tells of no household: '{shown.state[:100]}'.")
        events = shown.events
        known = Knowledge.of(events)
        ranks = {place: rank for rank, place in enumerate(known.places)}

        def as_described(place: str, goal: Goal) -> int:
            del goal
            return ranks.get(place, len(ranks))

        remembered = _forget(events)
        advised = advise(
            found["goal"].strip(), remembered, shown.actions, as_described, _read_literally
        )
        worth = {action: _value(action, known) for action in shown.actions}
        if advised is not None:
            worth[advised] = _BEST
        return worth


def _read_literally(text: str) -> Goal | None:
    """Take 'a hot mug' for one that lies somewhere, and not for one that is to be heated."""
    goal = read_goal(text)
    if goal is None or not goal.treatment or text.startswith(goal.treatment):
        return goal
    return replace(goal, treatment="")


def _value(action: str, known: Knowledge) -> float:
    if action.startswith(_IDLING):
        return _IDLE
    place = action.removeprefix("go to ").removeprefix("open ")
    return _NEW if place in known.unseen() else _KNOWN


_REMEMBERED: Final = 12
"""Events of which the analyst still knows what it saw; of earlier ones, where it has been."""


def _forget(events: tuple[GameEvent, ...]) -> tuple[GameEvent, ...]:
    """Return events of which the earlier ones no longer tell what was seen."""
    kept = max(len(events) - _REMEMBERED, 1)
    earlier = (replace(one, detail=_THINGS.sub("you see nothing.", one.detail)) for one in events)
    return (*events[:1], *tuple(earlier)[1:kept], *events[kept:])


SCRIPT = HouseholdScript()
