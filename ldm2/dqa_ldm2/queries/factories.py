"""The factories of the deciders that ask a database in steps, as the entry points name them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dqa.deciders.base import DeciderFactory, Settings
from dqa_ldm2.queries.settings import QueriesSettings, RefinedQueriesSettings
from dqa_ldm2.settings import FAMILY

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

    from dqa.core.decider import Decider


def queries_decider(
    name: str,
    description: str,
    kind: type[QueriesSettings] = QueriesSettings,
    *,
    remembers: bool = True,
    apart: tuple[str, ...] = (),
) -> DeciderFactory:
    """Return the factory of a decider that asks a question's database in steps.

    Parameters
    ----------
    name, description
        For lists and results.
    kind
        Its settings, with the decider's own defaults.
    remembers
        Whether it reads a memory.
    apart
        As in `dqa.deciders.base.DeciderFactory`.
    """

    def make(model: BaseChatModel, settings: Settings) -> Decider:
        from dqa_ldm2.memories import OpenedMemory
        from dqa_ldm2.queries.deciders import QueriesDecider

        own = settings.own_as(kind)
        memory = OpenedMemory(own.memory) if remembers else None
        return QueriesDecider(name, model, settings, own, memory)

    return DeciderFactory(
        name, description, make, settings=kind, family=FAMILY, apart=apart, protocols=("react",)
    )


LDM2_QUERIES = queries_decider(
    "ldm2-queries", "asks statements like those that led to right decisions before (LDM2)"
)
LDM2_QUERIES_REFINED = queries_decider(
    "ldm2-queries-refined",
    "as ldm2-queries, by a memory that exploring has refined",
    RefinedQueriesSettings,
    apart=("memory",),
)
LDM2_QUERIES_BARE = queries_decider(
    "ldm2-queries-bare", "as ldm2-queries, and remembers nothing", remembers=False
)
