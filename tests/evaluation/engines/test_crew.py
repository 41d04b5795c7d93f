"""Workers of a cluster that is played: who gets what, who dies, and what becomes of it."""

from __future__ import annotations

import pickle
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import dqa
from dqa.core.decision import Usage
from dqa.core.errors import BudgetSpentError, InfrastructureError, UsageError
from dqa.core.question_set import QuestionSet
from dqa.evaluation.engines.base import Decide, LocalEngine
from dqa.evaluation.engines.crew import Crew, LostClusterError, WorkerDiedError
from dqa.evaluation.engines.remote import Problem, own_versions, require_versions, work_out
from dqa.evaluation.keys import DecisionKey
from dqa.evaluation.worker import Made, judged
from dqa.evaluation.plan import Setup, Task, plan
from dqa.evaluation.results import Outcome
from dqa.evaluation.run import evaluate
from dqa.evaluation.score import Judge
from dqa.evaluation.store import RunStore
from dqa.models.budget import Budget

if TYPE_CHECKING:
    from dqa.evaluation.build import BuiltRun

SetupMaker = Callable[..., Setup]
THREADS = 2


class Playing:
    """A cluster in this process, whose workers die where it is said.

    Parameters
    ----------
    setup
        What its workers decide.
    dies
        Whether a worker dies of a decision, by its key and how often it was begun.
    starts
        Whether a worker begins, by its number.
    lost_after
        Promises that are kept before the whole cluster is lost.
    """

    def __init__(
        self,
        setup: Setup,
        judge: Judge,
        dies: Callable[[DecisionKey, int], bool] = lambda key, times: False,
        starts: Callable[[int], bool] = lambda number: True,
        lost_after: int | None = None,
    ) -> None:
        self._left = lost_after
        self._setup, self._judge, self._dies, self._starts = setup, judge, dies, starts
        self._tasks = {task.key: task for task in plan(setup)}
        self.begun: Counter[DecisionKey] = Counter()
        self.batches: dict[int, list[tuple[DecisionKey, ...]]] = {}
        self.dismissed: list[int] = []
        self._ends: dict[object, Callable[[], Any]] = {}

    def hire(self, recipe: bytes, shared: tuple[Any, ...]) -> tuple[int, object]:
        del recipe, shared
        number = len(self.batches)
        self.batches[number] = []
        return number, self._promise(lambda: None if self._starts(number) else self._die())

    def begin(self, worker: int, keys: Sequence[DecisionKey], spent: Usage) -> object:
        del spent
        self.batches[worker].append(tuple(keys))
        self.begun.update(keys)
        if any(self._dies(key, self.begun[key]) for key in keys):
            return self._promise(self._die)
        return self._promise(lambda: [self._made(self._tasks[key]) for key in keys])

    def wait(self, references: Sequence[object], seconds: float) -> list[object]:
        del seconds
        if self._left is not None:
            self._left -= 1
            if self._left < 0:
                raise LostClusterError("The cluster at head:6379 went away: nobody listens.")
        return list(references[:1])

    def fetch(self, reference: object) -> Any:
        return self._ends.pop(reference)()

    def dismiss(self, workers: Iterable[int], seconds: float) -> None:
        del seconds
        self.dismissed += workers

    def _promise(self, end: Callable[[], Any]) -> object:
        reference = object()
        self._ends[reference] = end
        return reference

    def _made(self, task: Task) -> Made:
        database = self._setup.open(task)
        try:
            decision = self._setup.decider_of(task).decide(task.question, database)
        finally:
            database.close()
        return judged(task, self._setup, self._judge, decision)

    @staticmethod
    def _die() -> None:
        raise WorkerDiedError("The worker is gone.")


def decide(cluster: Playing, setup: Setup, budget: Budget | None = None) -> dict[DecisionKey, Made]:
    """Let two workers make all decisions of a setup; none of them may be handed on twice."""
    made: dict[DecisionKey, Made] = {}

    def keep(task: Task, one: Made) -> None:
        assert task.key == one.result.key
        assert task.key not in made
        made[task.key] = one

    with closing(Crew(cluster, [b"", b""], (), [THREADS] * 2)) as crew:
        crew.decide(plan(setup), setup, budget, keep)
    return made


@pytest.fixture
def setup(make_setup: SetupMaker, official: Callable[..., str]) -> Setup:
    """Give two deciders and six questions."""
    return make_setup(right=official, wrong=lambda question, database: "nowhere")


@pytest.fixture
def judge(questions: QuestionSet) -> Judge:
    """Give who judges."""
    return Judge(questions)


def test_workers_make_what_threads_make(setup: Setup, judge: Judge) -> None:
    """Each decision is made once, and all workers are dismissed in the end."""
    cluster = Playing(setup, judge)
    made = decide(cluster, setup)
    results = {result.key: result for result in evaluate(setup, judge, RunStore())}
    assert {key: one.result for key, one in made.items()} == results
    assert set(cluster.begun.values()) == {1}
    assert sorted(cluster.dismissed) == [0, 1]


