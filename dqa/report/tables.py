"""The tables that an evaluation ends with, after the paper's Tables 4 and 5, and lines below."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from dqa.core.text import counted, spelt_out
from dqa.core.truth import MatchRule
from dqa.evaluation.location import RunLocation
from dqa.evaluation.results import NO_MODEL, Outcome, Result
from dqa.evaluation.shortcuts import Chance, Shortcut, best_shortcuts
from dqa.evaluation.statistics import (
    EpochStatistics,
    KindMean,
    MatchTotal,
    Summary,
    TagCount,
    kind_means,
    total_matches,
)
from dqa.evaluation.traces import Trace
from dqa.models.registry import is_scripted
from dqa.report.hints import trace_command
from dqa.report.spending import Spending
from dqa.report.table import (
    NONE,
    Table,
    estimate_text,
    interval_text,
    share_text,
    titled,
)

ACCURACIES = "Accuracy in % (correct/judged), with its 95 % interval below"
MEANS = "Mean accuracy in % over relational and graph databases (the paper's Table 4)"
MATCHES = "Statements whose rows match, in % (matched/judged), with the 95 % interval"
EPOCHS = (
    "Over {} epochs: pass@k and pass^k in %, with 95 % intervals, and what of the variance is "
    "within questions"
)
BEST, CHANCE, ALL = "Best shortcut", "Chance", "All"
"""The rows below the others."""

_KINDS = {"relational": "RDB", "graph": "GDB"}
_RULES: Mapping[MatchRule, str] = {
    "set": "where it returns the same set of rows as the gold statement (as BIRD's evaluation "
    "counts)",
    "table": "where it returns the same rows as the gold statement, each as often, with columns in "
    "any order, and in its order of rows where that has an ORDER BY (as Spider's evaluation "
    "counts)",
    "columns": "where every column of the gold table is among its columns (as Spider 2's "
    "evaluation counts)",
    "subset": "where it returns the rows of a gold statement, and perhaps more columns (as Defog's "
    "evaluation counts)",
}
_NOTED = {
    Outcome.FORBIDDEN: ("decision", "for a candidate that the rules forbid (wrong)"),
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
) -> list[Table]:
    """Return the accuracies, and their means where a run has both kinds of database.

    Parameters
    ----------
    summaries
        Of a run.
    shortcuts, chance
        The right answers of heuristics and of chance on the same questions: the last rows of each
        table.
    """
    if _are_statements(summaries):
        return [_match_table(summaries)]
    below = {
        (BEST, name): share_text(found.right, found.questions)
        for name, found in best_shortcuts(shortcuts).items()
    }
    below |= {(CHANCE, found.scenario): f"{100 * found.share:.1f}" for found in chance}
    titles = {
        (s.scenario, s.database): titled(s.scenario, f"{_KINDS.get(s.kind, s.kind)} ({s.database})")
        for s in summaries
    }
    cells = {(s.decider, (s.scenario, s.database)): _accuracy(s) for s in summaries}
    cells |= {
        (row, key): text for (row, name), text in below.items() for key in titles if key[0] == name
    }
    tables = [Table.grid(ACCURACIES, "Decider", cells, titles, _deciders(summaries))]
    if means := kind_means(summaries):
        shares = {(m.decider, m.scenario): f"{100 * m.accuracy:.1f}" for m in means}
        scenarios = {mean.scenario: titled(mean.scenario) for mean in means}
        last = _deciders(means)
        shares |= {key: text for key, text in below.items() if key[1] in scenarios}
        tables.append(Table.grid(MEANS, "Decider", shares, scenarios, last))
    return tables


def _deciders(found: Iterable[Summary | KindMean]) -> set[int]:
    """Return the number of the last decider's row."""
    return {len({one.decider for one in found})}


def _accuracy(summary: Summary) -> str:
    if summary.accuracy is None or summary.interval is None:
        return NONE
    return f"{share_text(summary.correct, summary.judged)}\n{interval_text(*summary.interval)}"


def _are_statements(summaries: Sequence[Summary]) -> bool:
    return bool(summaries) and all(summary.match is not None for summary in summaries)


