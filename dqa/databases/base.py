"""A kind of database: it opens databases, and loads situations into new ones.

A new backend is a package with two things: an entry `Backend`, which says what it is called and
which locations are its own, and a class of `dqa.databases.namespaces.Namespaces`, which lists,
reads, creates, drops and opens namespaces. What is done with them, in which order and with which
errors, is the same for all and is here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from threading import Lock, RLock
from typing import TYPE_CHECKING
from uuid import uuid4

from dqa.core.distribution import install_command
from dqa.core.errors import MissingKeyError, UsageError
from dqa.core.examination import Examination
from dqa.databases.namespaces import (
    LoadedSituation,
    Namespaces,
    hold_same,
    in_the_way,
    is_left_over,
    tag_of,
)
from dqa.databases.opening import Opening, find_named
from dqa.databases.run_stores import holds_store

if TYPE_CHECKING:
    from dqa.core.database import Database, Isolation, Kind, Limits
    from dqa.core.session import Session
    from dqa.core.situation import Situation
    from dqa.guard import Audit, GuardedDatabase, Policy

_STARTING = Lock()
_STARTED: dict[str, type[Namespaces]] = {}
_LOCKS: dict[str, AbstractContextManager[object]] = {}
"""Locks of embedded databases, by location."""


@dataclass(frozen=True)
class Backend:
    """A kind of database (entry point `dqa.databases`).

    Whoever opens a database says what of it may be read (`policy`; everything, if None), who
    watches its statements (`audit`; nobody) and what one may cost whose caller does not say
    (`limits`; the defaults).

    Attributes
    ----------
    name
        What it is registered as.
    kind, dialect
        Of its databases; the dialect is one of `guard.DIALECTS`.
    namespaces
        The subclass of `Namespaces`, as ``package.module:Class``; imported when it is needed, so
        that naming a backend loads no engine.
    accepts
        Whether a location (a URL or a path to an existing file) is one of this backend's.
    embedded
        Whether its databases live in this process, so that situations can be loaded into memory.
    driver
        The package without which nothing can be opened; the extra `extra` brings it.
    extra
        The extra that installs the driver; by default what the backend is called.
    example
        A location, for who gives none to a server.
    reader
        What takes a server's URL apart, and raises `UsageError` where that cannot be done; written
        as `namespaces` is.
    front
        The subclass of `GuardedDatabase` that its sessions are put behind, where it needs one of
        its own; written as `namespaces` is.
    """

    name: str
    kind: Kind
    dialect: str
    namespaces: str
    accepts: Callable[[str], bool]
    embedded: bool = False
    driver: str | None = None
    extra: str | None = None
    example: str = "scheme://user:password@host/database"
    reader: str = "dqa.databases.servers:parse_url"
    front: str = "dqa.guard:GuardedDatabase"

    def open(
        self,
        location: str,
        *,
        policy: Policy | None = None,
        audit: Audit | None = None,
        limits: Limits | None = None,
        isolation: Isolation = "process",
    ) -> GuardedDatabase:
        """Open an existing database, or the namespace that the location names, read-only.

        Parameters
        ----------
        location
            Where it is.
        policy, audit, limits
            What of it may be read, who watches, and what a statement may cost.
        isolation
            Where statements run: ``"none"`` is for data and statements of one's own.

        Raises
        ------
        MissingKeyError
            The driver is not installed.
        UsageError
            The location is wrong, or names what is not there; user or password are wrong; the
            server is too old; the policy names what the database does not have.
        DataError
            The file is no database of this kind.
        DatabaseUnavailableError
            The server cannot be reached, or another process keeps the file to itself.
        """
        with self._one_at_a_time(location):
            session = self._session(Opening(self.namespaces, location), isolation)
        return self._guarded(session, policy, audit, limits, existing=True)

    def load(  # noqa: PLR0913
        self,
        situation: Situation,
        location: str | None = None,
        replace: str | None = None,
        *,
        policy: Policy | None = None,
        audit: Audit | None = None,
        limits: Limits | None = None,
        isolation: Isolation = "process",
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
        policy, audit, limits, isolation
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
        with self._one_at_a_time(location):
            if location is None:
                opening = Opening(self._in_memory(), content=situation)
            else:
                namespace = self._loaded(situation, location, replace)
                opening = Opening(self.namespaces, location, namespace)
            session = self._session(opening, isolation)
        return self._guarded(session, policy, audit, limits)

    @contextmanager
    def scratch(  # noqa: PLR0913
        self,
        script: str,
        location: str | None = None,
        *,
        policy: Policy | None = None,
        audit: Audit | None = None,
        limits: Limits | None = None,
        isolation: Isolation = "process",
    ) -> Iterator[Database]:
        """Run a script in a new database, open that read-only, and drop it in the end.

        The script is the caller's own and is not guarded: the engine runs it as it is.

        Parameters
        ----------
        script
            Statements that make tables and fill them, in the engine's own language.
        location
            The server; None means in memory, for embedded databases.
        policy, audit, limits, isolation
            As `open` takes them.

        Raises
        ------
        DataError
            The engine refuses the script.
        UsageError, MissingKeyError, DatabaseUnavailableError
            As `open`, or the server has no databases of their own.
        """
        if location is None:
            made = self._session(Opening(self._in_memory(), content=script), isolation)
            database = self._guarded(made, policy, audit, limits, existing=True)
            try:
                yield database
            finally:
                database.close()
            return
        name = f"dqa_scratch_{uuid4().hex[:12]}"
        with self._started().connect(location) as namespaces:
            place = namespaces.make_scratch(name, script)
        try:
            database = self.open(
                place, policy=policy, audit=audit, limits=limits, isolation=isolation
            )
            try:
                yield database
            finally:
                database.close()
        finally:
            with self._started().connect(location) as namespaces:
                namespaces.drop_scratch(name)

    def require_readable(self, location: str) -> None:
        """Raise `UsageError` where a URL cannot be read; nothing is opened or connected to."""
        if not self.embedded and self.is_installed:
            find_named(self.reader)(location)

    def loaded(self, location: str) -> tuple[LoadedSituation, ...]:
        """List the situations that the database holds, by namespace."""
        with self._started().connect(location) as namespaces:
            return tuple(namespaces.situations())

    def unload(self, location: str, namespace: str) -> LoadedSituation:
        """Drop a namespace and return what it held; `UsageError` where it holds no situation."""
        with self._one_at_a_time(location), self._started().connect(location) as namespaces:
            name = namespaces.resolve(namespace)
            with self._released(namespaces), namespaces.locked(name):
                content = namespaces.read(name)
                if not isinstance(content, LoadedSituation) or content.namespace != name:
                    raise UsageError(
                        f"'{namespace}' in {namespaces.location} holds no situation; 'dqa list "
                        "--database' names those that do."
                    )
                namespaces.drop(name)
        return content

    def examine(self, location: str | None = None) -> Examination:
        """Connect and look: `DqaError` says what is wrong with the connection."""
        if location is None:
            self._in_memory()
            return Examination(self._started().engine_version())
        if self.embedded:
            with self._started().connect(location) as namespaces:
                return namespaces.examine()
        session = self._session(Opening(self.namespaces, location, is_whole=True), "process")
        try:
            return session.examine()
        finally:
            session.close()

    @property
    def is_installed(self) -> bool:
        """Whether the driver is there."""
        return self.driver is None or find_spec(self.driver) is not None

    def start(self) -> None:
        """Import the engine and open it for the first time, once and in one thread."""
        self._started()

    def _started(self) -> type[Namespaces]:
        """Return the class of namespaces; embedded engines race where two threads start them."""
        self._require_installed()
        with _STARTING:
            found = _STARTED.get(self.namespaces)
            if found is None:
                found = find_named(self.namespaces)
                found.start()
                _STARTED[self.namespaces] = found
            return found

    def _loaded(self, situation: Situation, location: str, replace: str | None) -> str:
        """Write a situation where it is not there already, and return its namespace."""
        with self._started().connect(location) as namespaces:
            tag = tag_of(situation, namespaces.name_for(situation))
            if not hold_same(namespaces.read(tag.namespace), tag):
                with self._released(namespaces), namespaces.locked(tag.namespace):
                    _fill(namespaces, situation, tag, replace)
            return tag.namespace

    def _one_at_a_time(self, location: str | None) -> AbstractContextManager[object]:
        """Let one thread open or write an embedded database of a location at a time."""
        if location is None or not self.embedded:
            return nullcontext()
        with _STARTING:
            return _LOCKS.setdefault(location, RLock())

    def _released(self, namespaces: Namespaces) -> AbstractContextManager[None]:
        """Keep this process's workers from a file that is about to be written."""
        from dqa.databases.worker_pool import pause_file

        return pause_file(Path(namespaces.location)) if self.embedded else nullcontext()

    def _session(self, opening: Opening, isolation: Isolation) -> Session:
        if isolation == "process":
            from dqa.databases.worker_pool import IsolatedSession

            self._require_installed()
            return IsolatedSession(opening)
        self._started()
        return opening.open()

    def _guarded(
        self,
        session: Session,
        policy: Policy | None,
        audit: Audit | None,
        limits: Limits | None,
        *,
        existing: bool = False,
    ) -> GuardedDatabase:
        """Return a session behind the guard; closed where the policy does not fit it.

        An `existing` database is somebody's own: names of a policy have to be in it, and runs may
        be kept there.
        """
        try:
            front: type[GuardedDatabase] = find_named(self.front)
            database = front(session)
            if existing and holds_store(session):
                database.hide_store()
            return database.restrict(policy, audit, limits, checked=existing)
        except BaseException:
            session.close()
            raise

    def _require_installed(self) -> None:
        if not self.is_installed:
            raise MissingKeyError(
                f"The driver '{self.driver}' is not installed: "
                f"{install_command(self.extra or self.name)}."
            )

    def _in_memory(self) -> str:
        """Return the class of namespaces of an engine that has databases in memory."""
        if not self.embedded:
            raise UsageError(
                f"A {self.name} database is not in memory: name where it is, as {self.example}."
            )
        return self.namespaces


def _fill(
    namespaces: Namespaces, situation: Situation, tag: LoadedSituation, replace: str | None
) -> None:
    """Write a situation, if need be in place of what may be dropped."""
    content = namespaces.read(tag.namespace)  # again: somebody may have loaded it meanwhile
    if hold_same(content, tag):
        return
    if content is None:
        namespaces.create(situation, tag)
        return
    is_named = replace is not None and namespaces.resolve(replace) == tag.namespace
    if not is_named and not is_left_over(content, situation):
        raise in_the_way(tag.namespace, content)
    namespaces.replace(situation, tag)
