"""How a history is opened for many readers, each of whom may read other rows of its tables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from threading import Lock
from typing import TYPE_CHECKING

from dqa import plugins
from dqa.guard.policy import Policy

if TYPE_CHECKING:
    from dqa.core.database import Isolation
    from dqa.guard import GuardedDatabase


class SharedReading:
    """Opens a database for readers, who share its connections and what was found at the first one.

    Starting a process, reading the schema and trying the policy take longer than a whole game.

    Parameters
    ----------
    location
        A file, or the URL of a database.
    isolation
        Where statements run.
    tables
        All that may be read.
    masks
        By column (``"table.column"``), what is shown in place of its values.
    """

    def __init__(
        self,
        location: str,
        isolation: Isolation,
        tables: Iterable[str],
        masks: Mapping[str, None],
    ) -> None:
        self._location = location
        self._isolation: Isolation = isolation
        self._tables = frozenset(tables)
        self._masks = masks
        self._opening = Lock()
        self._opened: GuardedDatabase | None = None

    def open_with(self, row_filters: Mapping[str, str]) -> GuardedDatabase:
        """Open the tables read-only; of each a condition says which rows may be read.

        Raises
        ------
        UsageError, MissingKeyError, DataError, DatabaseUnavailableError
            As `dqa.databases.base.Backend.open`.
        """
        with self._opening:
            opened = self._opened
            if opened is None:
                policy = Policy(tables=self._tables, masks=self._masks, row_filters=row_filters)
                backend = plugins.backend_for(self._location)
                opened = backend.open(self._location, policy=policy, isolation=self._isolation)
                self._opened = opened
        return opened.with_rows(row_filters)

    def close(self) -> None:
        """Close the connections; whoever opens once more opens others."""
        with self._opening:
            if self._opened is not None:
                self._opened.close()
                self._opened = None
