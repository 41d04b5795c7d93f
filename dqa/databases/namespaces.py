"""Namespaces: a database holds many situations, each in a namespace of its own.

A namespace is a schema (PostgreSQL, DuckDB), a database (MySQL), a label (Neo4j) or a whole file
(SQLite, LadybugDB). Its name contains scenario, situation and content hash. A tag is written last.
So a loaded situation is found again, a half-written one is invisible and replaced, and foreign
content is never touched.
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
"""The table with the tag of a namespace, where that is one: one row, or none while it is loaded."""
ROW_COLUMN = "dqa_row"
"""The number of a row in its table, on servers that store no order of rows."""
REFERENCES = "references "
"""How the comment of a referring column begins: ``references table.column``."""
_LONGEST_WORDS = 43


@dataclass(frozen=True, slots=True)
class LoadedSituation:
    """A situation in a database, as the tag of its namespace describes it.

    Attributes
    ----------
    namespace
        The schema, database, label or file with nothing else in it.
    scenario, name
        Names of the scenario and the situation.
    content_hash
        `Situation.content_hash` of what was loaded.
    rows
        Rows of all its tables.
    """

    namespace: str
    scenario: str
    name: str
    content_hash: str
    rows: int


class OtherContent(StrEnum):
    """Something other than a complete situation."""

    EMPTY = "nothing"
    FOREIGN = "content that is not of this project"
    UNFINISHED = "a load that was never finished"


NamespaceContent: TypeAlias = LoadedSituation | OtherContent | None
"""What a namespace holds; None if a load can create it."""


class Namespaces(ABC):
    """The namespaces of one open connection; a subclass overrides `read` and what follows to load.

    Attributes
    ----------
    location
        The location without a password, for messages.
    """

    location: str

    @classmethod
    @abstractmethod
    def connect(cls, location: str) -> AbstractContextManager[Self]:
        """Connect outside of a session, and translate the driver's errors."""

    @abstractmethod
    def select(self, more: Collection[str] = ()) -> str | None:
        """Return the namespace that the location names; None for the whole database.

        Parameters
        ----------
        more
            More schemas to show, in lower case, where a namespace may be several schemas.

        Raises
        ------
        UsageError
            There is no such namespace, or it is incomplete.
        """

    @abstractmethod
    def open(self, namespace: str | None) -> Session:
        """Return a read-only session of an existing namespace, or of the whole database."""

    def read(self, namespace: str) -> NamespaceContent:  # noqa: ARG002
        """Return the content of a namespace."""
        raise self._read_only_error()

    def tables(self, namespace: str) -> Collection[str] | None:  # noqa: ARG002
        """Return the tables and views of a namespace; None if there are none to look at."""
        return None

    def situations(self) -> Iterator[LoadedSituation]:
        """Yield the loaded situations, by namespace."""
        raise self._read_only_error()

    def create(self, situation: Situation, tag: LoadedSituation) -> None:  # noqa: ARG002
        """Create the namespace, fill it, and write its tag last.

        Raises
        ------
        DataError
            The database cannot hold the situation.
        """
        raise self._read_only_error()

    def drop(self, namespace: str) -> None:  # noqa: ARG002
        """Drop a namespace with its content."""
        raise self._read_only_error()

    def _read_only_error(self) -> UsageError:
        return UsageError(f"'{self.location}' is only read; load into a database's file or server.")

    def load(self, situation: Situation, replace: str | None) -> str:
        """Write a situation unless the database holds it, and return its namespace.

        Parameters
        ----------
        situation
            What to write.
        replace
            The namespace whose other content may be dropped.

        Raises
        ------
        UsageError
            The namespace holds another content.
        DataError
            The database cannot hold the situation.
        """
        tag = tag_of(situation, self.name_for(situation))
        if self.holds(tag):
            return tag.namespace
        with self.locked(tag.namespace):
            content = self.content_for(situation, tag.namespace)
            if content is None:
                self.create(situation, tag)
            elif not self.holds(tag):  # else another process has loaded it
                may_drop = content in {OtherContent.EMPTY, OtherContent.UNFINISHED}
                if not may_drop and (replace is None or self.resolve(replace) != tag.namespace):
                    raise in_the_way(tag.namespace, content)
                self.replace(situation, tag)
        return tag.namespace

    def content_for(self, situation: Situation, namespace: str) -> NamespaceContent:
        """Return the content; an unfinished load of a situation has no tables but its own."""
        content = self.read(namespace)
        if content is OtherContent.UNFINISHED:
            others = {*(self.tables(namespace) or ())} - {TAG_TABLE, *situation.tables}
            content = OtherContent.FOREIGN if others else content
        return content

    def holds(self, tag: LoadedSituation) -> bool:
        """Whether a namespace holds the situation of a tag."""
        content = self.read(tag.namespace)
        return isinstance(content, LoadedSituation) and content.content_hash == tag.content_hash

    def replace(self, situation: Situation, tag: LoadedSituation) -> None:
        """Replace another content of a namespace."""
        self.drop(tag.namespace)
        self.create(situation, tag)

    def name_for(self, situation: Situation) -> str:
        """Return the namespace of a situation."""
        return namespace_for(situation)

    def resolve(self, namespace: str) -> str:
        """Return a namespace in the spelling of `name_for`."""
        return namespace

    def locked(self, namespace: str) -> AbstractContextManager[object]:  # noqa: ARG002
        """Let no other load change a namespace during the context."""
        return nullcontext()

    def scratch(self, script: str) -> AbstractContextManager[str]:
        """Give the URL of a new database that a script has filled, and drop it.

        Raises
        ------
        DataError
            The server refuses the script.
        UsageError
            The server cannot create databases.
        """
        del script
        raise UsageError(
            f"{self.location} has a single database, so a script cannot have its own: give a "
            "situation instead."
        )


def namespace_for(situation: Situation) -> str:
    """Return the name of a situation's namespace: ``dqa_suppliers_q1_0123456789ab``.

    It has lower case letters, digits and underscores, and at most 60 characters, so no database
    needs quotes for it.
    """
    words = f"{situation.schema.scenario}_{situation.name}".lower()
    plain = re.sub(r"[^a-z0-9]+", "_", words).strip("_")
    return f"dqa_{plain[:_LONGEST_WORDS]}_{situation.content_hash[:12]}"


def tag_of(situation: Situation, namespace: str) -> LoadedSituation:
    """Return the tag of the namespace that holds a situation."""
    return LoadedSituation(
        namespace,
        situation.schema.scenario,
        situation.name,
        situation.content_hash,
        situation.row_count,
    )


def in_the_way(namespace: str, content: NamespaceContent) -> UsageError:
    """Return the error for a namespace with another content."""
    what: object = content or OtherContent.EMPTY
    if isinstance(content, LoadedSituation):
        what = f"situation '{content.name}' with another content"
    return UsageError(
        f"'{namespace}' holds {what}, and nothing is overwritten; to drop all of it and load "
        f"again, write --replace {namespace}."
    )
