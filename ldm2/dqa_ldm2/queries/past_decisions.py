"""Past decisions as memory: trajectories from the traces of runs, and questions to explore."""

from __future__ import annotations

import hashlib
import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from dqa import plugins
from dqa.core.database import Database
from dqa.core.decision import Ending
from dqa.core.errors import DqaError, InvalidAnswerError, UsageError
from dqa.core.events import ReviewEvent
from dqa.core.evidence import LOOKING_UP, QUERY
from dqa.core.question import Candidate, Question
from dqa.core.question_set import QuestionSet
from dqa.core.recorder import Recorder
from dqa.core.text import counted
from dqa.core.trajectories import Step, Trajectory
from dqa.deciders.base import Settings
from dqa.evaluation.record import require_questions
from dqa.evaluation.results import Outcome
from dqa.evaluation.score import Judge
from dqa.evaluation.traces import Trace
from dqa_ldm2.explorable import Explored
from dqa_ldm2.formation import BATCH_SIZE, FormationReport, Indexer, ModelUse, form_memory
from dqa_ldm2.identity import QuestionIdentity
from dqa_ldm2.memory import Memory
from dqa_ldm2.queries.decider import (
    answer_of,
    beginning,
    closing,
    decide_action,
    find_proven,
    query_action,
    read_task,
    seen,
    statement_of,
)
from dqa_ldm2.refinement import RefinedGoal, Refinement, RefinementReport
from dqa_ldm2.settings import RefiningSettings

if TYPE_CHECKING:
    from dqa.api.runs import Run

REFINING: Final = RefiningSettings(depth=5, retrieved=20)
"""How questions are explored by default: four statements, and the decision."""
_NO_GAMES = "a memory of games is built with 'dqa memory build --world NAME'."
_RIGHT = 1.0


@dataclass(frozen=True, slots=True)
class Gathered:
    """The trajectories of a run, and what was left out.

    Attributes
    ----------
    trajectories
        In the order of the run's traces.
    skipped
        The number of decisions that were left out, by reason.
    failed
        The number of statements that were left out because they failed.
    """

    trajectories: tuple[Trajectory, ...]
    skipped: Mapping[str, int]
    failed: int = 0

    def lines(self) -> list[str]:
        """Return the result as lines."""
        lines = [f"{counted(len(self.trajectories), 'decision')} to be remembered"]
        lines += [f"left out: {count}, {why}" for why, count in self.skipped.items()]
        if self.failed:
            lines.append(f"left out of them: {counted(self.failed, 'statement')} that failed")
        return lines


def trajectories_of(
    run: Run, questions: QuestionSet | None = None, *, keep_all: bool = False
) -> Gathered:
    """Return the decisions of a run as trajectories of statements.

    The reward is 1 if a decision was right or a person approved it, and 0 if it was wrong.
    Decisions without a verdict, and those that a failing server, a spent budget or a person ended,
    are left out and counted.

    Parameters
    ----------
    run
        The run, or the file of one decision (``dqa ask --trace``).
    questions
        Its questions; None to read or generate them again.
    keep_all
        Whether wrong decisions, and those without a verdict, are kept as well.

    Raises
    ------
    UsageError
        It is a run of games, has no traces, or its questions cannot be read again.
    """
    where = str(run.location or run.name or "The run")
    require_questions(run.spec, where, _NO_GAMES)
    described = _descriptions(run, questions, where)
    found: list[Trajectory] = []
    skipped: Counter[str] = Counter()
    failed = 0
    for trace in _traces(run):
        reward, why = _reward_of(run, trace)
        why = why or _unusable(trace)
        if not why and reward != _RIGHT and not keep_all:
            why = "wrong" if reward is not None else "without a verdict (--all keeps them)"
        if why:
            skipped[why] += 1
            continue
        identity, goal = described(trace)
        steps, errors = _steps_of(trace)
        failed += errors
        repeat = "" if trace.epoch == 1 else f"epoch {trace.epoch}"
        by = f"by {trace.decider} on {trace.database}"
        source = identity.source(name_of(run), trace.question, by, repeat)
        found.append(Trajectory(goal, steps, source, reward))
    return Gathered(tuple(found), dict(skipped), failed)


