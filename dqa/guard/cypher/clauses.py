"""Reads statements: a query of clauses that read, or a SHOW command."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import ClassVar

from dqa.guard.cypher.calls import did_you_mean
from dqa.guard.cypher.expressions import ExpressionParser
from dqa.guard.cypher.facts import IN_LIST, IN_MAP, ITSELF, UNKNOWN, MatchSpot
from dqa.guard.cypher.failure import NotAllowedError
from dqa.guard.cypher.lexer import NAME, NUMBER
from dqa.guard.cypher.words import NAMES, PROCEDURES, SEARCHES, SHOWN, SHOWN_KINDS, words

_OPTIONS = frozenset({"planner", "runtime"})
"""Options after CYPHER that choose how to read, not what."""
_EXECUTION = frozenset({"EXPLAIN", "PROFILE"})
_DIRECTIONS = frozenset({"ASC", "ASCENDING", "DESC", "DESCENDING"})
_MODES = words("REPEATABLE DIFFERENT ELEMENT ELEMENTS RELATIONSHIP RELATIONSHIPS BINDINGS")
_HINTS = words("INDEX BTREE TEXT RANGE POINT SEEK SCAN JOIN ON")
_LAST = frozenset({"RETURN", "FINISH", "CALL"})


class ClauseParser(ExpressionParser):
    """The part of the parser that reads statements and clauses."""

    def statement(self) -> None:
        """Read the one statement there is."""
        if not self.keys[0]:
            raise NotAllowedError("it is empty; write MATCH ... RETURN ...")
        self._prefixes()
        if self.keys[self.i] == "SHOW" and not self.ladybug:
            self._show()
        elif self.keys[self.i] not in self._CLAUSES:
            self._begins_wrong()
        else:
            self.query(final=True)
        while self.at(";"):
            pass
        if self.keys[self.i]:
            if self.keys[self.i - 1] == ";":
                self.i -= 1
            self.unexpected()

    def query(self, *, final: bool) -> int:
        """Read single queries and the UNIONs between them."""
        outer = self.scope
        self.scope = dict(outer)
        trace = self._single_query(final=final)
        returned = self.scope
        while self.at("UNION"):
            if self.keys[self.i] in {"ALL", "DISTINCT"}:
                self.i += 1
            self.scope = dict(outer)
            trace |= self._single_query(final=final)
            for name, held in self.scope.items():
                returned[name] = returned.get(name, 0) | held
        self.scope = returned
        return trace

    def _single_query(self, *, final: bool) -> int:
        keys, last = self.keys, ""
        while True:
            key = keys[self.i]
            reader = self._CLAUSES.get(key)
            if reader is None:
                if key in {"", ";", "}", "UNION"}:
                    break
                self.unexpected()
            last = key
            if key == "RETURN":
                self.i += 1
                return self._projection(final=final, returns=True)
            reader(self)
        if final and last not in _LAST:
            raise NotAllowedError("it returns nothing; end it with RETURN")
        self.scope = {}  # a subquery that ends with FINISH names nothing outside
        return 0

    def _prefixes(self) -> None:
        """Read EXPLAIN or PROFILE, and CYPHER with harmless options.

        PROFILE runs the query, so whatever may not run may not be measured either.
        """
        keys, texts = self.keys, self.texts
        modes: set[str] = set()
        while True:
            key = keys[self.i]
            if key in _EXECUTION:
                modes.add(key)
                self.facts.explains = True
                if len(modes) > 1:
                    raise NotAllowedError("it has EXPLAIN and PROFILE; write one of them")
                self.i += 1
                if self.ladybug and key == "EXPLAIN":
                    self.at("LOGICAL")
            elif key == "CYPHER" and not self.ladybug:
                self.i += 1
                if keys[self.i] == NUMBER and texts[self.i] in {"5", "25"}:
                    self.i += 1
                while keys[self.i + 1 : self.i + 2] == ["="]:
                    if texts[self.i].lower() not in _OPTIONS or keys[self.i + 2] not in NAMES:
                        self.unexpected("only planner and runtime may be set, not")
                    self.i += 3
            else:
                return

    def _begins_wrong(self) -> None:
        key = self.keys[self.i]
        if key in NAMES and key != NAME:
            raise NotAllowedError(
                f"it begins with {key}, and only reading is allowed: write MATCH ... RETURN ..."
            )
        self.unexpected()

    def _match(self) -> None:
        self.i += 1
        while self.keys[self.i] in _MODES:
            self.i += 1
        first = len(self.facts.spots)
        self.pattern_list()
        last = len(self.facts.spots)
        if not self.ladybug:
            while self.keys[self.i] == "USING":
                self._using()
        begin = self.ends[self.i - 1]
        has_condition = self.keys[self.i] == "WHERE"
        if has_condition:
            begin = self.ends[self.i]
        self._where()
        end = self.ends[self.i - 1]
        self.facts.matches.append(MatchSpot(first, last, begin, end, has_condition))
        if self.ladybug and self.at("HINT"):
            while self.keys[self.i] in {"(", ")", "JOIN", "MULTI_JOIN", NAME}:
                self.i += 1

    def _using(self) -> None:
        """Read a hint such as ``USING INDEX n:Label(name)``."""
        keys = self.keys
        self.i += 1
        if keys[self.i] not in _HINTS:
            self.unexpected("a hint like USING INDEX n:Label(name) may not have")
        while keys[self.i] in _HINTS and keys[self.i + 1] != ":":
            self.i += 1
        while True:
            self.name()
            if keys[self.i] == ":":
                self.labels()
            if keys[self.i] == "(":
                self.i = self.closing[self.i] + 1
            if not self.at(","):
                return

    def _optional(self) -> None:
        self.i += 1
        if self.keys[self.i] == "CALL":
            self._call()
        elif self.keys[self.i] == "MATCH":
            self._match()
        else:
            self.unexpected("MATCH is missing before")

    def _where(self) -> None:
        if self.at("WHERE"):
            self.expression()

    def _unwind(self) -> None:
        self.i += 1
        trace = self.expression()
        self.expect("AS")
        self.scope[self.name()] = trace | ITSELF if trace else 0

    def _with(self) -> None:
        self.i += 1
        self._projection(final=False, returns=False)
        self._where()

    def _projection(self, *, final: bool, returns: bool) -> int:
        """Read what WITH and RETURN have in common, and return the trace of the items."""
        keys, outer = self.keys, self.scope
        inner: dict[str, int] = {}
        total = 0
        if keys[self.i] == "DISTINCT" and keys[self.i + 1] not in {",", "AS", ".", "="}:
            self.i += 1
        if self.at("*"):
            self.facts.has_star = True
            inner = dict(outer)
            if final:
                self.facts.wholes.extend((held, name) for name, held in outer.items() if held)
            for held in outer.values():
                total |= held
            more = self.at(",")
        else:
            more = True
        while more:
            begin = self.i
            trace = self.expression()
            text = self.texts[begin]
            if self.at("AS"):
                inner[self.name()] = trace
            else:
                if self.i == begin + 1:
                    inner[self.folded(text)] = trace
                if final:
                    self.facts.columns.append((self.starts[begin], self.ends[self.i - 1]))
            if final and trace:
                self.facts.wholes.append((trace, text))
            total |= trace
            more = self.at(",")
        self.scope = outer | inner  # what is ordered by may be a column or a variable
        self._slice()
        self.scope = inner
        if not returns and keys[self.i] == "WHERE":  # WHERE sees both in some versions
            self.scope = outer | inner
            self._where()
            self.scope = inner
        return total

    def _slice(self) -> None:
        """Read ORDER BY, SKIP or OFFSET, and LIMIT, each if it is there."""
        keys = self.keys
        if self.at("ORDER"):
            self.expect("BY")
            while True:
                self.expression()
                if keys[self.i] in _DIRECTIONS:
                    self.i += 1
                if not self.at(","):
                    break
        while keys[self.i] in {"SKIP", "OFFSET", "LIMIT"}:
            self.i += 1
            self.expression()

    def _finish(self) -> None:
        self.i += 1

    def _call(self) -> None:
        self.i += 1
        if self.keys[self.i] == "{":
            self._subquery_call(dict(self.scope))
        elif self.keys[self.i] == "(":
            self._scoped_call()
        else:
            self._procedure()

    def _scoped_call(self) -> None:
        """Read ``CALL (a, b) {...}``."""
        self.i += 1
        imported: dict[str, int] = {}
        if self.at("*"):
            imported = dict(self.scope)
        elif self.keys[self.i] != ")":
            while True:
                name = self.name()
                imported[name] = self.scope.get(name, 0)
                if not self.at(","):
                    break
        self.expect(")")
        if self.keys[self.i] != "{":
            self.unexpected("a subquery in braces is missing before")
        self._subquery_call(imported)

    def _subquery_call(self, imported: dict[str, int]) -> None:
        self.deeper()
        outer = self.scope
        self.scope = imported
        self.i += 1
        self.query(final=False)
        self.expect("}")
        if self.keys[self.i] == "IN":
            raise NotAllowedError(
                "CALL { ... } IN TRANSACTIONS commits; leave out what follows the braces"
            )
        self.scope = outer | self.scope
        self.shallower()

    def _procedure(self) -> None:
        """Read the call of a procedure or table function, and what it yields."""
        name = self.dotted()
        if self.keys[self.i] == "=":
            raise NotAllowedError(
                f"CALL {name} = ... changes a setting, and only reading is allowed"
            )
        if name not in self.procedures:
            hint = did_you_mean(name, self.procedures)
            listed = f"; CALL may be used with {', '.join(sorted(self.procedures))}"
            raise NotAllowedError(f"the procedure {name} is not known to only read{hint or listed}")
        self.facts.procedures.append(name)
        if self.at("("):
            if self.keys[self.i] != ")":
                self.argument(0)
                while self.at(","):
                    self.argument(0)
            self.expect(")")
        known = name in PROCEDURES["ladybug" if self.ladybug else "neo4j"]
        held = 0 if known and name not in SEARCHES else ITSELF | IN_LIST | IN_MAP | UNKNOWN
        if self.ladybug:
            self.scope["node"] = held  # what is not renamed is in scope without YIELD
            self._where()
        if self.at("YIELD"):
            self._yielded(held)
            self._where()
        elif held and not self.ladybug:
            self.facts.wholes.append((held, name))

    def _yielded(self, held: int) -> None:
        if self.at("*"):
            self.facts.wholes.append((held, "YIELD *"))
            return
        while True:
            name = self.name()
            if self.at("AS"):
                name = self.name()
            self.scope[name] = held
            if not self.at(","):
                return

    def _show(self) -> None:
        """Read SHOW of what the database has, with its YIELD, WHERE and RETURN."""
        keys = self.keys
        self.i += 1
        begin = self.i
        while keys[self.i] in SHOWN_KINDS and keys[self.i] not in SHOWN:
            self.i += 1
        if keys[self.i] == "USER" and keys[self.i + 1] == "DEFINED":
            self.i += 2
        if keys[self.i] not in SHOWN:
            self.i = begin
            self.unexpected(
                "SHOW may be used with INDEXES, CONSTRAINTS, FUNCTIONS, PROCEDURES and DATABASES, "
                "not with"
            )
        self.facts.shows = True
        databases = keys[self.i] in {"DATABASE", "DATABASES"}
        self.i += 1
        if databases and keys[self.i] == NAME:
            self.i += 1
        if self.at("EXECUTABLE") and self.at("BY"):
            self.expect("CURRENT")
            self.expect("USER")
        if keys[self.i] in {"BRIEF", "VERBOSE"}:
            self.i += 1
            self.at("OUTPUT")
        self._where()
        if self.at("YIELD"):
            self._yielded(0)
            self._slice()
            self._where()
            if self.at("RETURN"):
                self._projection(final=True, returns=True)

    _CLAUSES: ClassVar[Mapping[str, Callable[..., None]]] = {
        "MATCH": _match,
        "OPTIONAL": _optional,
        "WITH": _with,
        "UNWIND": _unwind,
        "RETURN": _with,
        "CALL": _call,
        "FINISH": _finish,
        **dict.fromkeys(("ORDER", "SKIP", "OFFSET", "LIMIT"), _slice),
    }
