"""A run in figures: how far it is, and how often each decider was right."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from pydantic import Field, computed_field

from dqa.core.records import Record
from dqa.evaluation.playing.metrics import PlayFigures
from dqa.evaluation.results import Outcome, Result
from dqa.evaluation.shortcuts import Chance, Shortcut
from dqa.evaluation.statistics import EpochStatistics, KindMean, Summary, TagCount, Total
from dqa.report.spending import Spending


class RunCounts(Record):
    """How far a run is, in decisions.

    Attributes
    ----------
    planned
        All that there are to make; None where an older version did not say.
    judged, correct
        Those that say something about their decider, and the right ones of them.
    failed
        Those that a failing server, a spent budget or a bug ended: resuming asks them again.
    unlabelled
        Those on questions without a known answer.
    played
        Games that came to their end, of a run of games.
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
        """Whether every decision was made; None where nobody knows how many there are."""
        return False if self.failed else None if self.planned is None else self.missing == 0

    @property
    def missing(self) -> int | None:
        """How many decisions have not been made; None where nobody knows."""
        made = self.judged + self.failed + self.unlabelled + self.played
        return None if self.planned is None else self.planned - made

    @property
    def right(self) -> float | None:
        """The share of right decisions among the judged ones; None of nothing."""
        return self.correct / self.judged if self.judged else None


class Evaluation(Record):
    """A run in figures, as ``dqa eval --json`` and ``dqa results --json`` print it."""

    model: str | None = Field(description="the chat model that was named")
    models: dict[str, str] = Field(
        description="what answered behind each decider: several joined by ' + ', or 'none'"
    )
    scripted: bool = Field(description="whether a program took a language model's place")
    rule_set: str | None
    strict_official: bool
    out: str | None
    counts: RunCounts
    spent: Spending
    results: tuple[Summary, ...]
    means: tuple[KindMean, ...] = Field(
        description="accuracies as means over relational and graph databases (PlanRAG, Table 4)"
    )
    shortcuts: tuple[Shortcut, ...] = Field(
        description="how often each heuristic is right, on the questions that were judged"
    )
    chance: tuple[Chance, ...]
    totals: tuple[Total, ...] = Field(
        default=(), description="how often statements match, on all databases together"
    )
    tags: tuple[TagCount, ...] = Field(
        default=(), description="how every decider did on the questions of each tag"
    )
    epochs: tuple[EpochStatistics, ...] = Field(
        default=(), description="pass@k, pass^k and variance, where questions were asked repeatedly"
    )
    games: PlayFigures | None = Field(
        default=None, description="what games came to; null of a run of questions"
    )


def count_decisions(results: Iterable[Result], planned: int | None) -> RunCounts:
    """Return how far a run is.

    Parameters
    ----------
    results
        One a decision.
    planned
        How many decisions there are to make, where that is known.
    """
    outcomes = Counter(result.outcome for result in results)
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
