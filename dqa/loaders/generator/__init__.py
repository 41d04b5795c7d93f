"""A seeded generator of situations and questions, at any size and difficulty."""

from dqa.loaders.generator.base import Drawn, Generator, Request, Size
from dqa.loaders.generator.generate import (
    generate,
    generate_like_release,
    judged_scenarios,
    size_of,
)
from dqa.loaders.generator.manifest import (
    GENERATOR_VERSION,
    MANIFEST,
    read_generated,
    read_manifest,
    write_generated,
)
from dqa.loaders.generator.options import Difficulty
from dqa.loaders.generator.simulated import SimulatedGenerator

__all__ = [
    "GENERATOR_VERSION",
    "MANIFEST",
    "Difficulty",
    "Drawn",
    "Generator",
    "Request",
    "SimulatedGenerator",
    "Size",
    "generate",
    "generate_like_release",
    "judged_scenarios",
    "read_generated",
    "read_manifest",
    "size_of",
    "write_generated",
]
