"""Databases as commands are told them: embedded ones by name, servers by URL or from settings.

A server that is named alone has its URL in the environment: ``DQA_MYSQL_URL`` for ``mysql``.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from dqa.core.errors import UsageError

if TYPE_CHECKING:
    from dqa.evaluation.plan import Target

__all__ = ["configured", "label_of", "location_of", "targets_of", "variable_of"]


def variable_of(backend: str) -> str:
    """Return the environment variable that holds a backend's URL."""
    return f"DQA_{backend.upper()}_URL"


def configured() -> dict[str, str]:
    """Return the URLs that the environment gives, by backend."""
    from dqa import plugins

    urls = {name: os.environ.get(variable_of(name), "") for name in plugins.names("database")}
    return {name: url for name, url in urls.items() if url}


def label_of(database: str) -> str:
    """Return what results call a database: its backend's name, never a URL with a password."""
    from dqa import plugins

    return plugins.backend_for(database).name if _is_location(database) else database


def location_of(database: str) -> str | None:
    """Return where a database is; None where that is in memory.

    Raises
    ------
    UsageError
        A server is named whose URL the environment does not give.
    """
    from dqa import plugins

    if _is_location(database):
        return database
    url = configured().get(database)
    if url is None and not plugins.backend(database).embedded:
        raise UsageError(
            f"'{database}' is a server: give its URL in its place, or in {variable_of(database)}."
        )
    return url


def targets_of(databases: Sequence[str]) -> dict[str, Target]:
    """Return where a run puts its situations, by label.

    Raises
    ------
    UnknownNameError
        There is no such backend.
    UsageError
        Two databases of one kind, or a server without a URL.
    """
    from dqa import plugins
    from dqa.evaluation.plan import Located

    targets: dict[str, Target] = {}
    for database in databases:
        label, location = label_of(database), location_of(database)
        if label in targets:
            raise UsageError(f"--databases names two of '{label}': evaluate them one at a time.")
        backend = plugins.backend(label)
        targets[label] = backend if location is None else Located(backend, location)
    return targets


def _is_location(database: str) -> bool:
    return "://" in database or "/" in database or os.path.exists(database)  # noqa: PTH110
