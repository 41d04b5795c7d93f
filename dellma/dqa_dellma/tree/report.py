"""The trees of a whole run as pages: one a decision, and an index that links them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from dqa.core.errors import UsageError
from dqa.core.files import make_private_folder, problem_of_path, require_new_folder
from dqa.core.question import Candidate
from dqa.core.text import counted
from dqa.evaluation.keys import DecisionKey
from dqa.evaluation.results import Outcome, Result
from dqa.evaluation.traces import Trace
from dqa.models.registry import is_scripted
from dqa.report.pages import rendered, write_page
from dqa_dellma.tree.decision_tree import DecisionTree
from dqa_dellma.tree.page import write_tree
from dqa_dellma.tree.reading import has_tree, read_tree

INDEX = "index.html"
_LONGEST = 80
_UNSAFE = re.compile(r"[^A-Za-z0-9]+")


@dataclass(frozen=True, slots=True)
class _Row:
    """A decision in the index: with its tree on a page, or why that cannot be shown."""

    trace: Trace
    result: Result | None
    page: str
    tree: DecisionTree | None = None
    problem: str = ""

    @property
    def chosen(self) -> Candidate | None:
        return self.trace.choice if self.tree is None else self.tree.chosen

    @property
    def chance(self) -> float | None:
        """That the choice is the best."""
        if self.tree is None or self.tree.chosen is None:
            return None
        return self.tree.actions[0].chance_best

    @property
    def best(self) -> tuple[Candidate, ...]:
        """What would have been right, where the choice was wrong."""
        wrong = self.result is not None and self.result.outcome is Outcome.WRONG
        return self.result.ties if self.result is not None and wrong else ()


def write_tree_report(
    traces: Sequence[Trace],
    results: Mapping[DecisionKey, Result],
    folder: Path,
    watch: Callable[[Sequence[Trace]], Iterable[Trace]] = iter,
) -> tuple[str, ...]:
    """Write a page for every tree of a run, and `INDEX`, which links them.

    Every file is whole in itself, and opens offline. Its name is a number with whatever is safe of
    question, database and decider, so two runs of the same plan name it alike.

    Parameters
    ----------
    traces
        The run; those without a tree are counted in the index.
    results
        What is known of the decisions' worth, by the traces' keys.
    folder
        Where to write; made where it is missing.
    watch
        Passes on the traces and reports progress.

    Returns
    -------
    Of each tree that cannot be shown, why; the index has these sentences too.

    Raises
    ------
    UsageError
        No trace has a tree, the folder holds something, or it cannot be written.
    """
    wanted = [trace for trace in traces if has_tree(trace)]
    if not wanted:
        raise UsageError(
            f"None of "
            f"{counted(len(traces), 'run')} has a decision tree: only DeLLMa's deciders (dellma-*) "
            "write one down, once they have read their context. 'dqa trace' shows what was done."
        )
    _make_empty(folder)
    width = len(str(len(wanted)))
    rows = []
    for number, trace in enumerate(watch(wanted), start=1):
        name = f"{number:0{width}}-{_safe('-'.join(trace.key.requester))}.html"
        rows.append(_written(trace, results.get(trace.key), folder / name))
    judged = [r.result for r in rows if r.result is not None and r.result.outcome.judged]
    page = rendered(
        "dqa_dellma",
        "tree/report.html",
        rows=rows,
        models=sorted({row.trace.model for row in rows}),
        scripted=any(is_scripted(row.trace.model) for row in rows),
        treeless=len(traces) - len(wanted),
        judged=len(judged),
        correct=sum(result.outcome is Outcome.CORRECT for result in judged),
    )
    write_page(page, folder / INDEX)
    return tuple(row.problem for row in rows if row.problem)


def _written(trace: Trace, result: Result | None, file: Path) -> _Row:
    """Write a tree's page and return its row; one that cannot be read costs no other its page."""
    try:
        tree = read_tree(trace)
    except UsageError as error:
        return _Row(trace, result, file.name, problem=str(error))
    write_tree(tree, file, INDEX)
    return _Row(trace, result, file.name, tree)


def _make_empty(folder: Path) -> None:
    require_new_folder(folder)
    try:
        make_private_folder(folder)
    except OSError as error:
        raise UsageError(f"{problem_of_path(folder, error)}.") from error


def _safe(name: str) -> str:
    """Return a name that every file system takes, however odd it was."""
    return _UNSAFE.sub("-", name).strip("-")[:_LONGEST].rstrip("-").lower() or "tree"