def name_of(run: Run) -> str:
    """Return the name of a run in sources; two of one name in two places differ."""
    name = run.name or "asked"
    if run.location is None:
        return name
    where = str(run.location)
    location = where if "://" in where else os.path.abspath(where)  # noqa: PTH100
    return f"{name}~{hashlib.sha256(location.encode()).hexdigest()[:6]}"


def gather(
    runs: Sequence[Run], questions: QuestionSet | None = None, *, keep_all: bool = False
) -> dict[str, Gathered]:
    """Return by name what of each run can be remembered; see `trajectories_of`.

    Raises
    ------
    UsageError
        Nothing can be remembered.
    """
    gathered = {name_of(run): trajectories_of(run, questions, keep_all=keep_all) for run in runs}
    if not any(each.trajectories for each in gathered.values()):
        told = "; ".join(f"{name}: {', '.join(g.lines()[1:])}" for name, g in gathered.items())
        raise UsageError(
            f"Nothing of {', '.join(gathered) or 'no run'} can be remembered ({told}): name a run "
            "with right decisions, or keep all (--all)."
        )
    return gathered


def form_from_runs(
    memory: Memory,
    gathered: Mapping[str, Gathered],
    use: ModelUse | None = None,
    *,
    batch_size: int = BATCH_SIZE,
) -> FormationReport:
    """Form a memory from what `gather` returned, or add what it does not have."""
    indexer = Indexer(use or ModelUse(), evaluates=False)
    found = [one for each in gathered.values() for one in each.trajectories]
    source = ", ".join(gathered)
    return form_memory(memory, found, indexer, source=source, batch_size=batch_size)


def refine_on_questions(
    memory: Memory,
    questions: QuestionSet,
    use: ModelUse | None = None,
    *,
    refining: RefiningSettings = REFINING,
    done: Callable[[RefinedGoal], None] = lambda _: None,
) -> RefinementReport:
    """Refine a memory by exploring other statements on questions that can be judged.

    Parameters
    ----------
    memory
        The memory.
    questions
        Questions of a scenario, a release, or generated ones.
    use
        The model; None for a scripted one.
    refining
        The bounds of the exploration.
    done
        Is called after every question.

    Raises
    ------
    UsageError
        The memory is empty, or a question cannot be explored.
    InfrastructureError, BudgetSpentError
        The model or the memory fails; what was added before that stays.
    """
    for question in questions.questions:
        if questions.is_in_place(question) or question.answer_form == "statement":
            raise UsageError(
                f"Question '{question.key}' cannot be explored: it needs its own data and "
                "candidates. Refine on questions of a scenario, or on generated ones."
            )
    refinement = Refinement(memory, use or ModelUse(), refining, find_proven, evaluates=False)
    with ExitStack() as opened:
        judge = Judge(questions)
        databases: dict[str, Database] = {}

        def explorables() -> Iterator[QuestionExplorable]:
            for question in questions.questions:
                situation = questions.situation_of(question)
                if situation.content_hash not in databases:
                    database = plugins.backend("sqlite").load(situation)
                    opened.callback(database.close)
                    databases[situation.content_hash] = database
                yield QuestionExplorable(
                    question,
                    databases[situation.content_hash],
                    judge,
                    questions.name,
                    statements=max(refining.depth - 1, 1),
                )

        return refinement.refine(explorables(), done)


class QuestionExplorable:
    """A question whose statements can be repeated; see `Explorable`.

    The evaluation's own judge gives the reward at the end of a path. No prompt shows it.

    Parameters
    ----------
    question, database
        The question and its database.
    judge
        Judges the decisions.
    source
        The source of its trajectories, before the question's identity.
    statements
        Most statements of a path.
    """

    def __init__(
        self, question: Question, database: Database, judge: Judge, source: str, statements: int
    ) -> None:
        self._judge = judge
        self._statements = statements
        self._task = read_task(question, database, Settings())
        self.source = QuestionIdentity.of(question).source(source, question.key)

    def start(self) -> Explored:
        """Return the state before any statement."""
        return Explored(self._task.start)

    def act(self, state: Explored, action: Candidate) -> Explored:
        """Return the result of a statement, or the reward of a decision."""
        told = str(action)
        statement = statement_of(told)
        if statement is not None:
            after = self._task.after(state.situation, told, self._task.run(statement))
            is_full = len(after.steps) >= self._statements
            return Explored(closing(after) if is_full else after)
        answer = answer_of(told)
        if answer is None:
            raise InvalidAnswerError(
                f"'{told[:80]}' is not an action.", "Write query[...] or decide[...]."
            )
        try:
            decision = Recorder().answered(answer, self._task.choose(answer))
            verdict = self._judge.judge(self._task.question, decision)
        except InvalidAnswerError:
            return state.ended(told, 0.0)
        return state.ended(told, float(verdict.outcome is Outcome.CORRECT))

    def close(self) -> None:
        """Do nothing: the opener of the database closes it."""


