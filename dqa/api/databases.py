"""Databases: opening one to ask it, loading situations, and looking whether it works."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from enum import StrEnum
from pathlib import Path
from time import perf_counter
from typing import TypeAlias

from dqa import plugins
from dqa.core.database import DEFAULT_LIMITS, Database, Isolation, Limits
from dqa.core.distribution import install_command
from dqa.core.errors import DqaError, PluginError, UsageError
from dqa.core.examination import Advice
from dqa.core.question_set import QuestionSet
from dqa.core.records import Record
from dqa.core.secrets import redact
from dqa.core.situation import Situation
from dqa.databases.base import Backend
from dqa.databases.namespaces import LoadedSituation, namespace_for
from dqa.evaluation.targets import configured
from dqa.guard import Audit, Policy
from dqa.loaders.locations import variable_of, whole_url

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
        What a statement may cost whose caller does not say.
    policy
        What of it may be read, or a JSON file that says so; None for everything.
    audit
        Who watches its statements, or a file to append them to; None for nobody.
    tables
        The only tables (of a graph, labels and relationship types) that are shown and may be read,
        of those that the policy allows; () for all.
    isolation
        Where statements run: in worker processes, so that none can hang, end or swell this one; or
        ``"none"``, in this process, for data and statements of one's own.

    Raises
    ------
    UsageError
        No backend opens it, it is not there, or it has no table that is named.
    MissingKeyError
        Its driver is not installed.
    DatabaseUnavailableError
        It cannot be reached.
    """
    place = whole_url(str(location))
    given, watched = policy_of(policy), audit_of(audit)
    opened = plugins.backend_for(place).open(
        place, policy=given, audit=watched, limits=limits, isolation=isolation
    )
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


def policy_of(given: Policy | Path | str | None) -> Policy | None:
    """Return a policy, which may be a JSON file."""
    return Policy.read(Path(given)) if isinstance(given, str | Path) else given


def audit_of(given: Audit | Path | str | None) -> Audit | None:
    """Return who watches, which may be a file to append to."""
    return Audit.to_file(given) if isinstance(given, str | Path) else given


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
    """Load the databases of questions, each into a namespace of its own; what is there stays.

    Parameters
    ----------
    questions
        Whose situations are loaded.
    location
        A server's URL, or a file.
    question
        The key of the one question whose situation is loaded; None for all.
    replace
        The namespace to drop where it holds something else.
    shown
        Goes through the situations, and may show how far that is.

    Raises
    ------
    UsageError
        A file is to hold several situations, or a namespace holds something else.
    """
    where = whole_url(str(location))
    backend = plugins.backend_for(where)
    wanted = questions.questions if question is None else (questions.find(question),)
    situations = list({id(s): s for s in map(questions.situation_of, wanted)}.values())
    if backend.embedded and len(situations) > 1:
        raise UsageError(
            f"A file of {backend.name} holds one situation and these are {len(situations)}: name "
            "one as question (--question)."
        )
    return tuple(_load(backend, situation, where, replace) for situation in shown(situations))


def _load(backend: Backend, situation: Situation, location: str, replace: str | None) -> LoadedHere:
    before = {held.content_hash for held in _held(backend, location)}
    started = perf_counter()
    backend.load(situation, location, replace).close()
    return LoadedHere(
        namespace=location if backend.embedded else namespace_for(situation),
        scenario=situation.schema.scenario,
        name=situation.name,
        content_hash=situation.content_hash,
        rows=situation.row_count,
        done="was there" if situation.content_hash in before else "loaded",
        seconds=perf_counter() - started,
    )


def _held(backend: Backend, location: str) -> tuple[LoadedSituation, ...]:
    try:
        return backend.loaded(location)
    except UsageError:
        if backend.embedded:  # the file is not there yet
            return ()
        raise


def loaded(location: str | Path) -> tuple[LoadedSituation, ...]:
    """List the situations that a database holds, by namespace."""
    where = whole_url(str(location))
    return plugins.backend_for(where).loaded(where)


def unload(location: str | Path, namespaces: Iterable[str]) -> tuple[LoadedSituation, ...]:
    """Drop namespaces that `load` made and return what they held; nothing else is ever dropped."""
    where = whole_url(str(location))
    backend = plugins.backend_for(where)
    return tuple(backend.unload(where, name) for name in namespaces)


class HealthState(StrEnum):
    """How it is about a database."""

    WORKS = "works"
    BROKEN = "broken"
    """It is configured, or named, or part of this installation, and fails."""
    NOT_INSTALLED = "not installed"
    """Its driver is missing, and nothing that is configured needs it."""
    NOT_CONFIGURED = "not configured"
    """It is a server, and nothing says where one is."""


class DatabaseHealth(Record):
    """What a database says of itself, or why it does not.

    Attributes
    ----------
    database
        The backend's name; empty where no backend opens the location.
    location
        Without its password; None in memory.
    role
        Who is connected; empty where there are no users.
    may_write
        Whether that role could write, were it not for the guard and the read-only session.
    advice
        What its owner could mend: of the role that is connected, and of the server's settings.
    problem
        What is wrong or missing, in one line with how to mend it; None where it works.
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

    These are the embedded ones, the servers whose URL the environment gives, and `locations`. What
    is neither installed nor configured is told, too, and is no fault.
    """
    return tuple(_examined(name, location) for name, location in _places(locations))


def _places(given: Sequence[str | Path]) -> Iterator[tuple[str, str | None]]:
    urls = configured()
    for name in plugins.names("database"):
        if name in urls:
            yield name, urls[name]
        if name not in urls or _is_embedded(name):
            yield name, None
    yield from (("", str(location)) for location in given)


def _is_embedded(name: str) -> bool:
    try:
        return plugins.backend(name).embedded
    except PluginError:  # told once, where it is examined
        return False


def _examined(name: str, location: str | None) -> DatabaseHealth:
    shown = None if location is None else redact(location)

    def ill(state: HealthState, problem: str) -> DatabaseHealth:
        told = " ".join(problem.split())
        return DatabaseHealth(database=name, location=shown, state=state, problem=told)

    try:
        backend = plugins.backend(name) if name else _backend_at(location)
        if location is None and (missing := _missing(backend)) is not None:
            return ill(*missing)
        seen = backend.examine(location)
    except DqaError as error:
        return ill(HealthState.BROKEN, redact(str(error)))
    except Exception as error:  # noqa: BLE001  (a driver's or a plug-in's own bug is told as well)
        bug = redact(f"{type(error).__name__}: {error}")
        return ill(HealthState.BROKEN, f"{bug}. This is a bug of the backend or of its driver.")
    return DatabaseHealth(
        database=backend.name,
        location=shown,
        state=HealthState.WORKS,
        version=seen.version,
        role=seen.role,
        may_write=seen.may_write,
        advice=seen.advice,
    )


def _backend_at(location: str | None) -> Backend:
    if not location:
        raise UsageError("An empty location names no database: give a URL or a file.")
    return plugins.backend_for(location)


def _missing(backend: Backend) -> tuple[HealthState, str] | None:
    """Return what a backend lacks that nothing needs yet; None where it can be tried."""
    url = f"set {variable_of(backend.name)} to its URL, {backend.example}"
    if not backend.is_installed:
        then = "" if backend.embedded else f", and {url}"
        need = f"To use it: {install_command(backend.name)}{then}."
        return HealthState.NOT_INSTALLED, f"The driver '{backend.driver}' is missing. {need}"
    if not backend.embedded:
        return HealthState.NOT_CONFIGURED, f"To use one, {url}."
    return None