def test_a_dead_worker_s_decisions_are_made_by_another(setup: Setup, judge: Judge) -> None:
    """Whoever dies once costs nothing but time."""
    fatal = plan(setup)[3].key
    cluster = Playing(setup, judge, lambda key, times: key == fatal and times == 1)
    made = decide(cluster, setup)
    assert set(made) == {task.key for task in plan(setup)}
    assert made[fatal].result.outcome.judged
    assert len(cluster.batches) == 3


def test_what_kills_every_worker_is_given_up(setup: Setup, judge: Judge) -> None:
    """After the third; by then it is made alone, so nobody else is given up with it."""
    fatal = plan(setup)[3].key
    cluster = Playing(setup, judge, lambda key, times: key == fatal)
    made = decide(cluster, setup)
    assert cluster.begun[fatal] == 3
    crashed = {key for key, one in made.items() if one.result.outcome is Outcome.CRASHED}
    assert crashed == {fatal}
    assert "3 workers died" in str(made[fatal].trace.error)
    assert set(made) == {task.key for task in plan(setup)}
    last = [batches for batches in cluster.batches.values() if (fatal,) in batches][-1]
    assert last[-1] == (fatal,)


def test_workers_that_never_begin_end_the_run(setup: Setup, judge: Judge) -> None:
    """Not endlessly many are started."""
    cluster = Playing(setup, judge, starts=lambda number: False)
    with pytest.raises(InfrastructureError, match=r"5 workers .* could begin"):
        decide(cluster, setup)
    assert sorted(cluster.dismissed) == list(range(len(cluster.batches)))


def test_a_lost_cluster_ends_the_run_and_scores_nothing(
    setup: Setup, judge: Judge, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was decided is kept, and the command that goes on is told."""
    made: list[Made] = []
    cluster = Playing(setup, judge, lost_after=5)
    crew = Crew(cluster, [b"", b""], (), [THREADS] * 2)
    with pytest.raises(LostClusterError), closing(crew):
        crew.decide(plan(setup), setup, None, lambda task, one: made.append(one))
    assert 0 < len(made) < len(plan(setup))
    assert all(one.result.outcome.judged for one in made)
    assert sorted(cluster.dismissed) == [0, 1]

    class Losing(LocalEngine):
        """Loses its cluster after the first decision."""

        def deciding(self, built: BuiltRun, *_: object) -> Decide:  # type: ignore[override]
            def decide(tasks: Sequence[Task], on_made: Callable[[Task, Made], None]) -> None:
                played = Playing(built.setup, built.judge, lost_after=3)
                Crew(played, [b"", b""], (), [THREADS] * 2).decide(
                    tasks, built.setup, None, on_made
                )

            return decide

    monkeypatch.setattr("dqa.api.evaluating.open_engine", lambda *_: nullcontext(Losing()))
    asked = dqa.generate(("locating",), count=6, seed=1)
    told = r"head:6379 went away.*What was decided is kept; 'dqa eval --resume \S*run' goes on"
    with pytest.raises(InfrastructureError, match=told):
        dqa.evaluate(asked, "first", databases="sqlite", out=tmp_path / "run")
    monkeypatch.undo()
    kept = dqa.read_run(tmp_path / "run").results
    assert 0 < len(kept) < len(asked.questions)
    again = dqa.evaluate(asked, out=tmp_path / "run", resume=True)
    assert again.results == dqa.evaluate(asked, "first", databases="sqlite").results


def test_a_spent_budget_ends_the_run(setup: Setup, judge: Judge) -> None:
    """What is spent at all workers counts, and one result says why the rest is not there."""
    budget = Budget(tokens=30)
    made = decide(Playing(setup, judge), setup, budget)
    outcomes = Counter(one.result.outcome for one in made.values())
    assert outcomes[Outcome.BUDGET] == 1
    assert 2 <= len(made) - 1 <= 2 + 2 * THREADS
    with pytest.raises(BudgetSpentError):
        budget.check()


def test_an_error_of_a_worker_is_raised_here_by_its_class(make_setup: SetupMaker) -> None:
    """Its words are without secrets, and a class that takes more than words is the one above."""
    versions = own_versions()
    problem = work_out(versions, pickle.dumps((_refuse, "postgresql://me:secret9@host/db")))
    assert isinstance(problem, Problem)
    error = problem.error("where it was to begin")
    assert type(error) is UsageError
    assert "secret9" not in str(error)
    assert "where it was to begin" in str(error)
    assert work_out(versions, pickle.dumps((len, "four"))) == 4
    bug = work_out(versions, pickle.dumps((int, "four")))
    assert isinstance(bug, Problem)
    assert "ValueError" in str(bug.error())
    with pytest.raises(UsageError, match="install the same versions"):
        require_versions({**versions, "dqa": "0.0.1"})


def _refuse(location: str) -> None:
    raise UsageError(f"{location} cannot be used.")
