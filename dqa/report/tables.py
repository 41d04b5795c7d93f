"""The tables of an evaluation, modelled on Tables 4 and 5 of PlanRAG, and the lines below them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from dqa.core.records import Record
from dqa.core.text import counted, escape_invisible
from dqa.core.truth import MatchRule
from dqa.evaluation.location import RunLocation
from dqa.evaluation.results import NO_MODEL, Outcome, Result
from dqa.evaluation.shortcuts import Chance, Shortcut, best_shortcuts
from dqa.evaluation.statistics.games import PlayFigures
from dqa.evaluation.statistics.summaries import (
    EpochStatistics,
    KindMean,
    MatchTotal,
    Summary,
    TagCount,
    Tally,
    grouped,
)
from dqa.evaluation.traces import Trace
from dqa.report.compare_tables import game_lines, game_tables
from dqa.report.counts import RunCounts
from dqa.report.hints import trace_command
from dqa.report.spending import Spending, model_lines
from dqa.report.table import Table, estimate_text, percent_text, share_text, titled

ACCURACIES = "Accuracy in % (correct/judged), with its 95 % interval below"
MEANS = "Mean accuracy in % over relational and graph databases (the paper's Table 4)"
MATCHES = "Statements whose rows match, in % (matched/judged), with the 95 % interval"
EPOCHS = "Over {} epochs: pass@k and pass^k in %, with 95 % intervals"
BEST, CHANCE, ALL = "Best shortcut", "Chance", "All"
"""Titles of the last rows."""

_KINDS = {"relational": "RDB", "graph": "GDB"}
_RULES: Mapping[MatchRule, str] = {
    "set": "if it returns the same set of rows as the gold statement (BIRD's rule)",
    "table": "if it returns the same rows as the gold statement, including repeated rows; columns "
    "may be in any order, and the order of rows matters if the gold statement has an ORDER BY "
    "(Spider's rule)",
    "columns": "if its result contains every column of the gold result (Spider 2's rule)",
    "subset": "if it returns the rows of a gold statement; additional columns are allowed "
    "(Defog's rule)",
}
_NOTED = {
    Outcome.FORBIDDEN: ("decision", "for a candidate that the rules forbid (wrong)"),
    Outcome.NO_CANDIDATE: ("answer", "without a candidate's name"),
    Outcome.AMBIGUOUS: ("answer", "with several candidates' names"),
    Outcome.STEP_LIMIT: ("decision", "ended by the step limit"),
    Outcome.UNPARSABLE: ("decision", "ended by unreadable replies"),
    Outcome.INFRASTRUCTURE: ("decision", "ended by a failing server (not judged)"),
    Outcome.BUDGET: ("decision", "ended by the run's spent budget (not judged)"),
    Outcome.STOPPED: ("decision", "ended by a person (not judged)"),
    Outcome.CRASHED: ("decision", "ended by a bug (not judged)"),
    Outcome.NO_DECISION: ("decision", "ended by the budget of a decision, without a choice"),
    Outcome.UNLABELLED: ("decision", "on questions without a known answer (not judged)"),
}
_CUT = "used cut results (in your own decider, pass dqa.Limits(rows=...) to database.query)"


def _last_decider_row(found: Iterable[Summary | KindMean]) -> set[int]:
    """Return a set with the number of the last decider's row. Rows of heuristics are below it."""
    return {len({one.decider for one in found})}


def _accuracy(summary: Summary) -> str:
    low, high = summary.interval or (None, None)
    return share_text(summary.correct, summary.judged, low, high)


def _are_statements(summaries: Sequence[Summary]) -> bool:
    return bool(summaries) and all(summary.match is not None for summary in summaries)


