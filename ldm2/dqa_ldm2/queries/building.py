"""A memory of past decisions: built from runs, refined on questions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from langchain_core.language_models import BaseChatModel

from dqa import plugins
from dqa.core.errors import UsageError
from dqa.core.events import Event
from dqa.core.question_set import QuestionSet
from dqa.core.trajectories import Trajectory
from dqa.deciders.base import Settings
from dqa_ldm2.memory.base import Memory
from dqa_ldm2.memory.building import BATCH_SIZE, FormationReport, form_memory
from dqa_ldm2.memory.indexing import Indexer
from dqa_ldm2.queries.actions import beginning
from dqa_ldm2.queries.exploring import explorables_of
from dqa_ldm2.queries.proving import find_proven, remember_records
from dqa_ldm2.queries.trajectories import Gathered, name_of, trajectories_of
from dqa_ldm2.refining.refinement import Refinement
from dqa_ldm2.refining.report import RefinedGoal, RefinementReport
from dqa_ldm2.settings import RefiningSettings

if TYPE_CHECKING:
    from dqa.api.runs import Run

REFINING = RefiningSettings(depth=5, retrieved=20)
"""How questions are explored, unless a caller says otherwise: four statements, and the decision."""


@dataclass(frozen=True, slots=True)
class RunsReport:
    """What building a memory from runs came to.

    Attributes
    ----------
    built
        What was added to the memory.
    gathered
        By run, what of it is remembered, and what was left out.
    """

    built: FormationReport
    gathered: Mapping[str, Gathered] = field(default_factory=dict)

    def lines(self) -> list[str]:
        """Return what is to be shown, a line each."""
        told = [f"{name}: {line}" for name, one in self.gathered.items() for line in one.lines()]
        return [*told, *self.built.lines()]


def gather(
    runs: Sequence[Run], questions: QuestionSet | None = None, *, keep_all: bool = False
) -> dict[str, Gathered]:
    """Return by name what of each run can be remembered.

    Parameters
    ----------
    runs, questions, keep_all
        As `build_from_runs` takes them.

    Raises
    ------
    UsageError
        A run is one of games or has no traces, or nothing of the runs can be remembered.
    """
    gathered = {name_of(run): trajectories_of(run, questions, keep_all=keep_all) for run in runs}
    if not any(each.trajectories for each in gathered.values()):
        told = "; ".join(f"{name}: {', '.join(g.lines()[1:])}" for name, g in gathered.items())
        raise UsageError(
            f"Nothing of {', '.join(gathered) or 'no run'} can be remembered ({told}): name a run "
            "with right decisions, or keep all (--all)."
        )
    return gathered


def build_from_runs(  # noqa: PLR0913  (each is a question of its own to the caller)
    memory: Memory,
    runs: Sequence[Run],
    indexer: Indexer,
    *,
    questions: QuestionSet | None = None,
    keep_all: bool = False,
    model: str = "",
    batch_size: int = BATCH_SIZE,
    workers: int = 1,
) -> RunsReport:
    """Form a memory from the decisions of earlier runs, or go on with it.

    Parameters
    ----------
    memory
        Where to.
    runs
        Runs of questions whose traces were kept, of any agents.
    indexer
        Summarises and names types.
    questions, keep_all
        As `trajectories_of` takes them.
    model
        What versions say answered behind the indexer.
    batch_size, workers
        As `dqa_ldm2.memory.building.form_memory` takes them.

    Raises
    ------
    UsageError
        A run is one of games or has no traces, or nothing of the runs can be remembered.
    """
    gathered = gather(runs, questions, keep_all=keep_all)
    return form_gathered(
        memory, gathered, indexer, model=model, batch_size=batch_size, workers=workers
    )


def form_gathered(  # noqa: PLR0913  (as `build_from_runs`)
    memory: Memory,
    gathered: Mapping[str, Gathered],
    indexer: Indexer,
    *,
    model: str = "",
    batch_size: int = BATCH_SIZE,
    workers: int = 1,
) -> RunsReport:
    """Form a memory from what `gather` found; the rest is as `build_from_runs` takes it."""
    found: list[Trajectory] = [one for each in gathered.values() for one in each.trajectories]
    built = form_memory(
        memory,
        found,
        indexer,
        source=", ".join(gathered),
        model=model,
        batch_size=batch_size,
        workers=workers,
    )
    return RunsReport(built, gathered)


def refine_on_questions(  # noqa: PLR0913  (each is a question of its own to the caller)
    memory: Memory,
    questions: QuestionSet,
    model: BaseChatModel,
    *,
    engine: str = "sqlite",
    model_name: str = "",
    refining: RefiningSettings | None = None,
    settings: Settings | None = None,
    done: Callable[[RefinedGoal], None] | None = None,
    told: Callable[[Event], None] | None = None,
) -> RefinementReport:
    """Refine a memory by exploring other statements on questions whose decisions can be judged.

    Parameters
    ----------
    memory
        What is refined; it has to hold something.
    questions
        Those of a scenario, a release, or generated ones.
    model
        Who is asked.
    engine
        The embedded backend that holds the questions' data.
    model_name
        What the memory says answered behind an addition.
    refining
        n, the depth, when retrieved actions agree.
    settings
        What bounds statements and calls.
    done
        Is told of each question that was explored.
    told
        Is told of everything that happens; None for nobody.

    Raises
    ------
    UsageError
        The memory is empty, or a question cannot be explored.
    InfrastructureError, BudgetSpentError
        The model or the memory fails; what was added before stays.
    """
    own = refining or REFINING
    used = settings or Settings()

    def note(goal: RefinedGoal) -> None:
        start = beginning(plugins.backend(engine).kind)
        remember_records(memory, goal.batch, goal.goal, start, goal.exploration, model_name)
        if done is not None:
            done(goal)

    refinement = Refinement(
        memory,
        model,
        own,
        find=find_proven,
        model_name=model_name,
        max_failures=used.max_parse_failures,
        calls=used.calls,
        told=told,
    )
    with explorables_of(questions, engine, used, max(own.depth - 1, 1)) as explorables:
        return refinement.refine(explorables, note)
