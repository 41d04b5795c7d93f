"""A seeded generator of situations and questions, at any size and difficulty."""

from dqa.loaders.generator.generate import SCENARIOS, generate, generate_like_release
from dqa.loaders.generator.manifest import (
    GENERATOR_VERSION,
    MANIFEST,
    read_generated,
    read_manifest,
    write_generated,
)
from dqa.loaders.generator.options import BuildingSize, Difficulty, LocatingSize, Size
from dqa_simulators.steps import steps_to_target
from dqa_simulators.uncertain import UncertainFactor, UncertainWorld
from dqa_simulators.worlds import UNCERTAIN_SCENARIOS, ask_world, uncertain_worlds

__all__ = [
    "GENERATOR_VERSION",
    "MANIFEST",
    "SCENARIOS",
    "UNCERTAIN_SCENARIOS",
    "BuildingSize",
    "Difficulty",
    "LocatingSize",
    "Size",
    "UncertainFactor",
    "UncertainWorld",
    "ask_world",
    "generate",
    "generate_like_release",
    "read_generated",
    "read_manifest",
    "steps_to_target",
    "uncertain_worlds",
    "write_generated",
]
