"""Read the clauses and patterns of a Cypher statement.

This is a recursive-descent reader: each method reads one construct. A word in the position of a
clause must be on an allow-list. The server decides whether the statement is valid.
"""

from __future__ import annotations

from dqa.guard.check import Refusal
from dqa.guard.cypher_sizes import Size
from dqa.guard.cypher_tokens import NUMBER, is_word
from dqa.guard.cypher_values import AFTER_NAME, SHORTEST, Element, ValueReader
from dqa.guard.policy import DEFAULT, Policy

_PATHS = ("SHORTEST", "ALL", "TRAIL", "ACYCLIC", "WSHORTEST")
_ORDERS = ("ASC", "ASCENDING", "DESC", "DESCENDING")
_CONTINUING = frozenset(["WHERE", "ORDER", "SKIP", "OFFSET", "LIMIT", "YIELD"])
"""Clauses that belong to the preceding clause."""


class CypherReader(ValueReader):
    """Reads the clauses and patterns of one statement.

    Raises
    ------
    Refusal
        The statement does more than read, could create too large values, or cannot be parsed.
    """

    def __init__(self, statement: str, dialect: str, policy: Policy = DEFAULT) -> None:
        super().__init__(statement, dialect, policy)
        end = len(self.keys) - 1
        while end and self.keys[end - 1] == ";":
            end -= 1
        del self.keys[end:-1]
        if not end:
            raise Refusal("the statement is empty; write MATCH ... RETURN ...")
        self._prefixes()
        is_shown = not self.ladybug and self._take("SHOW")
        if is_shown:
            self._show()
        last = self._query(end)
        if not is_shown and last not in {"RETURN", "FINISH", "CALL", "WHEN"}:
            raise Refusal("it returns nothing; add RETURN at the end")

    def _prefixes(self) -> None:
        """Read CYPHER with a version, EXPLAIN, and USE with the name of the opened database."""
        if not self.ladybug and self._take("CYPHER"):
            self.i += self.texts[self.i] in {"5", "25"}
        if self._take("EXPLAIN"):
            self.describing += ["a plan"] * self._policy.limits_graph
            self.i += self.ladybug and self._at("LOGICAL")
        if not self.ladybug and self._take("USE"):
            own = self._policy.database
            if own is None or self.texts[self.i].lower() != own.lower():
                raise Refusal("USE could read another database; leave it out")
            self.i += 1
            self.spelled[self.i - 2 : self.i] = ["", ""]

    def _show(self) -> None:
        """Read the object of SHOW; other methods read YIELD, WHERE and RETURN after it."""
        begin = self.i
        if self._take("CURRENT"):
            self._expect("USER")
        else:
            self._skip(*self.words["shown"])
        if begin == self.i or not self._at("", "YIELD", "WHERE"):
            self._unexpected(
                "SHOW may be used with INDEXES, CONSTRAINTS, FUNCTIONS, PROCEDURES and CURRENT "
                "USER, not with"
            )
        self.describing.append("SHOW")

    # Clauses

    def _query(self, end: int) -> str:
        """Read the clauses before the token `end`; return the last clause, e.g. RETURN."""
        last = ""
        while self.i < end:
            clause = self.keys[self.i]
            if clause not in self.words["clauses"]:
                self._unexpected()
            self.i += 1
            self._clause(clause)
            last = last if clause in _CONTINUING else clause
        return last

    def _clause(self, clause: str) -> None:
        match clause:
            case "MATCH":
                self._patterns()
            case "UNION" | "NEXT":
                self._take("ALL", "DISTINCT")
                self._scope = frozenset()
            case "CALL":
                self._call()
            case "SEARCH":
                self._search()
            case "WHEN":
                self._expression()
                self._expect("THEN")
                self._subquery()
                if self._take("ELSE"):
                    self._subquery()
            case _ if clause not in {"OPTIONAL", "FINISH"}:
                self._items(clause)

    def _items(self, clause: str) -> None:
        """Read comma-separated values, each with an optional alias or sort order."""
        if clause == "ORDER":
            self._expect("BY")
        elif clause == "FILTER":
            self._take("WHERE")
        elif clause in {"WITH", "RETURN"} and self._is_prefix("DISTINCT"):
            self.i += 1
        passed: frozenset[str] = frozenset()
        while True:
            begin = self.i
            if self._take("*"):
                self.wholes += [begin] * (clause == "RETURN")
                passed |= self._scope
            elif clause == "LET":
                self._name()
                self._expect("=")
                self._store_size(begin, self._expression())
            else:
                passed |= {self._item(clause)}
            if not self._take(","):
                break
        if clause == "WITH":
            self._scope = passed

    def _item(self, clause: str) -> str:
        """Read a value. Return the name of a node that WITH passes on, otherwise ``""``."""
        begin = alias = self.i
        self._last = size = self._expression()
        is_passed = clause == "WITH" and self.i == begin + 1 and self.uses[-1:] == [begin]
        if is_passed:
            self.uses.pop()
        if self._take("AS"):
            alias = self._name()
            self.aliases.append((alias - 2, alias))
            if clause == "UNWIND":
                self._rows *= size.total
                size = Size.of(size.item)
            self._store_size(alias, size)
        elif clause == "RETURN" and self._around is None:
            self.returned.append((begin, self.i))
        self._take(*_ORDERS)
        return self.folded(alias) if is_passed and self.folded(begin) in self._scope else ""

    def _call(self) -> None:
        """Read a procedure call, or a subquery with its imported variables."""
        if self._take("("):
            while not self._take(")"):
                if not self._take("*", ","):
                    self._name()
            self._subquery()
        elif self._at("{"):
            self._subquery()
        else:
            self._procedure()

    def _procedure(self) -> None:
        if not is_word(self.keys[self.i]):
            self._unexpected("a procedure is missing before")
        name, end = self._dotted()
        self._require_listed("procedure", name, self.words["procedures"])
        self.describing.append(f"the procedure {name}")
        self.i = end + 1
        if self._at("("):
            self._bracket()

    def _subquery(self, *, may_be_pattern: bool = False) -> None:
        with self._inside() as end:
            if may_be_pattern and self.keys[self.i] not in self.words["clauses"]:
                self._patterns()
                if self._take("WHERE"):
                    self._expression()
            else:
                self._scope = self._scope if may_be_pattern else frozenset()
                self._query(end)

    def _search(self) -> None:
        """Read ``SEARCH n IN (VECTOR INDEX i FOR ... LIMIT 1) SCORE AS s``."""
        self.describing.append("an index search")
        self._name()
        self._expect("IN", "(")
        while not self._take(")"):
            if not self._take("VECTOR", "INDEX", "FOR", "WHERE", "LIMIT"):
                self._expression()
        if self._take("SCORE"):
            self._expect("AS")
            self._name()

    # Patterns

    def _patterns(self) -> None:
        self._pattern()
        while self._take(","):
            self._pattern()

    def _pattern(self) -> None:
        """Read a path: an optional name, path selectors, nodes and relationships."""
        for _ in range(2):
            if is_word(self.keys[self.i]) and self.keys[self.i + 1] == "=":
                self.variables.add(self.folded(self._name()))
                self.i += 1
            while self._at(NUMBER) or (
                self.keys[self.i] in self.words["prefixes"] and self.keys[self.i + 1] != "="
            ):
                self.i += 1
        if self.texts[self.i].lower() in SHORTEST:
            self.i += 1
            self._expect("(")
            self._chain()
            self._expect(")")
        else:
            self._chain()

    def _chain(self) -> None:
        """Read a sequence of nodes, relationships and quantified groups."""
        while True:
            first, then = self.keys[self.i + 1 : self.i + 3] if self._at("(") else ("", "")
            if first == "(" or (is_word(first) and then == "="):
                self._expect("(")
                self._pattern()
                if self._take("WHERE"):
                    self._expression()
                self._expect(")")
                self._quantifier()
            else:
                self._element()
            if self._at("-") or (self._at("<") and self.keys[self.i + 1] == "-"):
                self._relationship()
            elif not self._at("("):
                return

    def _relationship(self) -> None:
        self._take("<")
        dash = self.i
        self._expect("-")
        if self._at("["):
            element = self._element()
        else:
            element = Element(False, dash)
            self.elements.append(element)
        self._expect("-")
        self._take(">")
        element.is_many |= self._quantifier()

    def _quantifier(self) -> bool:
        """Read ``*``, ``+`` or ``{1,3}``; return whether one was found."""
        if not self._at("{"):
            return self._take("*", "+")
        with self._inside():
            self._skip(NUMBER, ",")
        return True

    def _element(self) -> Element:
        """Read a node or relationship with its brackets."""
        element, keys = Element(self._at("("), self.i), self.keys
        self.elements.append(element)
        with self._inside():
            key = keys[self.i]
            if is_word(key) and (key not in {"IS", "WHERE"} or keys[self.i + 1] in AFTER_NAME):
                element.variable = self._name()
                self.variables.add(self.folded(element.variable))
            if self._take(":", "IS"):
                element.begin = self.i
                element.names = self._labels()
                element.end = self.i
                element.is_plain = not {"!", "%", "$"} & set(keys[element.begin : element.end])
            if not element.is_node and self._take("*"):
                element.is_many = True
                self._lengths(element)
            if self._at("{"):
                self._map(element=element)
            elif self._at("$"):
                self._operand()
            if self._take("WHERE"):
                self._expression()
        if element.variable is not None:
            element.is_bound = self.folded(element.variable) in self._scope
            self._scope |= {self.folded(element.variable)}
        return element

    def _lengths(self, element: Element) -> None:
        """Read the path lengths after the star of a relationship."""
        self._skip(NUMBER, "..", *(_PATHS if self.ladybug else ()))
        if self.keys[self.i - 1] == "WSHORTEST" and self._take("("):  # by the weight of a property
            element.keys.append(self._name())
            self._expect(")")
            self._lengths(element)
        elif self.ladybug and self._at("("):
            self._filter()

    def _filter(self) -> None:
        """Read the filter of a path's steps: ``(r, n | WHERE r.km > 1 | {r.km}, {n.name})``."""
        with self._inside() as end:
            while is_word(self.keys[self.i]):
                self.variables.add(self.folded(self._name()))
                self._take(",")
            while self.i < end:
                if not self._take("|", ",", "WHERE"):
                    self._expression()

    def _labels(self, depth: int = 0) -> list[int]:
        """Read a label expression; return the positions of its names.

        `depth` is the number of brackets that surround this part of the expression.
        """
        names: list[int] = []
        while True:
            self._skip("!")
            if self._take("("):
                names += self._labels(depth + 1)
                self._expect(")")
            elif self._take("$"):
                if self._policy.labels is not None:
                    raise Refusal("a computed label could be hidden; write the name of the label")
                self._take("ALL", "ANY")
                self._bracket()
            elif not self._take("%"):
                names.append(self._name("a label"))
            is_either = self._at("|") and (depth > 0 or not self._around)
            if not (is_either or self._at("&", ":")):
                return names
            self.i += is_either and self.keys[self.i + 1] == ":"
            if self._at(":") and not self.ladybug and self.is_limited:
                # Neo4j rejects statements that mix `A:B` and `A&B`
                self.spelled[self.i] = "" if is_either else "&"
            self.i += 1
