"""Print the tree of a decision as indented lines, with control characters escaped."""

from __future__ import annotations

from collections.abc import Iterator

import typer

from dqa.core.text import visible
from dqa.report.pages import percent
from dqa.report.spending import model_line
from dqa_dellma.findings import ActionFigures
from dqa_dellma.tree.decision_tree import DecisionTree

_LINE = 500
"""The maximum number of characters of a line."""


def echo_tree(tree: DecisionTree) -> None:
    """Print the decision, its reason and the actions."""
    for line in _lines(tree):
        text = line.replace("\n", " ")
        typer.echo(visible(text if len(text) <= _LINE else f"{text[:_LINE]}..."))


def _lines(tree: DecisionTree) -> Iterator[str]:
    yield f"{tree.question} | {tree.database} | {tree.decider}"
    yield f"  {model_line(tree.model)}"
    if tree.context is not None and tree.context.goal:
        yield f"  Question: {' '.join(tree.context.goal.split())}"
    yield "  No decision" if tree.chosen is None else f"  Decision: {tree.chosen}"
    yield f"    {tree.why}"
    if tree.warnings:
        yield f"  Warnings: {'; '.join(tree.warnings)}"
    level = percent(tree.utilities.level) if tree.utilities else ""
    columns = f" [{level} interval], probability of being best" if level else ""
    yield f"  Actions ({len(tree.branches)}): value{columns}"
    for branch in tree.branches:
        mark = " <- chosen" if branch.action == tree.chosen else ""
        yield f"    {branch.action}: {_figures(branch.figures)}{mark}"
    yield "  Use --html FILE or --json to see beliefs, states, rankings and statements."


def _figures(figures: ActionFigures) -> str:
    if figures.value is None:
        return "no utility"
    low, high = figures.interval
    interval = "" if low is None or high is None else f" [{low:.3g}, {high:.3g}]"
    chance = "" if figures.chance_best is None else f", {percent(figures.chance_best)}"
    return f"{figures.value:.3g}{interval}{chance}"
