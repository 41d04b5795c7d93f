"""Which critical values a run queried or computed (PlanRAG, section 5.2, Table 6)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from dqa import plugins
from dqa.core.evidence import SIMULATING
from dqa.evaluation.analysis.statements import Aggregate, Column, Reading, read_statement
from dqa.evaluation.traces import Trace

__all__ = ["CRITICAL_VALUES", "Aggregated", "CriticalValue", "Found", "critical", "found_values"]


@dataclass(frozen=True, slots=True)
class Aggregated:
    """A sum or mean that gives the same value as a column, by the scenario's rules.

    Attributes
    ----------
    function
        ``"sum"`` or ``"avg"``.
    table, columns
        What its argument holds: these columns and no other.
    by
        The column that chooses or groups the rows; by no other of the table, so none is left out.
    beside
        A column that the same statement has to read, too; None where that is all.
    """

    function: str
    table: str
    columns: frozenset[str]
    by: str
    beside: Column | None = None

    def matches(self, found: Aggregate, columns: frozenset[Column]) -> bool:
        """Whether a statement worked this out."""
        same = (found.function, found.table, found.columns, found.by)
        wanted = (self.function, self.table, self.columns, frozenset({self.by}))
        return same == wanted and (self.beside is None or self.beside in columns)


@dataclass(frozen=True, slots=True)
class CriticalValue:
    """A value without which a question of a scenario cannot be answered well.

    Attributes
    ----------
    name
        What the paper calls it.
    column
        Where the database has it.
    computed
        How else it can be had; None where no rule gives it.
    """

    name: str
    column: Column
    computed: Aggregated | None = None


CRITICAL_VALUES: Mapping[str, tuple[CriticalValue, ...]] = {
    "locating": (
        CriticalValue(
            "IV",
            ("trade_node", "ingoing"),
            Aggregated("sum", "flow", frozenset({"flow"}), by="dest"),  # Eq. (2)
        ),
        CriticalValue(
            "TP_total",
            ("trade_node", "total_power"),
            Aggregated(
                "sum", "node_country", frozenset({"calculated_trading_power"}), by="trade_node"
            ),
        ),
    ),
    "building": (
        CriticalValue(
            "CO",
            ("supply", "current_output"),
            Aggregated(  # appendix A.4.2, line 16
                "avg",
                "demand",
                frozenset({"current_input", "max_demand"}),
                by="building_id",
                beside=("supply", "max_supply"),
            ),
        ),
        CriticalValue("PD", ("goods", "pop_demand")),
    ),
}
"""The critical values that the paper counts, by scenario; another scenario can bring its own."""


class Found(StrEnum):
    """How a run came by a critical value."""

    QUERIED = "queried"
    COMPUTED = "computed"
    SIMULATED = "simulated"
    MISSED = "missed"


def critical(
    scenario: str, known: Mapping[str, tuple[CriticalValue, ...]] = CRITICAL_VALUES
) -> tuple[CriticalValue, ...]:
    """Return a scenario's critical values; none where nobody named them or knows its tables."""
    return known.get(scenario, ()) if scenario in plugins.names("scenario") else ()


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
    waiting = {value.column for value in values}
    for evidence in trace.evidence:
        if evidence.tool not in SIMULATING and waiting:
            readings.append(read_statement(evidence, schema, trace.kind, trace.database))
            waiting -= readings[-1].columns
    simulated = any(e.tool in SIMULATING and e.error is None for e in trace.evidence)
    return {value.name: _found(value, readings, simulated=simulated) for value in values}


def _found(value: CriticalValue, readings: Sequence[Reading], *, simulated: bool) -> Found:
    if any(value.column in reading.columns for reading in readings):
        return Found.QUERIED
    computed = value.computed
    if computed is not None and any(
        computed.matches(aggregate, reading.columns)
        for reading in readings
        for aggregate in reading.aggregates
    ):
        return Found.COMPUTED
    return Found.SIMULATED if simulated else Found.MISSED
