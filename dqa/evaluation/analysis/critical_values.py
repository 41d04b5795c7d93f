"""Which critical values a run queried or computed (PlanRAG, section 5.2, Table 6)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum

from dqa import plugins
from dqa.core.evidence import QUERY, SIMULATING
from dqa.evaluation.analysis.statements import Aggregate, Column, Reading, read_statement
from dqa.evaluation.traces import Trace
from dqa.scenarios.document import Computed, CriticalValue

__all__ = ["CriticalValue", "Found", "critical", "found_values"]


class Found(StrEnum):
    """How a run came by a critical value."""

    QUERIED = "queried"
    COMPUTED = "computed"
    SIMULATED = "simulated"
    MISSED = "missed"


def critical(scenario: str) -> tuple[CriticalValue, ...]:
    """Return a scenario's critical values; none where nobody named them or knows its tables."""
    found = plugins.find_scenario(scenario)
    return () if found is None else found.critical_values


def found_values(
    trace: Trace, scenario: str, values: Sequence[CriticalValue]
) -> Mapping[str, Found]:
    """Return how a run came by each critical value, by its name.

    Only what ran counts: a statement without an error that brought at least one row. A simulation
    without an error works every value out. What a model adds up in its thoughts is not seen.

    Parameters
    ----------
    trace
        The run.
    scenario
        Whose tables its database holds.
    values
        The scenario's critical values.
    """
    if not values:
        return {}
    schema = plugins.scenario(scenario).schema
    readings: list[Reading] = []
    waiting = {value.place for value in values}
    for evidence in trace.evidence:
        if evidence.tool == QUERY and waiting:
            readings.append(read_statement(evidence, schema, trace.kind, trace.database))
            waiting -= readings[-1].columns
    simulated = any(e.tool in SIMULATING and e.error is None for e in trace.evidence)
    return {value.name: _found(value, readings, simulated=simulated) for value in values}


def _found(value: CriticalValue, readings: Sequence[Reading], *, simulated: bool) -> Found:
    if any(value.place in reading.columns for reading in readings):
        return Found.QUERIED
    computed = value.computed
    if computed is not None and any(
        _gives(aggregate, computed, reading.columns)
        for reading in readings
        for aggregate in reading.aggregates
    ):
        return Found.COMPUTED
    return Found.SIMULATED if simulated else Found.MISSED


def _gives(found: Aggregate, wanted: Computed, columns: frozenset[Column]) -> bool:
    """Whether a statement's aggregate is the wanted one, beside what it has to read with it."""
    same = (found.function, found.table, found.columns, found.by)
    if same != (wanted.function, wanted.table, wanted.columns, frozenset({wanted.by})):
        return False
    return wanted.beside is None or wanted.beside in columns
