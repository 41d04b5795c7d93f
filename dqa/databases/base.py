"""What a kind of database is: it opens databases and loads situations into new ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from dqa.core.database import Database, Kind, Limits
    from dqa.core.situation import Situation
    from dqa.guard import Audit, Policy

__all__ = ["Backend", "Examination", "LoadedSituation"]


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
class Examination:
    """What a database says about itself and about who is connected.

    Attributes
    ----------
    version
        Product and version, e.g. ``"MariaDB 10.11.19"``.
    role
        Who is connected; empty where there are no users.
    may_write
        Whether that role could write, were it not for the guard and the read-only session.
    """

    version: str
    role: str = ""
    may_write: bool = False


class Backend(Protocol):
    """A kind of database (entry point `dqa.databases`): opens, and loads situations into new ones.

    Every situation lives in a namespace of its own inside the database: a schema, a label, or the
    whole of an embedded file. `dqa.databases.namespaces.NamespaceBackend` does what is the same in
    all of them.

    Whoever opens a database says what of it may be read (`policy`; everything, if None), who
    watches its statements (`audit`; nobody) and what one may cost whose caller does not say
    (`limits`; the defaults).
    """

    name: str
    kind: Kind
    dialect: str
    embedded: bool
    """Whether it lives in this process, so that situations can be loaded into memory."""

    def accepts(self, location: str) -> bool:
        """Whether `location` (a URL or a path to an existing file) is one of this backend's."""
        ...

    def open(
        self,
        location: str,
        *,
        policy: Policy | None = None,
        audit: Audit | None = None,
        limits: Limits | None = None,
    ) -> Database:
        """Open an existing database, or the namespace that the location names, read-only.

        Raises
        ------
        MissingKeyError
            The driver is not installed.
        UsageError
            The location is wrong, or names what is not there; user or password are wrong; the
            server is too old.
        DataError
            The file is no database of this kind.
        DatabaseUnavailableError
            The server cannot be reached, or another process keeps the file to itself.
        """
        ...

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
        """Write a situation into a namespace of its own, all or nothing, and open that read-only.

        Parameters
        ----------
        situation
            What to write. Where the database holds it already, nothing is written.
        location
            Where to; None means in memory, for embedded databases.
        replace
            The namespace to drop first where it holds something else.
        policy, audit, limits
            As `open` takes them.

        Raises
        ------
        UsageError
            The namespace holds something else and `replace` does not name it, the user may not
            write, or as `open`.
        DataError
            The database cannot hold the situation: a key occurs twice, a value is none of its
            types', or the tables do not read as a graph.
        DatabaseUnavailableError
            As `open`, or the disk is full.
        """
        ...

    def loaded(self, location: str) -> tuple[LoadedSituation, ...]:
        """List the situations that the database holds, by namespace."""
        ...

    def examine(self, location: str | None = None) -> Examination:
        """Connect and look: `DqaError` says what is wrong with the connection."""
        ...

    def unload(self, location: str, namespace: str) -> LoadedSituation:
        """Drop a namespace and return what it held; `UsageError` where it holds no situation."""
        ...
