"""Trajectories from the traces of earlier runs, whichever agent made them.

A step is a statement with what was seen before it; the last one is the decision. A statement that
failed is left out with its error, so what is remembered is what it should have been.
"""

from __future__ import annotations

import hashlib
import os
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dqa.core.decision import Ending
from dqa.core.errors import DqaError, UsageError
from dqa.core.events import ReviewEvent
from dqa.core.evidence import LOOKING_UP, QUERY, Evidence
from dqa.core.question_set import QuestionSet
from dqa.core.text import counted
from dqa.core.trajectories import Step, Trajectory
from dqa.evaluation.record import require_questions
from dqa.evaluation.results import Outcome
from dqa.evaluation.traces import Trace
from dqa_ldm2.identity import QuestionIdentity
from dqa_ldm2.queries.actions import beginning, decide_action, query_action, seen_of

if TYPE_CHECKING:
    from dqa.api.runs import Run

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
        Why decisions were left out, and how many for each reason.
    failed
        How many statements were left out because they failed.
    """

    trajectories: tuple[Trajectory, ...]
    skipped: dict[str, int]
    failed: int = 0

    def lines(self) -> list[str]:
        """Return what is to be said of it, a line each."""
        told = [f"{counted(len(self.trajectories), 'decision')} to be remembered"]
        told += [f"left out: {count}, {why}" for why, count in self.skipped.items()]
        if self.failed:
            told.append(f"left out of them: {counted(self.failed, 'statement')} that failed")
        return told


def trajectories_of(
    run: Run, questions: QuestionSet | None = None, *, keep_all: bool = False
) -> Gathered:
    """Return what the decisions of a run did, as trajectories.

    The reward is 1 where a decision was right, or a person approved it, and 0 where it was wrong.
    Those that nobody judged, and those that a failing server, a spent budget or a person ended, are
    left out and counted.

    Parameters
    ----------
    run
        Read by `dqa.read_run`, or just made. It may be the file of one decision (``dqa ask
        --trace``).
    questions
        What was asked; None to read or generate it again.
    keep_all
        Whether wrong decisions are kept as well, and those that nobody judged, without a reward.

    Raises
    ------
    UsageError
        The run is one of games, its traces are not there, or its questions cannot be read again.
    """
    where = str(run.location or run.name or "The run")
    require_questions(run.spec, where, _NO_GAMES)
    known = _identities(run, questions, where)
    name = name_of(run)
    found: list[Trajectory] = []
    skipped: Counter[str] = Counter()
    failed = 0
    for trace in _traces(run):
        reward, why = _reward_of(run, trace)
        why = why or _unusable(trace)
        if not why and reward != _RIGHT and not keep_all:
            why = "wrong" if reward is not None else "judged by nobody (--all keeps them)"
        if why:
            skipped[why] += 1
            continue
        identity, goal = known(trace)
        steps, errors = _steps_of(trace)
        failed += errors
        repeat = "" if trace.epoch == 1 else f"epoch {trace.epoch}"
        named = (name, trace.question, f"by {trace.decider} on {trace.database}", repeat)
        found.append(Trajectory(goal, steps, identity.source(*named), reward, ""))
    return Gathered(tuple(found), dict(skipped), failed)


def name_of(run: Run) -> str:
    """Return what sources call a run: two of one name in two places are told apart."""
    name = run.name or "asked"
    if run.location is None:
        return name
    where = str(run.location)
    place = where if "://" in where else os.path.abspath(where)  # noqa: PTH100
    return f"{name}~{hashlib.sha256(place.encode()).hexdigest()[:6]}"


def _traces(run: Run) -> Iterator[Trace]:
    if run.location is None:
        yield from run.traces
        return
    any_trace = False
    for trace in sorted(run.each_trace(), key=lambda one: one.key):
        any_trace = True
        yield trace
    if not any_trace:
        raise UsageError(
            f"{run.location} holds no trace of a finished decision, and a memory is built from "
            "those: name a run that kept them."
        )


def _identities(
    run: Run, questions: QuestionSet | None, where: str
) -> Callable[[Trace], tuple[QuestionIdentity, str]]:
    """Return what tells identity and words of the question that a trace answers."""
    read = questions

    def of(trace: Trace) -> tuple[QuestionIdentity, str]:
        nonlocal read
        asked = trace.asked
        if asked is not None:
            identity = QuestionIdentity.told(asked.scenario, asked.target, asked.text)
            return identity, asked.text
        if read is None:
            read = _read_again(run, where)
        question = read.find(trace.question)
        return QuestionIdentity.of(question), question.text

    return of


def _read_again(run: Run, where: str) -> QuestionSet:
    hint = (
        "Put them back where the run found them, or pass them in Python "
        "(dqa_ldm2.queries.building.build_from_runs(..., questions=...))."
    )
    spec = require_questions(run.spec, where, _NO_GAMES)
    if spec is None or run.record is None:
        raise UsageError(f"{where} does not say what it asked. {hint}")
    try:
        found = spec.questions.read()
    except DqaError as error:
        raise UsageError(f"The questions of {where} cannot be read: {error} {hint}") from error
    if found.content_hash != run.record.content_hash:
        raise UsageError(f"The questions of {where} are others than when it asked them. {hint}")
    return found


def _reward_of(run: Run, trace: Trace) -> tuple[float | None, str]:
    """Return what a decision is worth, or why it cannot be remembered."""
    result = run.by_key.get(trace.key)
    if result is None:
        return _asked_reward(trace), ""
    if result.outcome is Outcome.UNLABELLED:
        return _approved(trace), ""
    if not result.outcome.judged:
        return None, f"ended by {result.outcome.value}"
    return (_RIGHT if result.outcome is Outcome.CORRECT else 0.0), ""


def _asked_reward(trace: Trace) -> float | None:
    """Return what a single decision is worth: by its outcomes, or by who approved it."""
    asked = trace.asked
    if asked is not None and trace.choice is not None:
        for one in asked.alternatives:
            if str(one.candidate) == str(trace.choice) and one.rank is not None:
                return _RIGHT if one.rank == 1 else 0.0
    return _approved(trace)


def _approved(trace: Trace) -> float | None:
    """Return 1 where a person approved or corrected the decision; None where nobody was asked."""
    said = [e for e in trace.events if isinstance(e, ReviewEvent) and e.about == "decision"]
    return _RIGHT if said and said[-1].action in {"approve", "correct"} else None


def _unusable(trace: Trace) -> str:
    """Return why a trace makes no trajectory that statements can follow; empty where it does."""
    if trace.ending is not Ending.ANSWERED:
        return f"ended by {trace.ending.value}"
    if trace.choice is None:
        return "without a choice"
    if any(one.tool not in {QUERY, *LOOKING_UP} for one in trace.evidence):
        return "decided by other tools than statements"
    if not any(_is_step(one) for one in trace.evidence):
        return "decided without a statement"
    return ""


def _is_step(evidence: Evidence) -> bool:
    return evidence.tool == QUERY and evidence.error is None


def _steps_of(trace: Trace) -> tuple[tuple[Step, ...], int]:
    """Return the steps of a trace, and how many statements failed."""
    here = beginning(trace.kind)
    steps: list[Step] = []
    asked = [one for one in trace.evidence if one.tool == QUERY]
    for one in asked:
        if _is_step(one):
            steps.append(Step(here, query_action(one.translated or one.statement)))
            here = seen_of(one, trace.kind)
    failed = len(asked) - len(steps)
    return (*steps, Step(here, decide_action(trace.choice))), failed
