"""How far a run is, in decisions."""

from __future__ import annotations

from collections import Counter

from pydantic import Field, computed_field

from dqa.core.records import Record
from dqa.evaluation.results import Outcome


class RunCounts(Record):
    """How far a run is, in decisions.

    Attributes
    ----------
    planned
        The number of decisions to make; None if an older version did not record it.
    judged, correct
        The judged decisions, and the right ones.
    failed
        Those that a failing server, a spent budget or a bug ended; resuming repeats them.
    unlabelled
        Those on questions without a known answer.
    played
        Complete games, of a run of games.
    """

    planned: int | None = Field(ge=0)
    judged: int = Field(ge=0)
    correct: int = Field(ge=0)
    failed: int = Field(ge=0)
    unlabelled: int = Field(ge=0)
    played: int = Field(ge=0, default=0)

    @computed_field  # type: ignore[prop-decorator]
    @property
    def complete(self) -> bool | None:
        """Whether every decision was made; None if their number is unknown."""
        return False if self.failed else None if self.planned is None else self.missing == 0

    @property
    def missing(self) -> int | None:
        """How many decisions have not been made; None if unknown."""
        made = self.judged + self.failed + self.unlabelled + self.played
        return None if self.planned is None else self.planned - made

    @property
    def right(self) -> float | None:
        """The share of right decisions among the judged ones; None of nothing."""
        return self.correct / self.judged if self.judged else None


def count_decisions(outcomes: Counter[Outcome], planned: int | None) -> RunCounts:
    """Return how far a run is.

    Parameters
    ----------
    outcomes
        How often each outcome occurs.
    planned
        How many decisions there are to make, if that is known.
    """
    failed = sum(count for outcome, count in outcomes.items() if outcome.repeated)
    unlabelled, played = outcomes[Outcome.UNLABELLED], outcomes[Outcome.PLAYED]
    return RunCounts(
        planned=planned,
        judged=outcomes.total() - failed - unlabelled - played,
        correct=outcomes[Outcome.CORRECT],
        failed=failed,
        unlabelled=unlabelled,
        played=played,
    )
