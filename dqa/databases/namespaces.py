"""Namespaces: how every backend keeps situations apart inside a database.

A namespace holds one situation: a schema (PostgreSQL, DuckDB), a database (MySQL), a label (Neo4j)
or a whole file (SQLite, LadybugDB). It is named after scenario, situation and content hash, and
carries a tag that is written last. So a situation that is there is recognised and used again, one
that is half there cannot be seen and is replaced, and what is not of this project is never touched.

A new backend is a package that fills in two classes: `Namespaces`, which lists, reads, creates,
drops and opens the namespaces of one open connection, and `NamespaceBackend`, which connects. What
is done with them, in which order and with which errors, is here.
"""

from __future__ import annotations

import json
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from threading import Lock
from typing import TYPE_CHECKING, Any, TypeAlias

from dqa.core.errors import UsageError
from dqa.databases.base import Examination, LoadedSituation

if TYPE_CHECKING:
    from dqa.core.database import Database, Kind, Limits
    from dqa.core.situation import Situation
    from dqa.guard import Audit, GuardedDatabase, Policy

__all__ = [
    "TAG_TABLE",
    "ForeignContent",
    "NamespaceBackend",
    "NamespaceContent",
    "Namespaces",
    "UnfinishedLoad",
    "in_the_way",
    "join_name",
    "namespace_for",
    "tag_from_json",
    "tag_of",
    "tag_to_json",
    "tagged_content",
]

TAG_TABLE = "dqa_tag"
"""The table with the tag of a namespace, where that is one: one row, or none while it is loaded."""

_STARTING = Lock()
_LONGEST_WORDS = 43


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
    """The namespaces of one open connection. Driver errors are for `NamespaceBackend._connect`.

    Attributes
    ----------
    location
        What to call where they are; never holds a password.
    """

    location: str

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
    def open(self, namespace: str | None) -> GuardedDatabase:
        """Return a namespace that is there as a read-only database; None for all that there is."""

    @abstractmethod
    def examine(self) -> Examination:
        """Return what the database says about itself and who is connected."""

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


class NamespaceBackend(ABC):
    """A `dqa.databases.base.Backend`, but for how to connect; see there for its methods."""

    name: str
    kind: Kind
    dialect: str
    embedded = False
    needs_location = "Name the database by its URL."
    """What to write where a location is missing; embedded databases need none."""
    _is_started = False

    @abstractmethod
    def accepts(self, location: str) -> bool:
        """Whether `location` (a URL or a path to an existing file) is one of this backend's."""

    @abstractmethod
    def _connect(self, location: str) -> AbstractContextManager[Namespaces]:
        """Connect for what is no query; errors in the context come out as this project's."""

    def _start(self) -> None:  # noqa: B027  (not every engine has to be)
        """Import and open an embedded engine for the first time."""

    def _load_in_memory(self, situation: Situation) -> GuardedDatabase:  # noqa: ARG002
        raise UsageError(self.needs_location)

    def _examine_engine(self) -> Examination:
        raise UsageError(self.needs_location)

    def start(self) -> None:
        """Start an embedded engine, once and in one thread: at their first start they race."""
        with _STARTING:
            if not self._is_started:
                self._start()
                self._is_started = True

    def open(
        self,
        location: str,
        *,
        policy: Policy | None = None,
        audit: Audit | None = None,
        limits: Limits | None = None,
    ) -> Database:
        """Open an existing database, or the namespace that the location names, read-only."""
        self.start()
        with self._connect(location) as namespaces:
            database = namespaces.open(namespaces.select())
        return _restricted(database, policy, audit, limits)

    def load(  # noqa: PLR0913
        self,
        situation: Situation,
        location: str | None = None,
        replace: str | None = None,
        *,
        policy: Policy | None = None,
        audit: Audit | None = None,
        limits: Limits | None = None,
    ) -> Database:
        """Write a situation into a namespace of its own, all or nothing, and open that."""
        self.start()
        if location is None:
            database = self._load_in_memory(situation)
        else:
            with self._connect(location) as namespaces:
                tag = tag_of(situation, namespaces.name_for(situation))
                if not _is_same(namespaces.read(tag.namespace), tag):
                    with namespaces.locked(tag.namespace):
                        _fill(namespaces, situation, tag, replace)
                database = namespaces.open(tag.namespace)
        return _restricted(database, policy, audit, limits)

    def loaded(self, location: str) -> tuple[LoadedSituation, ...]:
        """List the situations that the database holds, by namespace."""
        self.start()
        with self._connect(location) as namespaces:
            return tuple(namespaces.situations())

    def examine(self, location: str | None = None) -> Examination:
        """Connect and look: `DqaError` says what is wrong with the connection."""
        self.start()
        if location is None:
            return self._examine_engine()
        with self._connect(location) as namespaces:
            return namespaces.examine()

    def unload(self, location: str, namespace: str) -> LoadedSituation:
        """Drop a namespace and return what it held; `UsageError` where it holds no situation."""
        self.start()
        with self._connect(location) as namespaces:
            name = namespaces.resolve(namespace)
            with namespaces.locked(name):
                content = namespaces.read(name)
                if not isinstance(content, LoadedSituation) or content.namespace != name:
                    raise UsageError(
                        f"'{namespace}' in {namespaces.location} holds no situation; 'dqa list "
                        "--database' names those that do."
                    )
                namespaces.drop(name)
        return content


def namespace_for(situation: Situation) -> str:
    """Return the name of a situation's namespace: ``dqa_locating_q1_0123456789ab``.

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


def _is_same(content: NamespaceContent, tag: LoadedSituation) -> bool:
    return isinstance(content, LoadedSituation) and content.content_hash == tag.content_hash


def _fill(
    namespaces: Namespaces, situation: Situation, tag: LoadedSituation, replace: str | None
) -> None:
    """Write a situation, if need be in place of what may be dropped."""
    content = namespaces.read(tag.namespace)  # again: somebody may have loaded it meanwhile
    if _is_same(content, tag):
        return
    if content is None:
        namespaces.create(situation, tag)
        return
    is_named = replace is not None and namespaces.resolve(replace) == tag.namespace
    if not is_named and not _is_left_over(content, situation):
        raise in_the_way(tag.namespace, content)
    namespaces.replace(situation, tag)


def _is_left_over(content: NamespaceContent, situation: Situation) -> bool:
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


def _restricted(
    database: GuardedDatabase, policy: Policy | None, audit: Audit | None, limits: Limits | None
) -> Database:
    try:
        return database.restrict(policy, audit, limits)
    except BaseException:
        database.close()
        raise
