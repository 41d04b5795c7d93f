"""The tables that an evaluation ends with, after the paper's Tables 4 and 5."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from dqa.core.text import counted
from dqa.evaluation.location import RunLocation
from dqa.evaluation.results import NO_MODEL, Outcome, Result
from dqa.evaluation.shortcuts import Chance, Shortcut, best_shortcuts
from dqa.evaluation.statistics import KindMean, Summary, TagCount, kind_means
from dqa.evaluation.traces import Trace
from dqa.models.registry import is_scripted
from dqa.report.columns import columns_table, interval_text, share_text
from dqa.report.hints import trace_command
from dqa.report.match_tables import MATCHES, are_matches, match_lines, match_table
from dqa.report.spending import Spending

if TYPE_CHECKING:
    from rich.table import Table

ACCURACIES = "Accuracy in % (correct/judged), with its 95 % interval below"
MEANS = "Mean accuracy in % over relational and graph databases (the paper's Table 4)"
BEST, CHANCE = "Best shortcut", "Chance"
"""The rows below the deciders'."""

_KINDS = {"relational": "RDB", "graph": "GDB"}
_NOTED = {
    Outcome.NO_CANDIDATE: ("answer", "without a candidate's name"),
    Outcome.AMBIGUOUS: ("answer", "with several candidates' names"),
    Outcome.STEP_LIMIT: ("run", "that reached the step limit"),
    Outcome.UNPARSABLE: ("run", "whose replies could not be read"),
    Outcome.INFRASTRUCTURE: ("run", "that a failing server ended (not judged)"),
    Outcome.BUDGET: ("run", "that the spent budget ended (not judged)"),
    Outcome.STOPPED: ("run", "that a person ended (not judged)"),
    Outcome.CRASHED: ("run", "that crashed (a bug, not judged)"),
    Outcome.NO_DECISION: ("run", "whose own budget ended it before it stated a decision"),
    Outcome.UNLABELLED: ("decision", "on questions without a known answer (not judged)"),
}


def accuracy_tables(
    summaries: Sequence[Summary],
    shortcuts: Sequence[Shortcut] = (),
    chance: Sequence[Chance] = (),
) -> list[tuple[str, Table]]:
    """Return the accuracies, and their means where a run has both kinds of database.

    Parameters
    ----------
    summaries
        Of a run.
    shortcuts, chance
        What the heuristics and chance reach on the questions of the same run: the last rows of
        each table.

    Returns
    -------
    list of (title, table)
    """
    if are_matches(summaries):
        return [(MATCHES, match_table(summaries))]
    below = _references(shortcuts, chance)
    found = [(ACCURACIES, accuracy_table(summaries, below))]
    means = kind_means(summaries)
    return [*found, (MEANS, _mean_table(means, below))] if means else found


def accuracy_table(
    summaries: Sequence[Summary], below: Mapping[str, Mapping[str, str]] | None = None
) -> Table:
    """Return accuracies: a row a decider, a column a scenario and database.

    A cell holds the accuracy in percent with correct/judged, and its 95 % interval below. The
    rows `below`, by name, hold a cell a scenario.
    """
    columns = list(dict.fromkeys((s.scenario, s.kind, s.database) for s in summaries))
    cells = {(s.decider, s.scenario, s.database): _cell(s) for s in summaries}
    titles = [
        f"{one.capitalize()}\n{_KINDS.get(kind, kind)} ({base})" for one, kind, base in columns
    ]
    rows = {
        name: [cells.get((name, scenario, base), "-") for scenario, _, base in columns]
        for name in dict.fromkeys(s.decider for s in summaries)
    }
    return _decider_table(titles, rows, below or {}, [scenario for scenario, *_ in columns])


def _mean_table(means: Sequence[KindMean], below: Mapping[str, Mapping[str, str]]) -> Table:
    scenarios = list(dict.fromkeys(mean.scenario for mean in means))
    cells = {(mean.decider, mean.scenario): f"{100 * mean.accuracy:.1f}" for mean in means}
    rows = {
        name: [cells.get((name, scenario), "-") for scenario in scenarios]
        for name in dict.fromkeys(mean.decider for mean in means)
    }
    return _decider_table([one.capitalize() for one in scenarios], rows, below, scenarios)


def _decider_table(
    titles: Sequence[str],
    rows: Mapping[str, Sequence[str]],
    below: Mapping[str, Mapping[str, str]],
    scenarios: Sequence[str],
) -> Table:
    """Return a row a decider, and the rows `below` a line, which have a cell a scenario."""
    lines = [[name, *row] for name, row in rows.items()]
    lines += [[name, *(row.get(one, "-") for one in scenarios)] for name, row in below.items()]
    return columns_table(["Decider"], titles, lines, {len(rows)})


def _percent(right: int, questions: int) -> str:
    return share_text(right, questions).replace(" ", " % ", 1)


