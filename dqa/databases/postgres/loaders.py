"""How values of PostgreSQL's are read: as Python's, and as the server's text where it has none.

Python knows no infinite day, no year before 1 or after 9999, and no interval of months.
"""

from __future__ import annotations

from typing import Any

import psycopg
from psycopg.abc import Buffer
from psycopg.adapt import AdaptersMap, Loader
from psycopg.pq import Format
from psycopg.types.json import set_json_loads

from dqa.databases.values import loaded

_OFTEN_READ = ("date", "time", "timetz", "timestamp", "timestamptz")
"""Types whose values mostly have a Python form."""
_RANGES = ("int4", "int8", "num", "date", "ts", "tstz")
_TEXTS = (
    "interval",
    *(f"{kind}{ending}" for kind in _RANGES for ending in ("range", "multirange")),
)


def adapters() -> AdaptersMap:
    """Return the driver's own way of reading, with texts for what it does not read."""
    made = AdaptersMap(psycopg.adapters)
    for name in _OFTEN_READ:
        kind = made.types[name].oid
        made.register_loader(kind, _or_text(psycopg.adapters.get_loader(kind, Format.TEXT)))
    for name in _TEXTS:
        made.register_loader(name, _Text)
    set_json_loads(loaded, made)
    return made


class _Text(Loader):
    """Reads a value as its text."""

    def load(self, data: Buffer) -> str:
        return bytes(data).decode()


def _or_text(reader: type[Any] | None) -> type[Loader]:
    """Return a loader that reads as another one does, and as text what that cannot."""

    class OrText(_Text):
        def __init__(self, oid: int, context: Any = None) -> None:  # noqa: ANN401
            super().__init__(oid, context)
            self._read = reader(oid, context).load if reader is not None else super().load

        def load(self, data: Buffer) -> Any:  # noqa: ANN401
            try:
                return self._read(data)
            except (psycopg.DataError, ArithmeticError, ValueError):  # an offset of years, too
                return super().load(data)

    return OrText
