"""The tree of a decision as indented lines of text, with control characters escaped."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise, starmap

import typer

from dqa.core.text import counted, visible
from dqa.report.pages import percent
from dqa.report.tables import model_line
from dqa_dellma.tree.decision_tree import (
    ComparedAction,
    DecisionTree,
    JudgedFactor,
    StoredRanking,
    TriedState,
)

_MOST, _UNFOLDED, _EXTREMES, _FACTORS = 10, 2, 3, 16
_LINE = 500
_ODD = ("omitted", "repeated", "invented", "unreadable")


def echo_tree(tree: DecisionTree, *, full: bool = False) -> None:
    """Print a tree; with `full` every action, state and ranking."""
    typer.echo(_line(f"{tree.question} | {tree.database} | {tree.decider}", full=full))
    for title, lines in _sections(tree, full=full):
        typer.echo(f"  {_line(title, full=full)}")
        for line in lines:
            typer.echo(f"    {_line(line, full=full)}")


def _line(text: str, *, full: bool) -> str:
    line = text.replace("\n", " ")
    hidden = len(line) - _LINE
    if full or hidden <= 0:
        return visible(line)
    return f"{visible(line[:_LINE])} ... ({hidden:,} more characters, --full shows all)"


def _sections(tree: DecisionTree, *, full: bool) -> Iterator[tuple[str, Sequence[str]]]:
    """Yield titles, each with its lines."""
    context = tree.context
    yield model_line(tree.model), ()
    if context.goal:
        rules = [line for line in context.rules.split("\n") if line.strip()] if full else []
        choice = f"To choose from: {_listed(context.actions)}"
        yield f"Question: {' '.join(context.goal.split())}", [choice, *rules]
    yield "No decision" if tree.chosen is None else f"Decision: {tree.chosen}", [tree.why]
    if tree.warnings:
        yield f"Not as asked for: {'; '.join(tree.warnings)}", ()
    yield f"Actions ({len(tree.actions)}){_columns(tree)}", list(_actions(tree, full=full))
    if tree.speaking:
        title = f"What speaks for {tree.chosen} and against it, beside {tree.runner_up}"
        yield title, list(_speaking(tree))
    if tree.factors:
        drawn = counted(len(tree.states), "state was", "states were")
        title = f"Beliefs about {counted(len(tree.factors), 'factor')}; {drawn} drawn from them"
        yield title, _first(list(map(_belief, tree.factors)), _FACTORS, "factor", full=full)
    if tree.rankings:
        spared = f", {tree.calls_saved} spared" if tree.calls_saved else ""
        counts = ", ".join(f"{tree.defects[what]} {what}" for what in _ODD)
        yield f"Rankings ({len(tree.rankings)}{spared}): {counts}", _rankings(tree, full=full)
    if tree.failures:
        lines = [f"reply {one.step}, {one.purpose}: {one.problem}" for one in tree.failures]
        title = f"Replies that could not be used ({len(lines)})"
        yield title, _first(lines, _MOST, "problem", full=full)
    if tree.rounds:
        yield "Rounds", list(_rounds(tree))
    yield _context_title(tree), list(_context(tree))
    if tree.method:
        settings = [(name.replace("_", " "), value) for name, value in tree.method]
        told = (f"{name} {_figure(value)}" for name, value in settings if value is not None)
        yield f"Utilities: {', '.join(told)}", ()


def _first(lines: Sequence[str], most: int, noun: str, *, full: bool) -> Sequence[str]:
    hidden = 0 if full else len(lines) - most
    if hidden <= 0:
        return lines
    return [*lines[:most], f"... {counted(hidden, f'more {noun}')}, --full shows all"]


def _columns(tree: DecisionTree) -> str:
    if tree.level is None:
        return ""
    interval = f" [{percent(tree.level)}]" if tree.has_intervals else ""
    return f": value, which decided{interval}; chance to be best"


def _actions(tree: DecisionTree, *, full: bool) -> Iterator[str]:
    shown = tree.actions if full else tree.actions[:_MOST]
    for number, action in enumerate(shown):
        mark = " <- chosen" if action.action == tree.chosen else ""
        yield f"{action.action}: {_figures(action)}{mark}"
        if full or number < _UNFOLDED:
            yield from (f"  {line}" for line in _samples(tree, action, full=full))
    if hidden := len(tree.actions) - len(shown):
        yield f"... {counted(hidden, 'more action')}, --full shows all"


def _figures(action: ComparedAction) -> str:
    if action.value is None:
        return "no utility"
    told = _figure(action.value)
    if action.interval is not None:
        told += f" [{action.interval[0]:.3g}, {action.interval[1]:.3g}]"
    return told if action.chance_best is None else f"{told}, {percent(action.chance_best)}"


def _samples(tree: DecisionTree, action: ComparedAction, *, full: bool) -> Sequence[str]:
    most = len(action.samples) if full else 2 * _EXTREMES
    shown, hidden = action.extremes(most)
    lines = [_sample(tree, sample) for sample in shown]
    if hidden:
        lines.insert(_EXTREMES, f"... {hidden} states in between, --full shows all")
    return lines


def _sample(tree: DecisionTree, sample: TriedState) -> str:
    state = tree.states[sample.state]
    named = zip(tree.factors, state.values, strict=True)
    values = "; ".join(f"{factor.name}: {value}" for factor, value in named)
    places = ", ".join(f"{place.place} of {place.of}" for place in sample.places)
    ranked = f"utility {_figure(sample.utility)}, ranked {places}" if places else "in no ranking"
    return f"state {sample.state + 1}: {ranked}; {values} (probability {state.probability:.2g})"


def _speaking(tree: DecisionTree) -> Iterator[str]:
    for one in tree.speaking:
        side = "for" if one.lead > one.elsewhere else "against"
        leads = f"lead {one.lead:.2g} there, {one.elsewhere:.2g} elsewhere"
        yield f"{side}: {one.factor} is {one.value} ({leads}; {one.states} states)"


def _belief(factor: JudgedFactor) -> str:
    about = f" (of {_listed(factor.about)})" if factor.about else ""
    if len(factor.values) == 1:
        return f"{factor.name}{about}: {factor.values[0].name} (certain, the only value)"
    told = []
    for value in factor.values:
        chance = "not judged"
        if value.probability is not None:
            chance = f"{value.words}, {percent(value.probability)}"
        told.append(f"{value.name} ({chance})")
    return f"{factor.name}{about}: {'; '.join(told)}"


def _rankings(tree: DecisionTree, *, full: bool) -> Sequence[str]:
    numbered = list(enumerate(tree.rankings, start=1))
    if not full:
        odd = [one for one in numbered if one[1].oddities or one[1].problem]
        return [*starmap(_counted, odd[:_MOST]), "--full shows every ranking"]
    names = {
        sample.item: f"{action.action} in state {sample.state + 1}"
        for action in tree.actions
        for sample in action.samples
    }
    return [f"{_counted(*one)}: {_order(one[1], names) or one[1].problem}" for one in numbered]


def _counted(number: int, ranking: StoredRanking) -> str:
    ranked = f"{len(ranking.items)} of {len(ranking.shown)}"
    return f"ranking {number} (reply {ranking.step}): {ranked}{ranking.oddities}"


def _order(ranking: StoredRanking, names: dict[int, str]) -> str:
    """Return the items in order, with " = " between equal ones."""
    between = [" = " if rank == later else "; " for rank, later in pairwise(ranking.ranks)]
    items = [names[item] for item in ranking.items]
    return "".join(f"{sign}{item}" for sign, item in zip(["", *between], items, strict=False))


def _rounds(tree: DecisionTree) -> Iterator[str]:
    for found in tree.rounds:
        yield (
            f"after {found.calls} rankings the leader is the best with "
            f"{percent(found.probability)}; still in question: {_listed(found.contenders)}"
        )


def _context_title(tree: DecisionTree) -> str:
    context = tree.context
    statements = counted(len(context.statements), "statement")
    shortened = ", summarised by the model" if context.summarised else ""
    shortened += ", rules summarised by the model" if context.rules_summarised else ""
    return f"Context: {statements}, {counted(len(context.text), 'character')}{shortened}"


def _context(tree: DecisionTree) -> Iterator[str]:
    for read in tree.context.statements:
        result = counted(len(read.observation), "character")
        if read.error:
            result = f"failed: {read.error}"
        yield f"{' '.join(read.statement.split())} -> {result}"
    if tree.context.left_out:
        yield f"named in no row, so not compared: {', '.join(map(str, tree.context.left_out))}"


def _listed(actions: Sequence[object]) -> str:
    if len(actions) > _MOST:
        return counted(len(actions), "action")
    return ", ".join(map(str, actions))


def _figure(value: object) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value)
