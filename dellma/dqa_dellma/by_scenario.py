"""Settings that a scenario's authors chose for it, where nobody gives others."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from dqa import plugins
from dqa.core.database import Database
from dqa.core.decider import Decider
from dqa.core.decision import Decision
from dqa.core.question import Question
from dqa.deciders.base import Settings

__all__ = ["ByScenario"]


class ByScenario(Decider):
    """Has each question decided with its scenario's settings, which those that are given override.

    Parameters
    ----------
    make
        Makes the decider; `UsageError` for settings that cannot be.
    settings
        Those that are given.
    """

    def __init__(self, make: Callable[[Settings], Decider], settings: Settings) -> None:
        self._make = make
        self._settings = settings
        # Made before there is a question, so that what cannot be is refused before anything is
        # asked.
        self._usual = make(settings)
        self.name = self._usual.name

    def decide(self, question: Question, database: Database) -> Decision:
        """Decide one question; see `dqa.core.decider.Decider`."""
        return self._decider_of(question).decide(question, database)

    def check(self, question: Question) -> None:
        """Raise `UsageError` for a question that could never be decided."""
        self._decider_of(question).check(question)

    def _decider_of(self, question: Question) -> Decider:
        own = _settings_of(question.scenario)
        if not own:
            return self._usual
        options = {**own, **self._settings.options}
        return self._make(replace(self._settings, options=options))


def _settings_of(scenario: str) -> Mapping[str, str]:
    if scenario not in plugins.names("scenario"):
        return {}
    return plugins.scenario(scenario).settings
