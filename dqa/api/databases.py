"""Open, create, load and check databases."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import asdict
from enum import StrEnum
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any, TypeAlias, TypedDict, Unpack

from dqa import plugins
from dqa.core.database import DEFAULT_LIMITS, Database, Isolation, Limits
from dqa.core.distribution import install_command
from dqa.core.errors import DqaError, UsageError
from dqa.core.files import DATA_BYTES, read_text
from dqa.core.records import Record
from dqa.core.secrets import redact
from dqa.core.session import Advice
from dqa.databases.base import Access as BackendAccess
from dqa.databases.base import Backend
from dqa.databases.namespaces import LoadedSituation
from dqa.guard import Audit, Policy
from dqa.loaders.locations import configured, variable_of, whole_url

if TYPE_CHECKING:
    from dqa.core.question_set import QuestionSet
    from dqa.core.situation import Situation


class Access(TypedDict, total=False):
    """The access arguments of `open_database`."""

    policy: Policy | Path | str | None
    audit: Audit | Path | str | None
    tables: Sequence[str]


Shown: TypeAlias = "Callable[[Sequence[Situation]], Iterable[Situation]]"


def open_database(  # noqa: PLR0913  (each is a question of its own to the caller)
    location: str | Path,
    *,
    limits: Limits = DEFAULT_LIMITS,
    policy: Policy | Path | str | None = None,
    audit: Audit | Path | str | None = None,
    tables: Sequence[str] = (),
    isolation: Isolation = "process",
) -> Database:
    """Open a database read-only. The guard checks every statement.

    Parameters
    ----------
    location
        A URL, a database file, a CSV or Parquet file, a folder of CSV or Parquet files, or a
        pattern that matches such files.
    limits
        The default limits of a statement.
    policy
        The policy that defines the readable data, or its JSON file; None allows all data.
    audit
        An audit that records the statements, or a file for the records of statements; None records
        nothing.
    tables
        The tables that may be read; in a graph database, the labels and relationship types. The
        policy must allow these tables, too. An empty sequence means all tables that the policy
        allows.
    isolation
        Where statements run. ``"process"`` runs them in worker processes, so that a statement
        cannot block or crash this process or exhaust its memory. ``"none"`` runs them in this
        process; use it only for trusted data and statements.

    Raises
    ------
    UsageError
        No backend can open the location, the database does not exist, or a named table is missing.
    MissingKeyError
        The driver of the database is not installed.
    DatabaseUnavailableError
        The database cannot be reached.
    """
    backend, where = _backend_at(location)
    rules, audited = policy_of(policy), audit_of(audit)
    opened = backend.open(where, policy=rules, audit=audited, limits=limits, isolation=isolation)
    if not tables:
        return opened
    try:
        shown = opened.schema()  # opening finds the server's default schema
        chosen = (rules or Policy()).only(
            *(tables, shown),
            default_schema=opened.namespace if opened.kind == "relational" else None,
            fold=opened.dialect == "ladybug",
        )
        return opened.restrict(chosen, audited, limits)
    except BaseException:
        opened.close()
        raise


def _backend_at(location: str | Path) -> tuple[Backend, str]:
    """Return a location's backend, and the location with the password from the environment."""
    where = whole_url(str(location))
    return plugins.backend_for(where), where


def policy_of(policy: Policy | Path | str | None) -> Policy | None:
    """Return the given policy, or the policy in the given JSON file."""
    return Policy.read(Path(policy)) if isinstance(policy, str | Path) else policy


def audit_of(audit: Audit | Path | str | None) -> Audit | None:
    """Return the given audit, or a new audit that appends to the given file."""
    return Audit.to_file(audit) if isinstance(audit, str | Path) else audit


@contextmanager
def opened(database: str | Path | Database, **access: Unpack[Access]) -> Iterator[Database]:
    """Open a location until the block ends. If `database` is already open, it stays open."""
    if not isinstance(database, str | Path):
        if any(access.values()):
            raise UsageError(
                f"The database '{database.name}' is already open: pass tables, policy and audit "
                "to open_database, which opened it."
            )
        yield database
        return
    with closing(open_database(database, **access)) as found:
        yield found


