"""DeLLMa: decisions under uncertainty by beliefs, rankings and expected utility (DeLLMa, ICML).

`Steps` holds the four steps: state enumeration, state forecasting, utility elicitation and expected
utility maximisation. Any of them can be replaced by anything of its protocol, and a decision
has its tree all the same::

    def steps(settings: DellmaSettings) -> Steps:
        return replace(Steps.asked(settings), ranker=MyRanker())


    MINE = dellma_factory("mine", "ranks by a model of my own", DellmaSettings(), steps=steps)

An entry point of `dqa.deciders` that names ``MINE`` makes it a decider like any other.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dqa_dellma.asking import Asker
    from dqa_dellma.beliefs import WEIGHTS, Belief, Beliefs, Factor
    from dqa_dellma.decider import Dellma, Direct, Steps, dellma_factory, direct_factory
    from dqa_dellma.direct import ChainOfThought, DirectMethod, SelfConsistency, ZeroShot
    from dqa_dellma.elicitation import AskedRanking, Ranker
    from dqa_dellma.enumeration import AskedEnumeration, Enumeration, StateEnumeration
    from dqa_dellma.forecasting import AskedForecast, Forecast, StateForecast
    from dqa_dellma.maximisation import Maximised, maximise
    from dqa_dellma.pairs import Pairs
    from dqa_dellma.problem import Problem
    from dqa_dellma.rankings import Ranking
    from dqa_dellma.sampling import Maximisation, UtilityElicitation
    from dqa_dellma.settings import DellmaSettings

__all__ = [
    "WEIGHTS",
    "AskedEnumeration",
    "AskedForecast",
    "AskedRanking",
    "Asker",
    "Belief",
    "Beliefs",
    "ChainOfThought",
    "Dellma",
    "DellmaSettings",
    "Direct",
    "DirectMethod",
    "Enumeration",
    "Factor",
    "Forecast",
    "Maximisation",
    "Maximised",
    "Pairs",
    "Problem",
    "Ranker",
    "Ranking",
    "SelfConsistency",
    "StateEnumeration",
    "StateForecast",
    "Steps",
    "UtilityElicitation",
    "ZeroShot",
    "dellma_factory",
    "direct_factory",
    "maximise",
]

_HOMES = {
    "asking": ("Asker",),
    "beliefs": ("WEIGHTS", "Belief", "Beliefs", "Factor"),
    "decider": ("Dellma", "dellma_factory", "Direct", "direct_factory", "Steps"),
    "direct": ("ChainOfThought", "DirectMethod", "SelfConsistency", "ZeroShot"),
    "elicitation": ("AskedRanking", "Ranker"),
    "enumeration": ("AskedEnumeration", "Enumeration", "StateEnumeration"),
    "forecasting": ("AskedForecast", "Forecast", "StateForecast"),
    "maximisation": ("Maximised", "maximise"),
    "pairs": ("Pairs",),
    "problem": ("Problem",),
    "rankings": ("Ranking",),
    "sampling": ("Maximisation", "UtilityElicitation"),
    "settings": ("DellmaSettings",),
}


def __getattr__(name: str) -> Any:  # noqa: ANN401  (whatever the name stands for)
    """Import a public name when it is asked for: readers of traces need no chat models."""
    for module, names in _HOMES.items():
        if name in names:
            return getattr(import_module(f"{__name__}.{module}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
