"""The allow-lists, as data: one file for each dialect, with sections of words.

In the section of a syntax tree's parts a word with a colon is a part; the words behind it are its
places. Lines that begin with ``#`` are comments.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

__all__ = ["AllowLists", "lists"]

_SECTION = re.compile(r"\[(.+)\]")
_PARENTS = {"mariadb": ("common", "mysql", "mariadb")}


@dataclass(frozen=True, slots=True)
class AllowLists:
    """What a dialect may use; names in lower case but for those of the syntax tree.

    `table_functions` are empty where any function may stand in FROM. `outside_functions` and
    `outside_tables` describe objects: they are refused where a database has a schema scope or a
    policy that hides something. `parts` are classes of a syntax tree with the places in each that
    may be filled; in `function_classes` any place may be filled.
    """

    functions: frozenset[str]
    syntax: frozenset[str]
    options: frozenset[str]
    table_functions: frozenset[str]
    parts: Mapping[str, frozenset[str]]
    function_classes: frozenset[str]
    special_functions: frozenset[str]
    tables: frozenset[str]
    refused_tables: frozenset[str]
    system_schemas: frozenset[str]
    system_prefixes: tuple[str, ...]
    settings: frozenset[str]
    settings_functions: frozenset[str]
    structure_functions: frozenset[str]
    function_columns: frozenset[str]
    string_types: frozenset[str]
    silent_words: frozenset[str]
    long_texts: frozenset[str]
    searching_functions: frozenset[str]
    index_functions: frozenset[str]
    pragmas: frozenset[str]
    file_endings: frozenset[str]
    outside_functions: frozenset[str]
    outside_tables: frozenset[str]


@cache
def lists(dialect: str) -> AllowLists:
    """Return the lists of `dialect`, together with what all dialects share."""
    sections: dict[str, list[str]] = {}
    for part in _PARENTS.get(dialect, ("common", dialect)):
        for name, words in _read(part).items():
            sections.setdefault(name, []).extend(words)

    def words_of(name: str) -> frozenset[str]:
        return frozenset(sections.get(name, ()))

    return AllowLists(
        functions=words_of("functions"),
        syntax=words_of("words") | words_of("types"),
        options=words_of("options"),
        table_functions=words_of("table functions"),
        parts=_places(sections["parts"]),
        function_classes=words_of("function classes"),
        special_functions=words_of("special functions"),
        tables=words_of("tables"),
        refused_tables=words_of("refused tables"),
        system_schemas=words_of("system schemas"),
        system_prefixes=tuple(sorted(words_of("system prefixes"))),
        settings=words_of("settings"),
        settings_functions=words_of("functions of settings"),
        structure_functions=words_of("functions of structures"),
        function_columns=words_of("columns of functions"),
        string_types=words_of("types before a string"),
        silent_words=words_of("words that change nothing"),
        searching_functions=words_of("functions that search"),
        long_texts=words_of("functions of long texts"),
        index_functions=words_of("functions of indexes"),
        pragmas=words_of("pragmas"),
        file_endings=words_of("file endings"),
        outside_functions=words_of("functions that look outside"),
        outside_tables=words_of("tables that look outside"),
    )


def _places(words: Iterable[str]) -> dict[str, frozenset[str]]:
    """Return the places of each part: ``This: one two That: one``."""
    places: dict[str, set[str]] = {}
    part: set[str] = set()
    for word in words:
        if word.endswith(":"):
            part = places.setdefault(word.removesuffix(":"), set())
        else:
            part.add(word)
    return {name: frozenset(found) for name, found in places.items()}


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