class LoadedHere(Record):
    """A situation that `load` has loaded or found in a database.

    Attributes
    ----------
    namespace
        The schema, label or file that contains the situation.
    done
        ``loaded`` if the call loaded the situation; ``was there`` if the database contained it
        already.
    """

    namespace: str
    scenario: str
    name: str
    content_hash: str
    rows: int
    done: str
    seconds: float


def load(
    questions: QuestionSet,
    location: str | Path,
    *,
    question: str | None = None,
    shown: Shown = iter,
) -> tuple[LoadedHere, ...]:
    """Load each situation of the questions into its own namespace. Existing data stays.

    Parameters
    ----------
    questions
        The questions whose situations are loaded.
    location
        A server's URL, or a file.
    question
        The key of a question, to load only its situation; None loads all.
    shown
        A function that takes the situations and returns an iterator over them. The function can
        show a progress bar.

    Raises
    ------
    UsageError
        Several situations are to be loaded into one file, or a namespace contains other data.
    """
    backend, where = _backend_at(location)
    wanted = questions.questions if question is None else (questions.find(question),)
    situations = list({id(s): s for s in map(questions.situation_of, wanted)}.values())
    if backend.embedded and len(situations) > 1:
        raise UsageError(
            f"A file of {backend.name} can contain only one situation, but the questions have "
            f"{len(situations)}: select one question (--question)."
        )
    results = []
    for situation in shown(situations):
        started = perf_counter()
        tag, is_new = backend.write(situation, where)
        done, seconds = "loaded" if is_new else "was there", perf_counter() - started
        results.append(LoadedHere(**asdict(tag), done=done, seconds=seconds))
    return tuple(results)


def loaded(location: str | Path) -> tuple[LoadedSituation, ...]:
    """List the situations that were loaded into a database, by namespace."""
    backend, where = _backend_at(location)
    return backend.loaded(where)


def unload(location: str | Path, namespaces: Iterable[str]) -> tuple[LoadedSituation, ...]:
    """Drop namespaces that `load` created, and return their situations."""
    backend, where = _backend_at(location)
    return tuple(backend.unload(where, name) for name in namespaces)


class HealthState(StrEnum):
    """Whether a database works."""

    WORKS = "works"
    BROKEN = "broken"
    """The database is configured, installed or named by the caller, but it does not work."""
    NOT_INSTALLED = "not installed"
    """The driver is missing, and no configured database needs it."""
    NOT_CONFIGURED = "not configured"
    """The database is a server whose URL is not set."""


class DatabaseHealth(Record):
    """The state of a database.

    Attributes
    ----------
    database
        The backend's name; empty if no backend opens the location.
    location
        The location without its password; None if the database is in memory.
    role
        The role of the connection; empty if the database has no users. None if there is no
        connection.
    may_write
        Whether the role has permission to write. dqa never writes, even with this permission.
    advice
        The changes to the role's permissions or to the server's settings that the owner should
        make.
    problem
        The problem and its fix in one line; None if the database works.
    exit_code
        The exit code of commands that use this database: 0 if the database works or is not set up,
        2 if the location or the login is wrong, and 1 for any other problem.
    """

    database: str
    location: str | None
    state: HealthState
    version: str | None = None
    role: str | None = None
    may_write: bool | None = None
    advice: tuple[Advice, ...] = ()
    problem: str | None = None
    exit_code: int = 0


def examine(locations: Sequence[str | Path] = ()) -> tuple[DatabaseHealth, ...]:
    """Connect to databases, and return their states.

    Parameters
    ----------
    locations
        The databases. By default, every database that dqa supports; environment variables contain
        the URLs of servers. The result also lists a database that is not installed or not
        configured, which is not an error.
    """
    if locations:
        return tuple(_examine("", str(location)) for location in locations)
    urls = configured()
    return tuple(_examine(name, urls.get(name)) for name in plugins.names("database"))


