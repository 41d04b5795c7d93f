"""The factories for the entry points. A decider is imported when its factory is called."""

from __future__ import annotations

from functools import partial

from dqa.deciders.method import method
from dqa_bidder.settings import (
    BidderSettings,
    ReflexionSettings,
    TaskSettings,
    ThoughtsSettings,
    ThreeStepSettings,
    TwoStepSettings,
)

_member = partial(method, family="bidder")
_BIDDER = "dqa_bidder.bidder:Bidder"

BIDDER = _member(
    "bidder",
    "infers hidden states, explores moves and replies, decides by returns (BIDDER)",
    _BIDDER,
    BidderSettings,
)
BIDDER_T1 = _member(
    "bidder-t1",
    "like bidder, with a horizon of one own move (BIDDER, T = 1)",
    _BIDDER,
    BidderSettings,
    fixed=("horizon",),
)
BIDDER_T2 = _member(
    "bidder-t2",
    "like bidder, with a horizon of two own moves (BIDDER, T = 2)",
    _BIDDER,
    TwoStepSettings,
    fixed=("horizon",),
)
BIDDER_T3 = _member(
    "bidder-t3",
    "like bidder, with a horizon of three own moves (BIDDER, T = 3)",
    _BIDDER,
    ThreeStepSettings,
    fixed=("horizon",),
)
DIRECT = _member(
    "direct",
    "asks only for the action (BIDDER, appendix B)",
    "dqa_bidder.baselines:Direct",
    TaskSettings,
)
COT = _member(
    "cot",
    "thinks and decides in one reply (BIDDER, appendix B)",
    "dqa_bidder.baselines:ChainOfThought",
    TaskSettings,
)
REFLEXION = _member(
    "reflexion",
    "decides, checks the decision, and decides again (BIDDER, appendix B)",
    "dqa_bidder.baselines:Reflexion",
    ReflexionSettings,
)
TREE_OF_THOUGHTS = _member(
    "tree-of-thoughts",
    "proposes thoughts, votes, and continues with the best (BIDDER, appendix B)",
    "dqa_bidder.baselines:TreeOfThoughts",
    ThoughtsSettings,
)
