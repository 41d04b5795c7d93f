"""Find the databases of a run: embedded databases by name, and servers by URL or by name.

The URL of a server that is given by name comes from the environment, such as ``DQA_MYSQL_URL`` for
``mysql``.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import TypedDict, Unpack

from dqa import plugins
from dqa.core.database import Database, Isolation, Kind
from dqa.core.errors import UsageError
from dqa.core.question_set import QuestionSet
from dqa.core.secrets import redact
from dqa.core.situation import Schema, Situation
from dqa.databases.base import Backend
from dqa.guard import Audit, Policy
from dqa.loaders.locations import split_name, variable_of, whole_url


class Access(TypedDict, total=False):
    """Settings for reading databases: the policy, the audit, and where statements run."""

    policy: Policy | None
    audit: Audit | None
    isolation: Isolation


@dataclass(frozen=True, slots=True)
class DatabaseLocation:
    """A database at a location. dqa loads situations into it, or it is a user's own database.

    Attributes
    ----------
    location
        Location with its password; None for a database in memory.
    access
        Settings for reading it.
    described
        Descriptions of its tables, from the scenarios of the questions.
    """

    backend: Backend
    location: str | None = field(default=None, repr=False)
    access: Access = field(default_factory=Access)
    described: tuple[Schema, ...] = ()

    @property
    def kind(self) -> Kind:
        """Relational or graph."""
        return self.backend.kind

    def load(self, situation: Situation, /) -> Database:
        """Open a situation in its own namespace. Load it first if it is not there yet."""
        return self.backend.load(situation, self.location, **self.access)

    def open(self) -> Database:
        """Open a user's own database, read-only and behind the guard."""
        if self.location is None:
            raise UsageError(f"A {self.backend.name} database cannot be opened without a location.")
        return self.backend.open(self.location, **self.access).described(*self.described)


def configured() -> dict[str, str]:
    """Return the URLs of servers in the environment, by backend."""
    urls = {name: os.environ.get(variable_of(name), "") for name in plugins.names("database")}
    return {name: url for name, url in urls.items() if url}


def parse_database(database: str) -> tuple[str, str | None]:
    """Return the name of a database's backend, and its location if one is given.

    Parameters
    ----------
    database
        A backend, a URL, a file, or ``NAME=URL``.

    Raises
    ------
    UsageError
        The URL does not fit the name before it.
    """
    name, location = split_name(database)
    if name is not None:
        backend = plugins.backend(name)
        if not location.strip() or plugins.backend_for(location) is not backend:
            raise UsageError(
                f"'{redact(database)}' is not a {name} database: write {name}={backend.example}."
            )
    if "://" in location or "/" in location or Path(location).exists():
        return plugins.backend_for(location).name, location
    return location, None


def targets_of(databases: Sequence[str], **access: Unpack[Access]) -> dict[str, DatabaseLocation]:
    """Return where a run loads its situations, by label.

    Parameters
    ----------
    databases
        Embedded databases by name; servers by name, by URL, or as ``NAME=URL``.
    **access
        Fields of `Access`.

    Raises
    ------
    UnknownNameError
        There is no such backend.
    UsageError
        Two databases have the same label, a server has no URL, or a URL is not valid.
    """
    targets: dict[str, DatabaseLocation] = {}
    for database in databases:
        label, location = parse_database(database)
        if label in targets:
            raise UsageError(f"databases names '{label}' twice: name it once.")
        backend = plugins.backend(label)
        if location is not None:
            location = whole_url(location)
            backend.require_readable(location)
        location = location or os.environ.get(variable_of(label)) or None
        if location is None and not backend.embedded:
            raise UsageError(
                f"The server '{label}' has no URL: give its URL, or set {variable_of(label)} to it."
            )
        targets[label] = DatabaseLocation(backend, location, access)
    return targets


def places_of(
    locations: Mapping[str, str],
    described: Mapping[str, tuple[Schema, ...]] = MappingProxyType({}),
    **access: Unpack[Access],
) -> dict[str, DatabaseLocation]:
    """Return the user's own databases by name.

    Each database is opened once, so that an unreachable database raises an error before any
    decision. `described` contains the scenarios' descriptions of tables, by the name of the
    database.

    Raises
    ------
    UsageError
        A database is missing, or the policy names tables or columns that the database lacks.
    DatabaseUnavailableError
        A database cannot be reached.
    """
    places: dict[str, DatabaseLocation] = {}
    for name, location in locations.items():
        where = whole_url(location, name)
        backend, schemas = plugins.backend_for(where), described.get(name, ())
        places[name] = DatabaseLocation(backend, where, access, schemas)
        places[name].open().close()
    return places


def descriptions_for(questions: QuestionSet) -> dict[str, tuple[Schema, ...]]:
    """Return the schemas of the scenarios whose questions are about a user's own database."""
    said: dict[str, dict[str, Schema]] = {}
    for question in questions.questions:
        scenario = plugins.scenario_of(question)
        if scenario is not None and questions.is_in_place(question):
            said.setdefault(question.situation, {}).setdefault(scenario.name, scenario.schema)
    return {place: tuple(schemas.values()) for place, schemas in said.items()}
