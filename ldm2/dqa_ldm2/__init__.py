"""LDM2: decisions that remember and improve (Wang et al., 2023).

A memory is formed from trajectories (`build_memory`), read by the deciders, and refined by
exploring (`refine_memory`). The operations with the paper's names ask a model in a
`dqa.models.conversation.Conversation`; `AskedIndexer` has those that sort and summarise for whoever
adds to a memory. Whatever can be begun again can be explored: see `Explorable`.

What ``dqa memory`` does, a caller can do too: `open_memory`, `form_memory`, `add_subtrajectory`,
`export_memory`, `import_memory`; a `Memory` itself has ``search``, ``diff`` and ``undo``.
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
    from dqa_ldm2.indexer import AskedIndexer as AskedIndexer
    from dqa_ldm2.memory.adding import add_subtrajectory as add_subtrajectory
    from dqa_ldm2.memory.base import Memory as Memory
    from dqa_ldm2.memory.base import Origin as Origin
    from dqa_ldm2.memory.base import Placed as Placed
    from dqa_ldm2.memory.base import State as State
    from dqa_ldm2.memory.base import StateAction as StateAction
    from dqa_ldm2.memory.building import form_memory as form_memory
    from dqa_ldm2.memory.files import export_memory as export_memory
    from dqa_ldm2.memory.files import import_memory as import_memory
    from dqa_ldm2.memory.indexing import Indexer as Indexer
    from dqa_ldm2.memory.opening import open_memory as open_memory
    from dqa_ldm2.memory.rules import RuleIndexer as RuleIndexer
    from dqa_ldm2.progress import Progress as Progress
    from dqa_ldm2.refining.explorable import Explorable as Explorable
    from dqa_ldm2.refining.explorable import Explored as Explored
    from dqa_ldm2.refining.explorable import WorldExplorable as WorldExplorable
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
    "indexer": ("AskedIndexer",),
    "memory.adding": ("add_subtrajectory",),
    "memory.base": ("Memory", "Origin", "Placed", "State", "StateAction"),
    "memory.building": ("form_memory",),
    "memory.files": ("export_memory", "import_memory"),
    "memory.indexing": ("Indexer",),
    "memory.opening": ("open_memory",),
    "memory.rules": ("RuleIndexer",),
    "progress": ("Progress",),
    "refining.explorable": ("Explorable", "Explored", "WorldExplorable"),
    "refining.refinement": ("Refinement",),
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
