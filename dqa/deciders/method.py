"""The parts of a method: prompts, typed replies, settings, and the order of its steps.

A method's package has a folder ``prompts`` of Jinja2 templates, a class for each reply, and a
decider that asks for one reply after another: ``docs/extending.md`` has a whole method of 25 lines.

`Asking.ask` renders the template, validates the reply, asks again with its problem, and
records the result as one `StepEvent`. `Asking.note` records a calculated step in the same way.
The titles of a class and its fields are what people read in the terminal, on the page and in
exports; a field without a title is stored and not shown.

A scripted model answers by the name of the step and by the values of the prompt
(`ScriptedReplies`); it parses no prompt.
"""

from __future__ import annotations

import json
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass, field, replace
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Self, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError, ValidationInfo, model_validator

from dqa.core.database import Database
from dqa.core.decider import Decider
from dqa.core.decision import Decision, Ending
from dqa.core.endings import EXPECTED_FAILURES
from dqa.core.errors import OutOfBudgetError, UnparsableReplyError
from dqa.core.events import (
    BudgetEvent,
    PromptEvent,
    ReplyEvent,
    StepEvent,
)
from dqa.core.question import Candidate, Question
from dqa.core.recorder import Recorder
from dqa.deciders.base import DeciderFactory, Settings
from dqa.deciders.prompting import fill_in
from dqa.deciders.replies import (
    Chosen,
    action_text,
    choose_action,
    listed,
    problems_of,
    read_object,
)
from dqa.models.policy import DEFAULT_POLICY, CallPolicy

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel
    from langchain_core.messages import AIMessage, BaseMessage

    from dqa.models.calling import ChatRunnable

_Task = TypeVar("_Task")
_Result = TypeVar("_Result")
_Kind = TypeVar("_Kind", bound="Finding")
_Found = TypeVar("_Found", bound=BaseModel)


class MethodSettings(BaseModel):
    """Base class of a method's settings: every field has a default and a description.

    A method with a field ``preset`` lists in `presets`, by its values, the settings that they
    change, where the class has them; settings of the user override them.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)
    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = {}

    @model_validator(mode="before")
    @classmethod
    def _fill_in(cls, values: Any) -> Any:  # noqa: ANN401  (whatever is validated)
        if not isinstance(values, Mapping):
            return values
        preset = cls.presets.get(str(values.get("preset")), {})
        return {name: preset[name] for name in preset if name in cls.model_fields} | {**values}


class Finding(BaseModel):
    """Base class of the result of a step; titles as in the docstring of this module."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    @property
    def flaws(self) -> Sequence[str]:
        """The flaws of a reply that can still be used.

        The model is asked again because of them. If they stay, the reply with the fewest is used.
        """
        return ()

    @classmethod
    def read(cls, text: str, context: Any = None) -> Self:  # noqa: ANN401  (each class has its own)
        """Read a reply.

        Raises
        ------
        UnparsableReplyError
            It is not one; the message tells the model what to write.
        """
        required = (name for name, one in cls.model_fields.items() if one.is_required())
        told = read_object(text, *required)
        try:
            return cls.model_validate(told, context=context)
        except ValidationError as error:
            raise UnparsableReplyError(problems_of(error)) from error


class Reply(Finding):
    """Base class of a model's reply: a JSON object, whatever else it says and contains.

    A validator may use ``info.context``, the context of `Asking.ask`, and raises `ValueError` or
    `UnparsableReplyError` with an instruction to the model.
    """

    model_config = ConfigDict(frozen=True, extra="ignore", allow_inf_nan=False)


@dataclass(frozen=True, slots=True)
class Options:
    """The possible actions of a `Choice`: the context of such a reply.

    Attributes
    ----------
    actions
        The actions.
    noun
        The noun for an action in the prompt.
    form
        The free form of an action, as in `Question.free_form`.
    """

    actions: Sequence[Candidate]
    noun: str = "action"
    form: str = ""


