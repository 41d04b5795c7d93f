"""The settings of DeLLMa and its baselines (section 4)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal, Self, TypeAlias

from pydantic import Field, model_validator

from dqa.deciders.method import MethodSettings

Elicitation: TypeAlias = Literal["pairs", "top1"]
"""How preferences are derived from a ranking.

``pairs`` compares every pair of ranked items (Rank2Pairs). ``top1`` compares the best item with the
rest (One-vs-All).
"""
Attitude: TypeAlias = Literal["mean", "cvar"]
"""The attitude to risk: how an action's utilities are combined into its value."""
Scale: TypeAlias = Literal["all", "action"]
Draws: TypeAlias = Literal["stratified", "independent"]
"""How states are drawn from beliefs; see `dqa_dellma.utilities.beliefs.sample_states`."""

_Samples = Annotated[
    int,
    Field(
        ge=1,
        description="number of sampled states; if states are not shared, this number is divided "
        "among the actions",
    ),
]
# Outside these bounds, rounding removes the scores or their differences.
_Alpha = Annotated[
    float, Field(ge=1e-10, le=1e3, description="regularisation of the Bradley-Terry model")
]


class DirectSettings(MethodSettings):
    """The settings that DeLLMa and its baselines share."""

    context: int = Field(
        default=40_000,
        ge=1_000,
        description="maximum number of characters of the goal, actions, rules and rows at the "
        "start of every prompt; rows that do not fit are left out",
    )


class VotingSettings(DirectSettings):
    """The settings of self-consistency."""

    votes: int = Field(default=5, ge=1, description="K, the number of answers to ask for")
    temperature: float = Field(
        default=0.5, ge=0.0, le=2.0, description="temperature of the model for each answer"
    )


class DellmaSettings(DirectSettings):
    """The settings of DeLLMa; the defaults are those of DeLLMa-Pairs."""

    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "paper": {"draws": "independent", "ties": False, "states": "whole"}
    }

    preset: Literal["default", "paper"] = Field(
        default="default", description="'paper' sets draws=independent, ties=false and states=whole"
    )
    states: Literal["bearing", "whole"] = Field(
        default="bearing",
        description="the factors that a prompt shows for each item to rank: the factors that "
        "affect the item's action (bearing), or all factors (whole, as in the paper)",
    )
    general: int = Field(
        default=2, ge=0, description="number of latent factors to request that affect all actions"
    )
    own: int = Field(
        default=2, ge=0, description="number of latent factors to request for each action"
    )
    factors: int = Field(
        default=16, ge=1, description="maximum number of latent factors to request (k in the paper)"
    )
    values: int = Field(
        default=3, ge=2, description="number of values of each factor (l in the paper)"
    )
    samples: _Samples = 64
    draws: Draws = Field(
        default="stratified",
        description="how states are drawn from the beliefs: each value in proportion to its "
        "probability (stratified), or each state independently (independent, as in the paper)",
    )
    batch: int = Field(
        default=32, ge=2, description="number of items in a minibatch, if states are shared"
    )
    overlap: float = Field(
        default=0.25,
        ge=0.0,
        lt=1.0,
        description="proportion of the items of a minibatch that are also in the next minibatch",
    )
    ties: bool = Field(
        default=True,
        description="whether a ranking may contain ties; if false, the prompt asks for a strict "
        "order, as in the paper",
    )
    elicitation: Elicitation = Field(
        default="pairs",
        description="comparisons that are derived from a ranking: all pairs of its items (pairs), "
        "or its best item with all other items (top1)",
    )
    shared: bool = Field(
        default=True,
        description="whether all actions have the same states (variance reduction), ranked in "
        "minibatches; if false, each action has separate states, ranked in one batch",
    )
    alpha: _Alpha = 2e-3
    scale: Scale = Field(
        default="all",
        description="the softmax that turns scores into utilities covers all items (all), or the "
        "items of one action (action)",
    )
    temperature: float = Field(
        default=1.0,
        ge=1e-3,
        le=1e3,
        description="temperature of the softmax that turns scores into utilities",
    )
    attitude: Attitude = Field(
        default="mean",
        description="how an action's utilities are combined into its value: their mean (mean), or "
        "the mean of the worst utilities (cvar)",
    )
    aversion: float = Field(
        default=0.2,
        ge=1e-6,
        le=1.0,
        description="share of the lowest utilities over which cvar takes the mean",
    )
    seed: int = Field(default=0, ge=0, description="seed of samples, shuffles and draws")

    @model_validator(mode="after")
    def _check(self) -> Self:
        """Refuse contradictory settings before any request."""
        if self.attitude != "mean" and self.scale != "all":
            raise ValueError(
                f"attitude={self.attitude} needs scale=all: with scale=action, the utility of a "
                "single state has no meaning."
            )
        if not self.general and not self.own:
            raise ValueError(
                "general=0 and own=0 ask for no factors. A state needs at least one factor."
            )
        if self.samples < 2 and not self.shared:
            raise ValueError(
                "shared=false needs at least 2 samples, because a ranking needs two items."
            )
        return self


class Top1Settings(DellmaSettings):
    """The settings of DeLLMa-Top1, which compares only the best item of each ranking."""

    elicitation: Elicitation = "top1"
    alpha: _Alpha = 1e-3


class NaiveSettings(DellmaSettings):
    """The settings of DeLLMa-Naive: 50 states for all actions together, ranked in one batch."""

    shared: bool = False
    samples: _Samples = 50
    alpha: _Alpha = 1e-3
