"""The schemas of a server that a database's statements may name."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self

_LOWER = {upper: upper + 32 for upper in range(ord("A"), ord("Z") + 1)}


def fold(name: str) -> str:
    """Return a name as databases fold it: they know the case of A to Z alone."""
    return name.translate(_LOWER)


@dataclass(frozen=True)
class SchemaScope:
    """The schemas (MySQL's databases) that are a database's own; all others are outside.

    Attributes
    ----------
    schemas
        The own ones, as the server spells them.
    search_path
        Where the server looks for a table that is written without a schema, in order.
    """

    schemas: frozenset[str]
    search_path: tuple[str, ...]

    @classmethod
    def of(cls, schemas: Iterable[str], search_path: Iterable[str] | None = None) -> Self:
        """Return the scope of schemas, in which names without one are found by default."""
        own = tuple(schemas)
        return cls(frozenset(own), own if search_path is None else tuple(search_path))

    @property
    def own(self) -> str:
        """The own schemas, for a message."""
        return " or ".join(sorted(self.schemas)) or "this database"

    @property
    def finds_own_first(self) -> bool:
        """Whether a table of the database's own is found by its name alone."""
        return not self.search_path or self.search_path[0] in self.schemas

    @property
    def finds_others(self) -> bool:
        """Whether a table of another schema may be found by its name alone."""
        return not self.schemas.issuperset(self.search_path)

    def holds(self, name: str, dialect: str, *, quoted: bool) -> bool:
        """Whether a statement that names a schema so can mean only one of the own ones."""
        folds = dialect in {"postgres", "duckdb", "ansi"}
        if name in self.schemas and (quoted or not folds):
            return True
        lower = fold(name)
        if dialect == "postgres":
            return not quoted and lower in self.schemas
        is_folded = dialect == "duckdb" or (dialect == "ansi" and not quoted)
        return is_folded and lower in set(map(fold, self.schemas))
