"""The record of one decision: its alternatives, its file, and its page."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from dqa import plugins
from dqa.core.database import Database
from dqa.core.errors import DqaError, InfrastructureError
from dqa.core.files import problem_of_path, require_new_file, write_private
from dqa.core.question import Candidate, Question
from dqa.core.simulator import Outcomes
from dqa.deciders.choices import choices_of
from dqa.deciders.simulation import Simulation
from dqa.evaluation.traces import Alternative, AskedRecord, Spread, Trace

_STORED, _WORST = 1_000, 100
"""The most alternatives that a record has, and how many of them are the worst."""


def record_alternatives(
    question: Question, database: Database, choice: Candidate | None, rule_set: str | None
) -> AskedRecord:
    """Return the question and its candidates, with outcomes if its scenario has them.

    The database is queried for outcomes, or the scenario's simulator works them out. The record
    says why they are not known; the decision stands.
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
            first = list(choices.first[:_STORED])
            if choice is not None and choice not in first:
                first += choices.among({str(choice)})
            listed = tuple(Alternative(candidate=one) for one in first)
            return asked.changed(total=choices.total, alternatives=listed)
        whole = replace(question, candidates=choices.all())  # each of them has an outcome
        simulation = Simulation.of(whole, database, rule_set)
        outcomes = simulation.outcomes()
    except Exception as error:  # noqa: BLE001  (a simulator is anyone's code)
        kind = "" if isinstance(error, DqaError) else f"{type(error).__name__}: "
        return asked.changed(problem=f"{kind}{error}")
    return asked.changed(
        total=len(outcomes.candidates),
        alternatives=tuple(_alternatives(outcomes, choice)),
        spread=_spread(outcomes) if len(outcomes.candidates) > _STORED else None,
        unit=simulation.unit,
        goal=outcomes.goal,
        baseline=outcomes.baseline,
        statement=simulation.statement,
    )


def _alternatives(outcomes: Outcomes, choice: Candidate | None) -> Iterator[Alternative]:
    """Yield the alternatives that a record has, the best first."""
    ranked = outcomes.best_first()
    if len(ranked) > _STORED:
        stored = [*ranked[: _STORED - _WORST], *ranked[-_WORST:]]
        if choice is not None and choice in outcomes and choice not in stored:
            stored.insert(_STORED - _WORST, choice)
        ranked = stored
    for candidate in ranked:
        value, rank = outcomes.value(candidate), outcomes.rank(candidate)
        yield Alternative(candidate=candidate, outcome=value, rank=rank)


def _spread(outcomes: Outcomes) -> Spread:
    import numpy as np

    values = outcomes.values
    low, middle, high = (float(one) for one in np.quantile(values, (0.25, 0.5, 0.75)))
    is_known = outcomes.baseline is not None
    return Spread(
        best=outcomes.best,
        worst=float(values.min() if outcomes.goal == "maximise" else values.max()),
        mean=float(values.mean()),
        quartiles=(low, middle, high),
        ties=len(outcomes.ties),
        unmoved=len(outcomes.unmoved(outcomes.candidates)) if is_known else None,
    )


def records_folder() -> Path:
    """Return the folder of decision records.

    ``DQA_DECISIONS``, or else ``dqa/decisions`` in the user's data folder (``XDG_DATA_HOME``, by
    default ``~/.local/share``).
    """
    own = os.environ.get("DQA_DECISIONS")
    data = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local/share"
    return Path(own) if own else Path(data, "dqa", "decisions")


def record_file(trace: Trace) -> Path | None:
    """Return the file of a decision's record in `records_folder`; None for a run's."""
    made = trace.provenance
    if made is None:
        return None
    return records_folder() / f"{made.time[:19].replace(':', '')}-{made.decision[:12]}.json"


def store_record(trace: Trace, named: Path | None) -> Trace:
    """Store the record of a decision in a named file, or in `records_folder`.

    If that fails, it is an error for a named file, and otherwise a warning of the decision.
    """
    file = named or record_file(trace)
    if file is None:
        return trace
    try:
        if named is None:
            file.parent.mkdir(parents=True, exist_ok=True)
        write_private(file, json.dumps(trace.to_json(), indent=2, ensure_ascii=False) + "\n")
    except OSError as error:
        problem = f"The record is not stored: {problem_of_path(file, error, writing=True)}."
        if named is not None:
            raise InfrastructureError(f"{problem} The answer was: {trace.answer}") from error
        return trace.changed(warnings=(*trace.warnings, problem))
    return trace


def write_decision_page(trace: Trace, file: Path | str) -> None:
    """Write the record of a decision as one self-contained page.

    It has the question, the decision, the alternatives with their outcomes, the plan, every
    statement with the rows that were seen, who decided, and the cost.

    Raises
    ------
    UsageError
        The file exists already, or cannot be written.
    """
    from dqa.report.decision_page import render_decision
    from dqa.report.pages import write_page

    require_new_file(Path(file))
    write_page(render_decision(trace), Path(file))
