"""LDM2 on questions: statements like those of other questions, step by step, then the decision."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import chain
from typing import ClassVar, Final

from langchain_core.language_models import BaseChatModel
from langchain_core.tools import BaseTool

from dqa.core.database import Database, Kind
from dqa.core.errors import InvalidAnswerError, OutOfBudgetError
from dqa.core.evidence import Evidence
from dqa.core.question import Candidate, Question
from dqa.core.recorder import Recorder
from dqa.core.trajectories import Step, Trajectory
from dqa.deciders.actions import Chosen
from dqa.deciders.answers import choice_of
from dqa.deciders.base import Settings
from dqa.deciders.candidates import nouns_of, offer_candidates
from dqa.deciders.choices import Choices, choices_of
from dqa.deciders.method import Asking, MethodDecider
from dqa.deciders.prompting import fill_in
from dqa.deciders.reviewing import describe_refusal, settle_decision
from dqa.deciders.samples import about_of, shown_schema, tables_of, warning_of
from dqa.deciders.tools import query_tool, use_tool
from dqa.evaluation.statistics.clusters import wilson
from dqa.models.conversation import given_up
from dqa_ldm2.identity import QuestionIdentity
from dqa_ldm2.memory import Memory
from dqa_ldm2.records import Remembered, State
from dqa_ldm2.replies import Subgoal
from dqa_ldm2.retrieval import OpenedMemory, Retriever
from dqa_ldm2.settings import QueriesSettings
from dqa_ldm2.situation import Situation
from dqa_ldm2.steps import PACKAGE, Known, act, choose, cut, evaluate, last_actions

DECIDE_FORM: Final = "decide[...]"
FORM: Final = f"query[...] or {DECIDE_FORM}"
"""The free form of a situation in which statements may be asked; see `Question.free_form`."""
SEEN: Final = 2_000
"""Most characters of a result that a step keeps."""
_LANGUAGES: Final[dict[Kind, str]] = {"relational": "SQL", "graph": "Cypher"}
_LOOKED_AT: Final = 400
"""Tuples near a state whose records are counted."""
_VALUE: Final = re.compile(r"'(?:[^']|'')*'|\b\d+(?:\.\d+)?\b")


def query_action(statement: str) -> str:
    """Return the action that runs a statement."""
    return f"query[{statement.strip()}]"


def decide_action(answer: object) -> str:
    """Return the action that decides."""
    return f"decide[{str(answer).strip()}]"


def statement_of(action: str) -> str | None:
    """Return the statement of an action; None if it does not run one."""
    return _inner(action, "query[")


def answer_of(action: str) -> str | None:
    """Return the decision of an action; None if it does not decide."""
    return _inner(action, "decide[")


def _inner(action: str, opening: str) -> str | None:
    text = action.strip()
    if not text.startswith(opening) or not text.endswith("]"):
        return None
    return text.removeprefix(opening).removesuffix("]").strip()


def beginning(kind: Kind) -> str:
    """Return the observation before any statement."""
    return f"{_LANGUAGES[kind]}: nothing was asked yet."


def seen(text: str, kind: Kind) -> str:
    """Return a result, or a problem, as the observation after an action."""
    return f"{_LANGUAGES[kind]} result, rows:\n{cut(text, SEEN)}"


def find_proven(
    memory: Memory, batch: int, place: tuple[str, str], state: State, most: int
) -> tuple[Remembered, ...]:
    """Return the tuples near a state whose statements were right most reliably.

    A statement's record is the lower end of Wilson's interval for how often it was right, its
    values aside. Steps that led to wrong decisions count, and are not returned: a place that has
    only those falls back to its goal type, and then to the batch.
    """
    for scope in (place, (place[0], ""), ("", "")):
        found = memory.find(batch, *scope, state, max(most, _LOOKED_AT))
        groups = memory.equal_ones(found, state.excluded)
        not_wrong = ([one for one in group if one.reward != 0.0] for group in groups)
        kept = [group[0] for group in not_wrong if group]
        if kept:
            worth = _worth(chain.from_iterable(groups))
            return tuple(sorted(kept, key=lambda one: -worth[_shape(one)])[:most])
    return ()


def _worth(stored: Iterable[Remembered]) -> dict[str, float]:
    tried: Counter[str] = Counter()
    right: Counter[str] = Counter()
    for one in stored:
        tried[_shape(one)] += one.reward is not None
        right[_shape(one)] += bool(one.reward)
    return {shape: (wilson(right[shape], count) or (0.0,))[0] for shape, count in tried.items()}


def _shape(one: Remembered) -> str:
    statement = statement_of(one.action) or ""
    return " ".join(_VALUE.sub("?", statement).split()).casefold()


@dataclass(slots=True)
class QuestionTask:
    """A question and its database, and the state of its process.

    Attributes
    ----------
    question, database
        The question and its database.
    start, here
        The situation before any statement, and now.
    choices
        What can be chosen; None if it is not listed.
    tool
        Runs statements.
    """

    question: Question
    database: Database
    start: Situation
    here: Situation
    choices: Choices | None
    tool: BaseTool

    def run(self, statement: str) -> Evidence:
        """Run a statement by the guarded tool; its errors are evidence."""
        return use_tool(self.tool, {"statement": statement})

    def choose(self, answer: str) -> Candidate | None:
        """Return the candidate of an answer; `InvalidAnswerError` if it names none or several."""
        return choice_of(answer, self.question, self.choices)

    def after(self, here: Situation, action: str, result: Evidence | str) -> Situation:
        """Return the situation after an action with its result, or with its problem."""
        text = result if isinstance(result, str) else result.observation
        steps = (*here.steps, Step(here.observation, action))
        return replace(here, steps=steps, observation=seen(text, self.database.kind))


def closing(situation: Situation) -> Situation:
    """Return a situation in which only a decision is legal."""
    return replace(situation, free_form=DECIDE_FORM)


def read_task(
    question: Question, database: Database, settings: Settings, recorder: Recorder | None = None
) -> QuestionTask:
    """Read the schema and the candidates of a question.

    Raises
    ------
    UsageError
        The statement of the candidates cannot run.
    InfrastructureError
        The database failed.
    """
    display = settings.display
    choices = choices_of(question, database)
    offered, unoffered = offer_candidates(question, choices)
    schema = shown_schema(
        *(database, display.samples, about_of(question), display.schema_tokens),
        first=tables_of(question),
    )
    for warning in (warning_of(schema), unoffered):
        if recorder is not None and warning is not None:
            recorder.note(warning)
    parts = {"language": database.language, "schema": schema.to_text(), "offered": offered}
    start = Situation(
        question.text,
        beginning(database.kind),
        (),
        rules=fill_in(PACKAGE, "statements", rules=question.rules, **parts),
        free_form=FORM,
        noun=nouns_of(question)[0],
        sources=frozenset({question.key}),
        identity=QuestionIdentity.of(question),
    )
    tool = query_tool(database, settings.limits, display, choices.names if choices else ())
    return QuestionTask(question, database, start, start, choices, tool)


class QueriesDecider(MethodDecider[QuestionTask]):
    """Asks a question's database in steps, as was done for other questions.

    Each batch memory leads its own process. If they decide differently, the model chooses the best
    process (equation 5).

    Parameters
    ----------
    name, model, settings
        As in `MethodDecider`.
    memory
        An open memory; None to open that of the settings.
    """

    package: ClassVar[str] = PACKAGE
    remembers: ClassVar[bool] = True
    """Whether it reads a memory."""

    def __init__(
        self, name: str, model: BaseChatModel, settings: Settings, memory: Memory | None = None
    ) -> None:
        super().__init__(name, model, settings)
        self._own = settings.own_as(QueriesSettings)
        self._memory = OpenedMemory(memory or self._own.memory)

    def check(self, question: Question) -> None:
        """Raise `UsageError` if the memory is missing or empty."""
        del question
        if self.remembers:
            self._memory.get()

    def read(self, question: Question, database: Database, recorder: Recorder) -> QuestionTask:
        """Read the schema and the candidates."""
        return read_task(question, database, self.settings, recorder)

    def choose(self, task: QuestionTask, question: Question, asking: Asking) -> Chosen:
        """Decide by each batch memory, and choose between different decisions."""
        del question
        found: dict[str, tuple[Chosen, Trajectory]] = {}
        batches = self._memory.batches(self._own.batches) if self.remembers else (0,)
        for batch in batches:
            chosen, process = self._process(task, asking, batch)
            found.setdefault(str(chosen.action or chosen.answer), (chosen, process))
        processes = [process for _, process in found.values()]
        return [*found.values()][choose(asking, processes, self._own.context) - 1][0]

    def choose_at_once(self, task: QuestionTask, asking: Asking) -> Chosen:
        """Decide in one reply, by what was seen."""
        choice = act(asking, closing(task.here), Known(), self._own.context)
        answer = answer_of(str(choice.action)) or ""
        return _chosen(answer, task.choose(answer))

    def _process(self, task: QuestionTask, asking: Asking, batch: int) -> tuple[Chosen, Trajectory]:
        """Act until there is a decision."""
        own, recorder = self._own, asking.recorder
        memory = self._memory.get() if self.remembers else None
        player = _Player(own, asking, memory, batch)
        most = min(own.statements, self.settings.max_steps)
        task.here = task.start
        asked = failures = 0
        while True:
            if asked and recorder.over_budget() is not None:
                raise OutOfBudgetError(f"The budget of {recorder.spent} is spent.")
            action = player.act(closing(task.here) if asked >= most else task.here)
            statement = statement_of(action)
            if statement is not None:
                evidence = task.run(statement)
                recorder.add_evidence(evidence)
                asked += 1
                task.here = task.after(task.here, action, evidence)
                continue
            answer = answer_of(action) or ""
            try:
                settled, choice = settle_decision(answer, task.choose(answer), task.choose)
            except InvalidAnswerError as error:
                failures += 1
                if failures >= self.settings.max_parse_failures:
                    raise given_up(failures, str(error)) from error
                task.here = task.after(task.here, action, f"Error: {error}")
                continue
            if settled.text is not None:
                steps = (*task.here.steps, Step(task.here.observation, action))
                return _chosen(settled.text, choice), Trajectory(task.here.goal, steps, "")
            refused = describe_refusal(settled, "decision")
            task.here = task.after(task.here, action, f"Error: {refused}")


class BareQueriesDecider(QueriesDecider):
    """The same without a memory."""

    remembers: ClassVar[bool] = False


class _Player:
    """Acts in one process by one batch memory."""

    def __init__(
        self, own: QueriesSettings, asking: Asking, memory: Memory | None, batch: int
    ) -> None:
        self._own = own
        self._asking = asking
        self._batch = batch
        self._subgoals: tuple[Subgoal, ...] = ()
        self._retriever = (
            None
            if memory is None
            else Retriever(memory, own.retrieved, find_proven, shows_own=own.same_question)
        )

    def act(self, here: Situation) -> str:
        """Return the next action."""
        own, asking = self._own, self._asking
        known = Known()
        if self._retriever is not None:
            history = last_actions(here.steps)
            known = Known(self._retriever.retrieve(asking, here, self._batch, history))
        if own.evaluate and here.steps:
            self._subgoals = evaluate(asking, here, self._subgoals, own.context)
            known = replace(known, subgoals=self._subgoals)
        return str(act(asking, here, known, own.context).action)


def _chosen(answer: str, choice: Candidate | None) -> Chosen:
    return Chosen(answer, choice)  # type: ignore[arg-type]  # an open question has no candidates
