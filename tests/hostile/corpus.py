"""The hostile statements, as the files of `statements` have them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import dqa

__all__ = ["EMBEDDED", "ENGINES", "SERVERS", "HostileStatement", "files_of", "read_statements"]

EMBEDDED = ("sqlite", "duckdb", "ladybug")
SERVERS = ("mariadb", "postgres", "neo4j")
ENGINES = (*EMBEDDED, *SERVERS)
STATEMENTS = Path(__file__).parent / "statements"


@dataclass(frozen=True)
class HostileStatement:
    """A statement, what kind of harm it does, and where it stands.

    Attributes
    ----------
    engine
        Whose it is: one of `ENGINES`, each the name of its dialect.
    kind
        The name of its file.
    reason
        Why the guard refuses it; empty, as it should be, where it does not.
    """

    engine: str
    kind: str
    line: int
    text: str
    reason: str = ""

    @property
    def name(self) -> str:
        """What to call it: ``sqlite/strings:3``."""
        return f"{self.engine}/{self.kind}:{self.line}"


def files_of(engine: str, folder: Path = STATEMENTS) -> list[Path]:
    """Return the files of an engine, in order."""
    return sorted([*(folder / engine).glob("*.sql"), *(folder / engine).glob("*.cypher")])


def read_statements(
    engine: str, kinds: Sequence[str] = (), *, first: int | None = None, folder: Path = STATEMENTS
) -> list[HostileStatement]:
    """Return the statements of an engine.

    Parameters
    ----------
    kinds
        The files that are read; () for all.
    first
        How many of each file; None for all.
    folder
        Where the engines' folders are.
    """
    found = []
    for file in files_of(engine, folder):
        if kinds and file.stem not in kinds:
            continue
        checked = dqa.check_files([file], engine)
        found += [
            HostileStatement(engine, file.stem, one.line, one.statement, one.reason)
            for one in checked[:first]
        ]
    return found
