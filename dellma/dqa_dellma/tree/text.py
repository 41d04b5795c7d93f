"""The tree of a decision as text: branches on a terminal, indented lines in a pipe.

What others wrote is shown with its control characters spelt out, and is never read as markup.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import typer

from dqa.core.text import counted, visible
from dqa.report.pages import percent
from dqa.report.tables import model_line

if TYPE_CHECKING:
    from rich.tree import Tree

    from dqa_dellma.events import RankingEvent
    from dqa_dellma.tree.decision_tree import (
        ComparedAction,
        DecisionTree,
        JudgedFactor,
        TriedState,
        UnusableReply,
    )

_ACTIONS, _UNFOLDED, _EXTREMES, _FACTORS = 10, 2, 3, 16
_LINE = 500
_ODD = ("omitted", "repeated", "invented", "unreadable")


@dataclass(frozen=True, slots=True)
class _TextNode:
    """A line with what hangs on it."""

    text: str
    children: tuple[_TextNode, ...] = ()
    style: str = ""


def echo_tree(tree: DecisionTree, *, full: bool = False) -> None:
    """Print a tree.

    Parameters
    ----------
    tree
        Made by `dqa_dellma.tree.reading.read_tree`.
    full
        Whether to show every action, state and ranking.
    """
    from rich.console import Console

    root = _TreeText(tree, full=full).root()
    console = Console(highlight=False)
    if console.is_terminal:
        console.print(_painted(root))
    else:
        typer.echo("\n".join(_plain(root, 0)))


def _plain(node: _TextNode, depth: int) -> Iterator[str]:
    yield "  " * depth + visible(node.text)
    for child in node.children:
        yield from _plain(child, depth + 1)


def _painted(node: _TextNode) -> Tree:
    from rich.text import Text
    from rich.tree import Tree

    # `Text` is never read as markup.
    painted = Tree(Text(visible(node.text), node.style), guide_style="dim")
    painted.children = [_painted(child) for child in node.children]
    return painted


class _TreeText:
    """Turns a tree into lines."""

    def __init__(self, tree: DecisionTree, *, full: bool) -> None:
        self._tree = tree
        self._full = full
        self._items = {
            sample.item: f"{action.action} in state {sample.state + 1}"
            for action in tree.actions
            for sample in action.samples
        }

    def root(self) -> _TextNode:
        tree = self._tree
        named = f"{tree.question} | {tree.database} | {tree.decider}"
        parts = (
            _TextNode(self._line(model_line(tree.model)), style="dim"),
            *self._question(),
            self._decision(),
            *self._warnings(),
            self._actions(),
            *self._speaking(),
            *self._beliefs(),
            *self._rankings(),
            *self._failures(),
            *self._rounds(),
            self._context(),
            *self._method(),
        )
        return _TextNode(self._line(named), parts, "bold blue")

    def _question(self) -> Iterator[_TextNode]:
        context = self._tree.context
        if context.goal:
            rules = [self._line(line) for line in context.rules.split("\n") if line.strip()]
            nodes = [_TextNode(f"To choose from: {_listed(context.actions)}")]
            if self._full:
                nodes.append(_TextNode("Rules", tuple(map(_TextNode, rules))))
            title = self._line(f"Question: {' '.join(context.goal.split())}")
            yield _TextNode(title, tuple(nodes), "bold")

    def _decision(self) -> _TextNode:
        chosen = self._tree.chosen
        told = "No decision" if chosen is None else f"Decision: {chosen}"
        why = _TextNode(self._line(self._tree.why))
        return _TextNode(
            self._line(told), (why,), "bold green" if chosen is not None else "bold red"
        )

    def _warnings(self) -> Iterator[_TextNode]:
        if warnings := self._tree.warnings:
            yield _TextNode(f"Not as asked for: {'; '.join(warnings)}", style="yellow")

    def _actions(self) -> _TextNode:
        actions = self._tree.actions
        shown = actions if self._full else actions[:_ACTIONS]
        nodes = [
            self._action(action, unfolded=self._full or number < _UNFOLDED)
            for number, action in enumerate(shown)
        ]
        title = f"Actions ({len(actions)}){self._columns()}"
        return _TextNode(title, self._with_rest(nodes, len(actions), "action"), "bold")

    def _columns(self) -> str:
        if self._tree.level is None:
            return ""
        level = percent(self._tree.level)
        interval = f" [{level}]" if self._tree.has_intervals else ""
        return f": value, which decided{interval}; chance to be best"

    def _action(self, action: ComparedAction, *, unfolded: bool) -> _TextNode:
        samples = sorted(
            (sample for sample in action.samples if sample.utility is not None),
            key=lambda sample: (-(sample.utility or 0.0), sample.item),
        )
        hidden = len(samples) - 2 * _EXTREMES
        shown: Sequence[_TextNode] = ()
        if unfolded and (self._full or hidden <= 1):
            shown = [self._sample(sample) for sample in samples]
        elif unfolded:
            best, worst = samples[:_EXTREMES], samples[-_EXTREMES:]
            gap = _TextNode(f"... {hidden} states in between, --full shows all", style="dim")
            shown = [*map(self._sample, best), gap, *map(self._sample, worst)]
        mark = " <- chosen" if action.action == self._tree.chosen else ""
        style = "green" if mark else ""
        line = self._line(f"{action.action}: {self._figures(action)}{mark}")
        return _TextNode(line, tuple(shown), style)

    def _figures(self, action: ComparedAction) -> str:
        if action.value is None:
            return "no utility"
        told = _number(action.value)
        if action.interval is not None:
            told += f" [{action.interval[0]:.3g}, {action.interval[1]:.3g}]"
        return told if action.chance_best is None else f"{told}, {percent(action.chance_best)}"

    def _sample(self, sample: TriedState) -> _TextNode:
        state = self._tree.states[sample.state]
        named = zip(self._tree.factors, state.values, strict=True)
        values = "; ".join(f"{factor.name}: {value}" for factor, value in named)
        places = ", ".join(f"{place.place} of {place.of}" for place in sample.places)
        line = f"state {sample.state + 1}: utility {_number(sample.utility)}, ranked {places}; "
        return _TextNode(self._line(f"{line}{values} (probability {state.probability:.2g})"))

    def _speaking(self) -> Iterator[_TextNode]:
        tree = self._tree
        if not tree.speaking:
            return
        lines = []
        for one in tree.speaking:
            side = "for" if one.lead > one.elsewhere else "against"
            leads = f"lead {one.lead:.2g} there, {one.elsewhere:.2g} elsewhere"
            lines.append(f"{side}: {one.factor} is {one.value} ({leads}; {one.states} states)")
        title = f"What speaks for {tree.chosen} and against it, beside {tree.runner_up}"
        yield _TextNode(
            self._line(title), tuple(_TextNode(self._line(line)) for line in lines), "bold"
        )

    def _beliefs(self) -> Iterator[_TextNode]:
        factors, states = self._tree.factors, self._tree.states
        if not factors:
            return
        shown = factors if self._full else factors[:_FACTORS]
        nodes = [_TextNode(self._line(_belief(factor))) for factor in shown]
        drawn = counted(len(states), "state was", "states were")
        title = f"Beliefs about {counted(len(factors), 'factor')}; {drawn} drawn from them"
        yield _TextNode(title, self._with_rest(nodes, len(factors), "factor"), "bold")

    def _rankings(self) -> Iterator[_TextNode]:
        tree = self._tree
        if not tree.rankings:
            return
        counts = ", ".join(f"{tree.defects[what]} {what}" for what in _ODD)
        spared = f", {tree.calls_saved} spared" if tree.calls_saved else ""
        title = f"Rankings ({len(tree.rankings)}{spared}): {counts}"
        numbered = list(enumerate(tree.rankings, start=1))
        if self._full:
            nodes = [_TextNode(self._line(self._ranking(*one))) for one in numbered]
        else:
            odd = [one for one in numbered if _is_odd(one[1])]
            nodes = [_TextNode(self._line(_counted(*one))) for one in odd[:_ACTIONS]]
            nodes += [_TextNode("--full shows every ranking", style="dim")]
        yield _TextNode(title, tuple(nodes), "bold")

    def _ranking(self, number: int, ranking: RankingEvent) -> str:
        order = "".join(
            f"{separator}{self._items[item]}"
            for separator, item in zip(_separators(ranking), ranking.items, strict=True)
        )
        return f"{_counted(number, ranking)}: {order or ranking.problem}"

    def _failures(self) -> Iterator[_TextNode]:
        failures = self._tree.failures
        if not failures:
            return
        shown = failures if self._full else failures[:_ACTIONS]
        nodes = [_TextNode(self._line(_failed(one))) for one in shown]
        title = f"Replies that could not be used ({len(failures)})"
        yield _TextNode(title, self._with_rest(nodes, len(failures), "problem"), "bold")

    def _rounds(self) -> Iterator[_TextNode]:
        if not self._tree.rounds:
            return
        lines = [
            f"after {found.calls} rankings the leader is the best with "
            f"{percent(found.probability)}; still in question: {_listed(found.contenders)}"
            for found in self._tree.rounds
        ]
        nodes = [_TextNode(self._line(line)) for line in lines]
        yield _TextNode("Rounds", tuple(nodes), "bold")

    def _context(self) -> _TextNode:
        context = self._tree.context
        nodes = []
        for read in context.statements:
            came = counted(len(read.observation), "character")
            if read.error:
                came = f"failed: {read.error}"
            nodes.append(_TextNode(self._line(f"{' '.join(read.statement.split())} -> {came}")))
        count = counted(len(nodes), "statement")
        if context.left_out:
            names = ", ".join(map(str, context.left_out))
            nodes.append(_TextNode(self._line(f"named in no row, so not compared: {names}")))
        shortened = ", summarised by the model" if context.summarised else ""
        shortened += ", rules summarised by the model" if context.rules_summarised else ""
        title = f"Context: {count}, {counted(len(context.text), 'character')}{shortened}"
        return _TextNode(title, tuple(nodes), "bold")

    def _method(self) -> Iterator[_TextNode]:
        if not self._tree.method:
            return
        settings = (
            f"{name.replace('_', ' ')} {_setting(value)}"
            for name, value in self._tree.method
            if value is not None
        )
        yield _TextNode(self._line("Utilities: " + ", ".join(settings)), style="dim")

    def _with_rest(
        self, nodes: Iterable[_TextNode], count: int, noun: str
    ) -> tuple[_TextNode, ...]:
        listed = tuple(nodes)
        hidden = count - len(listed)
        if not hidden:
            return listed
        rest = f"... {counted(hidden, f'more {noun}')}, --full shows all"
        return (*listed, _TextNode(rest, style="dim"))

    def _line(self, text: str) -> str:
        line = text.replace("\n", " ")
        hidden = len(line) - _LINE
        if self._full or hidden <= 0:
            return visible(line)
        return f"{visible(line[:_LINE])} ... ({hidden:,} more characters, --full shows all)"


def _separators(ranking: RankingEvent) -> Iterator[str]:
    """Yield what stands before each item of a ranking: " = " before one equal to the last."""
    yield from ("" for _ in ranking.ranks[:1])
    for rank, later in pairwise(ranking.ranks):
        yield " = " if rank == later else "; "


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


def _failed(failure: UnusableReply) -> str:
    purpose = f", {failure.purpose}" if failure.purpose else ""
    return f"reply {failure.step}{purpose}: {failure.problem}"


def _listed(actions: Sequence[object]) -> str:
    return (
        counted(len(actions), "action") if len(actions) > _ACTIONS else ", ".join(map(str, actions))
    )


def _is_odd(ranking: RankingEvent) -> bool:
    return bool(ranking.oddities or ranking.problem)


def _counted(number: int, ranking: RankingEvent) -> str:
    ranked = f"{len(ranking.items)} of {len(ranking.shown)}"
    return f"ranking {number} (reply {ranking.step}): {ranked}{ranking.oddities}"


def _setting(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return _number(value) if isinstance(value, float) else str(value)


def _number(number: float | None) -> str:
    return "unknown" if number is None else f"{number:.3g}"