class Choice(Reply):
    """A reply that chooses one of the `Options`, however it is spelled.

    Attributes
    ----------
    action
        The action.
    reasoning
        The model's reasons.
    said
        The action in the model's words.
    """

    model_config = ConfigDict(title="decision")

    action: Candidate = Field(title="action")
    reasoning: str = Field(default="", title="reasoning")
    said: str = ""

    @model_validator(mode="before")
    @classmethod
    def _choose(cls, told: dict[str, Any], info: ValidationInfo) -> dict[str, Any]:
        options: Options | None = info.context
        if options is None:
            return told  # read back from a trace
        if "action" not in told:
            raise UnparsableReplyError('The reply names no action. Write {"action": "..."}.')
        said = action_text(told["action"])
        action = choose_action(said, options.actions, options.noun, options.form)
        reasoning = told.get("reasoning")
        return {
            "action": action,
            "reasoning": reasoning if isinstance(reasoning, str) else "",
            "said": said,
        }

    @classmethod
    def only(cls, action: Candidate, why: str) -> Self:
        """Return the choice of an action that no model was asked for."""
        return cls(action=action, reasoning=why, said=str(action))

    @property
    def chosen(self) -> Chosen:
        """The choice, as a decider returns it."""
        return Chosen(self.said, self.action, self.reasoning)


class Words(Reply):
    """A reply in plain text."""

    text: str

    @classmethod
    def read(cls, text: str, context: Any = None) -> Self:  # noqa: ANN401
        """Take the text as it is."""
        del context
        if not text:
            raise UnparsableReplyError("The reply is empty.")
        return cls(text=text)


def _titles(model: type[BaseModel]) -> dict[str, str]:
    return {name: one.title for name, one in model.model_fields.items() if one.title}


@dataclass
class _Reader(Generic[_Kind]):
    """Reads replies, and remembers the one with the fewest flaws."""

    read: Callable[[str], _Kind]
    best: _Kind | None = None

    def __call__(self, text: str) -> _Kind:
        """Return the reply; `UnparsableReplyError` if it has flaws."""
        reply = self.read(text)
        if self.best is None or len(reply.flaws) <= len(self.best.flaws):
            self.best = reply
        if reply.flaws:
            raise UnparsableReplyError(listed(reply.flaws))
        return reply


