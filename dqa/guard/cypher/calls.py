"""Reads calls of functions, and knows which may be called."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from typing import NoReturn

from dqa.guard.cypher.facts import IN_LIST, IN_MAP, ITSELF, UNKNOWN
from dqa.guard.cypher.failure import NotAllowedError
from dqa.guard.cypher.lexer import NUMBER
from dqa.guard.cypher.patterns import PatternParser
from dqa.guard.cypher.words import CARRYING, EFFECTS, NAMES, TELLING, TYPES

_SIDES = frozenset({"BOTH", "LEADING", "TRAILING"})
_LEAVING = frozenset({"startnode", "endnode", "start_node", "end_node"})
"""Functions that come from relationships to nodes of which the pattern says nothing."""
_PARTS = {"nodes": "node", "relationships": "relationship", "rels": "relationship"}
"""Functions whose result has one kind of a path's elements."""


_LISTING = frozenset({"range"})
_LONGEST_LIST = 1_000_000


def _number(text: str) -> float:
    try:
        return float(int(text.replace("_", ""), 0))
    except ValueError:
        return float(text)


class CallParser(PatternParser):
    """The part of the parser that reads calls of functions."""

    def call(self) -> int:
        """Read a call from the function's name on, and return the trace of its result."""
        begin = self.i
        name = self.dotted()
        if name not in self.functions:
            self._unknown(name, begin)
        self.facts.functions.append(name)
        self.i += 1
        first = self.i
        trace = self._arguments(name)
        if name in _LISTING:
            self._bounded(name, first)
        self.expect(")")
        if not trace:
            return 0
        if name in TELLING:
            return 0
        if name in CARRYING:
            kind = _PARTS.get(name)
            if kind is not None:
                trace = self.facts.only(trace, kind)
            held = trace | IN_LIST | ITSELF
            return held | UNKNOWN if name in _LEAVING else held
        self.facts.wholes.append((trace, f"{name}()"))
        return trace | IN_MAP

    def _bounded(self, name: str, first: int) -> None:
        """Refuse a list of more than a million numbers.

        LadybugDB looks at neither its clock nor its memory while it builds one, so there a
        product, whose size is not plain, is refused as well.
        """
        for key, text in zip(self.keys[first : self.i], self.texts[first : self.i], strict=True):
            too_long = key == NUMBER and _number(text) > _LONGEST_LIST
            if too_long or (self.ladybug and key in {"*", "^"}):
                raise NotAllowedError(
                    f"{name}() may count to {_LONGEST_LIST} here, with plain numbers for its ends; "
                    "match what is counted instead"
                )

    def dotted(self) -> str:
        """Read a name with its namespaces, and return it in small letters."""
        parts = [self.texts[self.i]]
        self.name()
        while self.keys[self.i] == "." and self.keys[self.i + 1] in NAMES:
            parts.append(self.texts[self.i + 1])
            self.i += 2
        return ".".join(parts).lower()

    def _arguments(self, name: str) -> int:
        keys = self.keys
        key = keys[self.i]
        if key == ")":
            return 0
        if key == "*" and name == "count":
            self.i += 1
            return 0
        if name == "trim":
            return self._trimmed()
        after = keys[self.i + 1]
        if key in {"DISTINCT", "ALL"} and after not in {")", ",", "."}:
            self.i += key == "DISTINCT" or after != "("  # `all(...)` is a value of its own
        trace = self.argument(0)
        while self.at(","):
            trace |= self.argument(trace)
        if name == "cast" and self.at("AS"):
            self._cast_type()
        return trace

    def argument(self, before: int) -> int:
        """Read one argument; in LadybugDB it may have a name, or be a function of those before."""
        keys, i = self.keys, self.i
        if not self.ladybug:
            return self.free_expression()
        if keys[i] in NAMES and keys[i + 1] == ":=":
            self.i += 2
            return self.free_expression()
        if keys[i] in NAMES and keys[i + 1] == "-" and keys[i + 2] == ">":
            end = i
        elif keys[i] == "(" and self._is_lambda(self.closing[i]):
            end = self.closing[i]
        else:
            return self.free_expression()
        outer = self.scope
        names = (j for j in range(i, end + 1) if keys[j] in NAMES)
        self.scope = outer | {self.folded(self.texts[j]): before for j in names}
        self.i = end + 3
        trace = self.free_expression()
        self.scope = outer
        return trace

    def _is_lambda(self, end: int) -> bool:
        keys = self.keys
        inside = keys[self.i + 1 : end]
        return (
            keys[end + 1] == "-"
            and keys[end + 2] == ">"
            and all(key in NAMES or key == "," for key in inside)
        )

    def _trimmed(self) -> int:
        """Read ``trim(BOTH 'x' FROM name)`` and its shorter forms."""
        if self.keys[self.i] in _SIDES and self.keys[self.i + 1] not in {")", ",", "."}:
            self.i += 1
        if self.at("FROM"):
            return self.free_expression()
        trace = self.free_expression()
        if self.at("FROM") or self.at(","):
            trace |= self.free_expression()
        return trace

    def type_name(self) -> None:
        """Read the name of a type of Neo4j, such as ``LIST<INTEGER NOT NULL> | ZONED DATETIME``."""
        keys = self.keys
        begin, opened = self.i, 0
        while True:
            key = keys[self.i]
            if key == "<":
                opened += 1
            elif key == ">" and opened:
                opened -= 1
            elif key == "NOT" and keys[self.i + 1] == "NULL":
                self.i += 1
            elif key in {"WITH", "WITHOUT"}:
                if keys[self.i + 1] not in {"TIME", "TIMEZONE"}:
                    break
            elif key == "|":
                if self.in_bars or keys[self.i + 1] not in TYPES:
                    break
            elif key not in TYPES and key != "!":
                break
            self.i += 1
        if self.i == begin:
            self.unexpected("a type is missing before")

    def _cast_type(self) -> None:
        """Read a type of LadybugDB, such as ``STRUCT(a INT64, b STRING)[]``."""
        keys = self.keys
        opened = 0
        while True:
            key = keys[self.i]
            if key in {"(", "["}:
                opened += 1
            elif key in {")", "]"}:
                if not opened:
                    return
                opened -= 1
            elif key not in NAMES and key not in {NUMBER, ","}:
                self.unexpected("a type is missing before")
            self.i += 1

    def _unknown(self, name: str, begin: int) -> NoReturn:
        key = self.keys[begin]
        if key in EFFECTS:
            self.i = begin
            self.unexpected()
        hint = did_you_mean(name, self.functions)
        raise NotAllowedError(f"the function {name} is not known to only read{hint}")


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return ``. Did you mean 'x'`` with what is closest to a dotted name, or nothing."""
    found = get_close_matches(name, sorted(known), n=1, cutoff=0.75)
    return f". Did you mean '{found[0]}'" if found else ""
