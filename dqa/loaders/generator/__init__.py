"""Generate questions and their databases from a seed."""

from dqa.loaders.generator.generate import (
    generate,
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
from dqa.loaders.generator.simulated import SimulatedGenerator
from dqa.scenarios.generation import Difficulty, Drawn, Generator, Mix, Request, Size

__all__ = [
    "GENERATOR_VERSION",
    "MANIFEST",
    "Difficulty",
    "Drawn",
    "Generator",
    "Mix",
    "Request",
    "SimulatedGenerator",
    "Size",
    "generate",
    "judged_scenarios",
    "read_generated",
    "read_manifest",
    "size_of",
    "write_generated",
]
