"""Settings that a scenario's authors chose for a decider, where nobody gives others."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from threading import Lock

from dqa import plugins
from dqa.core.database import Database
from dqa.core.decider import Decider
from dqa.core.decision import Decision
from dqa.core.question import Question


class ByScenario(Decider):
    """Has each question decided with the settings that its scenario has for the decider.

    Parameters
    ----------
    make
        Makes the decider from a scenario's settings, by name, which those that a user gave
        override; `UsageError` for settings that cannot be.
    """

    def __init__(self, make: Callable[[Mapping[str, str]], Decider]) -> None:
        self._make = make
        # Made before there is a question: what cannot be is refused before anything is asked.
        self._usual = make({})
        self.name = self._usual.name
        self.answer_forms = self._usual.answer_forms
        self._made: dict[frozenset[tuple[str, str]], Decider] = {frozenset(): self._usual}
        self._lock = Lock()

    def decide(self, question: Question, database: Database) -> Decision:
        """Decide one question; see `dqa.core.decider.Decider`."""
        return self.decider_of(question).decide(question, database)

    def check(self, question: Question) -> None:
        """Raise `UsageError` for a question that could never be decided."""
        self.decider_of(question).check(question)

    def decider_of(self, question: Question) -> Decider:
        """Return the decider with the settings that the question's scenario has for it."""
        scenario = plugins.scenario_of(question)
        if scenario is None:
            return self._usual
        settings = scenario.settings
        with self._lock:
            found = self._made.get(frozenset(settings.items()))
            if found is None:
                found = self._made[frozenset(settings.items())] = self._make(settings)
            return found
