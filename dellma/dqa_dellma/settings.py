"""The settings of DeLLMa and its baselines, with the paper's as defaults (section 4)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal, Self, TypeAlias

from pydantic import Field, model_validator

from dqa.deciders.method import MethodSettings

Elicitation: TypeAlias = Literal["pairs", "top1"]
"""How a ranking becomes preferences: every pair of it (Rank2Pairs), or its first (One-vs-All)."""
Attitude: TypeAlias = Literal["mean", "cvar", "exponential"]
"""What of an action's utilities decides."""
Scale: TypeAlias = Literal["all", "action"]
Draws: TypeAlias = Literal["stratified", "independent"]
"""How states are drawn from beliefs; see `dqa_dellma.utilities.beliefs.sample_states`."""

_Samples = Annotated[
    int,
    Field(
        ge=1,
        description="state samples of each action; of all actions together where states are not "
        "shared",
    ),
]
# Beyond these bounds nothing is left of the scores, or of their differences.
_Alpha = Annotated[
    float, Field(ge=1e-10, le=1e3, description="regularisation of the Bradley-Terry model")
]


class DirectSettings(MethodSettings):
    """The settings of every decider of the family."""

    context: int = Field(
        default=40_000,
        ge=1_000,
        description="most characters of the task that every prompt begins with: goal, actions, "
        "rules and rows; rows that do not fit are left out",
    )


class VotingSettings(DirectSettings):
    """The settings of self-consistency."""

    votes: int = Field(default=5, ge=1, description="K, how often the model is asked")
    temperature: float = Field(default=0.5, ge=0.0, le=2.0, description="of each vote")


class DellmaSettings(DirectSettings):
    """The settings of DeLLMa; the defaults are those of DeLLMa-Pairs."""

    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "paper": {"draws": "independent", "ties": False, "states": "whole"}
    }

    preset: Literal["default", "paper"] = Field(
        default="default",
        description="paper: draws=independent, ties=false and states=whole, as in the paper",
    )
    states: Literal["bearing", "whole"] = Field(
        default="bearing",
        description="what a ranked item shows of its state: the factors that bear on its action, "
        "or all (whole, as in the paper)",
    )
    general: int = Field(
        default=2,
        ge=0,
        description="how many latent factors that bear on all actions are asked for",
    )
    own: int = Field(
        default=2, ge=0, description="how many of each action's own latent factors are asked for"
    )
    factors: int = Field(
        default=16, ge=1, description="k, the most latent factors that are asked for in all"
    )
    values: int = Field(default=3, ge=2, description="l, how many values each factor has")
    samples: _Samples = 64
    draws: Draws = Field(
        default="stratified",
        description="how states are drawn from the beliefs: each value as often as it is believed "
        "(stratified), or each state by itself (independent, as in the paper)",
    )
    batch: int = Field(
        default=32, ge=2, description="items of a minibatch, where states are shared"
    )
    overlap: float = Field(
        default=0.25,
        ge=0.0,
        lt=1.0,
        description="proportion of a minibatch that the next one shares",
    )
    ties: bool = Field(
        default=True,
        description="whether a ranking may call items equal; false asks for a strict order, as in "
        "the paper",
    )
    elicitation: Elicitation = Field(default="pairs", description="how rankings become preferences")
    shared: bool = Field(
        default=True,
        description="whether all actions are paired with the same states (variance reduction) and "
        "ranked in minibatches; else each has states of its own, all ranked in one batch",
    )
    alpha: _Alpha = 2e-3
    scale: Scale = Field(
        default="all",
        description="scores become utilities by a softmax over all items, or within an action",
    )
    temperature: float = Field(default=1.0, ge=1e-3, le=1e3, description="of that softmax")
    attitude: Attitude = Field(
        default="mean",
        description="what of an action's utilities decides: the mean, the mean of the worst share "
        "(CVaR), or the certainty equivalent of an exponential utility",
    )
    aversion: float = Field(
        default=0.2,
        ge=1e-6,
        le=1e3,
        description="the worst share for cvar, at most 1; the risk aversion for exponential",
    )
    seed: int = Field(default=0, ge=0, description="of samples, shuffles and draws")

    @model_validator(mode="after")
    def _check(self) -> Self:
        """Refuse contradictory settings before any request."""
        if self.attitude == "cvar" and self.aversion > 1.0:
            raise ValueError("attitude=cvar needs an aversion of at most 1: it is a share.")
        if self.attitude != "mean" and self.scale != "all":
            raise ValueError(
                f"attitude={self.attitude} needs scale=all: utilities scaled within each action "
                "have no states to be careful about."
            )
        if not self.general and not self.own:
            raise ValueError(
                "general=0 and own=0 ask for no factor, and a state needs one at least."
            )
        if self.samples < 2 and not self.shared:
            raise ValueError(
                "states that are not shared need 2 samples or more: one is no ranking."
            )
        return self


class Top1Settings(DellmaSettings):
    """DeLLMa-Top1: each ranking's first against the rest."""

    elicitation: Elicitation = "top1"
    alpha: _Alpha = 1e-3


class NaiveSettings(DellmaSettings):
    """DeLLMa-Naive: 50 states of all actions together, ranked in one batch."""

    shared: bool = False
    samples: _Samples = 50
    alpha: _Alpha = 1e-3
