"""DeLLMa: decisions under uncertainty by beliefs, rankings and expected utility (DeLLMa, ICML).

`Steps` holds the four steps: state enumeration, state forecasting, utility elicitation and expected
utility maximisation. Any of them can be replaced by anything of its protocol, and a decision
has its tree all the same::

    def mine(settings: DellmaSettings) -> Dellma:
        return Dellma(settings, replace(Steps.asked(settings), ranker=MyRanker()))


    MINE = problem_decider("mine", "ranks by a model of my own", mine, DellmaSettings)

An entry point of `dqa.deciders` that names ``MINE`` makes it a decider like any other. What
``dqa dellma`` does, a caller can do too: `read_tree`, `write_tree`, `write_tree_report`,
`combine_actions`.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dqa_dellma.context.problem import Problem as Problem
    from dqa_dellma.events import FactorsEvent as FactorsEvent
    from dqa_dellma.events import ForecastEvent as ForecastEvent
    from dqa_dellma.events import RankingEvent as RankingEvent
    from dqa_dellma.factories import problem_decider as problem_decider
    from dqa_dellma.portfolios import combine_actions as combine_actions
    from dqa_dellma.settings import DellmaSettings as DellmaSettings
    from dqa_dellma.steps.dellma import Dellma as Dellma
    from dqa_dellma.steps.dellma import Steps as Steps
    from dqa_dellma.tree.page import write_tree as write_tree
    from dqa_dellma.tree.reading import find_tree as find_tree
    from dqa_dellma.tree.reading import read_tree as read_tree
    from dqa_dellma.tree.report import write_tree_report as write_tree_report
    from dqa_dellma.utilities.beliefs import Beliefs as Beliefs
    from dqa_dellma.utilities.beliefs import Factors as Factors
    from dqa_dellma.utilities.beliefs import judge as judge
    from dqa_dellma.utilities.maximisation import Maximised as Maximised
    from dqa_dellma.utilities.maximisation import maximise as maximise
    from dqa_dellma.utilities.pairs import Pairs as Pairs

_HOMES = {
    "context.problem": ("Problem",),
    "events": ("FactorsEvent", "ForecastEvent", "RankingEvent"),
    "factories": ("problem_decider",),
    "portfolios": ("combine_actions",),
    "settings": ("DellmaSettings",),
    "steps.dellma": ("Dellma", "Steps"),
    "tree.page": ("write_tree",),
    "tree.reading": ("find_tree", "read_tree"),
    "tree.report": ("write_tree_report",),
    "utilities.beliefs": ("Beliefs", "Factors", "judge"),
    "utilities.maximisation": ("Maximised", "maximise"),
    "utilities.pairs": ("Pairs",),
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