def _match_table(summaries: Sequence[Summary]) -> Table:
    """Return how often rows match: a row for each database and one for all."""
    totals = total_matches(summaries)
    cells = {(s.scenario, s.decider): _matched(s) for s in summaries}
    databases = len({summary.scenario for summary in summaries})
    cells |= {(ALL, total.decider): _matched(total) for total in totals}
    titles = {total.decider: total.decider for total in totals}
    return Table.grid(MATCHES, "Database", cells, titles, {databases})


def _matched(found: Summary | MatchTotal) -> str:
    if found.low is None or found.high is None:
        return NONE
    return f"{share_text(found.correct, found.judged)} {interval_text(found.low, found.high)}"


def epoch_tables(found: Sequence[EpochStatistics]) -> list[Table]:
    """Return the figures of repeated questions, where answers differed between epochs.

    A row for each decider, a column for each scenario and database: pass@1, pass@k and pass^k, and
    the share of the variance that is within questions.
    """
    differing = [one for one in found if one.within]
    if not differing:
        return []
    cells = {(one.decider, (one.scenario, one.database)): _epochs(one) for one in differing}
    titles = {(s, database): titled(s, f"({database})") for _, (s, database) in cells}
    title = EPOCHS.format(max(one.epochs for one in differing))
    return [Table.grid(title, "Decider", cells, titles)]


def _epochs(one: EpochStatistics) -> str:
    last = one.pass_rates[-1]
    rates = {"@1": one.pass_rates[0].at_k}
    if last.k > 1:
        rates |= {f"@{last.k}": last.at_k, f"^{last.k}": last.all_k}
    lines = [
        f"{name} {estimate_text(rate, 100.0, '.1f', between=' ')}" for name, rate in rates.items()
    ]
    if one.within is not None and one.between is not None and one.within + one.between:
        lines.append(f"within {100 * one.within / (one.within + one.between):.0f} %")
    return "\n".join(lines)


def epoch_lines(found: Sequence[EpochStatistics]) -> list[str]:
    """Return who gave the same answers in every epoch, which `epoch_tables` leave out."""
    same = dict.fromkeys(one.decider for one in found if one.within == 0.0)
    if not same:
        return []
    others = {one.decider for one in found if one.within}
    names = ", ".join(f"{name} (elsewhere)" if name in others else name for name in same)
    epochs = max(one.epochs for one in found)
    return [f"Right or wrong on the same questions in all {epochs} epochs: {names}."]


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
    if _are_statements(summaries):
        return _match_lines(summaries)

    def otherwise(found: Summary | Shortcut) -> int:
        return found.with_ties if strict_official else found.by_label

    counts, other = (_LABEL, _WITH_TIES) if strict_official else (_TIES, _BY_LABEL)
    best = best_shortcuts(shortcuts)
    judged = [s for s in summaries if s.judged]
    shares = [(_where(s), s.correct, otherwise(s), s.judged) for s in judged]
    recounted = kind_means([s.changed(accuracy=otherwise(s) / s.judged) for s in judged])
    means = [mean for mean in recounted if mean not in kind_means(summaries)]
    of_best = [
        (f"{BEST.lower()} {name}", found.right, otherwise(found), found.questions)
        for name, found in best.items()
    ]
    differing = [
        *(f"{who} {share_text(count, of)}" for who, right, count, of in shares if count != right),
        *(f"{mean.decider} {mean.scenario} mean {100 * mean.accuracy:.1f}" for mean in means),
        *(f"{who} {share_text(count, of)}" for who, right, count, of in of_best if count != right),
    ]
    lines = [f"{counts}; {other}: {', '.join(differing) or 'the same figures'}."]
    if best:
        named = ", ".join(f"{found.name} ({scenario})" for scenario, found in best.items())
        lines.append(f"{BEST}: {named}. One query each, without rules or model.")
    return lines


def _match_lines(summaries: Sequence[Summary]) -> list[str]:
    """Return what counts as a match, and the official metrics."""
    rules = dict.fromkeys(s.match for s in summaries if s.match is not None)
    lines = [f"A statement is right {_RULES[rule]}." for rule in rules]
    for total in total_matches(summaries):
        if total.official_metrics:
            shown = (f"{name} {100 * mean:.1f}" for name, mean in total.official_metrics.items())
            lines.append(f"Official metrics of {spelt_out(total.decider)}: {', '.join(shown)}.")
    return lines


