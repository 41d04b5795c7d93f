"""The allow-lists, as data: one file a dialect, sections of words, ``#`` for comments."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

__all__ = ["Lists", "lists"]

_SECTION = re.compile(r"\[(.+)\]")
_PARENTS = {"mariadb": ("common", "mysql", "mariadb")}


@dataclass(frozen=True, slots=True)
class Lists:
    """What a dialect may use; names in lower case but for `clauses`.

    `table_functions` are empty where any function may stand in FROM.
    """

    functions: frozenset[str]
    syntax: frozenset[str]
    table_functions: frozenset[str]
    clauses: frozenset[str]
    tables: frozenset[str]
    refused_tables: frozenset[str]
    system_schemas: frozenset[str]
    system_prefixes: tuple[str, ...]
    attributes: frozenset[str]
    variables: frozenset[str]
    hints: frozenset[str]
    pragmas: frozenset[str]
    pragmas_with_argument: frozenset[str]
    file_endings: frozenset[str]


@cache
def lists(dialect: str) -> Lists:
    """Return the lists of `dialect`, together with what all dialects share."""
    sections: dict[str, set[str]] = {}
    for part in _PARENTS.get(dialect, ("common", dialect)):
        for name, words in _read(part).items():
            sections.setdefault(name, set()).update(words)

    def taken(name: str) -> frozenset[str]:
        return frozenset(sections.get(name, ()))

    return Lists(
        functions=taken("functions"),
        syntax=taken("words") | taken("types"),
        table_functions=taken("table functions"),
        clauses=taken("clauses"),
        tables=taken("tables"),
        refused_tables=taken("refused tables"),
        system_schemas=taken("system schemas"),
        system_prefixes=tuple(sorted(taken("system prefixes"))),
        attributes=taken("functions never called as attributes"),
        variables=taken("variables"),
        hints=taken("hints"),
        pragmas=taken("pragmas"),
        pragmas_with_argument=taken("pragmas with an argument"),
        file_endings=taken("file endings"),
    )


def _read(name: str) -> dict[str, list[str]]:
    sections: dict[str, list[str]] = {}
    words: list[str] = []
    for line in files(__name__).joinpath(f"{name}.txt").read_text("utf-8").splitlines():
        section = _SECTION.fullmatch(line)
        if section is not None:
            words = sections.setdefault(section[1], [])
        elif not line.startswith("#"):
            words.extend(line.split())
    return sections
