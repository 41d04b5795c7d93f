"""A run in figures: how far it is, and how often each decider was right."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from pydantic import Field, computed_field

from dqa.core.records import Record
from dqa.evaluation.location import RunLocation
from dqa.evaluation.playing.metrics import PlayFigures
from dqa.evaluation.results import Outcome, Result
from dqa.evaluation.shortcuts import Chance, Shortcut
from dqa.evaluation.statistics import EpochStatistics, KindMean, Summary, TagCount, Total
from dqa.report.game_tables import game_lines, game_tables
from dqa.report.hints import resume_command
from dqa.report.spending import Spending
from dqa.report.table import Table
from dqa.report.tables import (
    accuracy_tables,
    epoch_lines,
    epoch_tables,
    interval_lines,
    lines_below,
    scoring_lines,
    tag_lines,
)


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

    def tables(self) -> list[Table]:
        """Return the tables of accuracies and of epochs, or of games."""
        if self.games is not None:
            return game_tables(self.games)
        accuracies = accuracy_tables(self.results, self.shortcuts, self.chance)
        return [*accuracies, *epoch_tables(self.epochs)]

    def scoring(self) -> list[str]:
        """Return what counts as right, the figures by the other count, and the best shortcuts."""
        return scoring_lines(self.results, self.shortcuts, strict_official=self.strict_official)

    def lines(self) -> list[str]:
        """Return the lines below the tables: what counts, who answered, what it took."""
        if self.games is not None:
            return game_lines(self.games, self.spent, self.models)
        return [
            *self.scoring(),
            *interval_lines(self.results),
            *epoch_lines(self.epochs),
            *tag_lines(self.tags),
            *lines_below(self.results, self.spent),
        ]


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


_WHY = {
    Outcome.INFRASTRUCTURE: "a server or provider failed",
    Outcome.BUDGET: "the budget was spent",
    Outcome.STOPPED: "a person ended it",
    Outcome.CRASHED: "of a bug",
}


def describe_failures(
    results: Sequence[Result], counts: RunCounts, place: RunLocation | None, *, games: bool
) -> str | None:
    """Return what could not be judged, why, and how to resume; None if all was judged."""
    failed = Counter(result.outcome for result in results if result.outcome.repeated)
    if not failed:
        return None
    why = ", ".join(f"{count} because {_WHY[outcome]}" for outcome, count in failed.items())
    of = len(results) if counts.planned is None else counts.planned
    ended = "games did not come to their end" if games else "decisions could not be judged"
    text = f"{failed.total()} of {of} {ended}: {why}."
    if counts.missing:
        text += f" {counts.missing} more were not {'played' if games else 'asked'}."
    if place is None:
        return f"{text} Nothing was kept: give a folder as out (--out) to be able to go on."
    more = " with a higher budget" if Outcome.BUDGET in failed else ""
    how, made = resume_command(place, games=games), "played" if games else "decided"
    return f"{text} What was {made} is kept; '{how}'{more} goes on."
