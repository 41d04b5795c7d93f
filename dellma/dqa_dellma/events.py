"""DeLLMa's own events: what its steps found, as a trace holds it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, model_validator

from dqa.core.events import Event
from dqa.core.question import Candidate
from dqa_dellma.settings import Attitude, Elicitation, Scale

Number: TypeAlias = Annotated[int, Field(ge=0)]
"""Of a state, a value, an action or an item, from 0; or how many there are."""


class _Told(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class ContextEvent(Event):
    """What is asked, what was read, and what is compared.

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
    summarised, rules_summarised
        Whether rows, and rules, were too long and are the model's summaries.
    failed, cut
        How many queries could not run, and how many results a limit cut.
    """

    kind: Literal["context"] = "context"
    goal: str = ""
    rules: str = ""
    actions: tuple[Candidate, ...]
    left_out: tuple[Candidate, ...] = ()
    text: str
    summarised: bool
    rules_summarised: bool = False
    failed: Number
    cut: Number


class Finding(Event):
    """What a step found: a run that begins anew finds it anew.

    Steps return findings without caring for `step`: `at` gives it to them.
    """

    def at(self, step: int) -> Self:
        """Return the same finding, after reply number `step`."""
        return self.model_copy(update={"step": step})


class OnlyActionEvent(Finding):
    """The one action that there is: nothing was asked."""

    kind: Literal["only_action"] = "only_action"
    action: Candidate


class AskedFor(_Told):
    """How many factors, and values of each, a model was asked for; 0 where none was asked."""

    factors: Number = 0
    values: Number = 0


class FactorsEvent(Finding):
    """The latent factors: what the first step finds.

    Attributes
    ----------
    factors
        The values of each, k factors of about l values.
    about
        By factor, the actions that it alone bears on; factors that are not in it bear on all.
    asked
        How many were asked for.
    left_out, values_left_out
        What was named beyond that: factors, and values by factor.
    unusable
        Entries that are no factor.
    unplaced
        Factors that did not say which of the actions they bear on, and so are taken to bear on all.
    """

    kind: Literal["factors"] = "factors"
    factors: Mapping[str, tuple[str, ...]]
    about: Mapping[str, tuple[Candidate, ...]] = {}
    asked: AskedFor = AskedFor()
    left_out: tuple[str, ...] = ()
    values_left_out: Mapping[str, tuple[str, ...]] = {}
    unusable: Number = 0
    unplaced: Number = 0


class Likelihood(_Told):
    """How likely a value is, in one of the six words and as a probability."""

    words: str
    probability: float


class ForecastEvent(Finding):
    """What is believed: what the second step finds.

    Attributes
    ----------
    beliefs
        By factor, how likely each value is.
    ignored
        Names in a model's reply that nobody asked about.
    """

    kind: Literal["forecast"] = "forecast"
    beliefs: Mapping[str, Mapping[str, Likelihood]]
    ignored: tuple[str, ...] = ()


class PairsEvent(Finding):
    """State-action pairs of one draw.

    Attributes
    ----------
    states
        For each state the number of every factor's value.
    state_of, action_of
        For each item its state and its action. Items and states of a later draw are numbered on.
    """

    kind: Literal["pairs"] = "pairs"
    states: tuple[tuple[Number, ...], ...]
    state_of: tuple[Number, ...]
    action_of: tuple[Number, ...]


class RankingEvent(Finding):
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
    problem
        Why nothing was ranked, where a model's replies could not be read; else empty.
    """

    kind: Literal["ranking"] = "ranking"
    shown: tuple[Number, ...]
    items: tuple[Number, ...]
    tied: tuple[tuple[Number, ...], ...] = ()
    omitted: Number = 0
    repeated: Number = 0
    invented: Number = 0
    problem: str = ""

    @property
    def ranks(self) -> tuple[int, ...]:
        """The rank of each of `items`, from 1; those that are equal have the same."""
        rank = {item: place for place, item in enumerate(self.items, start=1)}
        rank |= {item: rank[group[0]] for group in self.tied for item in group}
        return tuple(rank[item] for item in self.items)

    @property
    def oddities(self) -> str:
        """What is wrong with it, as the end of a sentence; empty where nothing is."""
        counts = {"omitted": self.omitted, "repeated": self.repeated, "invented": self.invented}
        return "".join(f", {count} {name}" for name, count in counts.items() if count)

    @model_validator(mode="after")
    def _check(self) -> Self:
        if not set(self.items) <= set(self.shown):
            raise ValueError("a ranking ranks what it was not shown")
        starts = [self.items.index(group[0]) if group else 0 for group in self.tied]
        for start, group in zip(starts, self.tied, strict=True):
            if len(group) < 2 or self.items[start : start + len(group)] != group:
                raise ValueError("equal items have to stand together in a ranking, two at least")
        if len(set(starts)) < len(starts):
            raise ValueError("an item is in two groups of equal ones")
        return self


class ConfidenceEvent(Finding):
    """Where an adaptive run stands after a round of rankings.

    Attributes
    ----------
    probability
        That the action that leads is the best.
    contenders
        The actions that go on.
    calls, calls_saved
        Minibatches ranked so far, and those that are spared by stopping here.
    """

    kind: Literal["confidence"] = "confidence"
    probability: float
    contenders: tuple[Candidate, ...]
    calls: Number
    calls_saved: Number


class ActionFigures(_Told):
    """What the rankings say of an action: see `dqa_dellma.utilities.maximisation.Maximised`."""

    action: Candidate
    expected_utility: float | None
    value: float | None
    interval: tuple[float | None, float | None]
    chance_best: float | None
    ranked: Number


class Method(_Told):
    """How utilities came about.

    Attributes
    ----------
    objective
        What the scores minimise.
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


class UtilitiesEvent(Finding, Method):
    """What the rankings say of every action, and which is chosen.

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

    kind: Literal["utilities"] = "utilities"
    actions: tuple[ActionFigures, ...]
    level: float
    scores: tuple[float, ...]
    utilities: tuple[float | None, ...]
    unranked: Number
    chosen: Candidate
    why: str

    @model_validator(mode="before")
    @classmethod
    def _read_old(cls, data: Any) -> Any:  # noqa: ANN401  (what a trace contains)
        """Read version 0.4 and earlier, which had a posterior and could decide by it.

        Intervals and chances of the posterior were too certain, so they are left out.
        """
        if not isinstance(data, dict) or "rule" not in data:
            return data
        decided = "estimate" if data["rule"] == "posterior" else "value"
        unknown = {"interval": (None, None), "chance_best": None}
        try:
            actions = [{**one, "value": one[decided], **unknown} for one in data["actions"]]
            for one in actions:
                del one["estimate"]
        except (KeyError, TypeError) as error:
            raise ValueError(f"not the figures of actions: {error}") from error
        dropped = {"rule", "state_spread", "factor_effects"}
        return {k: v for k, v in data.items() if k not in dropped} | {"actions": actions}


class VotesEvent(Finding):
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

    kind: Literal["votes"] = "votes"
    votes: Mapping[str, Number]
    asked: Number
    unreadable: Number
    tied: tuple[str, ...]


EVENTS: tuple[type[Event], ...] = (
    ContextEvent,
    OnlyActionEvent,
    FactorsEvent,
    ForecastEvent,
    PairsEvent,
    RankingEvent,
    ConfidenceEvent,
    UtilitiesEvent,
    VotesEvent,
)
"""What the entry point ``dqa.events`` names."""
