"""The settings of BIDDER and the baselines that it is compared with."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal, TypeAlias

from pydantic import Field

from dqa.deciders.method import MethodSettings

FAMILY = "bidder"
"""The common name of these deciders in settings."""

Aggregation: TypeAlias = Literal["expected", "padded", "collected", "none"]
"""How the rewards of trajectories are combined, if at all."""
Horizon: TypeAlias = Annotated[
    int,
    Field(
        ge=0,
        le=8,
        description="T, how many own turns are looked ahead, each with the replies of others",
    ),
]


class TaskSettings(MethodSettings):
    """The settings of every decider of the family."""

    context: int = Field(
        default=40_000, ge=1_000, description="most characters of rows that every prompt shows"
    )


class ReflexionSettings(TaskSettings):
    """The settings of Reflexion."""

    rounds: int = Field(default=1, ge=1, le=10, description="how often a decision is checked")


class ThoughtsSettings(TaskSettings):
    """The settings of a tree of thoughts."""

    depth: int = Field(
        default=2, ge=1, le=5, description="how many thoughts follow one another; the last decides"
    )
    thoughts: int = Field(default=3, ge=1, le=10, description="how many are proposed at a time")
    kept: int = Field(default=1, ge=1, le=10, description="how many thoughts of a level continue")
    votes: int = Field(default=3, ge=1, le=20, description="how often each level is judged")
    temperature: float = Field(default=0.7, ge=0.0, le=2.0, description="of each vote")


class BidderSettings(TaskSettings):
    """The settings of BIDDER."""

    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "paper": {"returns": "collected", "breadth": 2, "replies": 1}
    }

    preset: Literal["default", "paper"] = Field(
        default="default",
        description="paper: returns=collected, breadth=2 and replies=1, as in the paper",
    )
    horizon: Horizon = 1
    inference: bool = Field(
        default=True, description="whether what others hide is inferred from their actions"
    )
    returns: Aggregation = Field(
        default="expected",
        description="expected: the expected payoff after an action, over the likely replies; "
        "the paper's sum of rewards, in which a trajectory that ends before T keeps its last "
        "reward (padded), or has only the rewards that it collects (collected); none: decides "
        "without exploration and returns",
    )
    replies: int = Field(
        default=2,
        ge=1,
        le=10,
        description="most replies to an own action that are followed, the most likely ones; 1 for "
        "padded and collected",
    )
    beta: float = Field(
        default=0.9,
        ge=0.0,
        le=1.0,
        description="the attenuation coefficient of padded and collected: what a payoff counts "
        "for that is estimated one own move later",
    )
    breadth: int = Field(
        default=3,
        ge=1,
        le=50,
        description="actions of a position that are looked at; where more are legal, the model "
        "names the most promising ones",
    )
    calls: int = Field(
        default=64,
        ge=1,
        le=10_000,
        description="most requests of one decision, corrections not counted; the last is kept for "
        "the decision",
    )
    parallel: int = Field(
        default=4,
        ge=1,
        le=64,
        description="most requests at once; one after another where a budget bounds the decision",
    )


class TwoStepSettings(BidderSettings):
    """BIDDER that looks two own moves ahead."""

    horizon: Horizon = 2


class ThreeStepSettings(BidderSettings):
    """BIDDER that looks three own moves ahead."""

    horizon: Horizon = 3
