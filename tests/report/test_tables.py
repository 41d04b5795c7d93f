"""The tables and lines below a run's results."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dqa.evaluation.results import Outcome
from dqa.evaluation.shortcuts import Shortcut
from dqa.evaluation.statistics.summaries import Summary, count_epochs, kind_means, summarise
from dqa.report.tables import Evaluation, epoch_tables, interval_lines
from tests.evaluation.statistics.results import result


def summary(decider: str, database: str, correct: int, failed: int = 0) -> Summary:
    """Return a row of 10 questions."""
    kind = "graph" if database == "ladybug" else "relational"
    outcomes = [Outcome.CORRECT] * correct + [Outcome.INFRASTRUCTURE] * failed
    outcomes += [Outcome.WRONG] * (10 - len(outcomes))
    known = {"decider": decider, "database": database, "kind": kind}
    (found,) = summarise(
        result(n, one, **known, choice="a" if one is Outcome.CORRECT else "b")
        for n, one in enumerate(outcomes)
    )
    return found


def evaluation(rows: Sequence[Summary], **changes: Any) -> Evaluation:
    """Return the figures of a run with these summaries."""
    known: dict[str, Any] = {"results": tuple(rows), "shortcuts": (), "chance": ()}
    known["means"] = kind_means(rows)
    return Evaluation.model_construct(**(known | {"strict_official": False} | changes))


def shown(rows: list[Summary]) -> str:
    """Return the table's text."""
    return evaluation(rows).tables()[0].to_text()


def shortcut(name: str, right: int) -> Shortcut:
    """Return a heuristic of Locating with this number of right answers in ten questions."""
    return Shortcut(
        name=name, scenario="locating", questions=10, right=right, with_ties=right, by_label=right
    )


SHORTCUTS = (shortcut("nearest", 3), shortcut("largest", 8), shortcut("dearest", 8))


def test_a_line_names_the_figures_of_the_other_count() -> None:
    """For every decider and the best shortcut, if they differ."""
    rows = [summary("a", "sqlite", 5).changed(by_label=3), summary("b", "sqlite", 4)]
    fewer = (SHORTCUTS[0], SHORTCUTS[1].changed(by_label=6), SHORTCUTS[2])
    line, _ = evaluation(rows, shortcuts=fewer).scoring()
    assert "if only the official answer counts: a locating/sqlite 30.0 (3/10)" in line
    assert "best shortcut locating 60.0 (6/10)" in line
    (line,) = evaluation([summary("b", "sqlite", 4)]).scoring()
    assert line.endswith("the same figures.")
    strict = summary("a", "sqlite", 3).changed(with_ties=5)
    (line,) = evaluation([strict], strict_official=True).scoring()
    assert line.startswith("Only the official answer counts as right")


def test_a_line_explains_the_intervals() -> None:
    """They are clustered by situation; a single situation has Wilson's; without clusters there is
    no line.
    """
    same = {"low": 0.2, "high": 0.8, "clustered_low": 0.2, "clustered_high": 0.8}
    alone = summary("d", "sqlite", 5).changed(**same)
    assert interval_lines([alone.changed(situations=10)]) == []
    shared = alone.changed(clustered_low=0.1, situations=3, degrees_of_freedom=1.9)
    (line,) = interval_lines([shared])
    assert "questions share situations (locating: 3 situations). With few situations" in line
    assert "[10.0, 80.0]" in shown([shared])
    (line,) = interval_lines([shared.changed(situations=None, degrees_of_freedom=9.0)])
    assert line.startswith("The intervals take into account that some questions were asked")
    one = alone.changed(clustered_low=None, clustered_high=None, situations=1)
    (line,) = interval_lines([one])
    assert line.startswith("All questions of locating are about one situation")
    assert "[20.0, 80.0]" in shown([one])


def test_epochs_are_a_table_of_deciders() -> None:
    """It has the shares of questions that one, any and all attempts solve."""
    luck = [
        result(n, (n + epoch) % 3 == 0).changed(epoch=epoch) for n in range(6) for epoch in (1, 2)
    ]
    (table,) = epoch_tables(count_epochs(luck))
    assert table.title.startswith("Over 2 epochs: pass@k")
    text = table.to_text()
    for part in ("Locating", "@1 33.3", "@2 66.7", "^2 0.0"):
        assert part in text
    assert epoch_tables(()) == []
