"""DeLLMa and its baselines as deciders, and the factories that the entry points name."""

from __future__ import annotations

import time
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, Self, TypeVar

import numpy as np
from langchain_core.language_models import BaseChatModel

from dqa.core.database import Database
from dqa.core.decider import Decider
from dqa.core.decision import Decision, Ending
from dqa.core.errors import (
    BudgetSpentError,
    DatabaseUnavailableError,
    InfrastructureError,
    RequestTooLongError,
    UnparsableReplyError,
)
from dqa.core.events import AnswerEvent, EndingEvent
from dqa.core.question import Candidate, Question
from dqa.deciders.base import DeciderFactory, Settings
from dqa.models.faults import Fault, FaultKind
from dqa_dellma.asking import Asker
from dqa_dellma.context.briefing import Briefing, actions_of, check_question
from dqa_dellma.context.problem import Problem
from dqa_dellma.events import ContextEvent, OnlyActionEvent
from dqa_dellma.settings import (
    FAMILY,
    DellmaSettings,
    DirectSettings,
    NaiveSettings,
    Top1Settings,
    VotingSettings,
)
from dqa_dellma.steps.direct import (
    ChainOfThought,
    DirectMethod,
    SelfConsistency,
    ZeroShot,
    action_named,
)
from dqa_dellma.steps.elicitation import AskedRanking, Ranker
from dqa_dellma.steps.enumeration import AskedEnumeration, StateEnumeration
from dqa_dellma.steps.forecasting import AskedForecast, StateForecast
from dqa_dellma.steps.sampling import Maximisation, UtilityElicitation
from dqa_dellma.utilities.maximisation import maximise
from dqa_dellma.utilities.why import reason_for

__all__ = [
    "CHAIN_OF_THOUGHT",
    "DELLMA_NAIVE",
    "DELLMA_PAIRS",
    "DELLMA_TOP1",
    "SELF_CONSISTENCY",
    "ZERO_SHOT",
    "Dellma",
    "Direct",
    "Steps",
    "dellma_factory",
    "direct_factory",
]

_HALVINGS = 6
"""How often what is read is halved: from 40,000 characters to 625."""
_Direct = TypeVar("_Direct", bound=DirectSettings)


@dataclass(frozen=True, slots=True)
class _Chosen:
    """What a method decided, in words and, where those name one, as an action."""

    answer: str
    choice: Candidate | None


