"""What ``dqa analyse`` prints: the analysis as tables, each after one of the paper's."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dqa.core.text import counted
from dqa.evaluation.analysis.analyse import MOST_REPLANNINGS, Analysis
from dqa.evaluation.analysis.cases import Share
from dqa.evaluation.analysis.critical_values import Found
from dqa.evaluation.analysis.retrievals import QuestionType
from dqa.report.columns import columns_table
from dqa.report.shares import interval_text, share_text
from dqa.report.tables import model_line

if TYPE_CHECKING:
    from rich.table import Table

_TYPES = {
    QuestionType.SINGLE: "SR",
    QuestionType.MULTIPLE: "MR",
    QuestionType.NEVER: "Never retrieved",
}

_CLASSES = (
    "CAN: improper candidate. MIS: missed data. DEEP: wrong use of data or equations. QUR: failed "
    "queries. OTH: other."
)
"""The classes of failure, as docs/analysis.md has them."""


def tables(analysis: Analysis) -> list[tuple[str, Table]]:
    """Return every table that there is something to say in, under its title."""
    retrieved = f"Accuracy in % by how often '{analysis.reference}' retrieved"
    found = (
        (f"{retrieved}, with its 95 % interval (Figure 5)", _types(analysis)),
        (
            "Questions by number of re-plannings, with accuracy in % (Table 7)",
            _replannings(analysis),
        ),
        (
            "Kinds of re-planning, in % of the questions that were re-planned (Table 12)",
            _kinds(analysis),
        ),
        ("Missed data analysis, in % of the questions (Table 6)", _missed(analysis)),
        ("Failures by class, in % of all judged questions (Figure 6)", _failures(analysis)),
    )
    return [(title, table) for title, table in found if table.row_count]


def notes(analysis: Analysis) -> list[str]:
    """Return what the tables leave out, and who answered, a line each."""
    untold = ", ".join(f"{decider} {count}" for decider, count in analysis.untold.items())
    left_out = (
        (
            "run",
            "without a judgement (a failure, a spent budget, no known answer)",
            analysis.unjudged,
        ),
        ("result", "without a trace: counted nowhere", analysis.without_trace),
        ("trace", "without a result: counted nowhere", analysis.without_result),
        (
            "run",
            (
                "whose questions are not at hand: values of any node or goods count as looked at, "
                "whether or not the question turns on them"
            ),
            analysis.without_data,
        ),
        (
            "run",
            (
                f"whose traces do not tell how they decided, counted in no table but accuracies "
                f"({untold})"
            ),
            sum(analysis.untold.values()),
        ),
    )
    lines = []
    if analysis.reference is None:
        lines.append(
            "No table of SR and MR questions: name the decider whose retrievals tell them apart "
            "as reference (--reference)."
        )
    elif analysis.accuracy:
        lines.append(f"SR: '{analysis.reference}' retrieved once. MR: it retrieved more often.")
    if analysis.failures:
        lines.append(_CLASSES)
    lines += [f"{counted(count, what)} {words}." for what, words, count in left_out if count]
    if analysis.without_data and analysis.lacking:
        lines.append(
            f"Why they are not at hand: {analysis.lacking} If they are in another folder by now, "
            "name it (--questions)."
        )
    lines += [model_line(model.name) for model in analysis.models]
    if any(model.scripted for model in analysis.models):
        lines.append("Scripts choose their own statements; this does not describe language models.")
    return lines


def _types(analysis: Analysis) -> Table:
    titles = [f"{_TYPES[kind]}\n{count} asked" for kind, count in analysis.question_types.items()]
    rows: dict[str, list[str]] = {}
    for row in analysis.accuracy:
        rows.setdefault(row.decider, []).append(_with_interval(row.correct))
    return columns_table(
        ["Decider"], titles, ([decider, *cells] for decider, cells in rows.items())
    )


def _replannings(analysis: Analysis) -> Table:
    titles = [*map(str, range(MOST_REPLANNINGS)), f"{MOST_REPLANNINGS} and more", "Total"]
    rows = (
        [row.scenario, row.decider, *map(_with_accuracy, (*row.correct, row.total))]
        for row in analysis.replannings
    )
    return columns_table(["Scenario", "Decider"], titles, rows)


def _kinds(analysis: Analysis) -> Table:
    rows = (
        [
            row.scenario,
            row.decider,
            row.group,
            row.kind.value,
            _percent(row.questions),
            f"{100 * row.per_question:.1f} ({row.times}/{row.questions.of})",
        ]
        for row in analysis.kinds
    )
    return columns_table(
        ["Scenario", "Decider", "Steps", "Kind"], ["Questions", "Re-plannings"], rows
    )


def _missed(analysis: Analysis) -> Table:
    rows = []
    for row in analysis.missed:
        missed = ",\n".join(f"{name} {by[Found.MISSED]}" for name, by in row.values.items())
        rows.append([row.scenario, row.decider, _percent(row.missed), missed])
    return columns_table(["Scenario", "Decider"], ["Missed any", "Missed each"], rows)


def _failures(analysis: Analysis) -> Table:
    rows = []
    for row in analysis.failures:
        shares = (row.can, row.mis, row.deep, row.qur, row.oth, row.failed)
        rows.append([row.scenario, row.decider, *map(_percent, shares)])
    titles = ["CAN", "MIS", "DEEP", "QUR", "OTH", "Failed"]
    return columns_table(["Scenario", "Decider"], titles, rows)


def _percent(share: Share) -> str:
    if share.rate is None:
        return "-"
    return share_text(share.count, share.of)


def _with_interval(share: Share) -> str:
    if share.low is None or share.high is None:
        return "-"
    return f"{_percent(share)}\n{interval_text(share.low, share.high)}"


def _with_accuracy(share: Share) -> str:
    """Return how many questions there were, and how many of them in % were right."""
    return "0 (-)" if share.rate is None else f"{share.of} ({100 * share.rate:.1f})"