def _otherwise(found: Summary | Shortcut, *, strict_official: bool) -> int:
    """Return the right answers by the count that does not hold."""
    return found.with_ties if strict_official else found.by_label


def _references(
    shortcuts: Sequence[Shortcut], chance: Sequence[Chance]
) -> dict[str, dict[str, str]]:
    """Return the rows of the best shortcut and of chance: a cell a scenario."""
    best = {
        scenario: share_text(found.right, found.questions)
        for scenario, found in best_shortcuts(shortcuts).items()
    }
    by_chance = {found.scenario: f"{100 * found.share:.1f}" for found in chance}
    return {name: row for name, row in ((BEST, best), (CHANCE, by_chance)) if row}


_TIES, _LABEL = "Every tie of the best counts as right", "Only the official label counts as right"
_WITH_TIES, _BY_LABEL = "with every tie of the best", "by the official label alone"


def scoring_lines(
    summaries: Sequence[Summary], shortcuts: Sequence[Shortcut], *, strict_official: bool
) -> list[str]:
    """Return what counts as right in a table, the figures by the other count, and its shortcuts.

    Parameters
    ----------
    summaries
        Of a run.
    shortcuts
        How often each heuristic is right.
    strict_official
        Whether the official label alone counts.
    """
    if are_matches(summaries):
        return match_lines(summaries)
    counts, other = (_LABEL, _WITH_TIES) if strict_official else (_TIES, _BY_LABEL)
    others = [(s, _otherwise(s, strict_official=strict_official)) for s in summaries]
    told = [
        f"{_where(s)} {share_text(count, s.judged)}" for s, count in others if count != s.correct
    ]
    told += _other_means(summaries, strict_official=strict_official)
    best = best_shortcuts(shortcuts)
    told += [
        f"{BEST.lower()} {scenario} {share_text(count, found.questions)}"
        for scenario, found in best.items()
        if (count := _otherwise(found, strict_official=strict_official)) != found.right
    ]
    lines = [f"{counts}; {other}: {', '.join(told) or 'the same figures'}."]
    if best:
        named = ", ".join(f"{found.name} ({scenario})" for scenario, found in best.items())
        lines.append(f"{BEST}: {named}. One query each, without rules or model.")
    return lines


def _other_means(summaries: Sequence[Summary], *, strict_official: bool) -> list[str]:
    """Return the means over both kinds of database that are others by the other count."""
    recounted = [
        s.changed(accuracy=_otherwise(s, strict_official=strict_official) / s.judged)
        for s in summaries
        if s.judged
    ]
    return [
        f"{mean.decider} {mean.scenario} mean {100 * mean.accuracy:.1f}"
        for mean in kind_means(recounted)
        if mean not in kind_means(summaries)
    ]


def _cell(summary: Summary) -> str:
    if summary.accuracy is None or summary.interval is None:
        return "-"
    low, high = summary.interval
    return f"{share_text(summary.correct, summary.judged)}\n{interval_text(low, high)}"


def interval_lines(summaries: Sequence[Summary]) -> list[str]:
    """Return what the intervals of a table allow for, where that is more than chance."""
    clustered = [summary for summary in summaries if summary.is_clustered]
    lines = []
    if clustered:
        told = {s.scenario: s.situations for s in clustered if s.situations is not None}
        of = ", ".join(f"{scenario} {count}" for scenario, count in told.items())
        of = f" ({of})" if of else ""
        shared = "situations that questions share" if told else "questions asked several times"
        rough = [s for s in clustered if (s.degrees_of_freedom or _SOLID) < _SOLID]
        few = ", roughly where these are few" if rough else ""
        lines.append(
            f"Intervals allow for the {shared}{of}{few}; those that take questions for "
            "independent are in --json."
        )
    alone = dict.fromkeys(s.scenario for s in summaries if s.situations == 1 and s.judged > 1)
    if alone:
        lines.append(
            f"All questions of {', '.join(alone)} stand on one situation: their intervals "
            "count each question once, however often it was asked, and say nothing of others."
        )
    return lines


_SOLID = 4.0
"""Fewer degrees of freedom make an interval rough (Pustejovsky & Tipton, 2018, section 2.3)."""


def notes(summaries: Sequence[Summary]) -> list[str]:
    """Return what the table does not say, a line each.

    These are the outcomes that are neither right nor wrong and did happen, and the share of the
    best outcome that was reached, where outcomes count from nothing.
    """
    noted = [
        (what, words, {_where(s): s.counts[outcome] for s in summaries})
        for outcome, (what, words) in _NOTED.items()
    ]
    noted.append(("run", "ended by the budget", {_where(s): s.ended_by_budget for s in summaries}))
    lines = []
    for what, words, counts in noted:
        found = {name: count for name, count in counts.items() if count}
        if found:
            where = ", ".join(f"{name} {count}" for name, count in found.items())
            lines.append(f"{counted(sum(found.values()), what)} {words}: {where}.")
    shares = [(s, s.normalised_utility) for s in summaries if s.normalised_utility is not None]
    if shares:
        reached = ", ".join(f"{_where(s)} {100 * share:.1f}" for s, share in shares)
        lines.append(f"Normalised utility in %: {reached}.")
    return lines


