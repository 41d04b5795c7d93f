"""BIDDER: infer hidden states, explore, add rewards up, and decide by both directions.

The five steps of the paper are methods, so a subclass replaces one of them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

from dqa.core.budgets import ENDLESS
from dqa.core.database import Database
from dqa.core.errors import OutOfBudgetError, UnparsableReplyError
from dqa.core.events import WarningEvent
from dqa.core.question import Candidate, Question
from dqa.core.recorder import Recorder
from dqa.deciders.context import check_question
from dqa.deciders.method import Asking, Choice, MethodDecider, Options
from dqa.deciders.replies import Chosen
from dqa.worlds.base import is_move, require_foreseen
from dqa.worlds.world import CHANCE, Position
from dqa_bidder.exploration import Steps, Tree
from dqa_bidder.replies import (
    EndPayoff,
    HiddenStates,
    Payoffs,
    Probabilities,
    Unknown,
    rounded,
)
from dqa_bidder.returns import Returns, aggregate
from dqa_bidder.settings import BidderSettings, TaskSettings
from dqa_bidder.states import Node
from dqa_bidder.task import METHOD, Task, read_task

Hidden = dict[str, dict[str, str]]
"""The inferred states, by player and name."""

_NOT_LOOKING_AHEAD = "direct, cot, reflexion or tree-of-thoughts"
_MOST_ESTIMATED = 20
"""Actions of a question that is not a move, beyond which the model names the best ones."""
_MOST_LISTED = 10
"""Actions of another player, beyond which the model names the most likely ones."""


def shown(  # noqa: PLR0913
    task: Task,
    asking: Asking,
    position: Position | None = None,
    hidden: Hidden | None = None,
    *,
    root: bool = True,
    public: bool = False,
) -> dict[str, Any]:
    """Return the values that the prompts of the family have in common.

    Parameters
    ----------
    task
        The task.
    asking
        Renders the situation.
    position
        The state that the prompt is about; None for that of the task.
    hidden
        The inferred states of others.
    root
        Whether the state is that of the task.
    public
        Whether the state has nothing that one player alone knows.
    """
    position = position or task.position
    values: dict[str, Any] = {"task": task, "position": position, "hidden": hidden or {}}
    values |= {"root": root, "public": public}
    legal = task.actions if root or position is None else position.actions
    return {
        **values,
        "situation": asking.render("situation", **values),
        "mover": task.mover if position is None else position.mover,
        **_listed(position, legal),
        "form": task.form,
    }


def _listed(position: Position | None, actions: Sequence[Candidate]) -> dict[str, Any]:
    """Return legal actions, and how a prompt lists them."""
    legal = [str(action) for action in actions]
    words = "" if position is None else position.in_words(actions)
    return {"legal": legal, "listed": words or json.dumps(legal, ensure_ascii=False)}


class TaskDecider(MethodDecider[Task]):
    """Base class of the family: reads a question as a `Task`."""

    package = "dqa_bidder"
    looks_ahead: ClassVar[bool] = False
    """Whether it uses what follows from actions."""

    def check(self, question: Question) -> None:
        """Raise `UsageError` for a question without actions, or if looking ahead is impossible."""
        if self.looks_ahead:
            require_foreseen(question, self.name, _NOT_LOOKING_AHEAD)
        if not is_move(question):
            check_question(question, METHOD)

    def read(self, question: Question, database: Database, recorder: Recorder) -> Task:
        """Read the question; see `read_task`."""
        own = self.settings.own_as(TaskSettings)
        return read_task(question, database, recorder, self.settings, own.context)

    def choose(self, task: Task, question: Question, asking: Asking) -> Chosen:
        """Choose; the only legal action needs no model."""
        del question
        if len(task.actions) == 1 and not task.form:
            choice = Choice.only(task.actions[0], "It is the only legal action.")
            asking.note("decision", choice)
            return choice.chosen
        return self.solve(task, asking)

    def solve(self, task: Task, asking: Asking) -> Chosen:
        """Choose one of two actions or more; here in one reply."""
        return ask_choice("direct", task, asking).chosen

    def choose_at_once(self, task: Task, asking: Asking) -> Chosen:
        """Choose in one reply."""
        return ask_choice("direct", task, asking).chosen


def ask_choice(
    purpose: str,
    task: Task,
    asking: Asking,
    *,
    label: str = "decision",
    hidden: Hidden | None = None,
    **values: object,
) -> Choice:
    """Ask for one of the task's actions with a prompt of the family."""
    options = Options(task.actions, task.noun, task.form)
    shared = shown(task, asking, None, hidden)
    return asking.ask(purpose, Choice, context=options, label=label, **{**shared, **values})


