"""The allow-lists, as data: one file for each dialect, with sections of words.

Lines that begin with ``#`` are comments. In the section ``parts`` a word with a colon is a class of
a syntax tree, and the words behind it are the arguments that it may have; classes of the section
``function classes`` may have any. An empty ``table functions`` lets any allowed function stand in
FROM. The sections ``functions/tables that look outside`` describe objects of the database: they are
refused where a policy hides something, or the database has a schema scope.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping
from functools import cache, cached_property
from importlib.resources import files

__all__ = ["AllowLists", "lists"]

_FILES = {
    "mariadb": ("common", "mysql", "mariadb"),
    "neo4j": ("neo4j",),
    "ladybug": ("ladybug",),
}


class AllowLists(defaultdict[str, frozenset[str]]):
    """The words of a dialect by section; a section that is not there is empty."""

    def __init__(self, dialect: str) -> None:
        super().__init__(frozenset)
        self._dialect = dialect
        for name in _FILES.get(dialect, ("common", dialect)):
            text = files(__name__).joinpath(f"{name}.txt").read_text("utf-8")
            for section, words in _sections(text).items():
                self[section] |= frozenset(words.split())
                if section == "parts":
                    self.parts = _parts(words.split())

    @cached_property
    def parts(self) -> Mapping[str, frozenset[str]]:
        """The arguments that each class of a syntax tree may have."""
        return {}

    @cached_property
    def syntax(self) -> frozenset[str]:
        """Words of the language and names of types."""
        return self["words"] | self["types"]


@cache
def lists(dialect: str) -> AllowLists:
    """Return the lists of `dialect`, together with those that all SQL dialects share."""
    return AllowLists(dialect)


def _sections(text: str) -> dict[str, str]:
    text = re.sub(r"^#.*$", "", text, flags=re.MULTILINE)
    _, *found = re.split(r"^\[(.+)\]$", text, flags=re.MULTILINE)
    return dict(zip(found[::2], found[1::2], strict=True))


def _parts(words: list[str]) -> dict[str, frozenset[str]]:
    arguments: dict[str, set[str]] = {}
    part: set[str] = set()
    for word in words:
        if word.endswith(":"):
            part = arguments.setdefault(word[:-1], set())
        else:
            part.add(word)
    return {name: frozenset(found) for name, found in arguments.items()}
