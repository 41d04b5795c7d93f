"""The factories that the entry points name; they import a decider when it is made."""

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
    "as bidder, one own move ahead (BIDDER, T = 1)",
    _BIDDER,
    BidderSettings,
    fixed=("horizon",),
)
BIDDER_T2 = _member(
    "bidder-t2",
    "as bidder, two own moves ahead (BIDDER, T = 2)",
    _BIDDER,
    TwoStepSettings,
    fixed=("horizon",),
)
BIDDER_T3 = _member(
    "bidder-t3",
    "as bidder, three own moves ahead (BIDDER, T = 3)",
    _BIDDER,
    ThreeStepSettings,
    fixed=("horizon",),
)
DIRECT = _member(
    "direct",
    "asks for the action alone (BIDDER, appendix B)",
    "dqa_bidder.baselines:Direct",
    TaskSettings,
)
COT = _member(
    "cot",
    "thinks in the reply that decides (BIDDER, appendix B)",
    "dqa_bidder.baselines:ChainOfThought",
    TaskSettings,
)
REFLEXION = _member(
    "reflexion",
    "decides, checks that and decides again (BIDDER, appendix B)",
    "dqa_bidder.baselines:Reflexion",
    ReflexionSettings,
)
TREE_OF_THOUGHTS = _member(
    "tree-of-thoughts",
    "proposes thoughts, votes, continues with the best (BIDDER, appendix B)",
    "dqa_bidder.baselines:TreeOfThoughts",
    ThoughtsSettings,
)