class Bidder(TaskDecider):
    """The method.

    Its steps are `infer_hidden` (section 2.1), `expect_actions` (2.2), `estimate_payoffs` and
    `estimate_end` (2.3), `aggregate` (Algorithm 2) and `make_decision` (2.3).
    """

    looks_ahead = True

    @property
    def own(self) -> BidderSettings:
        """Its settings."""
        return self.settings.own_as(BidderSettings)

    def infer_hidden(self, task: Task, asking: Asking) -> Hidden:
        """Ask for the most likely state of everything that others know."""
        variables = () if task.position is None else task.position.hidden
        asked: dict[str, list[str]] = {}
        for one in variables:
            asked.setdefault(one.player, []).append(one.name)
        values = {**shown(task, asking), "variables": variables, "asked": asked}
        return asking.ask("inference", HiddenStates, context=variables, **values).hidden

    def expect_actions(
        self, task: Task, position: Position, hidden: Hidden, most: int, asking: Asking
    ) -> Mapping[Candidate, float]:
        """Ask for the most likely actions of another player, at most so many.

        The prompt has nothing that the viewer alone knows. The probabilities add up to 1.
        """
        label = f"expected move of {position.mover}"
        open_task = replace(task, rows="")
        public = position.for_mover()
        actions = position.actions
        named = most if len(actions) > _MOST_LISTED else None
        values = {
            **shown(open_task, asking, public, hidden, root=False, public=True),
            "several": most > 1,
            "most": named,
        }
        if most == 1:
            context = Options(actions)
            choice = asking.ask("modeling", Choice, context=context, label=label, **values)
            return {choice.action: 1.0}
        rated = Unknown(public, actions, most=named, is_chance=True)
        found = asking.ask("modeling", Probabilities, context=rated, label=label, **values)
        return found.of_most_likely(most)

    def estimate_payoffs(
        self, task: Task, unknown: Unknown, hidden: Hidden, asking: Asking
    ) -> Payoffs:
        """Ask for the payoffs of actions, in the game's own unit; of a question, from 0 to 1."""
        root = unknown.position is None or unknown.position is task.position
        values = {
            **shown(task, asking, unknown.position, hidden, root=root),
            **_listed(unknown.position, unknown.actions),
            "most": unknown.most,
            "certain": {str(action): rounded(value) for action, value in unknown.known.items()},
            "range": [rounded(end) for end in unknown.range],
        }
        return asking.ask("rewards", Payoffs, context=unknown, **values)

    def estimate_end(self, task: Task, position: Position, hidden: Hidden, asking: Asking) -> float:
        """Ask for the payoff of a state in which hidden values or new cards decide it."""
        values = {
            **shown(task, asking, position, hidden, root=False),
            "range": [rounded(end) for end in position.payoff_range],
        }
        context = position.payoff_range
        return asking.ask("end", EndPayoff, context=context, **values).payoff

    def aggregate(self, tree: Tree) -> Returns:
        """Combine rewards to returns."""
        return aggregate(tree, self.own.beta, self.own.returns)

    def make_decision(self, task: Task, hidden: Hidden, returns: Returns, asking: Asking) -> Chosen:
        """Ask for the decision, by the past, the hidden states and the returns."""
        is_mean = self.own.returns != "collected" and returns.horizon > 0
        values = {
            **shown(task, asking, None, hidden),
            "returns": [
                one.model_copy(update={"value": returns.shown(one.value, mean=is_mean)})
                for one in returns.returns
            ],
            "returned": self.own.returns,
            "horizon": returns.horizon,
            "beta": returns.beta,
            "ceiling": rounded(returns.ceiling),
            "scale": [rounded(end) for end in returns.scale],
        }
        context = Options(task.actions, task.noun)
        return asking.ask("decision", Choice, context=context, **values).chosen

    def solve(self, task: Task, asking: Asking) -> Chosen:
        """Take the steps."""
        own, hidden, left = self.own, {}, self.own.calls - 1
        if own.inference and left and _has_shown_something(task.position):
            hidden, left = self.infer_hidden(task, asking), left - 1
        if own.returns == "none":
            return ask_choice("direct", task, asking, hidden=hidden).chosen
        replies = own.replies if own.returns == "expected" else 1
        tree, spent = Tree(own.horizon, own.breadth, replies), None
        try:
            if task.position is None:
                self._estimate(task, tree, asking, left)
            else:
                steps = Steps(
                    lambda at, most, asks: self.expect_actions(task, at, hidden, most, asks),
                    lambda unknown, asks: self.estimate_payoffs(task, unknown, hidden, asks),
                    lambda at, asks: self.estimate_end(task, at, hidden, asks),
                )
                parallel = own.parallel if self.settings.budget == ENDLESS else 1
                tree.explore(task.position, steps, asking, (left, parallel))
        except OutOfBudgetError as error:
            spent = error
        tree.normalise()
        asking.note("exploration", tree.found())
        for warning in _warnings(tree, own):
            asking.recorder.warn_once(warning.model_copy(update={"step": asking.recorder.steps}))
        returns = self.aggregate(tree)
        asking.note("returns", returns)
        return self._decide(task, hidden, returns, asking, spent)

    def _estimate(self, task: Task, tree: Tree, asking: Asking, left: int) -> None:
        """Estimate the actions of a question that is not a move."""
        many = len(task.actions) > _MOST_ESTIMATED
        root = Node(0, "own", 0, task.mover, None, task.actions)
        tree.horizon = 0
        tree.nodes.append(root)
        if left:
            tree.asked = 1
            unknown = Unknown(None, task.actions, most=_MOST_ESTIMATED if many else None)
            found = self.estimate_payoffs(task, unknown, {}, asking)
            tree.estimates.append(found)
            root.rewards, root.asked = dict(found.payoffs), True
            root.considered = tuple(found.payoffs) if many else task.actions

    def _decide(
        self,
        task: Task,
        hidden: Hidden,
        returns: Returns,
        asking: Asking,
        spent: OutOfBudgetError | None,
    ) -> Chosen:
        """Decide; if a budget is spent in one last reply, or else by the largest return."""
        if spent is None:
            try:
                return self.make_decision(task, hidden, returns, asking)
            except OutOfBudgetError as error:
                spent = error
        if asking.recorder.close_by_budget():
            try:
                return self.make_decision(task, hidden, returns, replace(asking, tries=1))
            except UnparsableReplyError:
                if returns.best is None:
                    raise
        if returns.best is None:
            raise spent
        choice = Choice.only(returns.best, "It has the largest return.")
        asking.note("decision", choice)
        return choice.chosen


