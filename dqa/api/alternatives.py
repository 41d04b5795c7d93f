"""What could have been decided instead: the candidates of a question, with what they lead to."""

from __future__ import annotations

from dqa import plugins
from dqa.core.database import Database
from dqa.core.errors import DqaError
from dqa.core.question import Candidate, Question
from dqa.core.simulator import Outcomes
from dqa.deciders.candidates import candidates_of
from dqa.deciders.simulation import Simulation
from dqa.evaluation.traces import Alternative, AskedRecord

_KEPT = 1_000
"""The most alternatives that a record holds."""


def record_alternatives(
    question: Question, database: Database, choice: Candidate | None, rule_set: str | None = None
) -> AskedRecord:
    """Return what was asked and what could be chosen, with outcomes where the scenario tells them.

    They are asked of the live database in place, or worked out by the scenario's simulator on what
    it holds. What keeps them from being known is said in the record: the decision stands.
    """
    asked = AskedRecord(
        text=question.text,
        rules=question.rules,
        scenario=question.scenario,
        target=dict(question.target),
    )
    try:
        candidates = candidates_of(question, database)
        if candidates is None:
            return asked
        if question.scenario not in plugins.names("simulator"):
            return asked.changed(
                total=len(candidates),
                alternatives=_kept([Alternative(candidate=one) for one in candidates], choice),
            )
        simulation = Simulation.of(question, database, rule_set)
        outcomes = simulation.outcomes()
    except DqaError as error:
        return asked.changed(problem=str(error))
    except Exception as error:  # noqa: BLE001  (a simulator of anybody's)
        return asked.changed(problem=f"{type(error).__name__}: {error}")
    return asked.changed(
        total=len(outcomes.candidates),
        alternatives=_kept(_best_first(outcomes), choice),
        unit=simulation.unit,
        goal=outcomes.goal,
        baseline=outcomes.baseline,
        statement=simulation.statement,
    )


def _best_first(outcomes: Outcomes) -> list[Alternative]:
    ranked = sorted(outcomes.candidates, key=lambda c: (outcomes.regret(c), c != outcomes.answer))
    found: list[Alternative] = []
    for place, candidate in enumerate(ranked, start=1):
        # What is as good as the one before it has its rank.
        before = found[-1] if found else None
        tied = place > 1 and outcomes.regret(candidate) == outcomes.regret(ranked[place - 2])
        rank = before.rank if tied and before is not None else place
        value = outcomes.value(candidate)
        found.append(Alternative(candidate=candidate, outcome=value, rank=rank))
    return found


def _kept(found: list[Alternative], choice: Candidate | None) -> tuple[Alternative, ...]:
    chosen = [one for one in found[_KEPT:] if one.candidate == choice]
    return (*found[:_KEPT], *chosen)
