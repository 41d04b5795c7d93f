"""Namespaces: how situations are kept apart inside a database, the same way in every backend.

A namespace holds one situation: a schema (PostgreSQL, DuckDB), a database (MySQL), a label (Neo4j)
or a whole file (SQLite, LadybugDB). It is named after scenario, situation and content hash, and
carries a tag that is written last. So a situation that is there is recognised and used again, one
that is half there cannot be seen and is replaced, and what is not of this project is never touched.
`Namespaces` is what a backend fills in.
"""

from __future__ import annotations

import json
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self, TypeAlias

from dqa.core.errors import UsageError

if TYPE_CHECKING:
    from dqa.core.examination import Examination
    from dqa.core.session import Session
    from dqa.core.situation import Situation

TAG_TABLE = "dqa_tag"
"""The table with the tag of a namespace, where that is one: one row, or none while it is loaded."""
_LONGEST_WORDS = 43


@dataclass(frozen=True, slots=True)
class LoadedSituation:
    """A situation that a database holds: what the tag of its namespace says.

    Attributes
    ----------
    namespace
        The schema, label or file that holds it and nothing else.
    scenario, name
        The situation's.
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


@dataclass(frozen=True, slots=True)
class ForeignContent:
    """Something that is not of this project."""

    description: str = "tables that are not of this project"


@dataclass(frozen=True, slots=True)
class UnfinishedLoad:
    """The tables of a load that never ended, and perhaps others."""

    tables: frozenset[str]
    description: str = "a load that was never finished"


NamespaceContent: TypeAlias = LoadedSituation | UnfinishedLoad | ForeignContent | None
"""What a namespace holds; None for nothing that is in the way of a load."""


class Namespaces(ABC):
    """The namespaces of one open connection.

    Attributes
    ----------
    location
        What to call where they are; never holds a password.
    """

    location: str

    @classmethod
    @abstractmethod
    def connect(cls, location: str) -> AbstractContextManager[Self]:
        """Connect for what is no query; a driver's errors come out of it as this project's."""

    @classmethod  # noqa: B027  (not every engine has to be)
    def start(cls) -> None:
        """Open an embedded engine for the first time; nobody else does meanwhile."""

    @classmethod
    def load_in_memory(cls, situation: Situation) -> Session:
        """Write a situation into memory, for embedded engines, and return that."""
        raise NotImplementedError

    @classmethod
    def run_script(cls, script: str) -> Session:
        """Run a script in a new database in memory, for embedded engines, and return that.

        Raises
        ------
        DataError
            The engine refuses it.
        """
        raise NotImplementedError

    def make_scratch(self, name: str, script: str) -> str:
        """Make a database of its own on a server, run a script in it, and return its URL.

        Raises
        ------
        DataError
            The server refuses the script; the database is gone again.
        UsageError
            The server has no databases of their own.
        """
        del name, script
        raise UsageError(
            f"{self.location} has one database for everybody, so a script cannot have its own: "
            "give a situation instead."
        )

    def drop_scratch(self, name: str) -> None:
        """Drop what `make_scratch` made."""
        raise NotImplementedError

    @classmethod
    def engine_version(cls) -> str:
        """Return the product and version of an embedded engine."""
        raise NotImplementedError

    @abstractmethod
    def names(self) -> Iterable[str]:
        """Return the namespaces that may be of this project, in order."""

    @abstractmethod
    def read(self, namespace: str) -> NamespaceContent:
        """Return what a namespace holds."""

    @abstractmethod
    def create(self, situation: Situation, tag: LoadedSituation) -> None:
        """Make the namespace, fill it, and write its tag last; `DataError` where it cannot be."""

    @abstractmethod
    def drop(self, namespace: str) -> None:
        """Drop a namespace with all that is in it."""

    @abstractmethod
    def select(self) -> str | None:
        """Return the namespace that the location names, None for all that there is.

        Raises
        ------
        UsageError
            It is not there, or cannot be opened.
        """

    @abstractmethod
    def open(self, namespace: str | None) -> Session:
        """Return a read-only session of a namespace that is there; None for all that there is."""

    def examine(self) -> Examination:
        """Open the file of an embedded engine and look; a server's session does so itself."""
        raise NotImplementedError

    def replace(self, situation: Situation, tag: LoadedSituation) -> None:
        """Create a namespace where another content is."""
        self.drop(tag.namespace)
        self.create(situation, tag)

    def name_for(self, situation: Situation) -> str:
        """Return the namespace of a situation."""
        return namespace_for(situation)

    def resolve(self, namespace: str) -> str:
        """Return a namespace as `names` spells it."""
        return namespace

    def locked(self, namespace: str) -> AbstractContextManager[object]:  # noqa: ARG002
        """Keep others of this project from changing a namespace while the context lasts."""
        return nullcontext()

    def situations(self) -> Iterator[LoadedSituation]:
        """Yield what is loaded, by namespace."""
        for name in self.names():
            content = self.read(name)
            if isinstance(content, LoadedSituation):
                yield content


