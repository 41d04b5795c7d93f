"""The allow-lists, as data: one file for each dialect, with sections of words.

Lines that begin with ``#`` are comments. In the section ``parts``, a word with a colon is a class
of sqlglot's syntax tree, and the words after it are the arguments that the class may have. Classes
in the section ``function classes`` may have any argument. Each line of the section ``instead`` has
a function of another dialect and its replacement. If ``table functions`` is empty, any allowed
function may be used in FROM. Two sections, ``functions that look outside`` and ``tables that look
outside``, contain the functions and tables that describe the database. These are refused if a
policy hides something, or if the database has a schema scope.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache, cached_property
from pathlib import Path

__all__ = ["AllowLists", "lists"]

_FILES = {"mariadb": ("common", "mysql", "mariadb"), "neo4j": ("neo4j",), "ladybug": ("ladybug",)}


class AllowLists(dict[str, frozenset[str]]):
    """The words of a dialect by section. A missing section is empty.

    Attributes
    ----------
    parts
        The arguments that each class of a syntax tree may have.
    instead
        Maps functions of other dialects to their replacements.
    """

    parts: Mapping[str, frozenset[str]] = {}
    instead: Mapping[str, str] = {}

    def __missing__(self, section: str) -> frozenset[str]:
        return self.setdefault(section, frozenset())

    @cached_property
    def syntax(self) -> frozenset[str]:
        """Words of the language and names of types."""
        return self["words"] | self["types"]


@cache
def lists(dialect: str) -> AllowLists:
    """Return the lists of `dialect`. For SQL, they include the lists that all dialects share."""
    found = AllowLists()
    for name in _FILES.get(dialect, ("common", dialect)):
        text = Path(__file__).with_name(f"{name}.txt").read_text("utf-8")
        text = re.sub(r"^#.*$", "", text, flags=re.MULTILINE)
        _, *sections = re.split(r"^\[(.+)\]$", text, flags=re.MULTILINE)
        for section, words in zip(sections[::2], sections[1::2], strict=True):
            found[section] |= frozenset(words.split())
            if section == "parts":
                parts = re.findall(r"(\w+):((?:\s+\w+(?![\w:]))*)", words)
                found.parts = {part: frozenset(arguments.split()) for part, arguments in parts}
            elif section == "instead":
                found.instead = dict(re.findall(r"^(\w+): (.+)$", words, re.MULTILINE))
    return found
