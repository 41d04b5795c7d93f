"""Base classes for methods, which ask for typed replies to prompts in several steps.

The package of a method has a folder ``prompts`` of Jinja2 templates, a class for each reply, and a
decider that asks for one reply after another. ``docs/extending.md`` contains a method of 25 lines.

`Asking.ask` renders the template and validates the reply. If the reply is invalid, `Asking.ask`
describes the problem to the model and asks again. It records the result as one `StepEvent`.
`Asking.note` records the result of a step that asks no model. Reports show the titles of the
reply's class and fields. They omit fields without a title.

Scripted models (`dqa.models.scripted.ScriptedReplies`) compute their replies from the name of the
step and the values of the prompt.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from contextvars import copy_context
from dataclasses import dataclass, field, replace
from functools import partial
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

from pydantic import BaseModel, ConfigDict, model_validator

from dqa.core.database import Database
from dqa.core.decider import Decider
from dqa.core.decision import EXPECTED_FAILURES, Decision, Ending
from dqa.core.errors import OutOfBudgetError, UnparsableReplyError
from dqa.core.events import BudgetEvent, ParseFailureEvent, PromptEvent, ReplyEvent, StepEvent
from dqa.core.question import Question
from dqa.core.recorder import Recorder
from dqa.deciders.base import DeciderFactory, Settings
from dqa.deciders.prompting import fill_in
from dqa.deciders.replies import Choice, Finding, listed
from dqa.models.policy import DEFAULT_POLICY, CallPolicy

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel
    from langchain_core.messages import BaseMessage

    from dqa.models.calling import ChatRunnable

_Task = TypeVar("_Task")
_Result = TypeVar("_Result")
_Kind = TypeVar("_Kind", bound=Finding)


class MethodSettings(BaseModel):
    """Base class of a method's settings. Every field has a default and a description.

    A preset is a named group of settings. If a class has a field ``preset``, `presets` maps the
    name of each preset to its settings. A setting that the user gives has priority over the preset.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)
    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = {}

    @model_validator(mode="before")
    @classmethod
    def _fill_in(cls, values: Any) -> Any:  # noqa: ANN401  (any input)
        if not isinstance(values, Mapping):
            return values
        preset = cls.presets.get(str(values.get("preset")), {})
        return {name: preset[name] for name in preset if name in cls.model_fields} | {**values}


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
        The maximum number of unusable replies to one prompt.
    calls
        The retries, limits and budget of model calls.
    recorder
        Records prompts, replies and results.
    """

    package: str
    model: ChatRunnable
    tries: int = 3
    calls: CallPolicy = DEFAULT_POLICY
    recorder: Recorder = field(default_factory=Recorder)

    def render(self, name: str, **values: Any) -> str:  # noqa: ANN401  (values of the template)
        """Return the text of the template ``prompts/NAME.md``, with these values filled in."""
        return fill_in(self.package, name, **values)

    def ask(  # noqa: PLR0913  (each is a choice of the caller)
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
        """Ask for a reply, up to `tries` times. Tell the model the problem of an unusable reply.

        Parameters
        ----------
        purpose
            The name of the step. Its template is ``prompts/PURPOSE.md``.
        kind
            The class of the reply.
        context
            The context of the validators of `kind`.
        label
            The name of the prompt in the trace; by default the title of the reply, or the purpose.
        model
            The model; by default the model of this object.
        read
            Reads the text of a reply; by default `Finding.read`.
        note
            Whether to record the result.
        values
            The values of the template.

        Raises
        ------
        UnparsableReplyError
            No reply could be used.
        OutOfBudgetError
            The budget of the decision is spent. The decider may make one last request.
        InfrastructureError, BudgetSpentError, UsageError
            The errors of `dqa.models.calling.call_model`.
        """
        from dqa.models.conversation import StepPrompt

        record = self.recorder
        if record.ended_by is None and record.over_budget(reads=False) is not None:
            raise OutOfBudgetError(f"The budget of {record.spent} is spent.")
        text = self.render(purpose, **values)
        prompt = StepPrompt(content=text, package=self.package, purpose=purpose, values=values)
        label = label or kind.model_config.get("title") or purpose
        request = (("human", prompt.text),)
        record.note(PromptEvent(step=record.steps, messages=request, purpose=label))
        read = read or partial(kind.read, context=context)
        found = self._ask_until_read(model or self.model, prompt, read)
        if note:
            self.note(purpose, found)
        return found

    def _ask_until_read(
        self, model: ChatRunnable, prompt: BaseMessage, read: Callable[[str], _Kind]
    ) -> _Kind:
        """Return the first reply without flaws, or the best of `tries` replies."""
        from langchain_core.messages import AIMessage

        from dqa.models.calling import call_model
        from dqa.models.conversation import EMPTY_REPLY, correction, given_up

        messages, record = [prompt], self.recorder
        best: _Kind | None = None
        problem = ""
        for _ in range(self.tries):
            turn = call_model(model, messages, record, self.calls)
            record.steps += 1
            record.note(turn.event(record.steps, turn.text, turn.thought))
            try:
                turn.check()
                reply = read(turn.text)
                if not reply.flaws:
                    return reply
                problem = listed(reply.flaws)
                best = reply if best is None or len(reply.flaws) <= len(best.flaws) else best
            except UnparsableReplyError as error:
                problem = str(error)
            record.note(ParseFailureEvent(step=record.steps, problem=problem))
            messages += [AIMessage(turn.text or EMPTY_REPLY), correction(problem)]
        if best is None:
            raise given_up(self.tries, problem)
        return best

    @property
    def last_text(self) -> str:
        """The text of the last reply."""
        replies = (one for one in reversed(self.recorder.events) if isinstance(one, ReplyEvent))
        return next((reply.text for reply in replies), "")

    def note(self, purpose: str, found: BaseModel) -> None:
        """Record the result of a step."""
        kind = type(found)
        self.recorder.note(
            StepEvent(
                step=self.recorder.steps,
                purpose=purpose,
                title=kind.model_config.get("title") or purpose,
                result=found.model_dump(mode="json"),
                titles={name: one.title for name, one in kind.model_fields.items() if one.title},
            )
        )

    def ask_all(
        self, asks: Sequence[Callable[[Asking], _Result]], parallel: int = 1
    ) -> list[_Result]:
        """Make independent requests, `parallel` at a time. Return the results in order.

        The results and the record do not depend on `parallel`. If requests fail, the error of the
        first failed request is raised after all running requests have ended.
        """
        if len(asks) == 1 or parallel == 1:
            return [ask(self) for ask in asks]
        branches = [replace(self, recorder=Recorder.branch()) for _ in asks]
        executor = ThreadPoolExecutor(min(parallel, len(asks)), "dqa-asking")
        try:
            futures = [
                executor.submit(copy_context().run, ask, branch)
                for ask, branch in zip(asks, branches, strict=True)
            ]
            wait(futures, return_when=FIRST_EXCEPTION)
        finally:  # an interrupt must not leave paid requests in the queue
            executor.shutdown(cancel_futures=True)
        for branch in branches:
            self.recorder.merge(branch.recorder)
        return [future.result() for future in futures]


class MethodDecider(Decider, Generic[_Task]):
    """Base class of methods, which read the task of a question and ask the model for an action.

    The method's own settings and `Settings.budget` limit the number of replies.
    `Settings.max_steps` is ignored.

    Parameters
    ----------
    name
        The name in results.
    model
        The chat model.
    settings
        The limits, and the method's own settings (`Settings.own_as`).
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
            The question has no actions or no queries.
        DataError
            The question is a move, and its history has gaps or breaks the rules.
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
        return recorder.answered(chosen.said, chosen.action)

    @abstractmethod
    def read(self, question: Question, database: Database, recorder: Recorder) -> _Task:
        """Read the task of a question. Every statement is recorded as evidence."""

    @abstractmethod
    def choose(self, task: _Task, question: Question, asking: Asking) -> Choice:
        """Choose one of the task's actions."""

    def choose_at_once(self, task: _Task, asking: Asking) -> Choice | None:
        """Choose with one last request after the budget is spent; None if this is impossible."""
        del task, asking
        return None

    def last_choice(self, task: _Task, recorder: Recorder) -> Choice | None:
        """Return the last choice before the budget was spent; None without a choice."""
        del task, recorder
        return None

    def _decide_out_of_budget(self, task: _Task | None, asking: Asking) -> Decision:
        """Return the decision after the budget is spent. Ask for one last reply if possible."""
        recorder = asking.recorder
        if recorder.ended_by is None:
            recorder.close_by_budget()
        prompts = [one for one in recorder.events if isinstance(one, PromptEvent | BudgetEvent)]
        may_ask = isinstance(prompts[-1], BudgetEvent) and prompts[-1].asked
        if task is not None:
            chosen: Choice | None = None
            try:
                if may_ask:
                    chosen = self.choose_at_once(task, replace(asking, tries=1))
            except UnparsableReplyError:
                pass  # the recorder has the problem of the reply
            except EXPECTED_FAILURES as failure:
                return recorder.failed(failure)
            chosen = chosen or self.last_choice(task, recorder)
            if chosen is not None:
                return recorder.answered(chosen.said, chosen.action)
        problem = f"The budget of {recorder.spent} was spent before a decision was made."
        return recorder.ended(Ending.NO_DECISION, problem)


def method(
    name: str,
    description: str,
    decider: str | Callable[[str, BaseChatModel, Settings], Decider],
    settings: type[BaseModel],
    **more: Any,  # noqa: ANN401  (fields of DeciderFactory)
) -> DeciderFactory:
    """Return a method's factory, to which an entry point of ``dqa.deciders`` can refer.

    Parameters
    ----------
    name, description
        The name and the description in lists and results.
    decider
        The class, or ``package.module:Class``, which is imported when a decider is created. The
        class is called with name, model and settings.
    settings
        The class of the method's own settings.
    more
        Other fields of `DeciderFactory`, such as ``family`` and ``fixed``.
    """

    def make(model: BaseChatModel, settings: Settings) -> Decider:
        kind = resolve_name(decider) if isinstance(decider, str) else decider
        created: Decider = kind(name, model, settings)
        return created

    return DeciderFactory(name, description, make, settings=settings, protocols=("react",), **more)
