"""The results of DeLLMa's steps, as a trace holds them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Self, TypeAlias

from pydantic import ConfigDict, Field, model_validator

from dqa.core.question import Candidate
from dqa.deciders.method import Finding
from dqa_dellma.settings import Attitude, Elicitation, Scale

Number: TypeAlias = Annotated[int, Field(ge=0)]
"""Of a state, a value, an action or an item, from 0; or how many there are."""


class ContextRead(Finding):
    """The question, the rows that were read, and the compared actions.

    Attributes
    ----------
    goal, rules
        The question, and its rules as every prompt has them; empty in traces of earlier versions.
    actions
        Those that are compared.
    left_out
        Those that no row names, where rows name two at least.
    text
        The rows as every prompt has them.
    failed, cut
        How many queries could not run, and how many results a limit cut.
    """

    model_config = ConfigDict(title="context")

    goal: str = ""
    rules: str = ""
    actions: tuple[Candidate, ...]
    left_out: tuple[Candidate, ...] = Field(
        default=(), title="actions left out, as no row names them"
    )
    text: str
    failed: Number = Field(title="queries that failed")
    cut: Number = Field(title="results cut by a limit")


class OnlyAction(Finding):
    """The one action that there is: nothing was asked."""

    model_config = ConfigDict(title="one action")

    action: Candidate = Field(title="the only action, so that no model was asked")


class AskedFor(Finding):
    """How many factors, and values of each, a model was asked for; 0 where none was asked."""

    factors: Number = 0
    values: Number = 0


class NamedFactors(Finding):
    """The latent factors, the result of the first step.

    Attributes
    ----------
    factors
        The values of each, k factors of about l values.
    about
        By factor, the actions that it alone bears on; factors that are not in it bear on all.
    asked
        How many were asked for.
    left_out, values_left_out
        Names beyond that: factors, and values by factor.
    unusable
        Entries that are no factor.
    unplaced
        Factors that did not say which of the actions they bear on, and so are taken to bear on all.
    """

    model_config = ConfigDict(title="unknown factors")

    factors: Mapping[str, tuple[str, ...]] = Field(title="factors")
    about: Mapping[str, tuple[Candidate, ...]] = Field(
        default_factory=dict, title="bearing on some actions only"
    )
    asked: AskedFor = Field(default=AskedFor(), title="asked for")
    left_out: tuple[str, ...] = Field(default=(), title="left out")
    values_left_out: Mapping[str, tuple[str, ...]] = Field(
        default_factory=dict, title="values left out"
    )
    unusable: Number = Field(default=0, title="without a name or values, or named twice")
    unplaced: Number = Field(default=0, title="that did not say which actions they bear on")


class Likelihood(Finding):
    """How likely a value is, in one of the six words and as a probability."""

    words: str
    probability: float


class Forecast(Finding):
    """The beliefs, the result of the second step.

    Attributes
    ----------
    beliefs
        By factor, the likelihood of each value.
    ignored
        Names in a model's reply that the prompt does not ask for.
    """

    model_config = ConfigDict(title="beliefs")

    beliefs: Mapping[str, Mapping[str, Likelihood]] = Field(title="likelihood")
    ignored: tuple[str, ...] = Field(default=(), title="not asked for, and ignored")


class DrawnPairs(Finding):
    """State-action pairs of one draw.

    Attributes
    ----------
    states
        For each state the number of every factor's value.
    state_of, action_of
        For each item its state and its action. Items and states of a later draw are numbered on.
    """

    model_config = ConfigDict(title="sampled states")

    states: tuple[tuple[Number, ...], ...]
    state_of: tuple[Number, ...]
    action_of: tuple[Number, ...]


class Ranking(Finding):
    """A minibatch's items from best to worst, as far as they were ranked.

    Attributes
    ----------
    shown
        The minibatch: numbers of all items that it could have ranked, in the order shown.
    items
        Those that it ranks, best first, each once.
    tied
        Groups of them that share a rank: each stands together in `items`.
    omitted, repeated, invented
        How many items were left out, how many places named an item again, and how many named none.
    explanation
        The model's reasons for the first of `items`.
    problem
        Why nothing was ranked, where a model's replies could not be read; else empty.
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
        """The rank of each of `items`, from 1; those that are equal have the same."""
        rank = {item: place for place, item in enumerate(self.items, start=1)}
        rank |= {item: rank[group[0]] for group in self.tied for item in group}
        return tuple(rank[item] for item in self.items)

    @property
    def oddities(self) -> str:
        """The problems of the ranking, as the end of a sentence; empty without one."""
        counts = {"omitted": self.omitted, "repeated": self.repeated, "invented": self.invented}
        return "".join(f", {count} {name}" for name, count in counts.items() if count)

    @model_validator(mode="after")
    def _check(self) -> Self:
        if not set(self.items) <= set(self.shown) or len(set(self.items)) < len(self.items):
            raise ValueError("a ranking ranks an item twice, or one that it was not shown")
        starts = [self.items.index(group[0]) if group else 0 for group in self.tied]
        for start, group in zip(starts, self.tied, strict=True):
            if len(group) < 2 or self.items[start : start + len(group)] != group:
                raise ValueError("equal items have to stand together in a ranking, two at least")
        if len(set(starts)) < len(starts):
            raise ValueError("an item is in two groups of equal ones")
        return self


class ActionFigures(Finding):
    """The figures of an action: see `dqa_dellma.utilities.maximisation.Maximised`."""

    action: Candidate
    expected_utility: float | None = None
    value: float | None = None
    interval: tuple[float | None, float | None] = (None, None)
    chance_best: float | None = None
    ranked: Number = 0


class Method(Finding):
    """How utilities came about.

    Attributes
    ----------
    objective
        The objective of the scores.
    aversion
        None where the attitude has none.
    elicitation, alpha, scale, temperature, attitude
        As in `dqa_dellma.settings.DellmaSettings`.
    """

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
            raise ValueError("every attitude but the mean has an aversion")
        return self


class Utilities(Method):
    """The figures of every action, and the choice.

    Attributes
    ----------
    actions
        The figures of each.
    level
        How often an interval contains the true value.
    scores, utilities
        By item; the utility is None where no ranking showed it.
    unranked
        How many have none.
    chosen, why
        The decision, and the sentence for it.
    """

    model_config = ConfigDict(title="expected utilities")

    actions: tuple[ActionFigures, ...]
    level: float
    scores: tuple[float, ...]
    utilities: tuple[float | None, ...]
    unranked: Number
    chosen: Candidate
    why: str = Field(title="decision")


class Votes(Finding):
    """How several answers agree.

    Attributes
    ----------
    votes
        How many name each action.
    asked
        How many were asked for.
    unreadable
        How many name no action, or several, or could not be read.
    tied
        The actions with as many votes as the first of them, which counts; empty where one leads.
    """

    model_config = ConfigDict(title="votes")

    votes: Mapping[str, Number] = Field(title="votes")
    asked: Number = Field(title="asked for")
    unreadable: Number = Field(title="unusable")
    tied: tuple[str, ...] = Field(title="equal, so that the first counts")
