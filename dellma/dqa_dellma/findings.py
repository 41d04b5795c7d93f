"""The results of DeLLMa's steps, as a trace stores them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Self, TypeAlias

from pydantic import ConfigDict, Field, model_validator

from dqa.core.question import Candidate
from dqa.deciders.replies import Finding
from dqa_dellma.settings import Attitude, Elicitation, Scale

Number: TypeAlias = Annotated[int, Field(ge=0)]
"""A count. Or the number of a state, value, action or item; these numbers start at 0."""


class ContextRead(Finding):
    """The question, the rows that were read, and the compared actions.

    Attributes
    ----------
    goal, rules
        The question and its rules, as every prompt shows them. Both are empty in traces of earlier
        versions.
    actions
        The actions that are compared.
    left_out
        The actions that were not compared, because no row names them. If the rows name fewer than
        two actions, all actions are compared.
    text
        The rows, as every prompt shows them.
    failed, cut
        The number of queries that failed, and the number of results that a limit shortened.
    """

    model_config = ConfigDict(title="context")

    goal: str = ""
    rules: str = ""
    actions: tuple[Candidate, ...]
    left_out: tuple[Candidate, ...] = Field(
        default=(), title="actions left out because no row names them"
    )
    text: str
    failed: Number = Field(title="queries that failed")
    cut: Number = Field(title="results cut by a limit")


class OnlyAction(Finding):
    """The only action of the question; no model was asked."""

    model_config = ConfigDict(title="one action")

    action: Candidate = Field(title="the only action; no model was asked")


class AskedFor(Finding):
    """How many factors the prompt asked for, and how many values of each factor.

    Both numbers are 0 if no model was asked.
    """

    factors: Number = 0
    values: Number = 0


class NamedFactors(Finding):
    """The latent factors: the result of the first step.

    Attributes
    ----------
    factors
        The values of each factor. In the paper, k is the number of factors, and l is the number of
        values of a factor.
    about
        By factor, the actions that it affects. Factors that affect all actions are not listed.
    asked
        The requested number of factors, and the requested number of values of a factor.
    left_out
        The factors beyond the requested number. Later steps do not use them.
    values_left_out
        By factor, the values beyond the requested number. Later steps do not use them.
    unusable
        The number of entries in the reply that have no name or no values, or that repeat a name.
    unplaced
        The number of factors for which the reply does not list the affected actions. Such a factor
        is assumed to affect all actions.
    """

    model_config = ConfigDict(title="unknown factors")

    factors: Mapping[str, tuple[str, ...]] = Field(title="factors")
    about: Mapping[str, tuple[Candidate, ...]] = Field(
        default_factory=dict, title="affecting only some actions"
    )
    asked: AskedFor = Field(default=AskedFor(), title="asked for")
    left_out: tuple[str, ...] = Field(default=(), title="left out")
    values_left_out: Mapping[str, tuple[str, ...]] = Field(
        default_factory=dict, title="values left out"
    )
    unusable: Number = Field(default=0, title="unusable (no name, no values, or a repeated name)")
    unplaced: Number = Field(default=0, title="without a list of affected actions")


class Likelihood(Finding):
    """The likelihood of a value: one of the paper's six phrases, and the value's probability."""

    words: str
    probability: float


class Forecast(Finding):
    """The beliefs: the result of the second step.

    Attributes
    ----------
    beliefs
        By factor, the likelihood of each value.
    ignored
        Names in the model's reply that the prompt did not ask for.
    """

    model_config = ConfigDict(title="beliefs")

    beliefs: Mapping[str, Mapping[str, Likelihood]] = Field(title="likelihood")
    ignored: tuple[str, ...] = Field(default=(), title="not asked for, and ignored")


class DrawnPairs(Finding):
    """The sampled states, and the state-action pairs (items) to rank.

    Attributes
    ----------
    states
        For each state and factor, the number of the factor's value, from 0.
    state_of, action_of
        For each item, the number of its state and the number of its action, both from 0.
    """

    model_config = ConfigDict(title="sampled states")

    states: tuple[tuple[Number, ...], ...]
    state_of: tuple[Number, ...]
    action_of: tuple[Number, ...]


class Ranking(Finding):
    """The ranking of a minibatch.

    Attributes
    ----------
    shown
        The numbers of the items in the minibatch, in the order shown.
    items
        The numbers of the ranked items, best first, without repetition.
    tied
        Groups of `items` that share a rank; the items of a group are adjacent in `items`.
    omitted, repeated, invented
        How many items of the minibatch the reply omits, how many entries repeat an item, and how
        many entries name an item that was not shown.
    explanation
        The model's reasons why the first of `items` is the best.
    problem
        The reason why no reply could be read as a ranking; otherwise empty.
    """

    model_config = ConfigDict(title="ranking")

    shown: tuple[Number, ...]
    items: tuple[Number, ...]
    tied: tuple[tuple[Number, ...], ...] = ()
    omitted: Number = Field(default=0, title="omitted")
    repeated: Number = Field(default=0, title="repeated")
    invented: Number = Field(default=0, title="invented")
    explanation: str = Field(default="", title="why the first is the best")
    problem: str = Field(default="", title="problem")

    @property
    def ranks(self) -> tuple[int, ...]:
        """The rank of each of `items`, from 1; tied items share a rank."""
        rank = {item: rank_ for rank_, item in enumerate(self.items, start=1)}
        rank |= {item: rank[group[0]] for group in self.tied for item in group}
        return tuple(rank[item] for item in self.items)

    @property
    def oddities(self) -> str:
        """The counts above 0, such as ``, 2 omitted, 1 invented``; empty if all are 0."""
        counts = {"omitted": self.omitted, "repeated": self.repeated, "invented": self.invented}
        return "".join(f", {count} {name}" for name, count in counts.items() if count)

    @model_validator(mode="after")
    def _check(self) -> Self:
        if not set(self.items) <= set(self.shown) or len(set(self.items)) < len(self.items):
            raise ValueError("a ranking contains an item twice, or an item that was not shown")
        starts = [self.items.index(group[0]) if group else 0 for group in self.tied]
        for start, group in zip(starts, self.tied, strict=True):
            if len(group) < 2 or self.items[start : start + len(group)] != group:
                raise ValueError("a group of tied items needs at least two adjacent items")
        if len(set(starts)) < len(starts):
            raise ValueError("an item is in two groups of tied items")
        return self


class ActionFigures(Finding):
    """The figures of an action; see `dqa_dellma.utilities.maximisation.Maximised`."""

    action: Candidate
    expected_utility: float | None = None
    value: float | None = None
    interval: tuple[float | None, float | None] = (None, None)
    chance_best: float | None = None
    ranked: Number = 0


class Utilities(Finding):
    """The figures of every action, and the choice.

    Attributes
    ----------
    actions
        The figures of each action.
    level
        The probability that an interval contains the true value.
    scores, utilities
        The score and the utility of each item. The utility is None for an item that is only in
        minibatches without a usable reply.
    unranked
        The number of items without a utility.
    chosen, why
        The decision, and its reason.
    objective
        A description of the function that the scores minimise.
    aversion
        The share of worst states that the attitude ``cvar`` considers; None for ``mean``.
    elicitation, alpha, scale, temperature, attitude
        The settings that were used; see `dqa_dellma.settings.DellmaSettings`.
    """

    model_config = ConfigDict(title="expected utilities")

    actions: tuple[ActionFigures, ...]
    level: float
    scores: tuple[float, ...]
    utilities: tuple[float | None, ...]
    unranked: Number
    chosen: Candidate
    why: str = Field(title="decision")
    elicitation: Elicitation
    objective: str
    alpha: float
    scale: Scale
    temperature: float
    attitude: Attitude
    aversion: float | None

    @model_validator(mode="after")
    def _check(self) -> Self:
        if (self.aversion is None) != (self.attitude == "mean"):
            raise ValueError(
                "the attitude 'mean' has no aversion, and every other attitude needs an aversion"
            )
        return self


class Votes(Finding):
    """The votes of several answers.

    Attributes
    ----------
    votes
        The number of answers that name each action.
    asked
        The number of answers that the model was asked for.
    unreadable
        The number of answers that could not be read, or that do not name exactly one action.
    tied
        The actions that share the largest number of votes. The first of them is chosen. Empty if
        only one action has the largest number.
    """

    model_config = ConfigDict(title="votes")

    votes: Mapping[str, Number] = Field(title="votes")
    asked: Number = Field(title="asked for")
    unreadable: Number = Field(title="unusable")
    tied: tuple[str, ...] = Field(title="tied for most votes; the first is chosen")
