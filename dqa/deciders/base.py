"""The contract of deciders: a question and a database to a decision."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from dqa.databases.base import DEFAULT_LIMITS, Database, Limits
from dqa.decision import Decision
from dqa.models.policy import DEFAULT_POLICY, CallPolicy
from dqa.question import Question

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

__all__ = ["Decider", "DeciderFactory", "Settings"]


@dataclass(frozen=True, slots=True)
class Settings:
    """What bounds every run, whatever the decider.

    Attributes
    ----------
    max_steps
        Most model replies; running into it ends the run as `Ending.STEP_LIMIT`.
    max_parse_failures
        Most replies in a row that may break the format before the run ends as `UNPARSABLE`.
    limits
        What each statement may cost.
    calls
        How models are called: retries, rates and budget; hand it to `dqa.models.calling`.
    """

    max_steps: int = 20
    max_parse_failures: int = 3
    limits: Limits = DEFAULT_LIMITS
    calls: CallPolicy = DEFAULT_POLICY


class Decider(Protocol):
    """Answers questions. Stateless between questions, so one serves many threads."""

    name: str

    def decide(self, question: Question, database: Database) -> Decision:
        """Decide one question.

        Statement errors and unparsable replies are handed to the model; a failing server or
        provider ends the run as `Ending.INFRASTRUCTURE`, a spent budget as `Ending.BUDGET`, and
        both keep the trace so far.
        """
        ...


class DeciderFactory(Protocol):
    """What the entry point `dqa.deciders` names: makes a decider for a model."""

    name: str
    description: str
    needs_model: bool

    def __call__(self, model: BaseChatModel | None, settings: Settings) -> Decider:
        """Make the decider; one that needs no model ignores `model`."""
        ...
