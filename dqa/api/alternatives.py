"""What could have been decided instead: the candidates of a question, with what they lead to."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from dqa import plugins
from dqa.core.database import Database
from dqa.core.errors import DqaError
from dqa.core.question import Candidate, Question
from dqa.core.simulator import Outcomes
from dqa.deciders.choices import Choices, choices_of
from dqa.deciders.simulation import Simulation
from dqa.evaluation.traces import Alternative, AskedRecord, Spread

_KEPT, _WORST = 1_000, 100
"""The most alternatives that a record holds, and how many of them are the worst."""


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
        choices = choices_of(question, database)
        if choices is None:
            return asked
        if question.scenario not in plugins.names("simulator"):
            first = [Alternative(candidate=one) for one in choices.first[:_KEPT]]
            if choice is not None and choice not in choices.first[:_KEPT]:
                first += [Alternative(candidate=one) for one in choices.among({str(choice)})]
            return asked.changed(total=choices.total, alternatives=tuple(first))
        simulation = Simulation.of(_held(question, choices), database, rule_set)
        outcomes = simulation.outcomes()
    except DqaError as error:
        return asked.changed(problem=str(error))
    except Exception as error:  # noqa: BLE001  (a simulator of anybody's)
        return asked.changed(problem=f"{type(error).__name__}: {error}")
    return asked.changed(
        total=len(outcomes.candidates),
        alternatives=tuple(_kept(outcomes, choice)),
        spread=_spread(outcomes) if len(outcomes.candidates) > _KEPT else None,
        unit=simulation.unit,
        goal=outcomes.goal,
        baseline=outcomes.baseline,
        statement=simulation.statement,
    )


def _held(question: Question, choices: Choices) -> Question:
    """Return a question with all of its candidates, as each of them has an outcome."""
    return replace(question, candidates=choices.all())


def _kept(outcomes: Outcomes, choice: Candidate | None) -> Iterator[Alternative]:
    """Yield the alternatives that a record holds, the best first."""
    ranked = outcomes.best_first()
    if len(ranked) > _KEPT:
        best, worst = ranked[: _KEPT - _WORST], ranked[-_WORST:]
        shown = {*best, *worst}
        chosen = [choice] if choice in outcomes and choice not in shown else []
        ranked = [*best, *chosen, *worst]  # type: ignore[list-item]
    for candidate in ranked:
        value, rank = outcomes.value(candidate), outcomes.rank(candidate)
        yield Alternative(candidate=candidate, outcome=value, rank=rank)


def _spread(outcomes: Outcomes) -> Spread:
    import numpy as np

    values = outcomes.values
    worst = values.min() if outcomes.goal == "maximise" else values.max()
    low, middle, high = (float(one) for one in np.quantile(values, (0.25, 0.5, 0.75)))
    moved = outcomes.baseline is not None
    return Spread(
        best=outcomes.best,
        worst=float(worst),
        mean=float(values.mean()),
        quartiles=(low, middle, high),
        ties=len(outcomes.ties),
        unmoved=len(outcomes.unmoved(outcomes.candidates)) if moved else None,
    )
