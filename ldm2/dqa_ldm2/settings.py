"""The settings of LDM2 and the baselines that it is compared with."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

FAMILY = "ldm2"
"""What all of these deciders are called together, where their settings are given."""


class MemorySettings(BaseModel):
    """What every decider of the family can be told."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    memory: str = Field(
        default="memory.db", min_length=1, description="file or URL of the memory that it reads"
    )
    context: int = Field(
        default=40_000,
        ge=1_000,
        description="most characters of rows, and of past steps, that every prompt shows",
    )


class Ldm2Settings(MemorySettings):
    """What LDM2 can be told."""

    retrieved: int = Field(
        default=5, ge=1, le=100, description="k, how many remembered tuples a prompt shows"
    )
    batches: Literal["all"] | Annotated[int, Field(ge=1)] = Field(
        default="all",
        description="how many batch memories decide, each in a process of its own",
    )
    evaluate: bool = Field(
        default=True, description="whether completed subgoals are judged before each action"
    )


class RefinedSettings(Ldm2Settings):
    """LDM2 with a memory that was refined."""

    memory: str = Field(
        default="memory-refined.db",
        min_length=1,
        description="file or URL of the memory that it reads",
    )


class ExampleSettings(MemorySettings):
    """What a baseline can be told that is shown whole examples."""

    examples: int = Field(
        default=2, ge=0, le=20, description="whole decision processes that a prompt shows"
    )


class TrialSettings(ExampleSettings):
    """What Reflexion can be told."""

    trials: int = Field(default=4, ge=1, le=20, description="how often an episode is tried at most")


class RefiningSettings(BaseModel):
    """How a memory is refined (section 3.3)."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    paths: int = Field(default=4, ge=1, le=64, description="n, how many paths are kept")
    depth: int = Field(default=30, ge=1, le=1_000, description="most steps of a path")
    majority: float = Field(
        default=0.8,
        gt=0.0,
        le=1.0,
        description="share of the retrieved actions that have to agree for nothing to be asked",
    )
    retrieved: int = Field(
        default=5, ge=1, le=100, description="k, how many remembered tuples a prompt shows"
    )
    context: int = Field(
        default=40_000, ge=1_000, description="most characters of past steps in a prompt"
    )
