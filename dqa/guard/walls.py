"""The walls of a database: which schemas are its own, and which names lie outside."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Self

_LOWER = {upper: upper + 32 for upper in range(ord("A"), ord("Z") + 1)}


@dataclass(frozen=True)
class Walls:
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
    def around(cls, schemas: Iterable[str], search_path: Iterable[str] | None = None) -> Self:
        """Return the walls around schemas, in which names without one are found by default."""
        own = tuple(schemas)
        return cls(frozenset(own), own if search_path is None else tuple(search_path))

    @cached_property
    def folded(self) -> frozenset[str]:
        """The own schemas, to be compared without regard to case."""
        return frozenset(schema.casefold() for schema in self.schemas)

    @property
    def finds_own_first(self) -> bool:
        """Whether a table of the database's own is found by its name alone."""
        return not self.search_path or self.search_path[0] in self.schemas

    @property
    def finds_others(self) -> bool:
        """Whether a table of another schema may be found by its name alone."""
        return not self.schemas.issuperset(self.search_path)

    def hold(self, name: str, dialect: str, *, quoted: bool) -> bool:
        """Whether a statement that names a schema so can mean nothing but one of its own."""
        if name in self.schemas and (quoted or dialect not in _FOLDED):
            return True
        if dialect == "postgres":
            return not quoted and _lower(name) in self.schemas
        if dialect == "duckdb" or (dialect == "ansi" and not quoted):
            return _lower(name) in map(_lower, self.schemas)
        return False


_FOLDED = frozenset({"postgres", "duckdb", "ansi"})
"""Dialects that take ``Shop`` without quotes for another spelling of a name."""


def _lower(name: str) -> str:
    """Return a name as databases fold it, who know the case of no letters but these."""
    return name.translate(_LOWER)
