"""LDM2: decisions that remember and improve (Wang et al., 2023).

What ``dqa memory`` does, a caller can do too: `open_memory`, `build_memory`, `add_subtrajectory`,
`export_memory`, `import_memory`; a `Memory` itself has ``search``, ``diff`` and ``undo``.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dqa_ldm2.memory.adding import add_subtrajectory as add_subtrajectory
    from dqa_ldm2.memory.base import Memory as Memory
    from dqa_ldm2.memory.base import Origin as Origin
    from dqa_ldm2.memory.base import Placed as Placed
    from dqa_ldm2.memory.base import State as State
    from dqa_ldm2.memory.base import StateAction as StateAction
    from dqa_ldm2.memory.building import build_memory as build_memory
    from dqa_ldm2.memory.files import export_memory as export_memory
    from dqa_ldm2.memory.files import import_memory as import_memory
    from dqa_ldm2.memory.indexing import Indexer as Indexer
    from dqa_ldm2.memory.opening import open_memory as open_memory
    from dqa_ldm2.memory.rules import RuleIndexer as RuleIndexer

_HOMES = {
    "memory.adding": ("add_subtrajectory",),
    "memory.base": ("Memory", "Origin", "Placed", "State", "StateAction"),
    "memory.building": ("build_memory",),
    "memory.files": ("export_memory", "import_memory"),
    "memory.indexing": ("Indexer",),
    "memory.opening": ("open_memory",),
    "memory.rules": ("RuleIndexer",),
}
"""Where the public names are, all of them; whoever opens a memory needs no chat models."""


def __getattr__(name: str) -> Any:  # noqa: ANN401  (whatever the name stands for)
    """Import a public name when it is asked for."""
    for module, names in _HOMES.items():
        if name in names:
            return getattr(import_module(f"{__name__}.{module}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(name for names in _HOMES.values() for name in names)
