"""The progress of a run."""

from __future__ import annotations

from collections import Counter

from pydantic import Field, computed_field

from dqa.core.records import Record
from dqa.evaluation.results import Outcome


class RunCounts(Record):
    """The progress of a run, as numbers of decisions.

    Attributes
    ----------
    planned
        Number of decisions to make; None if an older version did not record it.
    judged, correct
        Number of judged decisions, and number of these decisions that are right.
    failed
        Number of decisions that ended with a server error, a spent budget or a bug. Resuming the
        run repeats them.
    unlabelled
        Number of decisions on questions without a known answer.
    played
        Number of finished games; 0 for a run of questions.
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
        """Whether all decisions were made; None if the number of planned decisions is unknown."""
        return False if self.failed else None if self.planned is None else self.missing == 0

    @property
    def missing(self) -> int | None:
        """Number of decisions that have not been made; None if the planned number is unknown."""
        done = self.judged + self.failed + self.unlabelled + self.played
        return None if self.planned is None else self.planned - done

    @property
    def right(self) -> float | None:
        """Share of right decisions among judged decisions; None if none was judged."""
        return self.correct / self.judged if self.judged else None


def count_decisions(outcomes: Counter[Outcome], planned: int | None) -> RunCounts:
    """Return the progress of a run.

    Parameters
    ----------
    outcomes
        Number of decisions with each outcome.
    planned
        Number of decisions to make; None if unknown.
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
