"""Load each situation of a database into its own namespace.

A namespace is a schema (PostgreSQL, DuckDB), a database (MySQL), a label (Neo4j) or a file (SQLite,
LadybugDB). The name of a namespace contains the scenario, the situation and the content hash, so
dqa can find a loaded situation again. At the end of a load, dqa writes the tag: a record with the
names and the hash of the situation. A namespace without a tag is an unfinished load. Unfinished
loads are not shown, and the next load replaces them. dqa never changes the content of other
programs.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Self, TypeAlias

from dqa.core.errors import UsageError

if TYPE_CHECKING:
    from dqa.core.session import Session
    from dqa.core.situation import Situation

TAG_TABLE = "dqa_tag"
"""The table with the tag of a namespace. The table has one row; during a load, it is empty."""
ROW_COLUMN = "dqa_row"
"""The column with the number of each row, for servers that do not store the order of rows."""
REFERENCES = "references "
"""The beginning of the comment of a foreign key column: ``references table.column``."""
_LONGEST_WORDS = 43


@dataclass(frozen=True, slots=True)
class LoadedSituation:
    """The tag of a loaded situation, which identifies its content.

    Attributes
    ----------
    namespace
        The schema, database, label or file that contains only this situation.
    scenario, name
        The names of the scenario and of the situation.
    content_hash
        The `Situation.content_hash` of the loaded situation.
    rows
        The number of rows in all tables.
    """

    namespace: str
    scenario: str
    name: str
    content_hash: str
    rows: int


class OtherContent(StrEnum):
    """The content of a namespace that does not contain a complete situation."""

    EMPTY = "nothing"
    FOREIGN = "content that dqa did not create"
    UNFINISHED = "a load that was never finished"


WORTHLESS = frozenset({OtherContent.EMPTY, OtherContent.UNFINISHED})
"""Kinds of content that a load may drop."""
NamespaceContent: TypeAlias = LoadedSituation | OtherContent | None
"""The content of a namespace; None if the namespace does not exist yet."""


class Namespaces(ABC):
    """The namespaces of an open connection.

    If a backend can load situations, its subclass overrides `read`, `tables`, `situations`,
    `create` and `drop`.

    Attributes
    ----------
    location
        The location without its password, for messages.
    """

    location: str

    @classmethod
    @abstractmethod
    def connect(cls, location: str) -> AbstractContextManager[Self]:
        """Connect without opening a session, and translate the driver's errors."""

    @abstractmethod
    def select(self, more: Collection[str] = ()) -> str | None:
        """Return the namespace in the location; None for the whole database.

        Parameters
        ----------
        more
            The names of additional schemas to show, in lower case. They are ignored if a namespace
            cannot consist of several schemas.

        Raises
        ------
        UsageError
            The namespace does not exist or is not completely loaded.
        """

    @abstractmethod
    def open(self, namespace: str | None) -> Session:
        """Return a read-only session of an existing namespace, or of the whole database."""

    def read(self, namespace: str) -> NamespaceContent:  # noqa: ARG002
        """Return the content of a namespace."""
        raise self._read_only_error()

    def tables(self, namespace: str) -> set[str]:  # noqa: ARG002
        """Return the tables and views of a namespace."""
        return set()

    def situations(self) -> Iterator[LoadedSituation]:
        """Yield the loaded situations, sorted by namespace."""
        raise self._read_only_error()

    def create(self, situation: Situation, tag: LoadedSituation) -> None:  # noqa: ARG002
        """Create the namespace, fill it, and write the tag last.

        Raises
        ------
        DataError
            The database cannot store the situation.
        """
        raise self._read_only_error()

    def drop(self, namespace: str) -> None:  # noqa: ARG002
        """Drop a namespace and its content."""
        raise self._read_only_error()

    def _read_only_error(self) -> UsageError:
        return UsageError(
            f"dqa only reads '{self.location}'. Load the data into a database file or a server."
        )

    def load(self, situation: Situation) -> tuple[LoadedSituation, bool]:
        """Write a situation if the database does not contain it yet.

        Returns
        -------
        tuple
            The tag, and whether the situation was written.

        Raises
        ------
        UsageError
            The namespace has different content.
        DataError
            The database cannot store the situation.
        """
        tag = tag_of(situation, self.name_for(situation))
        with self.locked(tag.namespace):
            content = self.read(tag.namespace)
            if is_same(content, tag):
                return tag, False
            if content is OtherContent.UNFINISHED:
                others = self.tables(tag.namespace) - {TAG_TABLE, *situation.tables}
                content = OtherContent.FOREIGN if others else content
            if content in WORTHLESS:
                self.drop(tag.namespace)
            elif content is not None:
                if is_same(self.read(tag.namespace), tag):  # another process has just loaded it
                    return tag, False
                raise in_the_way(tag.namespace, content)
            self.create(situation, tag)
        return tag, True

    def name_for(self, situation: Situation) -> str:
        """Return the name of the namespace for a situation."""
        return namespace_for(situation)

    def resolve(self, namespace: str) -> str:
        """Return the name of a namespace as `name_for` spells it."""
        return namespace

    def locked(self, namespace: str) -> AbstractContextManager[object]:  # noqa: ARG002
        """Prevent other loads from changing a namespace until the ``with`` block ends."""
        return nullcontext()

    def scratch(self, script: str) -> AbstractContextManager[str]:
        """Yield the URL of a new database in which a script has run; drop it afterwards.

        Raises
        ------
        DataError
            The server refuses the script.
        UsageError
            The server cannot create databases.
        """
        del script
        raise UsageError(
            f"On {self.location}, dqa cannot create a database for a script: give a situation "
            "instead."
        )


def namespace_for(situation: Situation) -> str:
    """Return the namespace for a situation, such as ``dqa_suppliers_q1_0123456789ab``.

    The name has at most 60 characters and consists of lower-case letters, digits and underscores.
    No database requires quotes for such a name.
    """
    words = f"{situation.schema.scenario}_{situation.name}".lower()
    plain = re.sub(r"[^a-z0-9]+", "_", words).strip("_")
    return f"dqa_{plain[:_LONGEST_WORDS]}_{situation.content_hash[:12]}"


def tag_of(situation: Situation, namespace: str) -> LoadedSituation:
    """Return the tag of a situation."""
    return LoadedSituation(
        namespace,
        situation.schema.scenario,
        situation.name,
        situation.content_hash,
        situation.row_count,
    )


def is_same(content: NamespaceContent, tag: LoadedSituation) -> bool:
    """Return whether a content is the situation that a tag describes."""
    return isinstance(content, LoadedSituation) and content.content_hash == tag.content_hash


def in_the_way(namespace: str, content: NamespaceContent) -> UsageError:
    """Return the error for a namespace with different content."""
    what: object = content or OtherContent.EMPTY
    advice = "Drop it yourself, or choose another location."
    if isinstance(content, LoadedSituation):
        what = f"situation '{content.name}' with different content"
        advice = f"'dqa load --database LOCATION --drop {namespace}' drops it."
    return UsageError(f"'{namespace}' contains {what}, which dqa does not overwrite. {advice}")