def _match_table(summaries: Sequence[Summary], totals: Sequence[MatchTotal]) -> Table:
    """Return the table of matching results, with a row for each database and a row for all."""
    cells = {(s.scenario, s.decider): _matched(s) for s in summaries}
    databases = len({summary.scenario for summary in summaries})
    cells |= {(ALL, total.decider): _matched(total) for total in totals}
    titles = {total.decider: total.decider for total in totals}
    return Table.grid(MATCHES, "Database", cells, titles, {databases})


def _matched(found: Summary | Tally) -> str:
    return share_text(found.correct, found.judged, found.low, found.high, between=" ")


def epoch_tables(found: Sequence[EpochStatistics]) -> list[Table]:
    """Return the table of repeated questions. Return no table if no question was repeated.

    The table has a row for each decider and a column for each scenario and database. Cells contain
    pass@1, pass@k and pass^k.
    """
    if not found:
        return []
    cells = {(one.decider, (one.scenario, one.database)): _epochs(one) for one in found}
    titles = {(s, database): titled(s, f"({database})") for _, (s, database) in cells}
    title = EPOCHS.format(max(one.epochs for one in found))
    return [Table.grid(title, "Decider", cells, titles)]


def _epochs(one: EpochStatistics) -> str:
    last = one.pass_rates[-1]
    rates = {"@1": one.pass_rates[0].at_k}
    if last.k > 1:
        rates |= {f"@{last.k}": last.at_k, f"^{last.k}": last.all_k}
    return "\n".join(
        f"{name} {estimate_text(rate, 100.0, '.1f', between=' ')}" for name, rate in rates.items()
    )


_NO_RULES = "A shortcut is one query that ignores the rules."
_TIES, _LABEL = "All best candidates count as right", "Only the official answer counts as right"
_WITH_TIES, _BY_LABEL = "if all best candidates count", "if only the official answer counts"


def _match_lines(summaries: Sequence[Summary], totals: Sequence[MatchTotal]) -> list[str]:
    """Explain which statements count as right, and list the official metrics."""
    rules = dict.fromkeys(s.match for s in summaries if s.match is not None)
    lines = [f"A statement is right {_RULES[rule]}." for rule in rules]
    for total in totals:
        if total.official_metrics:
            shown = (f"{name} {100 * mean:.1f}" for name, mean in total.official_metrics.items())
            lines.append(
                f"Official metrics of {escape_invisible(total.decider)}: {', '.join(shown)}."
            )
    return lines


def interval_lines(summaries: Sequence[Summary]) -> list[str]:
    """Return lines that explain which clusters the intervals of a table take into account."""
    lines = []
    if clustered := [summary for summary in summaries if summary.is_clustered]:
        situations = {s.scenario: s.situations for s in clustered if s.situations is not None}
        counts = ", ".join(
            f"{scenario}: {counted(n, 'situation')}" for scenario, n in situations.items()
        )
        shared = f"questions share situations ({counts})" if counts else _REPEATED
        few = any((summary.degrees_of_freedom or _SOLID) < _SOLID for summary in clustered)
        rough = " With few situations, the intervals are only rough." if few else ""
        lines.append(
            f"The intervals take into account that {shared}.{rough} --json also prints the "
            "intervals for independent questions."
        )
    if alone := dict.fromkeys(s.scenario for s in summaries if s.situations == 1 and s.judged > 1):
        lines.append(
            f"All questions of {', '.join(alone)} are about one situation. Their intervals count "
            "each question once, and are not valid for other situations."
        )
    return lines


_REPEATED = "some questions were asked several times"
_SOLID = 4.0
"""Fewer degrees of freedom make an interval rough (Pustejovsky & Tipton, 2018, section 2.3)."""


