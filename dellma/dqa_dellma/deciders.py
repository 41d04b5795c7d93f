"""DeLLMa and its baselines as deciders, and the factories that the entry points name."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from langchain_core.language_models import BaseChatModel

from dqa.core.database import Database
from dqa.core.decider import Decider
from dqa.core.decision import Decision
from dqa.core.endings import EXPECTED_FAILURES
from dqa.core.errors import RequestTooLongError
from dqa.core.events import FaultEvent
from dqa.core.question import Candidate, Question
from dqa.core.recorder import Recorder
from dqa.deciders.base import DeciderFactory, Settings
from dqa.models.conversation import Conversation
from dqa.models.faults import Fault, FaultKind
from dqa_dellma.context.briefing import Briefing, actions_of, check_question
from dqa_dellma.events import ContextEvent, Finding, OnlyActionEvent
from dqa_dellma.settings import (
    FAMILY,
    DellmaSettings,
    DirectSettings,
    NaiveSettings,
    Top1Settings,
    VotingSettings,
)
from dqa_dellma.steps.choosing import Chooser, Chosen
from dqa_dellma.steps.dellma import Dellma
from dqa_dellma.steps.direct import ChainOfThought, SelfConsistency, ZeroShot

__all__ = [
    "CHAIN_OF_THOUGHT",
    "DELLMA_NAIVE",
    "DELLMA_PAIRS",
    "DELLMA_TOP1",
    "SELF_CONSISTENCY",
    "ZERO_SHOT",
    "ProblemDecider",
    "problem_decider",
]

_HALVINGS = 6
"""How often what is read is halved: from 40,000 characters to 625."""
_TOO_LONG = (
    "What is read was halved as far as it goes; --set dellma.batch=... (items) shortens what is "
    "ranked at once, and --set dellma.context=... (characters) what is read to begin with."
)
_Settings = TypeVar("_Settings", bound=DirectSettings)


class ProblemDecider(Decider):
    """Reads what bears on a question as a problem, and has it decided.

    Parameters
    ----------
    name
        What results call it.
    model
        Who is asked.
    settings
        What bounds every run. How many replies there are follows from the chooser's settings, so
        `Settings.max_steps` does not bound it.
    chooser
        Decides.
    context
        Most characters of a problem.
    """

    def __init__(
        self, name: str, model: BaseChatModel, settings: Settings, chooser: Chooser, context: int
    ) -> None:
        self.name = name
        self._model = model
        self._settings = settings
        self._chooser = chooser
        self._context = context

    def decide(self, question: Question, database: Database) -> Decision:
        """Decide one question; see `dqa.core.decider.Decider`.

        Raises
        ------
        UsageError
            The question has no action, or nothing says which rows to read.
        """
        settings, recorder = self._settings, Recorder()
        conversation = Conversation(
            self._model, settings.max_parse_failures, settings.calls, recorder
        )
        try:
            actions = actions_of(question, database)
            if len(actions) == 1:
                chosen = _only(actions[0], recorder)
            else:
                briefing = Briefing.of(question, actions, database, recorder, settings.limits)
                chosen = self._choose(briefing, question.key, conversation)
        except EXPECTED_FAILURES as failure:
            return recorder.failed(failure)
        return recorder.answered(chosen.answer, chosen.action)

    def check(self, question: Question) -> None:
        """Raise `UsageError` for a question without actions."""
        check_question(question)

    def _choose(self, briefing: Briefing, key: str, conversation: Conversation) -> Chosen:
        """Decide, anew with half the characters where a request is longer than the model takes."""
        # With a context that is shorter than allowed, half of what is allowed changes nothing.
        most = min(self._context, max(briefing.size, briefing.least))
        attempt = 1
        while True:
            try:
                problem = briefing.problem(conversation, most)
                return self._chooser.choose(problem, key, conversation)
            except RequestTooLongError as error:
                shorter = max(most // 2, briefing.least)
                if attempt > _HALVINGS or shorter >= most:
                    raise RequestTooLongError(f"{error} {_TOO_LONG}") from error
            most = shorter
            _begin_anew(conversation.recorder, most, attempt)
            attempt += 1


def _only(action: Candidate, recorder: Recorder) -> Chosen:
    """Choose the one action there is: nothing has to be read, and nobody asked."""
    recorder.note(ContextEvent(actions=(action,), text="", summarised=False, failed=0, cut=0))
    recorder.note(OnlyActionEvent(action=action))
    return Chosen(str(action), action)


def _begin_anew(recorder: Recorder, most: int, attempt: int) -> None:
    """Forget what the steps found, for they begin anew, and record why.

    What was read, asked and said stays: it happened, and was paid for. What was made of it would be
    counted twice.
    """
    recorder.events[:] = [event for event in recorder.events if not isinstance(event, Finding)]
    words = f"Goal, actions, rules and rows are read anew in at most {most} characters."
    fault = Fault(FaultKind.TOO_LONG, RequestTooLongError.__name__, words, attempt, 0.0)
    recorder.note(FaultEvent(step=recorder.steps, **fault.to_data()))


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
        own = settings.own_as(kind)
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


DELLMA_PAIRS = problem_decider(
    "dellma-pairs",
    "beliefs, ranked states, expected utility (DeLLMa-Pairs)",
    Dellma,
    DellmaSettings,
    fixed=("shared", "elicitation"),
)
DELLMA_TOP1 = problem_decider(
    "dellma-top1",
    "as dellma-pairs, with each ranking's first against the rest (DeLLMa-Top1)",
    Dellma,
    Top1Settings,
    fixed=("shared", "elicitation"),
)
DELLMA_NAIVE = problem_decider(
    "dellma-naive",
    "one batch of 50 states, different ones for each action (DeLLMa-Naive)",
    Dellma,
    NaiveSettings,
    fixed=("shared", "batch", "overlap", "confidence"),
)
ZERO_SHOT = problem_decider(
    "zero-shot",
    "asks for the decision once (DeLLMa, section 4)",
    lambda _: ZeroShot(),
    DirectSettings,
)
SELF_CONSISTENCY = problem_decider(
    "self-consistency",
    "the majority of five answers (DeLLMa, section 4)",
    lambda own: SelfConsistency(own.votes, own.temperature),
    VotingSettings,
    apart=("votes", "temperature"),
)
CHAIN_OF_THOUGHT = problem_decider(
    "chain-of-thought",
    "factors, chances and decision in three prompts (DeLLMa, section 4)",
    lambda _: ChainOfThought(),
    DirectSettings,
)
