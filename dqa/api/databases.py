"""Open databases, make temporary ones, load situations, and examine whether they work."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from time import perf_counter
from typing import Any, TypeAlias, TypedDict, Unpack
from uuid import uuid4

from dqa import plugins
from dqa.core.database import DEFAULT_LIMITS, Database, Isolation, Limits
from dqa.core.distribution import install_command
from dqa.core.errors import DqaError, UsageError
from dqa.core.examination import Advice
from dqa.core.files import DATA_BYTES, read_text
from dqa.core.question_set import QuestionSet
from dqa.core.records import Record
from dqa.core.secrets import redact
from dqa.core.situation import Situation
from dqa.databases.base import Access as BackendAccess
from dqa.databases.base import Backend
from dqa.databases.namespaces import LoadedSituation, namespace_for
from dqa.evaluation.targets import configured
from dqa.guard import Audit, Policy
from dqa.loaders.locations import variable_of, whole_url


class Access(TypedDict, total=False):
    """The rights to a database that is opened here, as `open_database` takes them."""

    policy: Policy | Path | str | None
    audit: Audit | Path | str | None
    tables: Sequence[str]


Shown: TypeAlias = Callable[[Sequence[Situation]], Iterable[Situation]]


def open_database(  # noqa: PLR0913  (each is a question of its own to the caller)
    location: str | Path,
    *,
    limits: Limits = DEFAULT_LIMITS,
    policy: Policy | Path | str | None = None,
    audit: Audit | Path | str | None = None,
    tables: Sequence[str] = (),
    isolation: Isolation = "process",
) -> Database:
    """Open a database read-only, behind the guard.

    Parameters
    ----------
    location
        A URL; a database's file; or CSV and Parquet files: one, a folder of them, or a pattern.
    limits
        The default limits of a statement.
    policy
        The readable data, or its JSON file; None for everything.
    audit
        The audit of its statements, or a file to append them to; None for none.
    tables
        The only tables (of a graph, labels and relationship types) that are shown and may be read,
        of those that the policy allows; () for all.
    isolation
        Where statements run: in worker processes, so that none can hang, end or exhaust this one;
        or ``"none"``, in this process, for trusted data and statements.

    Raises
    ------
    UsageError
        No backend opens it, it does not exist, or it lacks a table that is named.
    MissingKeyError
        Its driver is not installed.
    DatabaseUnavailableError
        It cannot be reached.
    """
    backend, where = _backend_at(location)
    given, watched = policy_of(policy), audit_of(audit)
    opened = backend.open(where, policy=given, audit=watched, limits=limits, isolation=isolation)
    if not tables:
        return opened
    try:
        shown = opened.schema()  # the server tells its default schema with it
        chosen = (given or Policy()).only(
            *(tables, shown),
            default_schema=opened.namespace if opened.kind == "relational" else None,
            fold=opened.dialect == "ladybug",
        )
        return opened.restrict(chosen, watched, limits)
    except BaseException:
        opened.close()
        raise


def _backend_at(location: str | Path) -> tuple[Backend, str]:
    """Return the backend of a location, and the location with the password of its variable."""
    where = whole_url(str(location))
    return plugins.backend_for(where), where


def policy_of(given: Policy | Path | str | None) -> Policy | None:
    """Return a policy, which may be a JSON file."""
    return Policy.read(Path(given)) if isinstance(given, str | Path) else given


def audit_of(given: Audit | Path | str | None) -> Audit | None:
    """Return an audit, which may be a file to append to."""
    return Audit.to_file(given) if isinstance(given, str | Path) else given


@contextmanager
def opened(database: str | Path | Database, **access: Unpack[Access]) -> Iterator[Database]:
    """Open a location, and close it in the end; an open database stays open."""
    if not isinstance(database, str | Path):
        if any(access.values()):
            raise UsageError(
                f"'{database.name}' is open already: give tables, policy and audit to "
                "open_database."
            )
        yield database
        return
    with closing(open_database(database, **access)) as found:
        yield found


class LoadedHere(Record):
    """A situation that is in a database now.

    Attributes
    ----------
    namespace
        The schema, label or file that holds it.
    done
        ``loaded``, or ``was there``.
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
    replace: str | None = None,
    shown: Shown = iter,
) -> tuple[LoadedHere, ...]:
    """Load the databases of questions, each into its own namespace; existing data stays.

    Parameters
    ----------
    questions
        Whose situations are loaded.
    location
        A server's URL, or a file.
    question
        The key of the one question whose situation is loaded; None for all.
    replace
        The namespace to drop if it holds something else.
    shown
        Iterates over the situations, and may show the progress.

    Raises
    ------
    UsageError
        A file is to hold several situations, or a namespace holds something else.
    """
    backend, where = _backend_at(location)
    wanted = questions.questions if question is None else (questions.find(question),)
    situations = list({id(s): s for s in map(questions.situation_of, wanted)}.values())
    if backend.embedded and len(situations) > 1:
        raise UsageError(
            f"A file of {backend.name} holds one situation and these are {len(situations)}: name "
            "one as question (--question)."
        )
    return tuple(_load(backend, situation, where, replace) for situation in shown(situations))


