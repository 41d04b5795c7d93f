"""The settings of BIDDER and its baselines."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal, TypeAlias

from pydantic import Field

from dqa.deciders.method import MethodSettings

FAMILY = "bidder"
"""The name of BIDDER and its baselines in settings."""

Aggregation: TypeAlias = Literal["expected", "padded", "collected", "none"]
"""How the rewards of trajectories are combined."""
Horizon: TypeAlias = Annotated[
    int,
    Field(
        ge=0,
        le=8,
        description="T, the number of own turns to explore, with the replies of the other players",
    ),
]


class TaskSettings(MethodSettings):
    """The settings that BIDDER and its baselines share."""

    context: int = Field(
        default=40_000,
        ge=1_000,
        description="maximum number of characters that rows may take up in a prompt",
    )


class ReflexionSettings(TaskSettings):
    """The settings of Reflexion."""

    rounds: int = Field(default=1, ge=1, le=10, description="number of checks of a decision")


class ThoughtsSettings(TaskSettings):
    """The settings of a tree of thoughts."""

    depth: int = Field(
        default=2, ge=1, le=5, description="number of levels of thoughts; the last level decides"
    )
    thoughts: int = Field(default=3, ge=1, le=10, description="number of thoughts in a reply")
    kept: int = Field(
        default=1, ge=1, le=10, description="number of thoughts that continue on the next level"
    )
    votes: int = Field(default=3, ge=1, le=20, description="number of votes on each level")
    temperature: float = Field(
        default=0.7, ge=0.0, le=2.0, description="model temperature for votes"
    )


class BidderSettings(TaskSettings):
    """The settings of BIDDER."""

    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "paper": {"returns": "collected", "breadth": 2, "replies": 1}
    }

    preset: Literal["default", "paper"] = Field(
        default="default", description="'paper' sets returns=collected, breadth=2 and replies=1"
    )
    horizon: Horizon = 1
    inference: bool = Field(
        default=True,
        description="whether hidden states of the other players are inferred from their actions",
    )
    returns: Aggregation = Field(
        default="expected",
        description="the return of an action; expected: its expected payoff over the likely "
        "replies; collected: the paper's sum of rewards; padded: this sum, with the last reward "
        "repeated up to T; none: no return and no exploration",
    )
    replies: int = Field(
        default=2,
        ge=1,
        le=10,
        description="number of replies to explore after an action of the decision maker, the most "
        "likely first; always 1 for returns=padded and returns=collected",
    )
    beta: float = Field(
        default=0.9,
        ge=0.0,
        le=1.0,
        description="attenuation coefficient for returns=padded and returns=collected: a reward "
        "after k turns is multiplied by beta**k",
    )
    breadth: int = Field(
        default=3,
        ge=1,
        le=50,
        description="number of actions that are explored in a position; if more are legal, the "
        "model selects the most promising ones",
    )
    calls: int = Field(
        default=64,
        ge=1,
        le=10_000,
        description="maximum number of model requests for each question (corrections are not "
        "counted); the last request is reserved for the decision",
    )
    parallel: int = Field(
        default=4,
        ge=1,
        le=64,
        description="maximum number of parallel requests; 1 if a budget limits the decision",
    )


class TwoStepSettings(BidderSettings):
    """The settings of BIDDER with T = 2."""

    horizon: Horizon = 2


class ThreeStepSettings(BidderSettings):
    """The settings of BIDDER with T = 3."""

    horizon: Horizon = 3