def namespace_for(situation: Situation) -> str:
    """Return the name of a situation's namespace: ``dqa_suppliers_q1_0123456789ab``.

    Lower case letters, digits and underscores, at most 60 characters: a valid unquoted name in
    every database. The hash keeps situations of one name apart.
    """
    return join_name(situation.schema.scenario, situation.name, situation.content_hash)


def join_name(scenario: str, name: str, content_hash: str) -> str:
    """Return the name of a namespace; see `namespace_for`."""
    plain = re.sub(r"[^a-z0-9]+", "_", f"{scenario}_{name}".lower()).strip("_")
    return f"dqa_{plain[:_LONGEST_WORDS]}_{content_hash[:12]}"


def tagged_content(
    namespace: str,
    tables: Collection[str] | None,
    read_tag: Callable[[], Sequence[Any] | None],
) -> NamespaceContent:
    """Return what a namespace of tables holds.

    Parameters
    ----------
    namespace
        Its name.
    tables
        All tables in it; None where there is no such namespace.
    read_tag
        Reads the row of `TAG_TABLE`, if it has one.
    """
    if tables is None:
        return None
    if TAG_TABLE not in tables:
        return ForeignContent() if tables else UnfinishedLoad(frozenset())
    row = read_tag()
    return LoadedSituation(namespace, *row) if row else UnfinishedLoad(frozenset(tables))


def tag_to_json(tag: LoadedSituation) -> str:
    """Return a tag as the text of a comment; the namespace is what the comment is on."""
    return json.dumps(
        {
            "scenario": tag.scenario,
            "name": tag.name,
            "content_hash": tag.content_hash,
            "rows": tag.rows,
        }
    )


def tag_from_json(namespace: str, text: str | None) -> LoadedSituation | None:
    """Return the tag that a comment is, or None where it is something else."""
    try:
        held = json.loads(text or "")
        return LoadedSituation(
            namespace, held["scenario"], held["name"], held["content_hash"], held["rows"]
        )
    except (ValueError, TypeError, KeyError):
        return None


def tag_of(situation: Situation, namespace: str) -> LoadedSituation:
    """Return the tag of the namespace that holds a situation."""
    return LoadedSituation(
        namespace,
        situation.schema.scenario,
        situation.name,
        situation.content_hash,
        situation.row_count,
    )


def hold_same(content: NamespaceContent, tag: LoadedSituation) -> bool:
    """Whether a namespace holds the situation that a tag is of."""
    return isinstance(content, LoadedSituation) and content.content_hash == tag.content_hash


def is_left_over(content: NamespaceContent, situation: Situation) -> bool:
    """Whether a namespace holds nothing but what an unfinished load of a situation has made."""
    ours = {TAG_TABLE, *situation.tables}
    return isinstance(content, UnfinishedLoad) and content.tables <= ours


def in_the_way(namespace: str, content: NamespaceContent) -> UsageError:
    """Return the error of a namespace that holds something else."""
    if isinstance(content, LoadedSituation):
        what = f"situation '{content.name}' of another content"
    else:
        what = content.description if content is not None else "nothing"
    return UsageError(
        f"'{namespace}' holds {what}, and nothing is overwritten; "
        f"to drop all that is in it and load anew, write --replace {namespace}."
    )
