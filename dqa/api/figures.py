"""Define the summary statistics of a run."""

from __future__ import annotations

from dqa.core.records import Record
from dqa.evaluation.shortcuts import Chance, Shortcut
from dqa.evaluation.statistics.games import PlayFigures
from dqa.evaluation.statistics.summaries import (
    EpochStatistics,
    KindMean,
    MatchTotal,
    Summary,
    TagCount,
)
from dqa.report.counts import RunCounts
from dqa.report.game_tables import game_lines, game_tables
from dqa.report.spending import Spending
from dqa.report.table import Table
from dqa.report.tables import (
    accuracy_tables,
    epoch_tables,
    interval_lines,
    lines_below,
    scoring_lines,
    tag_lines,
)


class Evaluation(Record):
    """The summary statistics of a run, as ``dqa eval --json`` and ``dqa show --json`` print them.

    Attributes
    ----------
    model
        The chat model that was named.
    models
        The models that answered for each decider, joined by ' + ', or 'none' without a model.
    scripted
        Whether a scripted program replaced the language model.
    means
        Mean accuracies over relational and graph databases (PlanRAG, Table 4).
    shortcuts
        The accuracy of each heuristic on the judged questions.
    totals
        The number of statements that match the expected result, over all databases.
    tags
        The results of every decider on the questions of each tag.
    epochs
        pass@k and pass^k; empty unless questions were repeated.
    games
        The summary statistics of games; None for a run of questions.
    """

    model: str | None
    models: dict[str, str]
    scripted: bool
    rule_set: str | None
    strict_official: bool
    out: str | None
    counts: RunCounts
    spent: Spending
    results: tuple[Summary, ...]
    means: tuple[KindMean, ...]
    shortcuts: tuple[Shortcut, ...]
    chance: tuple[Chance, ...]
    totals: tuple[MatchTotal, ...] = ()
    tags: tuple[TagCount, ...] = ()
    epochs: tuple[EpochStatistics, ...] = ()
    games: PlayFigures | None = None

    def tables(self) -> list[Table]:
        """Return the tables of accuracies and of epochs, or of games."""
        if self.games is not None:
            return game_tables(self.games)
        accuracies = accuracy_tables(self.results, self.shortcuts, self.chance, self.totals)
        return [*accuracies, *epoch_tables(self.epochs)]

    def scoring(self) -> list[str]:
        """Return lines about the scoring rule, the alternative scoring and the best shortcuts."""
        strict = self.strict_official
        return scoring_lines(self.results, self.shortcuts, self.totals, strict_official=strict)

    def lines(self) -> list[str]:
        """Return the lines below the tables: scoring, models and usage."""
        if self.games is not None:
            return [*game_lines(self.games, self.models), str(self.spent)]
        return [
            *self.scoring(),
            *interval_lines(self.results),
            *tag_lines(self.tags),
            *lines_below(self.results, self.spent),
        ]
