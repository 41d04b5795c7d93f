"""BIDDER: decisions that look back and ahead (bi-directional deliberation reasoning).

`Steps` holds the steps with the paper's names: hidden state inference, opponent modelling, reward
estimation, reward aggregation and decision making; `Bidder` explores and brings them together. Any
of them can be replaced by anything of its protocol::

    def mine(settings: BidderSettings) -> Bidder:
        return Bidder(settings, replace(Steps(), decision=HighestReturn()))


    MINE = deliberating_decider("mine", "takes the largest return", mine, BidderSettings)

An entry point of `dqa.deciders` that names ``MINE`` makes it a decider like any other.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dqa.deciders.actions import Chosen as Chosen
    from dqa_bidder.events import ExploredTreeEvent as ExploredTreeEvent
    from dqa_bidder.events import HiddenState as HiddenState
    from dqa_bidder.events import ReturnsEvent as ReturnsEvent
    from dqa_bidder.factories import deliberating_decider as deliberating_decider
    from dqa_bidder.settings import BidderSettings as BidderSettings
    from dqa_bidder.steps.aggregation import RewardAggregation as RewardAggregation
    from dqa_bidder.steps.bidder import Bidder as Bidder
    from dqa_bidder.steps.bidder import Steps as Steps
    from dqa_bidder.steps.decision import DecisionMaking as DecisionMaking
    from dqa_bidder.steps.decision import HighestReturn as HighestReturn
    from dqa_bidder.steps.inference import HiddenStateInference as HiddenStateInference
    from dqa_bidder.steps.modeling import OpponentModeling as OpponentModeling
    from dqa_bidder.steps.rewards import Estimated as Estimated
    from dqa_bidder.steps.rewards import RewardEstimation as RewardEstimation
    from dqa_bidder.steps.rewards import Unknown as Unknown
    from dqa_bidder.task import Task as Task

_HOMES = {
    "events": ("ExploredTreeEvent", "HiddenState", "ReturnsEvent"),
    "factories": ("deliberating_decider",),
    "settings": ("BidderSettings",),
    "steps.aggregation": ("RewardAggregation",),
    "steps.bidder": ("Bidder", "Chosen", "Steps"),
    "steps.decision": ("DecisionMaking", "HighestReturn"),
    "steps.inference": ("HiddenStateInference",),
    "steps.modeling": ("OpponentModeling",),
    "steps.rewards": ("Estimated", "RewardEstimation", "Unknown"),
    "task": ("Task",),
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
