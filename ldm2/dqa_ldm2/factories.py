"""The factories that the entry points name.

They import what decides when a decider is made, so whoever only lists them does not wait for it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from dqa.deciders.base import DeciderFactory, Settings
from dqa_ldm2.settings import (
    FAMILY,
    ExampleSettings,
    Ldm2Settings,
    MemorySettings,
    RefinedSettings,
    TrialSettings,
)

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

    from dqa.core.decider import Decider
    from dqa_ldm2.deciders import Shared
    from dqa_ldm2.memories import Opener


def remembering_decider(
    name: str,
    description: str,
    kind: type[Ldm2Settings] = Ldm2Settings,
    *,
    opener: Opener | None = None,
    apart: tuple[str, ...] = (),
) -> DeciderFactory:
    """Return the factory of a decider that imitates what a memory holds.

    Parameters
    ----------
    name, description
        For lists and results.
    kind
        Its settings, with the decider's own defaults.
    opener
        Opens the memory at the place that the settings name; None for any file or database's URL.
    apart
        As in `dqa.deciders.base.DeciderFactory`.
    """

    def make(model: BaseChatModel, settings: Settings) -> Decider:
        from dqa_ldm2.deciders import Ldm2Decider
        from dqa_ldm2.memories import OpenedMemory, open_memory

        own = settings.own_as(kind)
        memory = OpenedMemory(own.memory, opener or open_memory)
        return Ldm2Decider(_shared(name, model, settings, own), own, memory)

    return _factory(name, description, make, kind, apart)


def example_decider(
    name: str,
    description: str,
    kind: type[ExampleSettings] = ExampleSettings,
    *,
    thinks: bool = False,
    opener: Opener | None = None,
) -> DeciderFactory:
    """Return the factory of a decider that shows whole examples of a memory.

    Parameters
    ----------
    name, description, opener
        As `remembering_decider` takes them.
    kind
        Its settings; with `TrialSettings` it tries episodes several times.
    thinks
        Whether it thinks before it acts.
    """

    def make(model: BaseChatModel, settings: Settings) -> Decider:
        from dqa_ldm2.baselines import ExampleDecider, TrialsDecider
        from dqa_ldm2.memories import OpenedMemory, open_memory

        own = settings.own_as(kind)
        memory = OpenedMemory(own.memory, opener or open_memory)
        shared = _shared(name, model, settings, own)
        if isinstance(own, TrialSettings):
            return TrialsDecider(shared, own, memory)
        return ExampleDecider(shared, own, memory, thinks=thinks)

    return _factory(name, description, make, kind)


def _shared(name: str, model: BaseChatModel, settings: Settings, own: MemorySettings) -> Shared:
    from dqa_ldm2.deciders import Shared

    return Shared(name, model, settings, own.context)


def _factory(
    name: str,
    description: str,
    make: Callable[[BaseChatModel, Settings], Decider],
    kind: type[MemorySettings],
    apart: tuple[str, ...] = (),
) -> DeciderFactory:
    return DeciderFactory(
        name,
        description,
        make,
        protocols=("react",),
        settings=kind,
        family=FAMILY,
        apart=apart,
    )


LDM2 = remembering_decider(
    "ldm2", "imitates what a memory holds of situations like this one (LDM2)"
)
LDM2_REFINED = remembering_decider(
    "ldm2-refined",
    "as ldm2, by a memory that exploring has refined (LDM2, section 3.3)",
    RefinedSettings,
    apart=("memory", "version"),
)
STANDARD = example_decider("standard", "acts as a few whole examples show (LDM2, section 4.2)")
REACT = example_decider(
    "react", "thinks, then acts, as a few whole examples show (LDM2, section 4.2)", thinks=True
)
REFLEXION_TRIALS = example_decider(
    "reflexion-trials",
    "as react, tries an episode again and reflects in between (LDM2, section 4.2)",
    TrialSettings,
)
