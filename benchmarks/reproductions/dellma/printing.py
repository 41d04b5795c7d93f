"""Print the scores of a replay."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import typer

from dqa.cli.output import echo_json, echo_table, report_defects
from dqa.cli.progress import track
from dqa.core.files import require_folder
from dqa.report.table import Table
from dqa_dellma.release.questions import KNOWN_YEAR

from .records import Score, Yardstick
from .replay import replay
from .rules import BY_ACTION

__all__ = ["show"]

_LEGEND = (
    "accuracy %: with the 95 % Wilson interval, which assumes independent questions. by cluster: "
    "the interval if questions with the same best action tend to be right or wrong together. ties: "
    "the number of questions with tied best actions (of all: all actions tie), and the range of "
    "accuracies over all choices among tied actions. released scripts: the accuracy and utility "
    "that the released scripts calculate for the recorded answers to all 120 questions."
)


def show(release: Path, rules: str, *, verbose: bool, as_json: bool) -> None:
    """Score the recorded answers of a release, and print them with the released scripts' figures.

    Parameters
    ----------
    release, rules
        As in `replay.replay`.
    verbose
        Whether to print every defect of the files, instead of the first ten.
    as_json
        Whether to print JSON instead of tables.
    """
    require_folder(release, "Name the folder of the DeLLMa release.")
    replayed = replay(release, rules, watch=lambda runs: track(runs, "Replaying"))
    report_defects(replayed.defects, verbose)
    record = replayed.record
    if as_json:
        echo_json(record.to_json())
        return
    for yardstick in record.yardsticks:
        scores = [score for score in record.scores if score.dataset == yardstick.dataset]
        echo_table(_overall(scores, yardstick))
        for note in record.notes:
            if note.startswith(yardstick.dataset.capitalize()):
                typer.echo(note)
        echo_table(_by_actions(scores))
    typer.echo(_LEGEND)


def _overall(scores: Sequence[Score], yardstick: Yardstick) -> Table:
    figures = ("questions", "accuracy %", "by cluster", "ties", "utility %", "released scripts")
    rows = [
        [
            *_named(score),
            str(score.questions),
            f"{score.accuracy:.3f} {_interval(score.interval)}",
            _interval(score.clustered_interval),
            _ties(score),
            f"{score.normalised_utility:.3f}",
            _scripts(score),
        ]
        for score in scores
    ]
    for name, accuracy in (
        ("always the first listed", yardstick.first_listed),
        ("chance", yardstick.chance),
    ):
        rows.append([name, "", "", str(yardstick.questions), f"{accuracy:.3f}", "", "", "", ""])
    return Table(f"{yardstick.dataset.capitalize()}: recorded answers", _NAMES, figures, rows)


def _by_actions(scores: Sequence[Score]) -> Table:
    sizes = sorted({part.actions for score in scores for part in score.by_actions})
    rows = []
    for score in scores:
        cells = {
            part.actions: f"{part.accuracy:.1f} / {part.normalised_utility:.1f}"
            for part in score.by_actions
        }
        rows.append([*_named(score), *(cells.get(size, "") for size in sizes)])
    title = "Accuracy % / normalised utility % by number of actions"
    return Table(title, _NAMES, [str(size) for size in sizes], rows)


_NAMES = ("method", "samples", "overlap %")
"""The first columns of each table. If a wide table is split, every part repeats them."""


def _named(score: Score) -> tuple[str, ...]:
    by = ", one softmax" if score.scored_by == "all" and score.dataset in BY_ACTION else ""
    year = f" ({score.year})" if score.year not in {None, KNOWN_YEAR} else ""
    settings = (score.sample_size, score.overlap)
    return f"{score.method}{by}{year}", *("" if x is None else str(x) for x in settings)


def _interval(bounds: tuple[float, float] | None) -> str:
    return "" if bounds is None else f"[{bounds[0]:.1f}, {bounds[1]:.1f}]"


def _ties(score: Score) -> str:
    if not score.tied:
        return ""
    least, most = score.accuracy_by_tie_break
    of_all = f" ({score.all_tied} of all)" if score.all_tied else ""
    return f"{score.tied}{of_all}: {least:.1f} to {most:.1f}"


def _scripts(score: Score) -> str:
    accuracy, utility = score.scripts_accuracy, score.scripts_normalised_utility
    return "" if accuracy is None or utility is None else f"{accuracy:.3f} / {utility:.3f}"
