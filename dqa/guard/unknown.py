"""What to tell the author of a statement that names what is not there."""

from __future__ import annotations

from collections.abc import Sequence

from dqa.core.errors import StatementError
from dqa.core.fitting import rank_parts
from dqa.core.relevance import Part, part_fields, part_name
from dqa.core.schema import DatabaseSchema, NodeInfo, TableInfo, cypher_name, sql_name
from dqa.guard.names import closest

_LONGEST_LISTING = 1_500
"""Characters of a list of names after which it helps less than it costs."""
_OWNERS = 3
"""Tables or labels that are told to have a name."""


def unknown_name(problem: str, name: str, schema: DatabaseSchema, statement: str) -> StatementError:
    """Return `problem` with what was most likely meant, and what there is.

    What the statement names comes first, for a long schema is not listed whole.
    """
    parts, named = rank_parts(schema, statement)
    what = "Tables" if schema.tables else "There is"
    listing = _shortened([_listed(part, schema.quote) for part in parts])
    return StatementError(f"{problem}.{_meant(name, parts, named)} {what}: {listing}")


def _meant(name: str, parts: Sequence[Part], named: int) -> str:
    """Return where the name is, or the closest one to it in the parts that the author named."""
    bare = name.rsplit(".", 1)[-1]
    owners = [part_name(part) for part in parts if _has(part, bare)]
    if owners:
        more = f" and {len(owners) - _OWNERS} more" if len(owners) > _OWNERS else ""
        return f" '{bare}' is in {', '.join(owners[:_OWNERS])}{more}."
    near = parts[:named] or parts
    fields = [field.name for part in near for field in part_fields(part)]
    return closest(name, [*map(part_name, parts), *fields])


def _has(part: Part, name: str) -> bool:
    return any(field.name.lower() == name.lower() for field in part_fields(part))


def _listed(part: Part, quote: str) -> str:
    """Return a part and its fields, spelled as a statement has to spell them."""
    if isinstance(part, TableInfo):
        columns = ", ".join(sql_name(column.name, quote) for column in part.columns)
        return f"{sql_name(part.name, quote)}({columns})"
    fields = ", ".join(cypher_name(field.name) for field in part.properties)
    element = f":{cypher_name(part.label)} {{{fields}}}"
    if isinstance(part, NodeInfo):
        return f"({element})"
    return f"(:{cypher_name(part.source)})-[{element}]->(:{cypher_name(part.target)})"


def _shortened(items: list[str]) -> str:
    length, shown = 0, []
    for item in items:
        length += len(item)
        if length > _LONGEST_LISTING:
            break
        shown.append(item)
    more = len(items) - len(shown)
    return "; ".join(shown) + (f"; and {more} more" if more else "") + "."