@dataclass(frozen=True, slots=True)
class Asking:
    """Asks a model for one typed reply at a time, and records results.

    Attributes
    ----------
    package
        The package with the folder ``prompts``.
    model
        The chat model.
    tries
        Most replies to one prompt that may be unusable.
    calls
        Retries, limits and budget.
    recorder
        Records prompts, replies and results.
    """

    package: str
    model: ChatRunnable
    tries: int = 3
    calls: CallPolicy = DEFAULT_POLICY
    recorder: Recorder = field(default_factory=Recorder)

    def render(self, name: str, **values: Any) -> str:  # noqa: ANN401  (values of the template)
        """Return the template ``prompts/NAME.md`` with its values filled in."""
        return fill_in(self.package, name, **values)

    def ask(  # noqa: PLR0913  (each is a question of its own to the caller)
        self,
        purpose: str,
        kind: type[_Kind],
        *,
        context: Any = None,  # noqa: ANN401  (each reply has its own)
        label: str = "",
        model: ChatRunnable | None = None,
        read: Callable[[str], _Kind] | None = None,
        note: bool = True,
        **values: Any,  # noqa: ANN401  (values of the template)
    ) -> _Kind:
        """Ask for a reply, and ask again with its problem, up to `tries` times.

        Parameters
        ----------
        purpose
            The name of the step: it uses ``prompts/PURPOSE.md``.
        kind
            The class of the reply.
        context
            The context of its validators.
        label
            The name of the prompt in the trace; else the title of the reply, or the purpose.
        model
            Another model than the usual one.
        read
            Reads the text of a reply instead of `Finding.read`.
        note
            Whether the result is recorded; False if the caller records it.
        values
            The values of the template.

        Raises
        ------
        UnparsableReplyError
            No reply could be used.
        OutOfBudgetError
            The decision's budget is spent, but for a last request once the run is closed.
        InfrastructureError, BudgetSpentError, UsageError
            As `dqa.models.calling.call_model` raises them.
        """
        from dqa.models.conversation import Conversation, StepPrompt

        reader = _Reader(read or (lambda text: kind.read(text, context)))
        talk = Conversation(self.model, self.tries, self.calls, self.recorder)
        prompt = StepPrompt.of(self.render(purpose, **values), self.package, purpose, values)
        label = label or kind.model_config.get("title") or purpose
        try:
            found = talk.ask(prompt, reader, label, model=model)
        except UnparsableReplyError:
            if reader.best is None:
                raise
            found = reader.best
        if note:
            self.note(purpose, found)
        return found

    @property
    def last_text(self) -> str:
        """The text of the last reply."""
        replies = (one for one in reversed(self.recorder.events) if isinstance(one, ReplyEvent))
        return next((reply.text for reply in replies), "")

    def note(self, purpose: str, found: BaseModel) -> None:
        """Record the result of a step."""
        self.recorder.note(
            StepEvent(
                step=self.recorder.steps,
                purpose=purpose,
                title=type(found).model_config.get("title") or purpose,
                result=found.model_dump(mode="json"),
                titles=_titles(type(found)),
            )
        )

    def ask_all(
        self, asks: Sequence[Callable[[Asking], _Result]], parallel: int = 1
    ) -> list[_Result]:
        """Make requests that do not need each other's replies; return results in their order.

        The results and the record are the same for any number at once. If some fail, the
        error of the first of them is raised after those that run have ended.
        """
        if len(asks) == 1 or parallel == 1:
            return [ask(self) for ask in asks]
        branches = [replace(self, recorder=Recorder.branch()) for _ in asks]
        executor = ThreadPoolExecutor(min(parallel, len(asks)), "dqa-asking")
        results, failed = [], None
        try:
            futures = [
                executor.submit(copy_context().run, ask, branch)
                for ask, branch in zip(asks, branches, strict=True)
            ]
            for future, branch in zip(futures, branches, strict=True):
                try:
                    if failed is None:
                        results.append(future.result())
                except Exception as error:  # noqa: BLE001  (raised below, once all is recorded)
                    failed = error
                    executor.shutdown(cancel_futures=True)
                self.recorder.merge(branch.recorder)
        finally:  # an interrupt must not leave paid requests in the queue
            executor.shutdown(wait=False, cancel_futures=True)
        if failed is not None:
            raise failed
        return results


def find_step(events: Sequence[object], kind: type[_Found], purpose: str) -> _Found | None:
    """Return the last result of a step in a trace; None without one that fits `kind`."""
    for event in reversed(events):
        if isinstance(event, StepEvent) and event.purpose == purpose:
            try:
                return kind.model_validate(event.result)
            except ValidationError:
                return None
    return None


