"""Keep a statement within the schemas of its database; what could lie outside is refused."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Self

from sqlglot import exp

from dqa.guard.hints import closest
from dqa.guard.lists import AllowLists
from dqa.guard.verdict import Refusal

if TYPE_CHECKING:
    from dqa.guard.policy import Policy

_FOLDED = frozenset({"postgres", "duckdb", "ansi"})
"""Dialects that take ``Shop`` without quotes for another spelling of a name."""
_LOWER = {upper: upper + 32 for upper in range(ord("A"), ord("Z") + 1)}


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

    @cached_property
    def folded(self) -> frozenset[str]:
        """The own schemas, to be compared without regard to case."""
        return frozenset(schema.casefold() for schema in self.schemas)

    @cached_property
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
        if name in self.schemas and (quoted or dialect not in _FOLDED):
            return True
        if dialect == "postgres":
            return not quoted and _lower(name) in self.schemas
        if dialect == "duckdb" or (dialect == "ansi" and not quoted):
            return _lower(name) in map(_lower, self.schemas)
        return False

    def check_table(
        self, node: exp.Table, dialect: str, policy: Policy, *, is_catalogue: bool
    ) -> None:
        """Refuse a table that is, or could be, of another schema."""
        owner, name = list(node.parts[:-1]), node.name
        written = ".".join(part.name for part in owner).casefold()
        if owner and f"{written}.{name.casefold()}" not in (policy.tables or ()):
            self.check_owner(owner, dialect, policy, "table", name)
        is_own = not owner or dialect == "duckdb"  # whose schema main has views of the catalogue
        is_found = not owner or self._is_own(owner, dialect)
        if is_catalogue and is_own and is_found and policy.columns_of(name) is None:
            raise Refusal(
                f"{name} is a catalogue, and describes more than {self.own}; SHOW TABLES and "
                "DESCRIBE work, and the policy's schemas may have '*'"
            )
        if not owner:
            self._check_found(name, policy)

    def check_owner(
        self, owner: Sequence[exp.Expr], dialect: str, policy: Policy, what: str, name: str = ""
    ) -> None:
        """Refuse what belongs to a schema that is, or could be, another one."""
        schema = ".".join(part.name for part in owner)
        if schema.casefold() in (policy.schemas or ()) or self._is_own(owner, dialect):
            return
        if what == "collation" and schema.casefold() == "pg_catalog":
            return
        raise Refusal(
            f"the {what} {schema}.{name} lies outside of {self.own}, whose tables are written "
            f"without a schema; it may be read if the policy's schemas name '{schema}'"
        )

    def check_type(self, kind: object, dialect: str, policy: Policy, known: AllowLists) -> None:
        """Refuse a type that is not a built-in one, a table's or a column's of the own schemas."""
        parts = list(_dotted(kind))
        owner, name = parts[:-1], parts[-1].name.casefold()
        if [part.name.casefold() for part in owner] == ["pg_catalog"]:
            owner = []
        if owner:
            self.check_owner(owner, dialect, policy, "type", name)
        tables = policy.schema.tables if policy.schema is not None else ()
        own = {table.name.casefold() for table in tables}
        own.update(c.type.casefold().removesuffix("[]") for t in tables for c in t.columns)
        if name not in known.syntax | own:
            raise Refusal(f"the type {name} is not known in {self.own}")

    def _is_own(self, owner: Sequence[exp.Expr], dialect: str) -> bool:
        # Before the schema PostgreSQL takes the name of the database that it is in, and no other.
        if len(owner) > 1 and dialect != "postgres":
            return False
        return self.holds(owner[-1].name, dialect, quoted=bool(owner[-1].args.get("quoted")))

    def _check_found(self, name: str, policy: Policy) -> None:
        """Refuse a table without a schema that may be found in another one."""
        is_own = policy.columns_of(name) is not None
        if not self.finds_others or (is_own and self.finds_own_first):
            return
        if is_own or not self.finds_own_first:
            full = f"{next(iter(sorted(self.schemas)), 'SCHEMA')}.{name}"
            raise Refusal(f"the table {name} could be found outside of {self.own}; write {full}")
        own = policy.schema.tables if policy.schema is not None else ()
        hint = closest(name, [table.name for table in own]) or " Name one that is described"
        raise Refusal(f"the table {name} is not a table of {self.own}.{hint}".rstrip(".?"))


def _dotted(node: object) -> Iterator[exp.Expr]:
    """Yield the parts of a name with dots."""
    if isinstance(node, exp.Dot):
        yield from _dotted(node.this)
        yield from _dotted(node.expression)
    elif isinstance(node, exp.Expr):
        yield node
    else:
        for part in str(node).split("."):
            yield exp.to_identifier(part.strip('"'), quoted='"' in part)


def _lower(name: str) -> str:
    """Return a name as databases fold it, which know the case of these letters alone."""
    return name.translate(_LOWER)
