"""Databases as a run is told them: embedded ones by name, servers by URL or from the environment.

A server that is named alone has its URL in the environment: ``DQA_MYSQL_URL`` for ``mysql``.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Protocol, TypeAlias

from dqa import plugins
from dqa.core.database import Database, Isolation, Kind
from dqa.core.errors import UsageError
from dqa.core.question_set import QuestionSet
from dqa.core.secrets import redact
from dqa.core.situation import Schema, Situation
from dqa.databases.base import Backend
from dqa.guard import Audit, Policy
from dqa.loaders.locations import variable_of, whole_url

_NAMED = re.compile(r"([A-Za-z_][\w-]*)=(.+)", re.DOTALL)


class Target(Protocol):
    """Where situations are put to be asked about; every `Backend` is one, loading into memory."""

    @property
    def kind(self) -> Kind:
        """Relational or graph."""
        ...

    def load(self, situation: Situation, /) -> Database:
        """Put a situation there, or find it there, and open it read-only."""
        ...


@dataclass(frozen=True, slots=True)
class Place:
    """A database at a location: for situations that are loaded, or a user's own.

    Attributes
    ----------
    location
        With its password; None for one in memory.
    policy, audit
        The policy of its tables, and the audit of its statements.
    isolation
        Where statements run.
    described
        Descriptions of its tables by the questions' scenarios.
    """

    backend: Backend
    location: str | None = field(default=None, repr=False)
    policy: Policy | None = None
    audit: Audit | None = None
    isolation: Isolation = "process"
    described: tuple[Schema, ...] = ()

    @property
    def kind(self) -> Kind:
        """Relational or graph."""
        return self.backend.kind

    def load(self, situation: Situation, /) -> Database:
        """Load a situation into its own namespace, or find it there, and open it."""
        return self.backend.load(
            situation,
            self.location,
            policy=self.policy,
            audit=self.audit,
            isolation=self.isolation,
        )

    def open(self) -> Database:
        """Open a user's own database, read-only and behind the guard."""
        if self.location is None:
            raise UsageError(f"A {self.backend.name} database needs a location to be opened at.")
        opened = self.backend.open(
            self.location, policy=self.policy, audit=self.audit, isolation=self.isolation
        )
        return opened.described(*self.described)


Located: TypeAlias = Place
"""A place where situations are loaded."""


def configured() -> dict[str, str]:
    """Return the URLs that the environment gives, by backend."""
    urls = {name: os.environ.get(variable_of(name), "") for name in plugins.names("database")}
    return {name: url for name, url in urls.items() if url}


def label_of(database: str) -> str:
    """Return what results call a database: its backend's name, never a URL with a password."""
    database = _unnamed(database)
    return plugins.backend_for(database).name if _is_location(database) else database


def location_of(database: str) -> str | None:
    """Return where a database is; None where that is in memory.

    Raises
    ------
    UsageError
        A server is named whose URL the environment does not give, or a URL is none, or is not
        one of the backend that is named before it.
    """
    database = _unnamed(database)
    if _is_location(database):
        whole = whole_url(database)
        plugins.backend_for(whole).require_readable(whole)
        return whole
    url = configured().get(database)
    if url is None and not plugins.backend(database).embedded:
        raise UsageError(
            f"'{database}' is a server: give its URL in its place, or in {variable_of(database)}."
        )
    return url


def targets_of(
    databases: Sequence[str],
    policy: Policy | None = None,
    audit: Audit | None = None,
    isolation: Isolation = "process",
) -> dict[str, Target]:
    """Return where a run puts its situations, by label.

    Parameters
    ----------
    databases
        Embedded ones by name, servers by URL, by name, or as ``NAME=URL``.
    policy, audit, isolation
        What of them may be read, who watches their statements, and where these run.

    Raises
    ------
    UnknownNameError
        There is no such backend.
    UsageError
        Two databases of one kind, a server without a URL, or a URL that cannot be read.
    """
    targets: dict[str, Target] = {}
    for database in databases:
        label, location = label_of(database), location_of(database)
        if label in targets:
            raise UsageError(f"databases names two of '{label}': evaluate them one at a time.")
        targets[label] = Located(plugins.backend(label), location, policy, audit, isolation)
    return targets


def places_of(
    locations: Mapping[str, str],
    policy: Policy | None = None,
    audit: Audit | None = None,
    isolation: Isolation = "process",
    described: Mapping[str, tuple[Schema, ...]] = MappingProxyType({}),
) -> dict[str, Place]:
    """Return the databases that questions are asked about where they are, by name.

    Each is opened once, so that one that cannot be asked costs no decision. `described` is what
    scenarios say of their tables, by the databases' names.

    Raises
    ------
    UsageError
        One is not there, or the policy names what it does not have.
    DatabaseUnavailableError
        One cannot be reached.
    """
    places: dict[str, Place] = {}
    for name, location in locations.items():
        where = whole_url(location, name)
        said = described.get(name, ())
        places[name] = Place(plugins.backend_for(where), where, policy, audit, isolation, said)
        places[name].open().close()
    return places


def descriptions_for(questions: QuestionSet) -> dict[str, tuple[Schema, ...]]:
    """Return what the scenarios of questions say of the databases that are asked where they are."""
    said: dict[str, dict[str, Schema]] = {}
    for question in questions.questions:
        scenario = plugins.scenario_of(question)
        if scenario is not None and questions.is_in_place(question):
            said.setdefault(question.situation, {}).setdefault(scenario.name, scenario.schema)
    return {place: tuple(schemas.values()) for place, schemas in said.items()}


def _unnamed(database: str) -> str:
    """Return a database without the name of its backend before it, as in ``postgres=URL``."""
    told = None if Path(database).exists() else _NAMED.fullmatch(database)
    if told is None:
        return database
    name, location = told.groups()
    backend = plugins.backend(name)
    if not location.strip() or plugins.backend_for(location) is not backend:
        raise UsageError(
            f"'{redact(database)}' names {name}, and what follows is not where one of its "
            f"databases is: write {name}={backend.example}, or the location alone."
        )
    return location


def _is_location(database: str) -> bool:
    return "://" in database or "/" in database or Path(database).exists()
