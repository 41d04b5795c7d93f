"""Other statements than a given one: the same, of fewer rows.

They are what the scripted analyst tries where it explores. A statement that lists candidates is
asked again of those alone that have a row in a table beside theirs, as the scenario's folder says
which tables hold them: with the question's own names at the other end, where it names these.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from dqa.core.situation import EdgeSchema, Schema
from dqa.scenarios.base import Scenario
from dqa.scenarios.statements import sql_literal


def restrictions_of(scenario: Scenario, target: Mapping[str, str]) -> tuple[str, ...]:
    """Return lists of candidates in SQL: of those with a row in a table beside theirs."""
    table = scenario.listing.table
    labels = {node.label: node for node in scenario.schema.nodes if node.table == table}
    found: dict[str, None] = {}
    for edge in scenario.schema.edges:
        for here, there in ((edge.source, edge.target), (edge.target, edge.source)):
            if here[0] in labels:
                plain = f"SELECT {here[1]} FROM {edge.table}"  # noqa: S608  (a scenario's names)
                found[plain] = None
                named = _named(scenario, edge, there, target)
                found.update({f"{plain} WHERE {condition}": None for condition in named})
    return tuple(found)


def _named(
    scenario: Scenario, edge: EdgeSchema, end: tuple[str, str], target: Mapping[str, str]
) -> Iterator[str]:
    """Yield conditions that the other end of an edge is what the question names."""
    table = _table_of(scenario.schema, end[0])
    for name, parameter in scenario.parameters.items():
        if parameter.table == table and name in target and _is_key(scenario.schema, parameter):
            yield f"{edge.table}.{end[1]} = {sql_literal(target[name])}"


def _table_of(schema: Schema, label: str) -> str | None:
    return next((node.table for node in schema.nodes if node.label == label), None)


def _is_key(schema: Schema, parameter: object) -> bool:
    table, column = getattr(parameter, "table", None), getattr(parameter, "column", None)
    nodes = [node for node in schema.nodes if node.table == table]
    return any(node.key_column == column for node in nodes)


def restrict(statement: str, candidates: str) -> str | None:
    """Return a statement of a list's candidates alone; None where it cannot be told how.

    Parameters
    ----------
    statement
        Lists candidates in an order: ``SELECT candidate ... ORDER BY ...``.
    candidates
        What `restrictions_of` returned.
    """
    import sqlglot  # here, as only exploring needs it

    try:
        tree = sqlglot.parse_one(statement)
    except sqlglot.errors.SqlglotError:
        return None
    if not isinstance(tree, sqlglot.exp.Select) or tree.args.get("order") is None:
        return None
    candidate = tree.expressions[0].unalias()
    if f"IN ({sqlglot.parse_one(candidates).sql()})" in tree.sql():
        return None
    return tree.where(f"{candidate.sql()} IN ({candidates})").sql()
