"""BIDDER: infer hidden states, explore the future, combine rewards, and decide.

The five steps of the paper are methods that a subclass can replace.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar, Literal

from dqa import plugins
from dqa.core.budgets import ENDLESS
from dqa.core.database import Database
from dqa.core.errors import OutOfBudgetError, UnparsableReplyError, UsageError
from dqa.core.events import WarningEvent
from dqa.core.question import Candidate, Question
from dqa.core.recorder import Recorder
from dqa.deciders.context import check_question
from dqa.deciders.method import Asking, MethodDecider
from dqa.deciders.replies import Choice, Options
from dqa.worlds.base import is_move
from dqa.worlds.world import CHANCE, Position
from dqa_bidder.exploration import Answer, ExploredTree, Node, Tree
from dqa_bidder.replies import EndPayoff, HiddenStates, Payoffs, Probabilities, Unknown, rounded
from dqa_bidder.returns import Returns, aggregate
from dqa_bidder.settings import BidderSettings, TaskSettings
from dqa_bidder.task import METHOD, Task, read_task

Hidden = dict[str, dict[str, str]]
"""By player and name of a hidden variable, the inferred value."""

_MOST_ESTIMATED = 20
"""If a question outside of games has more actions than this, only the most promising are rated."""
_MOST_LISTED = 10
"""If another player has more actions than this, the model rates only the most likely actions."""


def shown(  # noqa: PLR0913
    task: Task,
    asking: Asking,
    position: Position | None = None,
    hidden: Hidden | None = None,
    *,
    root: bool = True,
    public: bool = False,
) -> dict[str, Any]:
    """Return the values that all prompts of BIDDER and its baselines use.

    Parameters
    ----------
    task
        The task.
    asking
        Renders the text of the situation.
    position
        The position that the prompt shows. None means the position of the task.
    hidden
        The inferred states of the other players.
    root
        Whether `position` is the position of the task.
    public
        Whether the prompt shows only what all players know.
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
    """Return the legal actions, and the text that lists them in a prompt."""
    legal = [str(action) for action in actions]
    words = "" if position is None else position.in_words(actions)
    return {"legal": legal, "listed": words or json.dumps(legal, ensure_ascii=False)}


class TaskDecider(MethodDecider[Task]):
    """The base class of BIDDER and its baselines."""

    package = "dqa_bidder"
    looks_ahead: ClassVar[bool] = False
    """Whether the decider explores the results of actions."""

    def check(self, question: Question) -> None:
        """Raise `UsageError` if the question has no actions, or if its moves cannot be explored."""
        if self.looks_ahead:
            _require_look_ahead(question, self.name)
        if not is_move(question):
            check_question(question, METHOD)

    def read(self, question: Question, database: Database, recorder: Recorder) -> Task:
        """Read the task of a question; see `read_task`."""
        own = self.settings.own_as(TaskSettings)
        return read_task(question, database, recorder, self.settings, own.context)

    def choose(self, task: Task, question: Question, asking: Asking) -> Choice:
        """Choose an action. If only one action is legal, the model is not asked."""
        del question
        if len(task.actions) == 1 and not task.form:
            choice = Choice.of(task.actions[0], "It is the only legal action.")
            asking.note("decision", choice)
            return choice
        return self.solve(task, asking)

    def solve(self, task: Task, asking: Asking) -> Choice:
        """Choose one of at least two actions, by default in one reply."""
        return ask_choice("direct", task, asking)

    def choose_at_once(self, task: Task, asking: Asking) -> Choice:
        """Ask for an action with a single request. The steps of the method are omitted."""
        return ask_choice("direct", task, asking)


def ask_choice(
    purpose: str,
    task: Task,
    asking: Asking,
    *,
    label: str = "decision",
    hidden: Hidden | None = None,
    **values: object,
) -> Choice:
    """Ask for one of the task's actions. `purpose` is the name of the prompt."""
    options = Options(task.actions, task.noun, task.form)
    shared = shown(task, asking, None, hidden)
    return asking.ask(purpose, Choice, context=options, label=label, **{**shared, **values})


