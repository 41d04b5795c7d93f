"""LadybugDB as a backend: files, and situations in memory."""

from __future__ import annotations

from dqa.databases.base import Backend
from dqa.databases.files import is_ours

_SUFFIXES = (".lbug", ".lbdb", ".ladybug", ".kuzu")

BACKEND = Backend(
    name="ladybug",
    kind="graph",
    dialect="ladybug",
    namespaces="dqa.databases.ladybug.namespaces:LadybugFile",
    accepts=lambda location: is_ours(location, "ladybug", _SUFFIXES),
    embedded=True,
    imports=("pandas", "ladybug._lbug", "numpy.ma"),
)
