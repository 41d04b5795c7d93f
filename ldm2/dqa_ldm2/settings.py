"""The settings of LDM2 and its baselines, and the presets with the paper's settings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Final, Literal, TypeAlias

from pydantic import Field

from dqa.core.records import Record
from dqa.deciders.method import MethodSettings

Preset: TypeAlias = Literal["default", "paper", "paper-shop"]
PRESETS: Final[Mapping[str, Mapping[str, Any]]] = {
    "default": {},
    "paper": {"trials": 5, "evaluate": True, "exact": True, "batch": 50},
    "paper-shop": {"trials": 4, "evaluate": False, "exact": True, "batch": 100},
}
"""The paper's settings for ALFWorld, and for WebShop (sections 4.3 and 5, Tables 1, 2, 5 and 6).

The trajectories of WebShop in the paper are from people who did not know the product. The program
``rule`` of the world, which plays by default, does not know the product either.
"""


def _memory(default: str) -> Any:  # noqa: ANN401  (a field)
    return Field(default, min_length=1, description="file or URL of the memory")


class MemorySettings(MethodSettings):
    """The settings that LDM2 and its baselines share."""

    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = PRESETS

    memory: str = _memory("memory.db")
    context: int = Field(
        default=40_000,
        ge=1_000,
        description="maximum number of characters of the rows in a prompt; the same limit applies "
        "to the past steps",
    )
    preset: Preset = Field(
        default="default",
        description="the paper's settings: 'paper' for ALFWorld, 'paper-shop' for WebShop",
    )


class Ldm2Settings(MemorySettings):
    """The settings of LDM2."""

    retrieved: int = Field(
        default=5, ge=1, le=100, description="k, the number of remembered tuples in a prompt"
    )
    batches: Literal["all"] | Annotated[int, Field(ge=1)] = Field(
        default="all", description="number of batch memories; each is used for a separate decision"
    )
    evaluate: bool = Field(
        default=True,
        description="whether the model judges before each action which subgoals are complete",
    )
    exact: bool = Field(
        default=False,
        description="whether prompts are exactly as in the paper (Table 6): the model divides the "
        "goal into subgoals again before each action, also summarises the first step, and sees no "
        "rewards",
    )


class RefinedSettings(Ldm2Settings):
    """The settings of LDM2 with a refined memory."""

    memory: str = _memory("memory-refined.db")


class ExampleSettings(MemorySettings):
    """The settings of a baseline that shows whole examples."""

    examples: int = Field(
        default=2, ge=0, le=20, description="number of whole decision processes in a prompt"
    )


class TrialSettings(ExampleSettings):
    """The settings of Reflexion."""

    trials: int = Field(default=4, ge=1, le=20, description="maximum number of trials per episode")


class RefiningSettings(Record, use_attribute_docstrings=True):
    """How a memory is refined (section 3.3); the fields are options of ``dqa memory refine``."""

    paths: Annotated[int, Field(ge=1, le=64)] = 4
    """n, the maximum number of parallel paths."""
    depth: Annotated[int, Field(ge=1, le=1_000)] = 30
    """Maximum number of steps of a path."""
    majority: Annotated[float, Field(ge=0.01, le=1.0)] = 0.8
    """The model is not asked if at least this share of the retrieved tuples has the same action."""
    retrieved: Annotated[int, Field(ge=1, le=100)] = 5
    """k, the number of remembered tuples in a prompt."""
    context: Annotated[int, Field(ge=1_000)] = 40_000
    """Maximum number of characters of past steps in a prompt."""
