"""The schemas that belong to a database."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self

_LOWER = {upper: upper + 32 for upper in range(ord("A"), ord("Z") + 1)}


def fold(name: str) -> str:
    """Return a name in lower case as databases fold it: only the letters A to Z change."""
    return name.translate(_LOWER)


@dataclass(frozen=True)
class SchemaScope:
    """The schemas (databases, on MySQL) that belong to a database.

    Attributes
    ----------
    schemas
        The schemas of the database, as the server spells them.
    search_path
        The schemas in which the server looks for a table without a schema prefix, in order.
    """

    schemas: frozenset[str]
    search_path: tuple[str, ...]

    @classmethod
    def of(cls, schemas: Iterable[str], search_path: Iterable[str] | None = None) -> Self:
        """Return the scope of these schemas. They are also the default search path."""
        own = tuple(schemas)
        return cls(frozenset(own), own if search_path is None else tuple(search_path))

    @property
    def own(self) -> str:
        """The names of the schemas, for a message."""
        return " or ".join(sorted(self.schemas)) or "this database"

    @property
    def finds_own_first(self) -> bool:
        """Whether the server looks for a table without a schema prefix in this scope first."""
        return not self.search_path or self.search_path[0] in self.schemas

    @property
    def finds_others(self) -> bool:
        """Whether a name without a schema prefix may mean a table outside of this scope."""
        return not self.schemas.issuperset(self.search_path)

    @property
    def first(self) -> SchemaScope:
        """The scope with only the schema that the server searches first."""
        own = [name for name in self.search_path if name in self.schemas]
        return SchemaScope.of(own[:1] or self.schemas)

    def holds(self, name: str, dialect: str, *, quoted: bool) -> bool:
        """Return whether a schema name in a statement always refers to a schema of this scope."""
        folds = dialect in {"postgres", "duckdb", "ansi"}
        if name in self.schemas and (quoted or not folds):
            return True
        lower = fold(name)
        if dialect == "postgres":
            return not quoted and lower in self.schemas
        is_folded = dialect == "duckdb" or (dialect == "ansi" and not quoted)
        return is_folded and lower in set(map(fold, self.schemas))
