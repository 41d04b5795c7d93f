"""Namespaces: a database holds many situations, each in a namespace of its own.

A namespace is a schema (PostgreSQL, DuckDB), a database (MySQL), a label (Neo4j) or a whole file
(SQLite, LadybugDB). Its name contains scenario, situation and content hash. A tag is written last.
So a loaded situation is found again, a half-written one is invisible and replaced, and foreign
content is never touched. A backend implements `Namespaces`.
"""

from __future__ import annotations

import json
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Self, TypeAlias

from dqa.core.errors import DataError, UsageError

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


@dataclass(frozen=True, slots=True)
class ForeignContent:
    """Something that this project did not load."""

    description: str = "tables that are not of this project"


@dataclass(frozen=True, slots=True)
class UnfinishedLoad:
    """The tables of an unfinished load, and perhaps others."""

    tables: frozenset[str]
    description: str = "a load that was never finished"


NamespaceContent: TypeAlias = LoadedSituation | UnfinishedLoad | ForeignContent | None
"""What a namespace holds; None if a load can create it."""


class Namespaces(ABC):
    """The namespaces of one open connection.

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

    @classmethod  # noqa: B027  (most engines need no start)
    def start(cls) -> None:
        """Open an embedded engine for the first time, in one thread."""

    @classmethod
    def open_in_memory(cls, content: Situation | str) -> Session:
        """Write a situation, or run a script, in the memory of an embedded engine.

        Raises
        ------
        DataError
            The engine refuses the script, or cannot hold the situation.
        """
        raise NotImplementedError

    def make_scratch(self, name: str, script: str) -> str:
        """Create a database on a server, run a script in it, and return its URL.

        Raises
        ------
        DataError
            The server refuses the script; the database is dropped.
        UsageError
            The server cannot create databases.
        """
        del name, script
        raise UsageError(
            f"{self.location} has a single database, so a script cannot have its own: give a "
            "situation instead."
        )

    def drop_scratch(self, name: str) -> None:
        """Drop the database of `make_scratch`."""
        raise NotImplementedError

    @classmethod
    def engine_version(cls) -> str:
        """Return the product and version of an embedded engine."""
        raise NotImplementedError

    def names(self) -> Iterable[str]:
        """Return the names of namespaces that this project may have created, sorted."""
        return ()

    def read(self, namespace: str) -> NamespaceContent:  # noqa: ARG002
        """Return the content of a namespace; `UsageError` if these databases are only read."""
        raise UsageError(f"'{self.location}' is only read; load into a database's file or server.")

    def create(self, situation: Situation, tag: LoadedSituation) -> None:
        """Create the namespace, fill it, and write its tag last.

        Raises
        ------
        DataError
            The database cannot hold the situation.
        """
        raise NotImplementedError

    def drop(self, namespace: str) -> None:
        """Drop a namespace with its content."""
        raise NotImplementedError

    @abstractmethod
    def select(self) -> str | None:
        """Return the namespace that the location names; None for the whole database.

        Raises
        ------
        UsageError
            There is no such namespace, or it is incomplete.
        """

    @abstractmethod
    def open(self, namespace: str | None) -> Session:
        """Return a read-only session of an existing namespace, or of the whole database."""

    def with_schemas(self, namespace: str | None, more: Collection[str]) -> str | None:  # noqa: ARG002
        """Return a namespace with more schemas, if `open` takes several."""
        return namespace

    def replace(self, situation: Situation, tag: LoadedSituation) -> None:
        """Replace another content of a namespace."""
        self.drop(tag.namespace)
        self.create(situation, tag)

    def name_for(self, situation: Situation) -> str:
        """Return the namespace of a situation."""
        return namespace_for(situation)

    def resolve(self, namespace: str) -> str:
        """Return a namespace in the spelling of `names`."""
        return namespace

    def locked(self, namespace: str) -> AbstractContextManager[object]:  # noqa: ARG002
        """Let no other load change a namespace during the context."""
        return nullcontext()

    def situations(self) -> Iterator[LoadedSituation]:
        """Yield the loaded situations, by namespace."""
        for name in self.names():
            content = self.read(name)
            if isinstance(content, LoadedSituation):
                yield content


def namespace_for(situation: Situation) -> str:
    """Return the name of a situation's namespace: ``dqa_suppliers_q1_0123456789ab``.

    It has lower case letters, digits and underscores, and at most 60 characters, so no database
    needs quotes for it.
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
    """Return the content of a namespace of tables.

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
    """Return a tag as a comment on its namespace."""
    return json.dumps({name: value for name, value in asdict(tag).items() if name != "namespace"})


def tag_from_json(namespace: str, text: str | None) -> LoadedSituation | None:
    """Return the tag in a comment, or None for another comment."""
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
    """Whether a namespace holds the situation of a tag."""
    return isinstance(content, LoadedSituation) and content.content_hash == tag.content_hash


def is_left_over(content: NamespaceContent, situation: Situation) -> bool:
    """Whether a namespace holds only tables of an unfinished load of a situation."""
    return isinstance(content, UnfinishedLoad) and content.tables <= {
        TAG_TABLE,
        *situation.tables,
    }


def in_the_way(namespace: str, content: NamespaceContent) -> UsageError:
    """Return the error for a namespace with another content."""
    what = "nothing" if content is None else getattr(content, "description", None)
    if isinstance(content, LoadedSituation):
        what = f"situation '{content.name}' with another content"
    return UsageError(
        f"'{namespace}' holds {what}, and nothing is overwritten; to drop all of it and load "
        f"again, write --replace {namespace}."
    )


def require_graph(situation: Situation) -> None:
    """Raise `DataError` unless a situation is a graph.

    Every table must read as nodes or as relationships, a key must not occur twice, and a
    relationship must join nodes that exist.
    """
    schema = situation.schema
    mapped = {node.table for node in schema.nodes} | {edge.table for edge in schema.edges}
    left_out = sorted({table.name for table in schema.tables} - mapped)
    if left_out:
        raise DataError(
            f"Tables {left_out} of scenario '{schema.scenario}' are neither nodes nor edges of "
            "its graph: map them in its scenario.toml ([[nodes]], [[edges]]), or take relational "
            "databases alone, such as --databases sqlite."
        )
    keys = {}
    for node in schema.nodes:
        values = situation[node.table][node.key_column].tolist()
        keys[node.label] = set(values)
        if len(keys[node.label]) < len(values):
            twice = next(key for key in values if values.count(key) > 1)
            raise no_graph(situation, f"two rows of '{node.table}' have the key {twice!r}")
    for edge in schema.edges:
        for label, column in (edge.source, edge.target):
            missing = set(situation[edge.table][column].tolist()) - keys[label]
            if missing:
                first = min(missing, key=str)
                problem = f"a row of '{edge.table}' ends at {label} {first!r}, which is missing"
                raise no_graph(situation, problem)


def no_graph(situation: Situation, problem: str) -> DataError:
    """Return the error of a situation that cannot be written as a graph."""
    return DataError(f"Situation '{situation.name}' cannot be written as a graph: {problem}.")
