"""Settings of a scenario for a decider, as defaults."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from threading import Lock

from dqa import plugins
from dqa.core.database import Database
from dqa.core.decider import Decider
from dqa.core.decision import Decision
from dqa.core.question import Question


class ByScenario(Decider):
    """Decides each question with the settings that its scenario has for the decider.

    Parameters
    ----------
    make
        Makes the decider from a scenario's settings by name, which those of a user override;
        `UsageError` for invalid settings.

    Attributes
    ----------
    usual
        The decider for questions without a scenario.
    """

    def __init__(self, make: Callable[[Mapping[str, str]], Decider]) -> None:
        self._make = make
        self.usual = make({})  # at once, so that invalid settings are refused before any question
        self.name, self.answer_forms = self.usual.name, self.usual.answer_forms
        self._made = {frozenset[tuple[str, str]](): self.usual}
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
            return self.usual
        settings = frozenset(scenario.settings.items())
        with self._lock:
            if settings not in self._made:
                self._made[settings] = self._make(scenario.settings)
            return self._made[settings]
