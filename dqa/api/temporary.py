"""Databases that are there for a while: of tables, a script or a situation, and gone in the end."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias
from uuid import uuid4

from dqa import plugins
from dqa.api.databases import audit_of, open_database, policy_of
from dqa.core.database import DEFAULT_LIMITS, Database, Isolation, Limits
from dqa.core.errors import UsageError
from dqa.core.files import DATA_BYTES, read_text
from dqa.core.situation import Situation
from dqa.databases.base import Access, Backend
from dqa.guard import Audit, Policy
from dqa.loaders.locations import whole_url

Content: TypeAlias = "str | Path | Mapping[str, Any] | Situation"
"""What a temporary database holds: a script, a file, tables by name, or a situation."""

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
        What it holds:

        - tables by name, each a dict of columns or a list of rows that are dicts;
        - a script in the engine's language, as a text or a path that ends in ``.sql`` or
          ``.cypher``; it is the caller's own and not guarded;
        - a situation of a question set;
        - the URL or path of a database that is there already: it is opened where it is, whatever
          `engine` says, and stays.
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
    place = _existing(content)
    if place is not None:
        made: AbstractContextManager[Database] = closing(
            open_database(place, limits=limits, policy=policy, audit=audit, isolation=isolation)
        )
    else:
        backend = plugins.backend(engine)
        where = None if location is None else whole_url(location)
        access: Access = {
            "policy": policy_of(policy),
            "audit": audit_of(audit),
            "limits": limits,
            "isolation": isolation,
        }
        if isinstance(content, Situation):
            made = _loaded(content, backend, where, access)
        else:
            made = backend.scratch(_script(content, backend), where, **access)
    with made as database:
        yield database


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
    situation: Situation, backend: Backend, location: str | None, access: Access
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
