"""The tables in which SQLite keeps a full-text index or an R-tree: they hold what it holds."""

from __future__ import annotations

from collections.abc import Mapping

from dqa.guard.policy import Policy

_SHADOWS: Mapping[str, frozenset[tuple[str, ...]]] = {
    "content": frozenset({("id", "c0"), ("docid", "c0")}),
    "data": frozenset({("id", "block")}),
    "docsize": frozenset({("id", "sz"), ("docid", "size")}),
    "idx": frozenset({("segid", "term")}),
    "node": frozenset({("nodeno", "data")}),
    "rowid": frozenset({("rowid", "nodeno")}),
    "segdir": frozenset({("level", "idx")}),
    "segments": frozenset({("blockid", "block")}),
}
"""By what their names end with, how their first two columns begin."""


def hidden_index(name: str, policy: Policy) -> str | None:
    """Return the index that a table is kept for, where not all of its columns may be read.

    None as well where the policy names the table, or a column of it, as one that may be read.

    Parameters
    ----------
    name
        Of a table of SQLite.
    policy
        With the database's schema.
    """
    owner, _, end = name.casefold().rpartition("_")
    columns = policy.columns_of(name)
    shapes = _SHADOWS.get(end)
    if shapes is None or not columns or policy.columns_of(owner) is None:
        return None
    if not any(all(map(str.startswith, columns, shape)) for shape in shapes):
        return None
    named = {*(policy.tables or ()), *(entry.rpartition(".")[0] for entry in policy.columns or ())}
    return owner if name.casefold() not in named and policy.limits_columns_of(owner) else None
