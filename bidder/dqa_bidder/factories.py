"""The factories that the entry points name.

They import the steps when a decider is made, so whoever only lists them does not wait for these.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from dqa.deciders.base import DeciderFactory, Settings
from dqa_bidder.settings import (
    FAMILY,
    BidderSettings,
    OneStepSettings,
    ReflexionSettings,
    TaskSettings,
    ThoughtsSettings,
    ThreeStepSettings,
)

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

    from dqa_bidder.deciders import DeliberatingDecider
    from dqa_bidder.steps.bidder import Chooser

_Settings = TypeVar("_Settings", bound=TaskSettings)


def deliberating_decider(
    name: str,
    description: str,
    chooser: Callable[[_Settings], Chooser],
    kind: type[_Settings],
    *,
    fixed: tuple[str, ...] = (),
) -> DeciderFactory:
    """Return the factory of a decider that has tasks decided.

    Parameters
    ----------
    name, description
        For lists and results.
    chooser
        Makes what decides from its settings, e.g. `Bidder`.
    kind
        These settings, with the decider's own defaults.
    fixed
        As in `dqa.deciders.base.DeciderFactory`.
    """

    def make(model: BaseChatModel, settings: Settings) -> DeliberatingDecider:
        from dqa_bidder.deciders import DeliberatingDecider

        own = settings.own_as(kind)
        return DeliberatingDecider(name, model, settings, chooser(own), own.context)

    return DeciderFactory(
        name,
        description,
        make,
        protocols=("react",),
        settings=kind,
        family=FAMILY,
        fixed=fixed,
    )


def _bidder(own: BidderSettings) -> Chooser:
    from dqa_bidder.steps.bidder import Bidder

    return Bidder(own)


def _direct(own: TaskSettings) -> Chooser:
    from dqa_bidder.steps.direct import Direct

    del own
    return Direct()


def _cot(own: TaskSettings) -> Chooser:
    from dqa_bidder.steps.direct import ChainOfThought

    del own
    return ChainOfThought()


def _reflexion(own: ReflexionSettings) -> Chooser:
    from dqa_bidder.steps.direct import Reflexion

    return Reflexion(own.rounds)


def _thoughts(own: ThoughtsSettings) -> Chooser:
    from dqa_bidder.steps.thoughts import TreeOfThoughts

    return TreeOfThoughts(own)


BIDDER = deliberating_decider(
    "bidder",
    "infers hidden states, explores moves and replies, decides by returns (BIDDER)",
    _bidder,
    BidderSettings,
)
BIDDER_T1 = deliberating_decider(
    "bidder-t1",
    "as bidder, one own move ahead (BIDDER, T = 1)",
    _bidder,
    OneStepSettings,
    fixed=("horizon",),
)
BIDDER_T2 = deliberating_decider(
    "bidder-t2",
    "as bidder, two own moves ahead (BIDDER, T = 2)",
    _bidder,
    BidderSettings,
    fixed=("horizon",),
)
BIDDER_T3 = deliberating_decider(
    "bidder-t3",
    "as bidder, three own moves ahead (BIDDER, T = 3)",
    _bidder,
    ThreeStepSettings,
    fixed=("horizon",),
)
DIRECT = deliberating_decider(
    "direct",
    "asks for the action alone (BIDDER, appendix B)",
    _direct,
    TaskSettings,
)
COT = deliberating_decider(
    "cot",
    "thinks in the reply that decides (BIDDER, appendix B)",
    _cot,
    TaskSettings,
)
REFLEXION = deliberating_decider(
    "reflexion",
    "decides, checks that and decides again (BIDDER, appendix B)",
    _reflexion,
    ReflexionSettings,
)
TREE_OF_THOUGHTS = deliberating_decider(
    "tree-of-thoughts",
    "proposes thoughts, votes, goes on with the best (BIDDER, appendix B)",
    _thoughts,
    ThoughtsSettings,
)