def _has_shown_something(position: Position | None) -> bool:
    """Whether another player has acted, so that something hidden can be inferred."""
    if position is None or not position.hidden:
        return False
    return any(event.actor not in (position.viewer, CHANCE) for event in position.events)


def _warnings(tree: Tree, own: BidderSettings) -> list[WarningEvent]:
    """Return what readers of the decision need to know: states without an answer, odd rewards."""
    found: list[WarningEvent] = []
    states = len(tree.nodes)
    if tree.unasked:
        found.append(
            WarningEvent(
                about="calls",
                text=f"{tree.unasked} of {states} explored states were not asked about, because of "
                f"bidder.calls={own.calls} or a budget: raise it, or lower bidder.horizon or "
                "bidder.breadth.",
                considered=states - tree.unasked,
                total=states,
            )
        )
    if tree.unusable:
        found.append(
            WarningEvent(
                about="replies",
                text=f"For {tree.unusable} of {states} explored states no reply could be used, "
                "however often the model was asked again: they are left without an answer.",
                considered=states - tree.unusable,
                total=states,
            )
        )
    clipped = sum(len(one.clipped) for one in tree.estimates)
    missing = sum(len(one.missing) for one in tree.estimates)
    if clipped or missing:
        total = sum(len(one.payoffs) + len(one.missing) for one in tree.estimates)
        found.append(
            WarningEvent(
                about="rewards",
                text=f"Of {total} rewards {clipped} were outside of their range and were clipped, "
                f"and {missing} were missing, although the model was asked again.",
                considered=total - clipped - missing,
                total=total,
            )
        )
    return found