def _where(summary: Summary) -> str:
    return f"{summary.decider} {summary.scenario}/{summary.database}"


def tag_lines(counts: Sequence[TagCount]) -> list[str]:
    """Return how every decider did on the questions of each tag, a line a tag."""
    by_tag: dict[str, list[str]] = {}
    for count in counts:
        told = share_text(count.correct, count.judged) if count.judged else "not judged"
        if count.low is not None and count.high is not None:
            told += f" {interval_text(count.low, count.high)}"
        by_tag.setdefault(count.tag, []).append(f"{count.decider} {told}")
    return [f"Tag {tag}: {', '.join(told)}." for tag, told in by_tag.items()]


def shortcut_lines(shortcuts: Sequence[Shortcut]) -> list[str]:
    """Return how often each heuristic is right, a line each, with the same by difficulty.

    They are counted by the official label; the figure where every tie of the best counts stands
    beside it where it is another.
    """
    lines = [f"Shortcuts, one query each. {_LABEL}."] if shortcuts else []
    for found in shortcuts:
        by = ", ".join(
            f"{'no way' if count.steps is None else count.steps}: {count.right}/{count.questions}"
            for count in found.by_steps
        )
        said = f"{found.scenario}: shortcut {found.name} is right in "
        said += _percent(found.right, found.questions)
        if found.with_ties != found.right:
            said += f", {_WITH_TIES} in {_percent(found.with_ties, found.questions)}"
        lines.append(f"{said}; by steps to the answer {by}" if by else said)
    return lines


def model_line(model: str) -> str:
    """Return the line that says who answered; a program is never taken for a language model."""
    if model == NO_MODEL:
        return "Model: none (a baseline asks no model)."
    parts = model.split(" + ")
    programs = [part for part in parts if is_scripted(part)]
    if not programs:
        return f"Model: {model}."
    if len(programs) == len(parts):
        return f"Model: {model}. A scripted program, not a language model."
    return f"Model: {model}. Of these, {programs[0]} is a program, not a language model."


def lines_below(summaries: Sequence[Summary], spent: Spending) -> list[str]:
    """Return what a run says below its table: who answered, what is not in it, what it took."""
    lines: list[str] = []
    models = tuple(dict.fromkeys(summary.model for summary in summaries))
    lines += map(model_line, models)
    if any(map(is_scripted, models)):
        lines.append(
            "The script sets how far each decider searches; differences say nothing about "
            "language models."
        )
    return [*lines, *notes(summaries), str(spent)]


def failures(results: Iterable[Result], most: int = 5) -> list[str]:
    """Return what failing servers and providers said, most frequent first, a line each."""
    said = Counter(r.error or "" for r in results if r.outcome is Outcome.INFRASTRUCTURE)
    lines = [f"{counted(count, 'run')}: {error}" for error, count in said.most_common(most)]
    return (
        lines
        if len(said) <= most
        else [*lines, f"and {counted(len(said) - most, 'other failure')}"]
    )


def crash_lines(
    crashed: Sequence[Trace], place: RunLocation | None, *, repeated: bool = False
) -> list[str]:
    """Return what crashed, most frequent first, a line each with where, and how to report it."""
    said: dict[tuple[str, str], list[Trace]] = {}
    for trace in crashed:
        said.setdefault((trace.decider, trace.error or ""), []).append(trace)
    lines = [
        f"{decider} at {first.question} on {first.database}"
        f"{f', epoch {first.epoch}' if repeated else ''}{_more(len(rest))}: {error}"
        for (decider, error), (first, *rest) in sorted(said.items(), key=lambda one: -len(one[1]))
    ]
    return [*lines, how_to_report(crashed[0], place, repeated=repeated)] if crashed else []


def _more(others: int) -> str:
    return f" and {others} more decision{'s' if others > 1 else ''}" if others else ""


def how_to_report(crashed: Trace, place: RunLocation | None, *, repeated: bool = False) -> str:
    """Return what to do about a bug; `repeated` where its run has several epochs."""
    where = "run again with a folder as out (--out), which keeps its traceback"
    if place is not None:
        how = trace_command(place, crashed.key, repeated=repeated)
        where = f"'{how}' shows its traceback"
    return (
        f"This is a bug, not a wrong answer: {where}. Report it to whoever maintains "
        f"{crashed.decider}, with the versions in the run's record; --resume RUN asks again."
    )
