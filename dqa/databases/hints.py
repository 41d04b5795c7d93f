"""What to tell the author of a statement that names something the database does not have."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

from dqa.core.schema import DatabaseSchema, EdgeInfo, NodeInfo

__all__ = ["closest", "with_properties", "with_tables"]

_ENOUGH = 1_500
"""Characters of listing after which names help less than they cost."""


def with_tables(message: str, unknown: str, schema: DatabaseSchema) -> str:
    """Add to `message` what is closest to `unknown`, and which tables and columns there are."""
    names = [table.name for table in schema.tables]
    columns = [field.name for table in schema.tables for field in table.columns]
    listing = [f"{t.name}({', '.join(field.name for field in t.columns)})" for t in schema.tables]
    return f"{message}.{closest(unknown, [*names, *columns])} Tables: {_listed(listing)}"


def with_properties(message: str, unknown: str, schema: DatabaseSchema) -> str:
    """Add to `message` what is closest to `unknown`, and which labels and properties there are."""
    parts: tuple[NodeInfo | EdgeInfo, ...] = (*schema.nodes, *schema.edges)
    names = [part.label for part in parts]
    properties = [field.name for part in parts for field in part.properties]
    listing = [
        f"(:{n.label} {{{', '.join(field.name for field in n.properties)}}})" for n in schema.nodes
    ]
    listing += [
        f"(:{e.source})-[:{e.label} {{{', '.join(field.name for field in e.properties)}}}]->"
        f"(:{e.target})"
        for e in schema.edges
    ]
    return f"{message}.{closest(unknown, [*names, *properties])} There is: {_listed(listing)}"


def closest(unknown: str, known: Iterable[str], cutoff: float = 0.5) -> str:
    """Return `` Did you mean 'x'?``, or nothing where no known name is as close as `cutoff`."""
    by_lower = {name.lower(): name for name in sorted(known, reverse=True)}
    found = get_close_matches(unknown.rsplit(".", 1)[-1].lower(), by_lower, n=1, cutoff=cutoff)
    return f" Did you mean '{by_lower[found[0]]}'?" if found else ""


def _listed(items: list[str]) -> str:
    length, shown = 0, []
    for item in items:
        length += len(item)
        if length > _ENOUGH:
            break
        shown.append(item)
    more = len(items) - len(shown)
    return "; ".join(shown) + (f"; and {more} more" if more else "") + "."