def notes(summaries: Sequence[Summary]) -> list[str]:
    """Return a line for each figure that the tables do not contain.

    These figures are the numbers of the less frequent outcomes, and the normalised utility (the
    share of the best outcome that was reached).
    """
    lines = []
    for outcome, (what, words) in _NOTED.items():
        counts = {_where(s): s.counts[outcome] for s in summaries}
        lines += _noted(what, words, counts)
    ended = {_where(s): s.ended_by_budget for s in summaries}
    lines += _noted("decision", "limited by the budget of a decision", ended)
    lines += _noted("decision", _CUT, {_where(s): s.cut for s in summaries})
    shares = {_where(s): s.normalised_utility for s in summaries}
    reached = [f"{who} {100 * share:.1f}" for who, share in shares.items() if share is not None]
    return [*lines, *([f"Normalised utility in %: {', '.join(reached)}."] if reached else [])]


def _noted(what: str, words: str, counts: Mapping[str, int]) -> list[str]:
    where = ", ".join(f"{name} {count}" for name, count in counts.items() if count)
    return [f"{counted(sum(counts.values()), what)} {words}: {where}."] if where else []


def _where(summary: Summary) -> str:
    return f"{summary.decider} {summary.scenario}/{summary.database}"


def tag_lines(counts: Sequence[TagCount]) -> list[str]:
    """Return a line for each tag, with the accuracy of every decider on questions with this tag."""
    lines = []
    for tag, found in grouped(counts, lambda count: count.tag).items():
        shares = (f"{one.decider} {_matched(one)}" for one in found)
        lines.append(f"Tag {tag}: {', '.join(shares)}.")
    return lines


def shortcut_lines(shortcuts: Sequence[Shortcut]) -> list[str]:
    """Return a line for each heuristic, with its accuracy.

    The accuracy counts only the official answer as right. If the accuracy differs when
    every best candidate counts as right, the line contains both.
    """
    lines = [f"{_NO_RULES} {_LABEL}."] if shortcuts else []
    for found in shortcuts:
        right, ties = (
            percent_text(count, found.questions).replace(" ", " % ", 1)
            for count in (found.right, found.with_ties)
        )
        line = f"{found.scenario}: shortcut {found.name} is right in {right}"
        lines.append(line + (f"; {_WITH_TIES}, in {ties}" if ties != right else ""))
    return lines


def failures(results: Iterable[Result], most: int = 5) -> list[str]:
    """Return a line for each server error and each bug. The most frequent error is first."""
    failed = (result for result in results if result.outcome in _FAILED)
    kinds = grouped(failed, lambda one: (_FAILED[one.outcome], one.decider, one.error))
    lines = []
    for (how, decider, error), (first, *rest) in sorted(
        kinds.items(), key=lambda one: -len(one[1])
    )[:most]:
        more = f" and {counted(len(rest), 'more decision')}" if rest else ""
        lines.append(f"{how}: {decider} at {first.question} on {first.database}{more}: {error}")
    hidden = len(kinds) - most
    return [*lines, f"and {counted(hidden, 'other failure')}"] if hidden > 0 else lines


_FAILED = {Outcome.INFRASTRUCTURE: "failed", Outcome.CRASHED: "crashed"}


def how_to_report(
    crashed: Sequence[Trace], location: RunLocation | None, resume: str, *, repeated: bool = False
) -> str:
    """Explain how to report the bugs that ended decisions.

    `resume` resumes the run. `repeated` says whether the run has several epochs.
    """
    where, again = "run again with --out, which stores the traceback", ""
    if location is not None:
        command = trace_command(location, crashed[-1].key, repeated=repeated)
        where, again = f"'{command}' shows a traceback", f" and repeat the decision ('{resume}')"
    names = " and ".join(dict.fromkeys(one.decider for one in crashed))
    return (
        f"Crashes are bugs of {names}, not wrong answers: {where}. If the decider is yours, fix "
        f"the bug{again}. If not, report it to the decider's maintainers, with the versions in the "
        "run's record."
    )


