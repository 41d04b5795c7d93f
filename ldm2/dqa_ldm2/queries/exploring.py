"""Questions that are explored: other statements and decisions, judged like any decision.

The judge is the evaluation's own. What it says is the reward at the end of a path; no prompt shows
it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager

from dqa import plugins
from dqa.core.database import Database
from dqa.core.errors import InvalidAnswerError, UsageError
from dqa.core.question import Candidate, Question
from dqa.core.question_set import QuestionSet
from dqa.core.recorder import Recorder
from dqa.core.situation import Situation
from dqa.deciders.base import Settings
from dqa.evaluation.results import Outcome
from dqa.evaluation.score import Judge
from dqa_ldm2.identity import QuestionIdentity
from dqa_ldm2.queries.actions import answer_of, statement_of
from dqa_ldm2.queries.asking import AskedTask, closing, read_task
from dqa_ldm2.refining.explorable import Explored


class QuestionExplorable:
    """A question whose statements are asked again and again; see `Explorable`.

    Parameters
    ----------
    question, database
        What is decided.
    judge
        Says what a decision is worth.
    source
        What the trajectories towards it are called, before the question's identity.
    settings
        What bounds statements.
    statements
        Most statements of a path; then it has to decide.
    """

    def __init__(  # noqa: PLR0913, PLR0917  (each is a question of its own to the caller)
        self,
        question: Question,
        database: Database,
        judge: Judge,
        source: str,
        settings: Settings | None = None,
        statements: int = 4,
    ) -> None:
        self._question = question
        self._judge = judge
        self._statements = statements
        self._task: AskedTask = read_task(question, database, settings or Settings())
        self.source = QuestionIdentity.of(question).source(source, question.key)

    def start(self) -> Explored:
        """Return the state before anything was asked."""
        return Explored(self._task.start)

    def act(self, state: Explored, action: Candidate) -> Explored:
        """Return what a statement returns, or what a decision is worth.

        One that names no candidate is worth nothing, as any wrong one.

        Raises
        ------
        InvalidAnswerError
            The action is neither: the path ends there.
        InfrastructureError
            The database failed.
        """
        here = state.situation
        told = str(action)
        statement = statement_of(told)
        if statement is not None:
            after = self._task.after(here, told, self._task.run(statement))
            full = len(after.steps) >= self._statements
            return Explored(closing(after) if full else after)
        answer = answer_of(told)
        if answer is None:
            raise InvalidAnswerError(
                f"'{told[:80]}' is no action.", "Write query[...] or decide[...]."
            )
        try:
            reward = self._reward(answer, self._task.choose(answer))
        except InvalidAnswerError:
            reward = 0.0
        return state.after(told, "", (), reward)

    def close(self) -> None:
        """Do nothing: who opened the database closes it."""

    def _reward(self, answer: str, choice: Candidate | None) -> float:
        decision = Recorder().answered(answer, choice)
        return float(self._judge.judge(self._question, decision).outcome is Outcome.CORRECT)


@contextmanager
def explorables_of(
    questions: QuestionSet,
    engine: str = "sqlite",
    settings: Settings | None = None,
    statements: int = 4,
) -> Iterator[Iterable[QuestionExplorable]]:
    """Give the questions of a set to be explored, in order; their databases are open meanwhile.

    Parameters
    ----------
    questions
        What is explored; each has to be judged by a simulator, a record or known answers.
    engine
        The embedded backend that holds their situations.
    settings, statements
        As `QuestionExplorable` takes them.

    Raises
    ------
    UsageError
        A question is asked about a database in its place, or wants a statement for an answer.
    """
    for question in questions.questions:
        if questions.is_in_place(question) or question.answer_form == "statement":
            raise UsageError(
                f"Question '{question.key}' cannot be explored: it needs data of its own and "
                "candidates to choose from. Refine on questions of a scenario, or on generated "
                "ones."
            )
    judge = Judge(questions)
    with ExitStack() as opened:
        opened.callback(judge.close)
        yield _opened(questions, judge, plugins.backend(engine).load, opened, settings, statements)


def _opened(  # noqa: PLR0913, PLR0917  (as `explorables_of`)
    questions: QuestionSet,
    judge: Judge,
    load: Callable[[Situation], Database],
    opened: ExitStack,
    settings: Settings | None,
    statements: int,
) -> Iterator[QuestionExplorable]:
    databases: dict[str, Database] = {}
    for question in questions.questions:
        situation = questions.situation_of(question)
        held = situation.content_hash
        if held not in databases:
            databases[held] = load(situation)
            opened.callback(databases[held].close)
        yield QuestionExplorable(
            question, databases[held], judge, questions.name, settings, statements
        )
