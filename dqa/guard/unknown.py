"""What to tell the author of a statement that names what is not there."""

from __future__ import annotations

import re
from collections.abc import Sequence

from dqa.core.errors import StatementError
from dqa.core.fitting import rank_parts
from dqa.core.parts import Part, part_fields, part_name
from dqa.core.schema import DatabaseSchema, NodeInfo, TableInfo, cypher_name, sql_name
from dqa.guard.names import closest
from dqa.guard.sql import sources

_LONGEST_LISTING = 1_500
"""Characters of a list of names after which it helps less than it costs."""
_OF_PART = re.compile(r"^(?!.*(?:column|property)).*\b(?:table|relation|label)\b", re.IGNORECASE)
"""A problem with a name of a table, a label or a type."""
_OWNERS = 3
"""Tables or labels that are told to have a name."""


def unknown_name(
    problem: str, name: str, schema: DatabaseSchema, statement: str, dialect: str
) -> StatementError:
    """Return `problem` with what was most likely meant, and what there is.

    What the statement names comes first, for a long schema is not listed whole. Of a column with
    an alias before it nothing is proposed but a column of what the alias stands for.
    """
    parts, named = rank_parts(schema, statement)
    behind = _behind(name, schema, statement, dialect)
    meant = _meant(name, parts, named, behind, is_part=_OF_PART.search(problem) is not None)
    known = [source for source in behind or () if source.columns]
    told = "".join(f" {one}" for one in dict.fromkeys(_told(source, schema) for source in known))
    what = "Tables" if schema.tables else "There is"
    shown = {source.table for source in known}
    rest = [_listed(part, schema.quote) for part in parts if part_name(part) not in shown]
    if len(rest) < len(parts):
        what = "Other tables"
    listing = f" {what}: {_shortened(rest)}" if rest else ""
    return StatementError(f"{problem}.{meant}{told}{listing}")


def _behind(
    name: str, schema: DatabaseSchema, statement: str, dialect: str
) -> list[sources.Source] | None:
    """Return what stands behind the alias that a column's name begins with.

    None where the name has no alias, or the statement cannot be read.
    """
    alias, _, column = name.rpartition(".")
    if not alias or not column or not schema.tables:
        return None
    alias = alias.rpartition(".")[-1].casefold()
    found = sources.named(statement, dialect, schema)
    return [source for source in found if source.called.casefold() == alias] if found else None


def _told(source: sources.Source, schema: DatabaseSchema) -> str:
    """Return what an alias stands for, with its columns."""
    columns = _shortened([sql_name(column, schema.quote) for column in source.columns], ", ")
    if source.table is None or source.table.casefold() == source.called.casefold():
        return f"The columns of {source.called} are {columns}"
    return f"{source.called} is {source.table}, whose columns are {columns}"


def _meant(
    name: str,
    parts: Sequence[Part],
    named: int,
    behind: Sequence[sources.Source] | None,
    *,
    is_part: bool,
) -> str:
    """Return where the name is, or the closest one to it in the parts that the author named.

    `is_part` where a table, a label or a type is meant, and no column of one.
    """
    bare = name.rsplit(".", 1)[-1]
    near_part = closest(bare, map(part_name, parts)) if is_part else ""
    if near_part:
        return near_part
    owners = [part_name(part) for part in parts if _has(part, bare)]
    if owners:
        more = f" and {len(owners) - _OWNERS} more" if len(owners) > _OWNERS else ""
        return f" '{bare}' is in {', '.join(owners[:_OWNERS])}{more}."
    if behind is not None:
        return closest(bare, [column for source in behind for column in source.columns])
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


def _shortened(items: Sequence[str], between: str = "; ") -> str:
    length, shown = 0, []
    for item in items:
        length += len(item)
        if length > _LONGEST_LISTING:
            break
        shown.append(item)
    more = len(items) - len(shown)
    return between.join(shown) + (f"{between}and {more} more" if more else "") + "."
