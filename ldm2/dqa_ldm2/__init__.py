"""LDM2: decisions that remember and improve (Wang et al., 2023).

A memory is formed from trajectories (`build_memory`), read by the deciders, and refined by
exploring (`refine_memory`). The operations with the paper's names ask a model in a
`dqa.models.conversation.Conversation`; `AskedIndexer` has those that sort and summarise for whoever
adds to a memory. Whatever can be begun again can be explored: see `Explorable`.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dqa_ldm2.building import BuildReport as BuildReport
    from dqa_ldm2.building import build_memory as build_memory
    from dqa_ldm2.building import refine_memory as refine_memory
    from dqa_ldm2.events import ExplorationEvent as ExplorationEvent
    from dqa_ldm2.events import ImitationEvent as ImitationEvent
    from dqa_ldm2.events import RecallEvent as RecallEvent
    from dqa_ldm2.factories import example_decider as example_decider
    from dqa_ldm2.factories import remembering_decider as remembering_decider
    from dqa_ldm2.forming import form_memory as form_memory
    from dqa_ldm2.indexer import AskedIndexer as AskedIndexer
    from dqa_ldm2.indexer import Indexer as Indexer
    from dqa_ldm2.progress import Progress as Progress
    from dqa_ldm2.refining.explorable import Explorable as Explorable
    from dqa_ldm2.refining.explorable import Explored as Explored
    from dqa_ldm2.refining.explorable import WorldExplorable as WorldExplorable
    from dqa_ldm2.refining.refinement import Adder as Adder
    from dqa_ldm2.refining.refinement import Refinement as Refinement
    from dqa_ldm2.refining.report import RefinedGoal as RefinedGoal
    from dqa_ldm2.refining.report import RefinementReport as RefinementReport
    from dqa_ldm2.settings import Ldm2Settings as Ldm2Settings
    from dqa_ldm2.settings import RefiningSettings as RefiningSettings
    from dqa_ldm2.situation import Situation as Situation

_HOMES = {
    "building": ("BuildReport", "build_memory", "refine_memory"),
    "events": ("ExplorationEvent", "ImitationEvent", "RecallEvent"),
    "factories": ("example_decider", "remembering_decider"),
    "forming": ("form_memory",),
    "indexer": ("AskedIndexer", "Indexer"),
    "progress": ("Progress",),
    "refining.explorable": ("Explorable", "Explored", "WorldExplorable"),
    "refining.refinement": ("Adder", "Refinement"),
    "refining.report": ("RefinedGoal", "RefinementReport"),
    "settings": ("Ldm2Settings", "RefiningSettings"),
    "situation": ("Situation",),
}
"""Where the public names are, all of them; whoever reads traces needs no chat models."""


def __getattr__(name: str) -> Any:  # noqa: ANN401  (whatever the name stands for)
    """Import a public name when it is asked for."""
    for module, names in _HOMES.items():
        if name in names:
            return getattr(import_module(f"{__name__}.{module}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(name for names in _HOMES.values() for name in names)
