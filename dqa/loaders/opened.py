"""Databases that are opened when they are first asked, read-only and behind the guard."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from types import TracebackType
from typing import Self

from dqa import plugins
from dqa.core.database import Database
from dqa.guard import Audit, Policy
from dqa.loaders.places import whole_url


class OpenedDatabases:
    """Databases that are opened when they are first asked, and closed together."""

    def __init__(
        self, places: Mapping[str, str], policy: Policy | None, audit: Audit | None
    ) -> None:
        self._places = places
        self._policy = policy
        self._audit = audit
        self._open: dict[str, Database] = {}
        self._closing = ExitStack()

    def of(self, place: str) -> Database:
        """Return the database that is called `place`, read-only and behind the guard."""
        if place not in self._open:
            where = whole_url(self._places[place], place)
            backend = plugins.backend_for(where)
            self._open[place] = backend.open(where, policy=self._policy, audit=self._audit)
            self._closing.callback(self._open[place].close)
        return self._open[place]

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._closing.close()