class _Decider(Decider):
    """What DeLLMa and its baselines share: a problem is read, and its decision written down."""

    def __init__(self, name: str, model: BaseChatModel, settings: Settings, context: int) -> None:
        self.name = name
        self._model = model
        self._settings = settings
        self._context = context

    def decide(self, question: Question, database: Database) -> Decision:
        """Decide one question; see `dqa.core.decider.Decider`.

        The number of replies follows from the method's settings, so `Settings.max_steps` does not
        bound it.

        Raises
        ------
        UsageError
            The question has no action, or nothing says which rows to read.
        """
        started = time.perf_counter()
        asker = Asker(self._model, self._settings)
        error, outage = None, None
        chosen, ending = _Chosen("", None), Ending.ANSWERED
        try:
            chosen = self._chosen(question, database, asker)
            asker.events.append(AnswerEvent(step=asker.steps, text=chosen.answer))
        except UnparsableReplyError as problem_with:
            ending, error = Ending.UNPARSABLE, str(problem_with)
        except BudgetSpentError as spent:
            ending, error = Ending.BUDGET, str(spent)
        except InfrastructureError as failure:
            ending, error = Ending.INFRASTRUCTURE, str(failure)
            outage = _outage(failure)
        if ending is not Ending.ANSWERED:
            asker.events.append(EndingEvent.of(ending, asker.steps, error))
        return Decision(
            ending=ending,
            answer=chosen.answer,
            choice=chosen.choice,
            evidence=tuple(asker.evidence),
            usage=asker.usage,
            steps=asker.steps,
            seconds=time.perf_counter() - started,
            error=error,
            outage=outage,
            trace=tuple(asker.events),
        )

    def check(self, question: Question) -> None:
        """Raise `UsageError` for a question without actions."""
        check_question(question)

    def _chosen(self, question: Question, database: Database, asker: Asker) -> _Chosen:
        actions = actions_of(question, database)
        if len(actions) == 1:
            # There is nothing to compare, so nothing is read, and nobody asked.
            asker.events += [
                ContextEvent(actions=actions, text="", summarised=False, failed=0, cut=0),
                OnlyActionEvent(action=actions[0]),
            ]
            return _Chosen(str(actions[0]), actions[0])
        return self._read(Briefing.of(question, actions, database, asker), question, asker)

    def _read(self, briefing: Briefing, question: Question, asker: Asker) -> _Chosen:
        """Decide, anew with half the characters where a request is longer than the model takes."""
        # With a context that is shorter than allowed, half of what is allowed changes nothing.
        most = min(self._context, max(briefing.size, briefing.least))
        attempt = 1
        while True:
            try:
                return self._choose(briefing.problem(asker, most), question, asker)
            except RequestTooLongError:
                shorter = max(most // 2, briefing.least)
                if attempt > _HALVINGS or shorter >= most:
                    raise
            most = shorter
            words = f"Goal, actions, rules and rows are read anew in at most {most} characters."
            asker.begin_anew(Fault(FaultKind.TOO_LONG, "RequestTooLongError", words, attempt, 0.0))
            attempt += 1

    @abstractmethod
    def _choose(self, problem: Problem, question: Question, asker: Asker) -> _Chosen:
        """Decide a problem that was read."""


@dataclass(frozen=True, slots=True)
class Steps:
    """The four steps of DeLLMa; each can be replaced by anything of its protocol.

    They return what they found, and `Dellma` writes it down: a decision has its tree whoever took
    its steps.

    Attributes
    ----------
    enumeration
        A problem to its latent factors (section 3.1).
    forecast
        Factors to beliefs (section 3.2).
    ranker
        A minibatch of state-action pairs to its ranking (section 3.3).
    maximisation
        Rankings to the best action (section 3.4).
    """

    enumeration: StateEnumeration
    forecast: StateForecast
    ranker: Ranker
    maximisation: Maximisation = maximise

    @classmethod
    def asked(cls, settings: DellmaSettings) -> Self:
        """Return the paper's: the first three ask the model, and the fourth is arithmetic."""
        enumeration = AskedEnumeration(settings.factors or None, settings.values)
        return cls(enumeration, AskedForecast(), AskedRanking())


class Dellma(_Decider):
    """DeLLMa: enumerate, forecast, elicit, maximise (sections 3.1 to 3.4).

    Parameters
    ----------
    name
        What results call it.
    model
        Who is asked.
    settings
        What bounds every run.
    dellma
        The method's own settings.
    steps
        The four steps; None for the paper's.
    """

    def __init__(
        self,
        name: str,
        model: BaseChatModel,
        settings: Settings,
        dellma: DellmaSettings,
        steps: Steps | None = None,
    ) -> None:
        super().__init__(name, model, settings, dellma.context)
        self._dellma = dellma
        self._steps = steps or Steps.asked(dellma)
        self._elicitation = UtilityElicitation(self._steps.ranker, dellma, self._steps.maximisation)

    def _choose(self, problem: Problem, question: Question, asker: Asker) -> _Chosen:
        enumerated = self._steps.enumeration.enumerate(problem, asker)
        asker.events.append(enumerated.to_event(asker.steps))
        forecast = self._steps.forecast.forecast(problem, enumerated.factors, asker)
        asker.events.append(forecast.to_event(asker.steps))
        rng = np.random.default_rng([self._dellma.seed, *question.key.encode()])
        elicited = self._elicitation.elicit(problem, forecast.beliefs, asker, rng)
        why = reason_for(problem, forecast.beliefs, elicited)
        asker.events.append(elicited.to_event(problem.actions, why, asker.steps))
        choice = problem.actions[elicited.best]
        return _Chosen(str(choice), choice)


class Direct(_Decider):
    """A baseline that asks for the decision itself."""

    def __init__(
        self,
        name: str,
        model: BaseChatModel,
        settings: Settings,
        method: DirectMethod,
        context: int,
    ) -> None:
        super().__init__(name, model, settings, context)
        self._method = method

    def _choose(self, problem: Problem, question: Question, asker: Asker) -> _Chosen:
        del question
        answer = self._method.answer(problem, asker)
        return _Chosen(answer, action_named(answer, problem.actions))


def _outage(failure: InfrastructureError) -> Literal["database", "model"]:
    return "database" if isinstance(failure, DatabaseUnavailableError) else "model"


def dellma_factory(
    name: str,
    description: str,
    kind: type[DellmaSettings] = DellmaSettings,
    fixed: tuple[str, ...] = ("shared",),
    steps: Callable[[DellmaSettings], Steps] = Steps.asked,
) -> DeciderFactory:
    """Return the factory of one variant.

    Parameters
    ----------
    name, description
        For lists and results.
    kind
        Its settings, with the variant's own defaults.
    fixed
        Which of them cannot be given: they are what the variant's name means, or of no use to it.
    steps
        Makes the four steps from the settings.
    """

    def make(model: BaseChatModel, settings: Settings) -> Dellma:
        own = settings.own_as(kind)
        return Dellma(name, model, settings, own, steps(own))

    return DeciderFactory(
        name, description, make, protocols=("react",), settings=kind, family=FAMILY, fixed=fixed
    )


def direct_factory(
    name: str,
    description: str,
    method: Callable[[_Direct], DirectMethod],
    kind: type[_Direct],
) -> DeciderFactory:
    """Return the factory of a baseline that asks for the decision itself.

    Parameters
    ----------
    name, description
        For lists and results.
    method
        Makes what asks from the baseline's settings.
    kind
        These settings; of the family's only those that `DirectSettings` has.
    """

    def make(model: BaseChatModel, settings: Settings) -> Direct:
        own = settings.own_as(kind)
        return Direct(name, model, settings, method(own), own.context)

    return DeciderFactory(
        name,
        description,
        make,
        protocols=("react",),
        settings=kind,
        family=FAMILY,
        apart=tuple(field for field in kind.model_fields if field not in _SHARED),
    )


_SHARED = frozenset(DirectSettings.model_fields)
DELLMA_PAIRS = dellma_factory(
    "dellma-pairs",
    "beliefs, ranked states, expected utility (DeLLMa-Pairs)",
    fixed=("shared", "elicitation"),
)
DELLMA_TOP1 = dellma_factory(
    "dellma-top1",
    "as dellma-pairs, with each ranking's first against the rest (DeLLMa-Top1)",
    Top1Settings,
    fixed=("shared", "elicitation"),
)
DELLMA_NAIVE = dellma_factory(
    "dellma-naive",
    "one batch of 50 states, different ones for each action (DeLLMa-Naive)",
    NaiveSettings,
    fixed=("shared", "batch", "overlap", "confidence"),
)
ZERO_SHOT = direct_factory(
    "zero-shot",
    "asks for the decision once (DeLLMa, section 4)",
    lambda _: ZeroShot(),
    DirectSettings,
)
SELF_CONSISTENCY = direct_factory(
    "self-consistency",
    "the majority of five answers (DeLLMa, section 4)",
    lambda own: SelfConsistency(own.votes, own.temperature),
    VotingSettings,
)
CHAIN_OF_THOUGHT = direct_factory(
    "chain-of-thought",
    "factors, chances and decision in three prompts (DeLLMa, section 4)",
    lambda _: ChainOfThought(),
    DirectSettings,
)
