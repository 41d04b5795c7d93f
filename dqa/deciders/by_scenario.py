"""Settings of a scenario for a decider, as defaults."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from threading import Lock

from dqa import plugins
from dqa.core.database import Database
from dqa.core.decider import Decider, EpisodeDecider
from dqa.core.decision import Decision
from dqa.core.question import Question
from dqa.core.trajectories import Trajectory


class ByScenario(Decider):
    """Has each question decided with the settings that its scenario has for the decider.

    Parameters
    ----------
    make
        Makes the decider from a scenario's settings, by name, which those that a user gave
        override; `UsageError` for settings that cannot be.
    usual
        The decider without such settings, if it is already made.
    """

    def __init__(
        self, make: Callable[[Mapping[str, str]], Decider], usual: Decider | None = None
    ) -> None:
        self._make = make
        # Made before there is a question: what cannot be is refused before anything is asked.
        self._usual = make({}) if usual is None else usual
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


class EpisodesByScenario(ByScenario, EpisodeDecider):
    """The same of a decider that plays episodes: those of a world, which has no such settings."""

    def __init__(self, usual: EpisodeDecider, make: Callable[[Mapping[str, str]], Decider]) -> None:
        super().__init__(make, usual)
        self._episodes = usual

    @property
    def attempts(self) -> int:  # type: ignore[override]
        """How often it plays an episode at most."""
        return self._episodes.attempts

    def attempt(self, earlier: Sequence[Trajectory]) -> Decider | None:
        """Return who plays next; see `EpisodeDecider`."""
        return self._episodes.attempt(earlier)

    def choose_attempt(self, attempts: Sequence[Trajectory]) -> Decision:
        """Return which attempt counts; see `EpisodeDecider`."""
        return self._episodes.choose_attempt(attempts)


def by_scenario(make: Callable[[Mapping[str, str]], Decider]) -> ByScenario:
    """Return a decider with settings by scenario; it still plays episodes if it did."""
    usual = make({})
    return (
        EpisodesByScenario(usual, make)
        if isinstance(usual, EpisodeDecider)
        else ByScenario(make, usual)
    )
