"""Open databases of one kind and load situations into them.

A backend consists of an instance of `Backend`, which recognizes its locations, and a subclass of
`dqa.databases.namespaces.Namespaces`. `Backend` runs the same steps and raises the same errors for
all backends. The subclass for an embedded engine has a class method ``open_in_memory`` that opens a
situation or a script.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from importlib import import_module
from importlib.util import find_spec
from pkgutil import resolve_name
from threading import Lock
from typing import TYPE_CHECKING, Any, TypedDict, Unpack
from uuid import uuid4

from dqa.core.database import Limits
from dqa.core.distribution import install_command
from dqa.core.errors import MissingKeyError, UsageError
from dqa.core.session import Examination
from dqa.databases.namespaces import LoadedSituation, Namespaces, namespace_for
from dqa.databases.opening import Opening
from dqa.databases.servers import parse_url

if TYPE_CHECKING:
    from dqa.core.database import Database, Isolation, Kind
    from dqa.core.session import Session
    from dqa.core.situation import Situation
    from dqa.guard import Audit, GuardedDatabase, Policy

_STARTING = Lock()
_STARTED: dict[str, type[Namespaces]] = {}
"""The namespace classes of the engines that have started, by ``package.module:Class``."""


class Access(TypedDict, total=False):
    """The access options of an opened database.

    Attributes
    ----------
    policy
        Which data may be read; None allows everything.
    audit
        Approves and records statements; None disables the audit.
    limits
        The default limits of a statement.
    isolation
        Where statements run. ``"process"`` runs them in worker processes. ``"none"`` runs them in
        this process, which is safe only for trusted data and statements.
    """

    policy: Policy | None
    audit: Audit | None
    limits: Limits | None
    isolation: Isolation


@dataclass(frozen=True)
class Backend:
    """A kind of database (entry point `dqa.databases`).

    Attributes
    ----------
    name
        The name of the backend in the registry.
    kind, dialect
        The kind and the dialect of the databases. The dialect is one of `guard.DIALECTS`; by
        default it equals `name`.
    namespaces
        The subclass of `Namespaces`, as ``package.module:Class``; it is imported on first use.
    accepts
        Returns whether a location (a URL or a path to an existing file) belongs to this backend.
    embedded
        Whether the engine runs in this process and can create a database in memory.
    is_server
        Whether the databases are on a server.
    title
        The name of the engine in messages. A backend of servers has no title.
    driver, extra
        The required package, and the extra of dqa that installs it (by default the backend's name).
    example
        An example of a location, for messages.
    front
        The subclass of `GuardedDatabase` for this backend, as ``package.module:Class``.
    imports
        Modules that the engine imports when it opens a database; missing modules are skipped.
    """

    name: str
    namespaces: str
    accepts: Callable[[str], bool]
    kind: Kind = "relational"
    dialect: str = ""
    embedded: bool = False
    is_server: bool = False
    title: str = ""
    driver: str | None = None
    extra: str | None = None
    example: str = "scheme://user:password@host/database"
    front: str = "dqa.guard:GuardedDatabase"
    imports: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not self.dialect:
            object.__setattr__(self, "dialect", self.name)

    def open(self, location: str, **access: Unpack[Access]) -> GuardedDatabase:
        """Open an existing database, or one namespace of it, read-only.

        Parameters
        ----------
        location
            The URL or path of the database.
        access
            Policy, audit, limits and isolation.

        Raises
        ------
        MissingKeyError
            The driver is not installed.
        UsageError
            The location or the login is wrong, the server is too old, or the policy contains a
            name that the database lacks.
        DataError
            The file is not a database of this kind.
        DatabaseUnavailableError
            The server cannot be reached, or another process has locked the file.
        """
        policy = access.get("policy")
        more = () if policy is None else tuple(sorted(policy.schemas or ()))
        session = self._session(self._opening(location, more=more), access)
        return self._guarded(session, access, existing=True)

    def load(
        self, situation: Situation, location: str | None = None, **access: Unpack[Access]
    ) -> Database:
        """Write a situation into its own namespace and open it read-only.

        If writing fails, nothing of the situation remains in the database.

        Parameters
        ----------
        situation
            The situation. A situation that the database already contains is not written again.
        location
            The URL or path of the database. For an embedded engine, None means a database in
            memory.
        access
            Policy, audit, limits and isolation.

        Raises
        ------
        UsageError
            The namespace has different content, or the user may not write. See also `open`.
        DataError
            The database cannot store the situation: a key occurs twice, a value does not fit, or
            the tables do not form a graph.
        DatabaseUnavailableError
            The disk is full. See also `open`.
        """
        if location is None:
            opening = self._in_memory(situation)
        else:
            tag, _ = self.write(situation, location)
            opening = self._opening(location, namespace=tag.namespace)
        session = self._session(opening, access)
        return self._guarded(session, access)

    def write(self, situation: Situation, location: str) -> tuple[LoadedSituation, bool]:
        """Write a situation without opening a database; see `load`.

        Return the tag of the situation, and whether the situation was written. If not, the database
        already contained it.
        """
        with self.start().connect(location) as namespaces:
            return namespaces.load(situation)

    @contextmanager
    def scratch(
        self, content: Situation | str, location: str | None = None, **access: Unpack[Access]
    ) -> Iterator[Database]:
        """Write a situation, or run a script, in a new database. Open it, and drop it at the end.

        The guard does not check the script, because the caller wrote it.

        Parameters
        ----------
        content
            The situation, or statements in the engine's language that create and fill tables.
        location
            The server. For an embedded engine, None means a database in memory.
        access
            Policy, audit, limits and isolation.

        Raises
        ------
        DataError
            The engine refuses the script.
        UsageError, MissingKeyError, DatabaseUnavailableError
            The server cannot create databases. See also `open`.
        """
        is_script = isinstance(content, str)
        if location is None:
            session = self._session(self._in_memory(content), access)
            with closing(self._guarded(session, access, existing=is_script)) as database:
                yield database
        elif isinstance(content, str):
            with (
                self.start().connect(location) as namespaces,
                namespaces.scratch(content) as url,
                closing(self.open(url, **access)) as database,
            ):
                yield database
        else:
            own = replace(content, name=f"{content.name} {uuid4().hex[:8]}")
            loaded = self.load(own, location, **access)
            try:
                yield loaded
            finally:
                loaded.close()
                self.unload(location, namespace_for(own))

    def require_readable(self, location: str) -> None:
        """Raise `UsageError` if the location is malformed; do not connect."""
        if self.embedded or not self.is_installed:
            return
        if not parse_url(location).host and self.kind == "graph":  # SQL servers have a default host
            raise UsageError(f"The {self.name} URL does not contain a host. Write {self.example}.")

    def loaded(self, location: str) -> tuple[LoadedSituation, ...]:
        """Return the situations in the database, sorted by namespace."""
        with self.start().connect(location) as namespaces:
            return tuple(namespaces.situations())

    def unload(self, location: str, namespace: str) -> LoadedSituation:
        """Drop a namespace with a situation, and return the tag of the situation.

        Raise `UsageError` if the namespace does not contain a situation.
        """
        with self.start().connect(location) as namespaces:
            name = namespaces.resolve(namespace)
            with namespaces.locked(name):
                content = namespaces.read(name)
                if not isinstance(content, LoadedSituation) or content.namespace != name:
                    raise UsageError(
                        f"'{namespace}' in {namespaces.location} does not contain a situation. "
                        "'dqa list --database' lists the namespaces with situations."
                    )
                namespaces.drop(name)
        return content

    def examine(self, location: str | None = None) -> Examination:
        """Connect, and return the version, the role and advice; raise `DqaError` on failure."""
        if location is None:
            self._in_memory("")
            return Examination(self._engine_version())
        with closing(self._session(self._opening(location, is_whole=True), {})) as session:
            if not self.is_server:
                session.read_schema()
            found = session.examine()
        return found if self.is_server else replace(found, version=self._engine_version())

    def _engine_version(self) -> str:
        self.start()
        module = import_module(self.driver or "sqlite3")
        return f"{self.title} {getattr(module, 'sqlite_version', None) or module.__version__}"

    @property
    def is_installed(self) -> bool:
        """Whether the driver is installed."""
        return self.driver is None or find_spec(self.driver) is not None

    def start(self) -> type[Namespaces]:
        """Import and return the class `namespaces`. The first call starts an embedded engine."""
        self.require_installed()
        with _STARTING:
            if self.namespaces not in _STARTED:
                found: Any = resolve_name(self.namespaces)
                if self.embedded:
                    found.open_in_memory("").close()
                _STARTED[self.namespaces] = found
            return _STARTED[self.namespaces]

    def _session(self, opening: Opening, access: Access) -> Session:
        if access.get("isolation", "process") == "process":
            from dqa.databases.worker_pool import IsolatedSession

            self.require_installed()
            return IsolatedSession(opening)
        self.start()
        return opening.open()

    def _guarded(
        self, session: Session, access: Access, *, existing: bool = False
    ) -> GuardedDatabase:
        """Return a guarded database over a session.

        If `existing` is True, every name in the policy must exist in the database.
        """
        try:
            front: type[GuardedDatabase] = resolve_name(self.front)
            database = front(session)
            return database.restrict(
                *(access.get("policy"), access.get("audit"), access.get("limits")), checked=existing
            )
        except BaseException:
            session.close()
            raise

    def require_installed(self) -> None:
        """Raise `MissingKeyError` if the driver is not installed."""
        if not self.is_installed:
            raise MissingKeyError(
                f"The driver '{self.driver}' is not installed: "
                f"{install_command(self.extra or self.name)}."
            )

    def _opening(self, location: str | None, **wanted: Any) -> Opening:  # noqa: ANN401
        return Opening(
            self.namespaces, location, is_server=self.is_server, imports=self.imports, **wanted
        )

    def _in_memory(self, content: Situation | str) -> Opening:
        """Return the description of a database in memory; raise `UsageError` for a server."""
        if not self.embedded:
            raise UsageError(
                f"A {self.name} database cannot run in memory: give its location, such as "
                f"{self.example}."
            )
        return self._opening(None, content=content)