def _examine(name: str, location: str | None) -> DatabaseHealth:
    health = DatabaseHealth(
        database=name,
        location=None if location is None else redact(location),
        state=HealthState.BROKEN,
    )
    try:
        backend = plugins.backend(name) if name else plugins.backend_for(location or "")
        health = health.changed(database=backend.name)
        missing = None if location is not None else _missing(backend)
        if missing is not None:
            return health.changed(state=missing[0], problem=missing[1])
        return health.changed(state=HealthState.WORKS, **asdict(backend.examine(location)))
    except DqaError as error:
        problem, code = str(error), error.exit_code
    except Exception as error:  # noqa: BLE001  (a bug of a driver or of a plug-in)
        bug = f"{type(error).__name__}: {error}"
        problem, code = f"{bug}. This is a bug of the backend or of its driver.", 1
    return health.changed(problem=" ".join(redact(problem).split()), exit_code=code)


def _missing(backend: Backend) -> tuple[HealthState, str] | None:
    """Return why a backend cannot be used yet, and how to set it up; None if it can be used."""
    url = f"set {variable_of(backend.name)} to the server's URL, {backend.example}"
    if not backend.is_installed:
        then = "" if backend.embedded else f", and {url}"
        need = f"Install it: {install_command(backend.name)}{then}."
        return HealthState.NOT_INSTALLED, f"The driver '{backend.driver}' is missing. {need}"
    return None if backend.embedded else (HealthState.NOT_CONFIGURED, f"To use a server, {url}.")


Content: TypeAlias = "str | Path | Mapping[str, Any] | Situation"
"""The contents of a temporary database: a script, a file, tables or a situation."""

_SCRIPTS = frozenset({".sql", ".cypher", ".cql"})
_URL = re.compile(r"[A-Za-z][\w+.-]*://\S+")


@contextmanager
def temporary_database(  # noqa: PLR0913  (each is a question of its own to the caller)
    content: Content,
    engine: str = "sqlite",
    location: str | None = None,
    *,
    limits: Limits = DEFAULT_LIMITS,
    policy: Policy | Path | str | None = None,
    audit: Audit | Path | str | None = None,
    isolation: Isolation = "process",
) -> Iterator[Database]:
    """Create a temporary database, open it read-only, and drop it when the block ends.

    Parameters
    ----------
    content
        The contents of the database:

        - tables by name, each a dict of columns or a list of rows that are dicts;
        - a script in the engine's language: a text, or a path that ends in ``.sql`` or
        ``.cypher``. The guard does not check the script;
        - a situation of a question set;
        - the URL or path of an existing database. This database is opened, and is not dropped.
          `engine` is ignored.
    engine
        The backend's name. Embedded backends keep the database in memory.
    location
        The URL of a server whose user may create databases; None for embedded engines.
    limits, policy, audit, isolation
        See `open_database`.

    Raises
    ------
    DataError
        The tables are invalid, or the engine rejects the script.
    UsageError
        The engine does not support this content, or the engine needs a location.
    MissingKeyError
        The driver of the engine is not installed.
    DatabaseUnavailableError
        The server cannot be reached.
    """
    access: BackendAccess = {
        "policy": policy_of(policy),
        "audit": audit_of(audit),
        "limits": limits,
        "isolation": isolation,
    }
    is_script = isinstance(content, Path) and content.suffix.lower() in _SCRIPTS
    if (isinstance(content, Path) and not is_script) or _is_url(content):
        existing, where = _backend_at(str(content))
        found: AbstractContextManager[Database] = closing(existing.open(where, **access))
    else:
        backend, server = plugins.backend(engine), None if location is None else whole_url(location)
        found = backend.scratch(_content(content, backend), server, **access)
    with found as database:
        yield database


def _is_url(content: Content) -> bool:
    return isinstance(content, str) and _URL.fullmatch(content) is not None


def _content(content: Content, backend: Backend) -> Situation | str:
    """Return a situation unchanged, and other contents as a script."""
    from dqa.core.situation import Situation

    if isinstance(content, str | Situation):
        return content
    if isinstance(content, Path):
        return read_text(content, most=DATA_BYTES)
    if not isinstance(content, Mapping):
        raise UsageError(
            f"A database cannot be created from a {type(content).__name__}: give tables by name, "
            "a script, a path, a URL or a situation."
        )
    if backend.kind != "relational":
        raise UsageError(
            f"{backend.name} stores a graph, but tables do not define relationships: give a "
            "script in Cypher, or a situation."
        )
    from dqa.databases.tables import table_script

    return table_script(content, backend.dialect)
