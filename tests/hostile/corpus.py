"""The hostile statements in the files of `statements`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import dqa

EMBEDDED = ("sqlite", "duckdb", "ladybug")
SERVERS = ("mariadb", "postgres", "neo4j")
ENGINES = (*EMBEDDED, *SERVERS)
STATEMENTS = Path(__file__).parent / "statements"


@dataclass(frozen=True)
class HostileStatement:
    """A statement, its kind of harm, and its line.

    Attributes
    ----------
    engine
        One of `ENGINES`, which are names of dialects.
    kind
        The name of its file.
    reason
        The guard's reason for a refusal; empty for an allowed statement.
    """

    engine: str
    kind: str
    line: int
    text: str
    reason: str = ""

    @property
    def name(self) -> str:
        """Return its name, such as ``sqlite/strings:3``."""
        return f"{self.engine}/{self.kind}:{self.line}"


def read_statements(
    engine: str, kinds: Sequence[str] = (), *, first: int | None = None
) -> list[HostileStatement]:
    """Return the statements of an engine.

    Parameters
    ----------
    kinds
        The files that are read; () for all.
    first
        The number of statements of each file; None for all.
    """
    found = []
    for file in sorted((STATEMENTS / engine).iterdir()):
        if kinds and file.stem not in kinds:
            continue
        checked = dqa.check_files([file], engine)
        found += [
            HostileStatement(engine, file.stem, one.line, one.statement, one.reason)
            for one in checked[:first]
        ]
    return found
