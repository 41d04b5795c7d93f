"""The factories that the entry points name.

They import the steps when a decider is made, so whoever only lists them does not wait for these.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from dqa.deciders.base import DeciderFactory, Settings
from dqa_dellma.settings import (
    FAMILY,
    DellmaSettings,
    DirectSettings,
    NaiveSettings,
    Top1Settings,
    VotingSettings,
)

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

    from dqa_dellma.deciders import ProblemDecider
    from dqa_dellma.steps.choosing import Chooser

_Settings = TypeVar("_Settings", bound=DirectSettings)


def problem_decider(  # noqa: PLR0913  (one parameter a fact)
    name: str,
    description: str,
    chooser: Callable[[_Settings], Chooser],
    kind: type[_Settings],
    *,
    fixed: tuple[str, ...] = ("shared",),
    apart: tuple[str, ...] = (),
) -> DeciderFactory:
    """Return the factory of a decider that has problems decided.

    Parameters
    ----------
    name, description
        For lists and results.
    chooser
        Makes what decides from its settings, e.g. `Dellma`.
    kind
        These settings, with the decider's own defaults.
    fixed, apart
        As in `dqa.deciders.base.DeciderFactory`.
    """

    def make(model: BaseChatModel, settings: Settings) -> ProblemDecider:
        from dqa_dellma.deciders import ProblemDecider

        own = settings.own_as(kind)
        if "seed" in kind.model_fields:
            own = own.model_copy(update={"seed": getattr(own, "seed") + settings.epoch - 1})  # noqa: B009
        return ProblemDecider(name, model, settings, chooser(own), own.context)

    return DeciderFactory(
        name,
        description,
        make,
        protocols=("react",),
        settings=kind,
        family=FAMILY,
        fixed=fixed,
        apart=apart,
    )


def _dellma(own: DellmaSettings) -> Chooser:
    from dqa_dellma.steps.dellma import Dellma

    return Dellma(own)


def _zero_shot(own: DirectSettings) -> Chooser:
    from dqa_dellma.steps.direct import ZeroShot

    del own
    return ZeroShot()


def _self_consistency(own: VotingSettings) -> Chooser:
    from dqa_dellma.steps.direct import SelfConsistency

    return SelfConsistency(own.votes, own.temperature)


def _chain_of_thought(own: DirectSettings) -> Chooser:
    from dqa_dellma.steps.direct import ChainOfThought

    del own
    return ChainOfThought()


DELLMA_PAIRS = problem_decider(
    "dellma-pairs",
    "beliefs, ranked states, expected utility (DeLLMa-Pairs)",
    _dellma,
    DellmaSettings,
    fixed=("shared", "elicitation"),
)
DELLMA_TOP1 = problem_decider(
    "dellma-top1",
    "as dellma-pairs, with each ranking's first against the rest (DeLLMa-Top1)",
    _dellma,
    Top1Settings,
    fixed=("shared", "elicitation"),
)
DELLMA_NAIVE = problem_decider(
    "dellma-naive",
    "one batch of 50 states, different ones for each action (DeLLMa-Naive)",
    _dellma,
    NaiveSettings,
    fixed=("shared", "batch", "overlap", "confidence"),
)
ZERO_SHOT = problem_decider(
    "zero-shot",
    "asks for the decision once (DeLLMa, section 4)",
    _zero_shot,
    DirectSettings,
)
SELF_CONSISTENCY = problem_decider(
    "self-consistency",
    "the majority of five answers (DeLLMa, section 4)",
    _self_consistency,
    VotingSettings,
    apart=("votes", "temperature"),
)
CHAIN_OF_THOUGHT = problem_decider(
    "chain-of-thought",
    "factors, chances and decision in three prompts (DeLLMa, section 4)",
    _chain_of_thought,
    DirectSettings,
)