def interval_lines(summaries: Sequence[Summary]) -> list[str]:
    """Return the clusters that the intervals of a table allow for, if any."""
    lines = []
    clustered = [summary for summary in summaries if summary.is_clustered]
    if clustered:
        situations = {s.scenario: s.situations for s in clustered if s.situations is not None}
        counts = ", ".join(f"{scenario} {count}" for scenario, count in situations.items())
        shared = "questions asked several times"
        if situations:
            shared = f"situations that questions share ({counts})"
        if any((summary.degrees_of_freedom or _SOLID) < _SOLID for summary in clustered):
            shared += ", roughly where these are few"
        lines.append(
            f"Intervals allow for the {shared}; those that take questions for independent are in "
            "--json."
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
    """Return the figures that the table lacks, a line each.

    These are the outcomes that are neither right nor wrong and did happen, and the share of the
    best outcome that was reached, where outcomes count from nothing.
    """
    noted = {
        said: {_where(s): s.counts[outcome] for s in summaries} for outcome, said in _NOTED.items()
    }
    noted["run", "ended by the budget"] = {_where(s): s.ended_by_budget for s in summaries}
    lines = []
    for (what, words), counts in noted.items():
        if total := sum(counts.values()):
            where = ", ".join(f"{name} {count}" for name, count in counts.items() if count)
            lines.append(f"{counted(total, what)} {words}: {where}.")
    shares = {_where(s): s.normalised_utility for s in summaries}
    reached = [f"{who} {100 * share:.1f}" for who, share in shares.items() if share is not None]
    return [*lines, *([f"Normalised utility in %: {', '.join(reached)}."] if reached else [])]


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
    """Return how often each heuristic is right, a line each.

    The official label counts; the figure where every tie of the best counts follows if it differs.
    """
    lines = [f"Shortcuts, one query each. {_LABEL}."] if shortcuts else []
    for found in shortcuts:
        right, ties = (
            share_text(count, found.questions).replace(" ", " % ", 1)
            for count in (found.right, found.with_ties)
        )
        line = f"{found.scenario}: shortcut {found.name} is right in {right}"
        lines.append(line + (f", {_WITH_TIES} in {ties}" if ties != right else ""))
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
    """Return the lines below a table: the models, further figures, and the cost."""
    models = dict.fromkeys(summary.model for summary in summaries)
    scripted = (
        "The script sets how much each decider looks up; differences say nothing about language "
        "models."
    )
    lines = [*map(model_line, models), *([scripted] if any(map(is_scripted, models)) else [])]
    return [*lines, *notes(summaries), str(spent)]


def failures(results: Iterable[Result], most: int = 5) -> list[str]:
    """Return what failing servers and providers said, most frequent first, a line each."""
    said = Counter(r.error or "" for r in results if r.outcome is Outcome.INFRASTRUCTURE)
    lines = [f"{counted(count, 'run')}: {error}" for error, count in said.most_common(most)]
    more = len(said) - most
    return [*lines, f"and {counted(more, 'other failure')}"] if more > 0 else lines


def crash_lines(
    crashed: Sequence[Trace], place: RunLocation | None, *, repeated: bool = False
) -> list[str]:
    """Return what crashed, most frequent first, a line each with where, and how to report it."""
    said: dict[tuple[str, str], list[Trace]] = {}
    for trace in crashed:
        said.setdefault((trace.decider, trace.error or ""), []).append(trace)
    lines = []
    for (decider, error), (first, *rest) in sorted(said.items(), key=lambda one: -len(one[1])):
        epoch = f", epoch {first.epoch}" if repeated else ""
        more = f" and {counted(len(rest), 'more decision')}" if rest else ""
        lines.append(f"{decider} at {first.question} on {first.database}{epoch}{more}: {error}")
    return [*lines, how_to_report(crashed[0], place, repeated=repeated)] if crashed else []


def how_to_report(crashed: Trace, place: RunLocation | None, *, repeated: bool = False) -> str:
    """Return what to do about a bug; `repeated` where its run has several epochs."""
    where = "run again with a folder as out (--out), which keeps its traceback"
    if place is not None:
        how = trace_command(place, crashed.key, repeated=repeated)
        where = f"'{how}' shows its traceback"
    return (
        f"This is a bug, not a wrong answer: {where}. Report it to the maintainers of "
        f"{crashed.decider}, with the versions in the run's record; --resume RUN asks again."
    )
