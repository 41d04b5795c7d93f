"""What a statement's columns are made of, as the tests of both languages write it."""

from __future__ import annotations

from dqa import plugins
from dqa.core.database import Kind
from dqa.core.situation import Schema
from dqa.evaluation.analysis.reading import Leaf, Reading
from dqa.evaluation.analysis.statements import readings_of
from tests.evaluation.analysis.runs import ran

LOCATING: Schema = plugins.scenario("locating").schema
FLOW, NODE = (
    [f"{name}.{column}" for column in LOCATING.table(name).column_names]
    for name in ("flow", "trade_node")
)
BUILDING: Schema = plugins.scenario("building").schema


def shown(
    statement: str, kind: Kind = "relational", database: str = "", schema: Schema = LOCATING
) -> list[str]:
    """Return what each column is made of; what stands there as it is begins with =."""
    readings = readings_of(ran(statement), schema, kind, database)
    return [
        ("=" if value.term else "") + " ".join(sorted(_named(r, leaf) for leaf in value.leaves))
        for r in readings
        for value in r.outputs
    ]


def _named(reading: Reading, leaf: Leaf) -> str:
    column = f"{reading.tables[leaf.instance]}.{leaf.column}"
    if leaf.summed is None:
        return column
    fixed, chosen = ("+".join(sorted(c)) for c in (leaf.summed.fixed, leaf.summed.chosen))
    return f"{leaf.summed.function}({column} of {fixed or 'all'} by {chosen or 'nothing'})"