def _traces(run: Run) -> Iterator[Trace]:
    if run.location is None:
        yield from run.traces
        return
    traces = sorted(run.each_trace(), key=lambda one: one.key)
    if not traces:
        raise UsageError(
            f"{run.location} holds no trace of a finished decision, and a memory is built from "
            "those: name a run with traces."
        )
    yield from traces


def _descriptions(
    run: Run, questions: QuestionSet | None, where: str
) -> Callable[[Trace], tuple[QuestionIdentity, str]]:
    """Return what returns the identity and the words of the question of a trace."""
    read = questions

    def of(trace: Trace) -> tuple[QuestionIdentity, str]:
        nonlocal read
        asked = trace.asked
        if asked is not None:
            identity = QuestionIdentity.described(asked.scenario, asked.target, asked.text)
            return identity, asked.text
        if read is None:
            read = _read_again(run, where)
        question = read.find(trace.question)
        return QuestionIdentity.of(question), question.text

    return of


def _read_again(run: Run, where: str) -> QuestionSet:
    hint = "Put them back where the run found them, or pass them in Python (questions=...)."
    spec = require_questions(run.spec, where, _NO_GAMES)
    if spec is None or run.record is None:
        raise UsageError(f"{where} does not say what it asked. {hint}")
    try:
        found = spec.questions.read()
    except DqaError as error:
        raise UsageError(f"The questions of {where} cannot be read: {error} {hint}") from error
    if found.content_hash != run.record.content_hash:
        raise UsageError(f"The questions of {where} have changed since the run. {hint}")
    return found


def _reward_of(run: Run, trace: Trace) -> tuple[float | None, str]:
    """Return the reward of a decision, or why it cannot be remembered."""
    result = run.by_key.get(trace.key)
    if result is None:
        return _asked_reward(trace), ""
    if result.outcome is Outcome.UNLABELLED:
        return _approved(trace), ""
    if not result.outcome.judged:
        return None, f"ended by {result.outcome.value}"
    return (_RIGHT if result.outcome is Outcome.CORRECT else 0.0), ""


def _asked_reward(trace: Trace) -> float | None:
    """Return the reward of a single decision: by its outcomes, or by a person's approval."""
    asked = trace.asked
    if asked is not None and trace.choice is not None:
        for one in asked.alternatives:
            if str(one.candidate) == str(trace.choice) and one.rank is not None:
                return _RIGHT if one.rank == 1 else 0.0
    return _approved(trace)


def _approved(trace: Trace) -> float | None:
    """Return 1 if a person approved or corrected the decision, else None."""
    said = [e for e in trace.events if isinstance(e, ReviewEvent) and e.about == "decision"]
    return _RIGHT if said and said[-1].action in {"approve", "correct"} else None


def _unusable(trace: Trace) -> str:
    """Return why a trace has no trajectory of statements; "" if it has one."""
    if trace.ending is not Ending.ANSWERED:
        return f"ended by {trace.ending.value}"
    if trace.choice is None:
        return "without a choice"
    if any(one.tool not in {QUERY, *LOOKING_UP} for one in trace.evidence):
        return "decided by other tools than statements"
    if not any(one.tool == QUERY and one.error is None for one in trace.evidence):
        return "decided without a statement"
    return ""


def _steps_of(trace: Trace) -> tuple[tuple[Step, ...], int]:
    """Return the steps of a trace, and the number of statements that failed."""
    here = beginning(trace.kind)
    steps: list[Step] = []
    asked = [one for one in trace.evidence if one.tool == QUERY]
    for one in asked:
        if one.error is None:
            steps.append(Step(here, query_action(one.translated or one.statement)))
            here = seen(one.observation, trace.kind)
    return (*steps, Step(here, decide_action(trace.choice))), len(asked) - len(steps)
