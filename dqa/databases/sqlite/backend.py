"""SQLite as a backend: files, and situations in memory."""

from __future__ import annotations

from dqa.databases.base import Backend
from dqa.databases.files import is_ours

BACKEND = Backend(
    name="sqlite",
    kind="relational",
    dialect="sqlite",
    namespaces="dqa.databases.sqlite.namespaces:SqliteFile",
    accepts=lambda location: is_ours(location, "sqlite", (".db", ".sqlite", ".sqlite3")),
    embedded=True,
)
