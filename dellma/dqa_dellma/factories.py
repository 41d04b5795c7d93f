"""The factories for the entry points. A decider is imported when its factory is called."""

from __future__ import annotations

from functools import partial

from dqa.deciders.method import method
from dqa_dellma.settings import (
    DellmaSettings,
    DirectSettings,
    NaiveSettings,
    Top1Settings,
    VotingSettings,
)

_member = partial(method, family="dellma")
_DELLMA = "dqa_dellma.steps.dellma:Dellma"

DELLMA_PAIRS = _member(
    "dellma-pairs",
    "maximises expected utility, from beliefs and ranked states (DeLLMa-Pairs)",
    _DELLMA,
    DellmaSettings,
    fixed=("shared", "elicitation"),
)
DELLMA_TOP1 = _member(
    "dellma-top1",
    "like dellma-pairs, but compares only the best item of each ranking (DeLLMa-Top1)",
    _DELLMA,
    Top1Settings,
    fixed=("shared", "elicitation"),
)
DELLMA_NAIVE = _member(
    "dellma-naive",
    "ranks 50 states in one batch; actions do not share states (DeLLMa-Naive)",
    _DELLMA,
    NaiveSettings,
    fixed=("shared", "batch", "overlap"),
)
ZERO_SHOT = _member(
    "zero-shot",
    "asks for the decision once (DeLLMa, section 4)",
    "dqa_dellma.steps.direct:ZeroShot",
    DirectSettings,
)
SELF_CONSISTENCY = _member(
    "self-consistency",
    "takes the majority of five answers (DeLLMa, section 4)",
    "dqa_dellma.steps.direct:SelfConsistency",
    VotingSettings,
    apart=("votes", "temperature"),
)
CHAIN_OF_THOUGHT = _member(
    "chain-of-thought",
    "asks for factors, probabilities and the decision in three prompts (DeLLMa, section 4)",
    "dqa_dellma.steps.direct:ChainOfThought",
    DirectSettings,
)