class Bidder(TaskDecider):
    """The method BIDDER.

    The steps are `infer_hidden` (section 2.1), `expect_actions` (2.2), `estimate_payoffs` and
    `estimate_end` (2.3), `aggregate` (Algorithm 2) and `make_decision` (2.3).
    """

    looks_ahead = True

    @property
    def own(self) -> BidderSettings:
        """The settings of the method."""
        return self.settings.own_as(BidderSettings)

    def infer_hidden(self, task: Task, asking: Asking) -> Hidden:
        """Ask for the most likely value of each hidden variable of the other players."""
        variables = () if task.position is None else task.position.hidden
        requested: dict[str, list[str]] = {}
        for one in variables:
            requested.setdefault(one.player, []).append(one.name)
        values = {**shown(task, asking), "variables": variables, "asked": requested}
        return asking.ask("inference", HiddenStates, context=variables, **values).hidden

    def expect_actions(
        self, task: Task, position: Position, hidden: Hidden, most: int, asking: Asking
    ) -> Mapping[Candidate, float]:
        """Ask for at most `most` likely actions of another player, with their probabilities.

        The prompt omits information that only the decision maker has. The probabilities add up to
        1.
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
        """Ask for the payoffs of actions.

        Payoffs are in the unit of the game. For a question that is not a move, payoffs are from 0
        to 1.
        """
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
        """Ask for the payoff of a terminal state if it depends on hidden values or new cards."""
        values = {
            **shown(task, asking, position, hidden, root=False),
            "range": [rounded(end) for end in position.payoff_range],
        }
        context = position.payoff_range
        return asking.ask("end", EndPayoff, context=context, **values).payoff

    def aggregate(self, tree: Tree) -> Returns:
        """Combine the rewards of each action into the return of the action."""
        return aggregate(tree, self.own.beta, self.own.returns)

    def make_decision(self, task: Task, hidden: Hidden, returns: Returns, asking: Asking) -> Choice:
        """Ask for the decision. The prompt shows the past, the hidden states and the returns."""
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
        return asking.ask("decision", Choice, context=context, **values)

    def solve(self, task: Task, asking: Asking) -> Choice:
        """Decide: carry out the five steps of the method in order."""
        own, hidden, left = self.own, {}, self.own.calls - 1
        if own.inference and left and _can_infer(task.position):
            hidden, left = self.infer_hidden(task, asking), left - 1
        if own.returns == "none":
            return ask_choice("direct", task, asking, hidden=hidden)
        replies = own.replies if own.returns == "expected" else 1
        tree, spent = Tree(own.horizon, own.breadth, replies), None
        try:
            if task.position is None:
                self._estimate(task, tree, asking, left)
            else:
                parallel = own.parallel if self.settings.budget == ENDLESS else 1
                ask = partial(self._ask, task, tree, hidden)
                tree.explore(task.position, ask, asking, (left, parallel))
        except OutOfBudgetError as error:
            spent = error
        tree.normalise()
        explored = tree.found()
        asking.note("exploration", explored)
        _warn(asking, explored, tree.estimates, own)
        returns = self.aggregate(tree)
        asking.note("returns", returns)
        return self._decide(task, hidden, returns, asking, spent)

    def _ask(self, task: Task, tree: Tree, hidden: Hidden, node: Node, asking: Asking) -> Answer:
        if node.of == "reply":
            most = 1 if node.in_turn else tree.replies
            return self.expect_actions(task, node.at, hidden, most, asking)
        if node.of != "own":
            return self.estimate_end(task, node.at, hidden, asking)
        selected = tree.breadth if node.considered is None else None
        unknown = Unknown(node.at, node.unknown, node.known, selected)
        return self.estimate_payoffs(task, unknown, hidden, asking)

    def _estimate(self, task: Task, tree: Tree, asking: Asking, left: int) -> None:
        """Estimate the payoffs of the actions of a question outside of games."""
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
    ) -> Choice:
        """Ask for the decision.

        When the budget is spent, one last request may still be allowed. If it is not allowed, or
        its reply is unusable, take the action with the largest return.
        """
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
        choice = Choice.of(returns.best, "It has the largest return.")
        asking.note("decision", choice)
        return choice


def _can_infer(position: Position | None) -> bool:
    """Return whether hidden states can be inferred: another player must have acted."""
    if position is None or not position.hidden:
        return False
    return any(event.actor not in (position.viewer, CHANCE) for event in position.events)


def _warn(
    asking: Asking, tree: ExploredTree, estimates: Sequence[Payoffs], own: BidderSettings
) -> None:
    """Record warnings about explored states without a usable reply, and about invalid rewards."""

    def warn(about: Literal["calls", "replies", "rewards"], count: int, of: int, text: str) -> None:
        if count:
            step, considered = asking.recorder.steps, of - count
            asking.recorder.warn_once(
                WarningEvent(step=step, about=about, text=text, considered=considered, total=of)
            )

    states = tree.states
    warn(
        "calls",
        tree.unasked,
        states,
        f"The model was not asked about {tree.unasked} of {states} explored states, because of "
        f"bidder.calls={own.calls} or a budget. Raise this limit, or lower bidder.horizon or "
        "bidder.breadth.",
    )
    warn(
        "replies",
        tree.unusable,
        states,
        f"The model gave no usable reply about {tree.unusable} of {states} explored states, "
        "although it was asked again. These states have no rewards.",
    )
    clipped = sum(len(one.clipped) for one in estimates)
    missing = sum(len(one.missing) for one in estimates)
    rewards = sum(len(one.payoffs) + len(one.missing) for one in estimates)
    warn(
        "rewards",
        clipped + missing,
        rewards,
        f"Although the model was asked again, {clipped} of {rewards} rewards were out of range and "
        f"were clipped, and {missing} were missing.",
    )


def _require_look_ahead(question: Question, decider: str) -> None:
    """Raise `UsageError` for a move of a world that does not support looking ahead."""
    world = question.scenario
    if world in plugins.names("world") and not plugins.world(world).foreseen:
        raise UsageError(
            f"The decider '{decider}' looks ahead, but the world '{world}' shows the result of an "
            "action only after the action. Choose direct, cot, reflexion or tree-of-thoughts."
        )