def _load(backend: Backend, situation: Situation, location: str, replace: str | None) -> LoadedHere:
    is_new = backend.embedded and not Path(location).exists()
    held = () if is_new else backend.loaded(location)
    started = perf_counter()
    backend.load(situation, location, replace).close()
    was_there = situation.content_hash in {one.content_hash for one in held}
    return LoadedHere(
        namespace=location if backend.embedded else namespace_for(situation),
        scenario=situation.schema.scenario,
        name=situation.name,
        content_hash=situation.content_hash,
        rows=situation.row_count,
        done="was there" if was_there else "loaded",
        seconds=perf_counter() - started,
    )


def loaded(location: str | Path) -> tuple[LoadedSituation, ...]:
    """List the situations that a database holds, by namespace."""
    backend, where = _backend_at(location)
    return backend.loaded(where)


def unload(location: str | Path, namespaces: Iterable[str]) -> tuple[LoadedSituation, ...]:
    """Drop namespaces that `load` made, and return their situations; nothing else is dropped."""
    backend, where = _backend_at(location)
    return tuple(backend.unload(where, name) for name in namespaces)


class HealthState(StrEnum):
    """Whether a database works."""

    WORKS = "works"
    BROKEN = "broken"
    """It is configured, or named, or part of this installation, and fails."""
    NOT_INSTALLED = "not installed"
    """Its driver is missing, and nothing that is configured needs it."""
    NOT_CONFIGURED = "not configured"
    """It is a server, and no URL is set."""


class DatabaseHealth(Record):
    """The state of a database.

    Attributes
    ----------
    database
        The backend's name; empty if no backend opens the location.
    location
        Without its password; None in memory.
    role
        The connected role; empty without users.
    may_write
        Whether that role could write without the guard and the read-only session.
    advice
        What its owner could fix: the role that is connected, and the server's settings.
    problem
        The problem, in one line with the fix; None if it works.
    """

    database: str
    location: str | None
    state: HealthState
    version: str | None = None
    role: str | None = None
    may_write: bool | None = None
    advice: tuple[Advice, ...] = ()
    problem: str | None = None


def examine(locations: Sequence[str | Path] = ()) -> tuple[DatabaseHealth, ...]:
    """Connect to every database there is, and to those that are named.

    These are the embedded ones, the servers whose URL the environment gives, and `locations`.
    Databases that are not installed or not configured are listed, too; that is not an error.
    """
    urls = configured()
    known = [_examine(name, urls.get(name)) for name in plugins.names("database")]
    return (*known, *(_examine("", str(location)) for location in locations))


def _examine(name: str, location: str | None) -> DatabaseHealth:
    health = DatabaseHealth(
        database=name,
        location=None if location is None else redact(location),
        state=HealthState.BROKEN,
    )
    try:
        backend = plugins.backend(name) if name else plugins.backend_for(location or "")
        health = health.changed(database=backend.name)
        if location is None and (missing := _missing(backend)) is not None:
            return health.changed(**missing)
        seen = backend.examine(location)
    except DqaError as error:
        return health.changed(problem=" ".join(redact(str(error)).split()))
    except Exception as error:  # noqa: BLE001  (a bug of a driver or of a plug-in)
        bug = " ".join(redact(f"{type(error).__name__}: {error}").split())
        return health.changed(problem=f"{bug}. This is a bug of the backend or of its driver.")
    same = ("version", "role", "may_write", "advice")
    found = {field: getattr(seen, field) for field in same}
    return health.changed(state=HealthState.WORKS, **found)


