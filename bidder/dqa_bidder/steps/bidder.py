"""BIDDER: infer, explore, aggregate, decide (section 2)."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Protocol

from dqa.core.budgets import ENDLESS, DecisionBudget
from dqa.core.errors import OutOfBudgetError, UnparsableReplyError
from dqa.core.events import WarningEvent
from dqa.core.recorder import Recorder
from dqa.deciders.actions import Chosen
from dqa.models.conversation import Conversation
from dqa_bidder.asking import Asker
from dqa_bidder.events import (
    ChosenEvent,
    HiddenState,
    HiddenStatesEvent,
    ReturnsEvent,
)
from dqa_bidder.settings import BidderSettings
from dqa_bidder.steps.aggregation import BellmanAggregation, RewardAggregation, largest_return
from dqa_bidder.steps.decision import AskedDecision, DecisionMaking
from dqa_bidder.steps.exploration import Exploration, Node, Tree
from dqa_bidder.steps.inference import AskedInference, HiddenStateInference
from dqa_bidder.steps.modeling import AskedModeling, OpponentModeling
from dqa_bidder.steps.rewards import AskedRewards, Estimated, RewardEstimation, Unknown
from dqa_bidder.task import Task

_MOST_ESTIMATED = 20
"""Actions of a question that is no move, beyond which the model names the most promising ones."""


class Chooser(Protocol):
    """Decides tasks."""

    def choose(
        self, task: Task, conversation: Conversation, budget: DecisionBudget = ENDLESS
    ) -> Chosen:
        """Decide a task of two actions at least.

        Parameters
        ----------
        task
            What is decided.
        conversation
            What a model is asked in; its recorder keeps what was found.
        budget
            What the decision may cost.

        Raises
        ------
        UnparsableReplyError
            The model's replies decide nothing.
        InfrastructureError, BudgetSpentError
            As `Conversation.ask` raises them.
        """
        ...


@dataclass(frozen=True, slots=True)
class Steps:
    """The steps of BIDDER; each can be replaced by anything of its protocol.

    Attributes
    ----------
    inference
        A history to hidden states (section 2.1).
    modeling
        Hidden states and a trajectory to what another player does (section 2.2).
    rewards
        A state to what its actions are worth (section 2.3).
    aggregation
        Rewards to returns (Algorithm 2).
    decision
        Past, hidden states and returns to the decision (section 2.3).
    """

    inference: HiddenStateInference = field(default_factory=AskedInference)
    modeling: OpponentModeling = field(default_factory=AskedModeling)
    rewards: RewardEstimation = field(default_factory=AskedRewards)
    aggregation: RewardAggregation = field(default_factory=BellmanAggregation)
    decision: DecisionMaking = field(default_factory=AskedDecision)


class Bidder:
    """The method; see `Chooser`.

    Parameters
    ----------
    settings
        What it does.
    steps
        Its steps; None for the paper's.
    """

    def __init__(self, settings: BidderSettings, steps: Steps | None = None) -> None:
        self._settings = settings
        self._steps = steps or Steps()

    def choose(
        self, task: Task, conversation: Conversation, budget: DecisionBudget = ENDLESS
    ) -> Chosen:
        """Infer, explore, aggregate, and decide."""
        own, recorder = self._settings, conversation.recorder
        asker = Asker(conversation, own.calls, own.parallel if budget == ENDLESS else 1)
        hidden = self._infer(task, asker)
        tree, spent = self._look_ahead(task, hidden, asker)
        for told in tree.modeled():
            recorder.note(told.model_copy(update={"step": recorder.steps}))
        recorder.note(tree.to_event().model_copy(update={"step": recorder.steps}))
        for warning in _warnings(tree, own):
            recorder.warn_once(warning.model_copy(update={"step": recorder.steps}))
        found = self._aggregate(tree, recorder)
        chosen = self._decide(task, hidden, found, conversation, spent)
        follows = None if found.best is None else chosen.action == found.best
        recorder.note(
            ChosenEvent(
                step=recorder.steps,
                action=chosen.action,
                reasoning=chosen.reasoning,
                follows_returns=follows,
            )
        )
        return chosen

    def _infer(self, task: Task, asker: Asker) -> tuple[HiddenState, ...]:
        """Infer what is hidden, if anything is and it may be asked."""
        if task.position is None or not task.position.hidden or not asker.left:
            return ()
        hidden = asker.ask(lambda conversation: self._steps.inference.infer(task, conversation))
        recorder = asker.conversation.recorder
        recorder.note(HiddenStatesEvent(step=recorder.steps, hidden=hidden, events=task.played))
        return hidden

    def _look_ahead(
        self, task: Task, hidden: tuple[HiddenState, ...], asker: Asker
    ) -> tuple[Tree, OutOfBudgetError | None]:
        """Return what may follow, and what ended it where a budget did."""
        steps, own = self._steps, self._settings
        if task.position is None:
            return _estimated(task, steps.rewards, asker)
        exploration = Exploration(
            task, hidden, steps.modeling, steps.rewards, (own.horizon, own.breadth)
        )
        try:
            exploration.explore(task.position, asker)
        except OutOfBudgetError as error:
            return exploration.tree(asker), error
        return exploration.tree(asker), None

    def _decide(
        self,
        task: Task,
        hidden: tuple[HiddenState, ...],
        found: ReturnsEvent,
        conversation: Conversation,
        spent: OutOfBudgetError | None,
    ) -> Chosen:
        """Decide; where a budget is spent in one last reply, or else by the largest return."""
        decide = self._steps.decision.decide
        if spent is None:
            try:
                return decide(task, hidden, found, conversation)
            except OutOfBudgetError as error:
                spent = error
        if conversation.recorder.close_by_budget():
            try:
                return decide(task, hidden, found, replace(conversation, max_failures=1))
            except UnparsableReplyError:
                if found.best is None:
                    raise
        if found.best is None:
            raise spent
        return Chosen(str(found.best), found.best)

    def _aggregate(self, tree: Tree, recorder: Recorder) -> ReturnsEvent:
        returns = self._steps.aggregation.aggregate(tree, self._settings.beta)
        known = [(one.value, one.action) for one in returns if one.value is not None]
        best = max(known, key=lambda pair: pair[0])[1] if known else None
        found = ReturnsEvent(
            step=recorder.steps,
            returns=returns,
            horizon=tree.horizon,
            beta=self._settings.beta,
            ceiling=largest_return(tree.horizon, self._settings.beta),
            best=best,
        )
        recorder.note(found)
        return found


def _estimated(
    task: Task, rewards: RewardEstimation, asker: Asker
) -> tuple[Tree, OutOfBudgetError | None]:
    """Return the tree of a question that is no move: its actions, and what each is worth."""
    root = Node(0, "own", 0, task.mover, None, task.actions)
    told: tuple[Estimated, ...] = ()
    spent: OutOfBudgetError | None = None
    if asker.left:
        try:
            many = len(task.actions) > _MOST_ESTIMATED
            unknown = Unknown(None, task.actions, most=_MOST_ESTIMATED if many else None)
            estimated = asker.ask(
                lambda conversation: rewards.estimate(task, unknown, (), conversation)
            )
            root.rewards, root.asked = dict(estimated.rewards), True
            root.considered = tuple(estimated.rewards) if many else task.actions
            told = (estimated,)
        except OutOfBudgetError as error:
            spent = error
    return Tree([root], 0, asker.made, told), spent


def _warnings(tree: Tree, own: BidderSettings) -> list[WarningEvent]:
    """Return what the decision has to be read with: states without an answer, odd rewards."""
    found: list[WarningEvent] = []
    if tree.unasked:
        states = len(tree.nodes)
        found.append(
            WarningEvent(
                about="calls",
                text=f"{tree.unasked} of {states} explored states were not asked about, as "
                f"bidder.calls={own.calls} or a budget ended it: raise it, or lower "
                "bidder.horizon or bidder.breadth.",
                considered=states - tree.unasked,
                total=states,
            )
        )
    if tree.unusable:
        states = len(tree.nodes)
        found.append(
            WarningEvent(
                about="replies",
                text=f"About {tree.unusable} of {states} explored states no reply could be used, "
                "however often the model was asked again: they are left without an answer.",
                considered=states - tree.unusable,
                total=states,
            )
        )
    clipped = sum(len(one.clipped) for one in tree.estimates)
    missing = sum(len(one.missing) for one in tree.estimates)
    if clipped or missing:
        total = sum(len(one.rewards) + len(one.missing) for one in tree.estimates)
        found.append(
            WarningEvent(
                about="rewards",
                text=f"Of {total} rewards {clipped} lay outside of 0 to 1 and were clipped, and "
                f"{missing} were not given, whatever the model was asked again.",
                considered=total - clipped - missing,
                total=total,
            )
        )
    return found