class Evaluation(Record):
    """The summary statistics of a run, as ``dqa eval --json`` and ``dqa show --json`` print them.

    Attributes
    ----------
    model
        The chat model that the user named.
    models
        For each decider, the names of the models that answered, joined by ' + '; 'none' if no model
        answered.
    scripted
        Whether a scripted program replaced the language model.
    means
        Mean accuracies over relational and graph databases (PlanRAG, Table 4).
    shortcuts
        The accuracy of each heuristic on the judged questions.
    totals
        For each decider, the number of statements that match the gold statements, over all
        databases.
    tags
        For each tag, the results of every decider on the questions with this tag.
    epochs
        pass@k and pass^k; empty if no question was repeated.
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
        """Return the tables of accuracies, means and epochs; for games, the tables of games.

        Accuracies of heuristics and of random answers on the same questions are the last rows. If a
        run has relational and graph databases, a table of means follows the table of accuracies.
        """
        if self.games is not None:
            return game_tables(self.games)
        if _are_statements(self.results):
            return [_match_table(self.results, self.totals), *epoch_tables(self.epochs)]
        below = {
            (BEST, name): percent_text(found.right, found.questions)
            for name, found in best_shortcuts(self.shortcuts).items()
        }
        below |= {(CHANCE, found.scenario): f"{100 * found.share:.1f}" for found in self.chance}
        titles = {
            (s.scenario, s.database): titled(
                s.scenario, f"{_KINDS.get(s.kind, s.kind)} ({s.database})"
            )
            for s in self.results
        }
        cells = {(s.decider, (s.scenario, s.database)): _accuracy(s) for s in self.results}
        cells |= {
            (row, key): text
            for (row, name), text in below.items()
            for key in titles
            if key[0] == name
        }
        last = _last_decider_row(self.results)
        tables = [Table.grid(ACCURACIES, "Decider", cells, titles, last)]
        if self.means:
            shares = {(m.decider, m.scenario): f"{100 * m.accuracy:.1f}" for m in self.means}
            scenarios = {mean.scenario: titled(mean.scenario) for mean in self.means}
            shares |= {key: text for key, text in below.items() if key[1] in scenarios}
            tables.append(
                Table.grid(MEANS, "Decider", shares, scenarios, _last_decider_row(self.means))
            )
        return [*tables, *epoch_tables(self.epochs)]

    def scoring(self) -> list[str]:
        """Return lines that explain the scoring rule.

        The lines also list the accuracies under the alternative rule, and name the best heuristics.
        """
        if _are_statements(self.results):
            return _match_lines(self.results, self.totals)
        strict = self.strict_official
        rule, other = (_LABEL, _WITH_TIES) if strict else (_TIES, _BY_LABEL)
        best = best_shortcuts(self.shortcuts)
        scored: list[tuple[str, Summary | Shortcut, int, int]] = [
            *((_where(s), s, s.correct, s.judged) for s in self.results if s.judged),
            *((f"{BEST.lower()} {name}", s, s.right, s.questions) for name, s in best.items()),
        ]
        differing = []
        for who, found, right, of in scored:
            otherwise = found.with_ties if strict else found.by_label
            if otherwise != right:
                differing.append(f"{who} {percent_text(otherwise, of)}")
        lines = [f"{rule}; {other}: {', '.join(differing) or 'the same figures'}."]
        if best:
            named = ", ".join(f"{found.name} ({scenario})" for scenario, found in best.items())
            lines.append(f"{BEST}: {named}. {_NO_RULES}")
        return lines

    def lines(self) -> list[str]:
        """Return the lines below the tables: scoring, models and usage."""
        missing = self.counts.missing
        what = "decisions" if self.games is None else "games"
        not_made = [f"{missing} of {self.counts.planned} {what} are missing."] if missing else []
        if self.games is not None:
            return [*not_made, *game_lines(self.games, self.models), str(self.spent)]
        models = dict.fromkeys(s.model for s in self.results if not missing or s.model != NO_MODEL)
        return [
            *not_made,
            *self.scoring(),
            *interval_lines(self.results),
            *tag_lines(self.tags),
            *model_lines(models),
            *notes(self.results),
            str(self.spent),
        ]