class MethodDecider(Decider, Generic[_Task]):
    """Base class of a method: reads a question as a task, and chooses by asking.

    The number of replies follows from the method's own settings, so `Settings.max_steps` does not
    bound them; `Settings.budget` does.

    Parameters
    ----------
    name
        What results call it.
    model
        The chat model.
    settings
        What bounds every run; `Settings.own_as` returns the method's own settings.
    """

    package: ClassVar[str]
    """The package with the folder ``prompts``."""

    def __init__(self, name: str, model: BaseChatModel, settings: Settings) -> None:
        self.name, self.model, self.settings = name, model, settings

    def decide(self, question: Question, database: Database) -> Decision:
        """Decide one question; see `dqa.core.decider.Decider`.

        Raises
        ------
        UsageError
            The question has no action, or nothing says which rows to read.
        DataError
            It is a move, and its history has gaps or breaks the rules.
        """
        settings, recorder = self.settings, self.settings.recorder()
        asking = Asking(
            self.package, self.model, settings.max_parse_failures, settings.calls, recorder
        )
        task: _Task | None = None
        try:
            task = self.read(question, database, recorder)
            chosen = self.choose(task, question, asking)
        except OutOfBudgetError:
            return self._decide_out_of_budget(task, asking)
        except EXPECTED_FAILURES as failure:
            return recorder.failed(failure)
        return recorder.answered(chosen.answer, chosen.action)

    @abstractmethod
    def read(self, question: Question, database: Database, recorder: Recorder) -> _Task:
        """Read the task of a question; every statement is evidence."""

    @abstractmethod
    def choose(self, task: _Task, question: Question, asking: Asking) -> Chosen:
        """Choose one of the task's actions."""

    def choose_at_once(self, task: _Task, asking: Asking) -> Chosen | None:
        """Choose in one last reply, as the budget is spent; None for a method that cannot."""
        del task, asking
        return None

    def last_choice(self, task: _Task, recorder: Recorder) -> Chosen | None:
        """Return the choice of an earlier reply, as the budget is spent; None without one."""
        del task, recorder
        return None

    def _decide_out_of_budget(self, task: _Task | None, asking: Asking) -> Decision:
        """Return the decision of one last reply, if the rest of the budget pays for it."""
        recorder = asking.recorder
        if recorder.ended_by is None:
            recorder.close_by_budget()
        chosen: Chosen | None = None
        if task is not None and _may_ask(recorder):
            try:
                chosen = self.choose_at_once(task, replace(asking, tries=1))
            except UnparsableReplyError:
                pass  # the recorder has why
            except EXPECTED_FAILURES as failure:
                return recorder.failed(failure)
        if chosen is None and task is not None:
            chosen = self.last_choice(task, recorder)
        if chosen is not None:
            return recorder.answered(chosen.answer, chosen.action)
        return recorder.ended(
            Ending.NO_DECISION,
            f"The budget of {recorder.spent} was spent before a decision was made.",
        )


def _may_ask(recorder: Recorder) -> bool:
    """Whether a last reply can be paid for and was not asked for yet."""
    for event in reversed(recorder.events):
        if isinstance(event, PromptEvent):
            return False
        if isinstance(event, BudgetEvent):
            return event.asked
    return False


def method(
    name: str,
    description: str,
    decider: str | Callable[[str, BaseChatModel, Settings], Decider],
    settings: type[BaseModel],
    **more: Any,  # noqa: ANN401  (fields of DeciderFactory)
) -> DeciderFactory:
    """Return the factory that an entry point of ``dqa.deciders`` names.

    Parameters
    ----------
    name, description
        For lists and results.
    decider
        The class, or ``package.module:Class``, which is imported when a decider is made. It is
        called with name, model and settings.
    settings
        The class of the method's own settings.
    more
        Other fields of `DeciderFactory`, such as ``family`` and ``fixed``.
    """

    def make(model: BaseChatModel, given: Settings) -> Decider:
        kind = resolve_name(decider) if isinstance(decider, str) else decider
        made: Decider = kind(name, model, given)
        return made

    return DeciderFactory(name, description, make, settings=settings, protocols=("react",), **more)


@dataclass(frozen=True, slots=True)
class ScriptedReplies:
    """Answers a method's steps for scripted models; an entry point of ``dqa.scripted`` names it.

    Parameters
    ----------
    package
        The method's package.
    replies
        For each purpose a function of the prompt's values. It returns a text, or what becomes
        JSON. The values also contain the ``prompt`` itself, the name of the ``script``, such as
        ``analyst``, and the ``seed``.
    """

    package: str
    replies: Mapping[str, Callable[[Mapping[str, Any]], object]]

    def answers(self, messages: Sequence[BaseMessage]) -> bool:
        """Whether a conversation is about one of the method's steps."""
        from dqa.models.conversation import StepPrompt

        first = messages[0] if messages else None
        return isinstance(first, StepPrompt) and first.package == self.package

    def reply(
        self, messages: Sequence[BaseMessage], tools: Sequence[str], script: str, seed: int
    ) -> AIMessage:
        """Return a script's reply to a step."""
        from langchain_core.messages import AIMessage

        del tools
        step: Any = messages[0]
        told = self.replies[step.purpose](
            {**step.values, "prompt": step.text, "script": script, "seed": seed}
        )
        return AIMessage(told if isinstance(told, str) else json.dumps(told, ensure_ascii=False))
