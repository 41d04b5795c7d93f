"""Reads graph patterns: nodes, relationships, paths, and the labels of them."""

from __future__ import annotations

from dqa.guard.cypher.cursor import TokenCursor
from dqa.guard.cypher.facts import IN_LIST, ITSELF, UNKNOWN, NodeSpot
from dqa.guard.cypher.lexer import NUMBER
from dqa.guard.cypher.words import NAMES

_SELECTORS = frozenset({"ALL", "ANY", "SHORTEST", "PATH", "PATHS", "GROUP", "GROUPS"})
_SHORTEST = frozenset({"SHORTESTPATH", "ALLSHORTESTPATHS"})
_BEHIND_NAME = frozenset({")", "]", ":", "{", "*", "$", "IS", "WHERE"})
_RECURSIVE = frozenset({"SHORTEST", "ALL", "TRAIL", "ACYCLIC", "WSHORTEST"})

_UNCERTAIN = frozenset("!%$")


class PatternParser(TokenCursor):
    """The part of the parser that reads patterns."""

    def pattern_list(self) -> int:
        """Read patterns separated by commas."""
        trace = self.pattern()
        while self.at(","):
            trace |= self.pattern()
        return trace

    def pattern(self) -> int:
        """Read one pattern, with its path variable and selector if any."""
        keys, path = self.keys, None
        if keys[self.i + 1 : self.i + 2] == ["="] and keys[self.i] in NAMES:
            path = self.name()
            self.i += 1
        if keys[self.i] in _SELECTORS:
            self._selector()
        if keys[self.i] in _SHORTEST:
            self.i += 1
            self.expect("(")
            self.facts.is_unbounded = True
            trace = self._elements() | UNKNOWN
            self.expect(")")
        else:
            trace = self._elements()
        if path is not None:
            self.scope[path] = trace | IN_LIST
        return trace

    def _selector(self) -> None:
        while self.keys[self.i] in _SELECTORS:
            self.i += 1
            if self.keys[self.i] == NUMBER:
                self.i += 1
            elif self.at("$"):
                self.name()

    def _elements(self) -> int:
        """Read nodes and relationships in turn, and paths in parentheses among them."""
        keys, trace = self.keys, 0
        if keys[self.i] != "(":
            self.unexpected("a pattern like (n:Label) is missing before")
        while keys[self.i] == "(":
            if self._is_group():
                trace |= self._group()
                continue
            trace |= self.node()
            while keys[self.i] == "-" or keys[self.i] == "<":
                trace |= self.relationship()
                if keys[self.i] in {"{", "+", "*"}:
                    self._quantifier()
                    trace |= UNKNOWN
                if self._is_group():
                    break
                trace |= self.node()
        return trace

    def _is_group(self) -> bool:
        i, keys = self.i, self.keys
        if keys[i] != "(":
            return False
        after = keys[i + 1]
        return (
            after == "("
            or (after in NAMES and keys[i + 2] == "=")
            or (after in _SHORTEST and keys[i + 2] == "(")
        )

    def _group(self) -> int:
        self.deeper()
        self.i += 1
        trace = self.pattern()
        if self.at("WHERE"):
            self.free_expression()
        self.expect(")")
        if self.keys[self.i] in {"{", "+", "*"}:
            self._quantifier()
            trace |= UNKNOWN
            self.scope |= {name: held | IN_LIST for name, held in self.scope.items() if held}
        self.shallower()
        return trace

    def _quantifier(self) -> None:
        self.facts.is_unbounded = True
        if self.keys[self.i] != "{":
            self.i += 1
            return
        self.i += 1
        while self.keys[self.i] == NUMBER or self.keys[self.i] == ",":
            self.i += 1
        self.expect("}")

    def node(self) -> int:
        """Read one node pattern."""
        keys = self.keys
        if keys[self.i] != "(":
            self.unexpected("a node pattern like (n:Label) is missing before")
        position = opening = self.ends[self.i]
        self.i += 1
        variable, place = None, None
        if self._has_variable():
            position = self.ends[self.i]
            place = self.starts[self.i], position
            variable = self.name()
        names: set[str] | None = None
        begin, symbols = -1, ""
        if keys[self.i] == ":" or keys[self.i] == "IS":
            begin = self.starts[self.i + 1]
            mentioned, symbols = self.labels()
            names = _certain(mentioned, symbols)
            position = self.ends[self.i - 1]
        is_known = bool(variable and self.scope.get(variable))
        trace = self._bound(variable, "node", names)
        self.facts.spots.append(NodeSpot(position, begin, symbols, opening, place, trace, is_known))
        self._conditions(trace)
        self.expect(")")
        return trace

    def relationship(self) -> int:
        """Read one relationship pattern, from dash to dash."""
        self.at("<")
        self.expect("-")
        if self.at("["):
            trace = self._detail()
            self.expect("]")
        else:
            trace = self.facts.pattern("relationship", None)
        self.expect("-")
        self.at(">")
        return trace

    def _detail(self) -> int:
        keys = self.keys
        variable = self.name() if self._has_variable() else None
        names: set[str] | None = None
        if keys[self.i] == ":" or keys[self.i] == "IS":
            names = _certain(*self.labels())
        trace = self._bound(variable, "relationship", names)
        if self.at("*"):
            self.facts.is_unbounded = True
            trace |= UNKNOWN | IN_LIST
            if variable is not None:
                self.scope[variable] = trace
            self._repetition(trace)
        self._conditions(trace)
        return trace

    def _repetition(self, trace: int) -> None:
        """Read what follows the star: LadybugDB's kinds of paths, bounds, and conditions."""
        keys = self.keys
        while self.ladybug and keys[self.i] in _RECURSIVE:
            if keys[self.i] == "WSHORTEST" and keys[self.i + 1] == "(":
                self.i += 2
                self.facts.reads.append((trace, self.name()))
                self.expect(")")
            else:
                self.i += 1
        for bound in (NUMBER, "..", NUMBER):
            self.at(bound)
        if not self.ladybug or not self.at("("):
            return
        outer = dict(self.scope)
        self.scope[self.name()] = trace & ~UNKNOWN
        self.expect(",")
        self.scope[self.name()] = ITSELF | UNKNOWN
        while self.at("|"):
            if self.at("WHERE"):
                in_bars, self.in_bars = self.in_bars, True
                self.expression()
                self.in_bars = in_bars
            else:
                self._projected()
                self.expect(",")
                self._projected()
        self.expect(")")
        self.scope = outer

    def _projected(self) -> None:
        self.expect("{")
        while not self.at("}"):
            self.free_expression()
            if self.at("AS"):
                self.name()
            self.at(",")

    def _has_variable(self) -> bool:
        key = self.keys[self.i]
        if key not in NAMES:
            return False
        if key in {"IS", "WHERE"}:  # a variable only where no label or condition follows
            return self.keys[self.i + 1] in _BEHIND_NAME
        return True

    def _bound(self, variable: str | None, kind: str, names: set[str] | None) -> int:
        if variable is None:
            return self.facts.pattern(kind, names)
        known = self.scope.get(variable, 0)
        if known:
            self.facts.narrow(known, names)
            return known
        trace = self.scope[variable] = self.facts.pattern(kind, names)
        return trace

    def _conditions(self, trace: int) -> None:
        if self.keys[self.i] == "{":
            self._properties(trace)
        elif self.at("$"):
            self.facts.lookups.append((trace, "$" + self.parameter()))
        if self.at("WHERE"):
            self.free_expression()

    def _properties(self, trace: int) -> None:
        self.i += 1
        while not self.at("}"):
            self.facts.compared.add(len(self.facts.reads))
            self.facts.reads.append((trace, self.name()))
            self.expect(":")
            self.free_expression()
            if self.keys[self.i] != "}":
                self.expect(",")

    def parameter(self) -> str:
        """Read what follows the dollar of a parameter."""
        if self.at(NUMBER):
            return self.texts[self.i - 1]
        return self.name()

    def free_expression(self) -> int:
        """Read an expression in which a bar belongs to label predicates."""
        in_bars, self.in_bars = self.in_bars, False
        trace = self.expression()
        self.in_bars = in_bars
        return trace

    def labels(self) -> tuple[set[str], str]:
        """Read a label expression from its colon, or ``IS``, on.

        Returns
        -------
        The names that are written, and the operators.
        """
        self.i += 1
        names: set[str] = set()
        symbols = self._label_term(names)
        while True:
            key = self.keys[self.i]
            if key == "|" and not self.in_bars:
                self.i += 1
                symbols += "|"
                if self.at(":"):
                    self.facts.colons.append((self.starts[self.i - 1], ""))
            elif key in {"&", ":"}:
                self.i += 1
                symbols += key
                if key == ":":
                    self.facts.colons.append((self.starts[self.i - 1], "&"))
            else:
                break
            symbols += self._label_term(names)
        return names, symbols

    def _label_term(self, names: set[str]) -> str:
        keys, symbols = self.keys, ""
        while self.at("!"):
            symbols = "!"
        key = keys[self.i]
        if key in NAMES:
            names.add(self.name())
        elif key == "%":
            self.i += 1
            symbols += "%"
        elif key == "(":
            in_bars, self.in_bars = self.in_bars, False
            inner, inside = self.labels()
            self.in_bars = in_bars
            self.expect(")")
            names |= inner
            symbols += "(" + inside
        elif key == "$":
            symbols += self._dynamic_label()
        else:
            self.unexpected("a label is missing before")
        return symbols

    def _dynamic_label(self) -> str:
        self.i += 1
        if self.keys[self.i] in {"ALL", "ANY"}:
            self.i += 1
        if self.keys[self.i] != "(":
            self.unexpected("an expression in parentheses is missing before")
        self.i += 1
        self.free_expression()
        self.expect(")")
        return "$"

    def is_pattern(self, i: int) -> bool:
        """Whether the parenthesis at token `i` is a node that a relationship follows.

        Both are decided by looking ahead, in constant time, as the servers would decide; so
        nothing is ever read twice.
        """
        keys = self.keys
        j = self.closing[i] + 1
        if keys[j] == "<":
            j += 1
        if keys[j] != "-":
            return False
        j += 1
        if keys[j] == "[":
            j = self.closing[j] + 1
        if keys[j] != "-":
            return False
        j += 2 if keys[j + 1] == ">" else 1
        if keys[j] != "(":
            return False
        first = keys[i + 1]
        if first in {")", ":", "{", "$", "IS", "WHERE"}:
            return True
        return first in NAMES and keys[i + 2] in _BEHIND_NAME

    def path_expression(self) -> int:
        """Read nodes and relationships where an expression may stand."""
        first = len(self.facts.spots)
        trace = self.node()
        while self.keys[self.i] in {"-", "<"} and self._relationship_follows():
            trace |= self.relationship() | self.node()
        self.facts.expressed.append((first, len(self.facts.spots)))
        return trace | IN_LIST

    def _relationship_follows(self) -> bool:
        j, keys = self.i, self.keys
        if keys[j] == "<":
            j += 1
        return keys[j] == "-" and keys[j + 1] in {"-", "["}


def _certain(names: set[str], symbols: str) -> set[str] | None:
    """Return labels of which an element has one, or None if it may have none of those written."""
    return None if set(symbols) & _UNCERTAIN else names