def _missing(backend: Backend) -> dict[str, object] | None:
    """Return the state of a backend that is not set up; None if it can be tried."""
    url = f"set {variable_of(backend.name)} to its URL, {backend.example}"
    if not backend.is_installed:
        then = "" if backend.embedded else f", and {url}"
        need = f"To use it: {install_command(backend.name)}{then}."
        problem = f"The driver '{backend.driver}' is missing. {need}"
        return {"state": HealthState.NOT_INSTALLED, "problem": problem}
    if not backend.embedded:
        return {"state": HealthState.NOT_CONFIGURED, "problem": f"To use one, {url}."}
    return None


Content: TypeAlias = "str | Path | Mapping[str, Any] | Situation"
"""The contents of a temporary database: a script, a file, tables by name, or a situation."""

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
    """Make a database, open it read-only behind the guard, and drop it when the block ends.

    Parameters
    ----------
    content
        Its contents:

        - tables by name, each a dict of columns or a list of rows that are dicts;
        - a script in the engine's language, as a text or a path that ends in ``.sql`` or
          ``.cypher``; it is the caller's own and not guarded;
        - a situation of a question set;
        - the URL or path of an existing database: it is opened in place, whatever `engine` is,
          and stays.
    engine
        The backend's name: embedded ones hold it in memory.
    location
        The URL of a server, whose user may make databases there; for embedded engines None.
    limits, policy, audit, isolation
        As `open_database` takes them.

    Raises
    ------
    DataError
        The tables make no database, or the engine refuses the script.
    UsageError
        The engine cannot hold such content, or needs a location.
    MissingKeyError
        Its driver is not installed.
    DatabaseUnavailableError
        The server cannot be reached.
    """
    access: BackendAccess = {
        "policy": policy_of(policy),
        "audit": audit_of(audit),
        "limits": limits,
        "isolation": isolation,
    }
    with _temporary(content, engine, location, access) as database:
        yield database


def _temporary(
    content: Content, engine: str, location: str | None, access: BackendAccess
) -> AbstractContextManager[Database]:
    existing = _existing(content)
    if existing is not None:
        existing_backend, where = _backend_at(existing)
        return closing(existing_backend.open(where, **access))
    backend = plugins.backend(engine)
    server = None if location is None else whole_url(location)
    if isinstance(content, Situation):
        return _loaded(content, backend, server, access)
    return backend.scratch(_script(content, backend), server, **access)


def _existing(content: Content) -> str | Path | None:
    """Return the location of a database that exists; None if one is to be made."""
    if isinstance(content, Path):
        return None if content.suffix.lower() in _SCRIPTS else content
    return content if isinstance(content, str) and _URL.fullmatch(content) else None


def _script(content: Content, backend: Backend) -> str:
    if isinstance(content, str):
        return content
    if isinstance(content, Path):
        return read_text(content, most=DATA_BYTES)
    if not isinstance(content, Mapping):
        raise UsageError(
            f"A {type(content).__name__} makes no database: give tables by name, a script, a path, "
            "a URL or a situation."
        )
    if backend.kind != "relational":
        raise UsageError(
            f"{backend.name} holds a graph, and tables do not say how they are connected: give a "
            "script in Cypher, or a situation."
        )
    from dqa.databases.scripts import table_script

    return table_script(content, backend.dialect)


@contextmanager
def _loaded(
    situation: Situation, backend: Backend, location: str | None, access: BackendAccess
) -> Iterator[Database]:
    """Load a situation; on a server under its own name, as others may hold the same one."""
    if location is not None:
        situation = replace(situation, name=f"{situation.name} {uuid4().hex[:8]}")
    database = backend.load(situation, location, **access)
    try:
        yield database
    finally:
        database.close()
        if location is not None:
            held = {each.name: each.namespace for each in backend.loaded(location)}
            backend.unload(location, held[situation.name])
