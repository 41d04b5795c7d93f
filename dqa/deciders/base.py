"""The contract of deciders: a question and a database to a decision."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias

from dqa.core.database import DEFAULT_LIMITS, Database, Kind, Limits
from dqa.core.decider import Decider
from dqa.core.errors import UsageError
from dqa.core.question import Candidate, Question
from dqa.models.policy import DEFAULT_POLICY, CallPolicy

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

__all__ = ["DeciderFactory", "Examples", "ProtocolName", "Settings", "Use"]

ProtocolName: TypeAlias = Literal["react", "tools"]
"""How an agent and its model talk: labelled text, or the provider's own tool calls."""


Use: TypeAlias = Literal["evaluate", "ask", "reference"]
"""What a decider may be the usual one for."""


class Examples(Protocol):
    """Where an agent that is shown an example takes it from."""

    def others(self, question: Question, kind: Kind) -> Iterator[tuple[Question, Database]]:
        """Yield other questions of the same scenario with a database of the same kind.

        None of them is asked about data of the same content. The databases are the source's own:
        whoever takes one does not close it.
        """
        ...

    def is_right(self, question: Question, choice: Candidate | None) -> bool:
        """Whether `choice` is right for a question that `others` gave: only such are shown."""
        ...


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
    protocol
        How agents and their models talk.
    rules
        Name of the rule set that an agent's simulator runs by; None for the scenario's first.
    planner
        The model that plans, for agents that let one plan and another retrieve; None for the same.
    examples
        Where agents that are shown an example take it from; None where there are no others.
    options
        Settings of a decider's own by name, as its factory's `options` lists them.
    """

    max_steps: int = 20
    max_parse_failures: int = 3
    limits: Limits = DEFAULT_LIMITS
    calls: CallPolicy = DEFAULT_POLICY
    protocol: ProtocolName = "react"
    rules: str | None = None
    planner: BaseChatModel | None = None
    examples: Examples | None = None
    options: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Refuse limits under which nothing could be said."""
        if self.max_steps < 1 or self.max_parse_failures < 1:
            raise UsageError("A run needs at least one reply, and one try at each.")


@dataclass(frozen=True, slots=True)
class DeciderFactory:
    """What the entry point `dqa.deciders` names: makes a decider for a model.

    Attributes
    ----------
    name
        What commands and results call the decider.
    description
        What it does, in one line.
    make
        Makes the decider for a model (None where nobody named one) and what bounds every run.
    needs_model
        Whether a chat model has to be named.
    protocols
        The values of `Settings.protocol` that it follows.
    planner_apart
        Whether it asks `Settings.planner` for the plan.
    options
        Names of the settings in `Settings.options` that it follows.
    default_for
        Where it is meant if no decider is named: by an evaluation, by a question, or as the
        reference whose retrievals tell single-retrieval questions from others.
    """

    name: str
    description: str
    make: Callable[[BaseChatModel | None, Settings], Decider]
    needs_model: bool = True
    protocols: tuple[ProtocolName, ...] = ("react", "tools")
    planner_apart: bool = False
    options: tuple[str, ...] = ()
    default_for: tuple[Use, ...] = ()

    def __call__(self, model: BaseChatModel | None, settings: Settings) -> Decider:
        """Make the decider; `UsageError` where it needs a model and none is named."""
        if self.needs_model and model is None:
            raise UsageError(
                f"The decider '{self.name}' needs a chat model; name one with --model."
            )
        return self.make(model, settings)
