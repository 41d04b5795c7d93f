"""Reads expressions.

Precedence changes what a value is, not what it may do, so operands and operators are read in one
flat loop. What is returned is the trace of the value; see `facts`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import ClassVar

from dqa.guard.cypher.calls import CallParser
from dqa.guard.cypher.facts import IN_LIST, IN_MAP, ITSELF, UNKNOWN
from dqa.guard.cypher.lexer import NAME, NUMBER, TEXT
from dqa.guard.cypher.words import EFFECTS, NAMES

_COMPARING = frozenset({"=", "<>", "!=", "<", ">", "<=", ">=", "=~", "AND", "OR", "XOR"})
_PREDICATES = frozenset({"IN", "CONTAINS"})
_COMPUTING = frozenset({"+", "-", "*", "/", "%", "^", "||", *_PREDICATES})
_BITWISE = frozenset({"|", "&", "<<", ">>"})
_ENDS_VALUE = frozenset({"", ",", ")", "]", "}", ".", "AS", "=", "<>", ";"})
_BEGINS_VALUE = frozenset({"(", "[", "{", "$", NUMBER, TEXT, NAME})
_BEGINS_PATTERN = frozenset({"(", "ALL", "ANY", "SHORTEST", "SHORTESTPATH", "ALLSHORTESTPATHS"})
_BEHIND_COLON = NAMES | {"!", "%", "(", "$"}


class ExpressionParser(CallParser):
    """The part of the parser that reads expressions."""

    def expression(self) -> int:
        """Read an expression, and return its trace."""
        self.deeper()
        keys = self.keys
        trace, truth = 0, False
        while True:
            key = keys[self.i]
            while key in {"-", "+"} or (key == "NOT" and not self._is_variable()):
                self.i += 1
                truth = truth or key == "NOT"
                key = keys[self.i]
            value = self._value()
            while True:
                key = keys[self.i]
                if key == "IS":
                    self._is(value)
                elif key == "::":
                    self.i += 1
                    self.type_name()
                else:
                    break
                value = 0
                truth = truth or not self.ladybug
            trace |= value
            if key in _COMPARING:
                truth = True
            elif key in _COMPUTING:
                truth = truth or (key in _PREDICATES and not self.ladybug)
            elif key in {"STARTS", "ENDS"}:
                self.i += 1
                if keys[self.i] != "WITH":
                    self.unexpected("WITH is missing before")
                truth = truth or not self.ladybug
            elif not (self.ladybug and key in _BITWISE and not (key == "|" and self.in_bars)):
                break
            self.i += 1
        self.shallower()
        return 0 if truth else trace

    def _value(self) -> int:
        """Read an operand and what is attached to it."""
        keys, begin = self.keys, self.i
        key = keys[begin]
        reader = self._VALUES.get(key)
        if reader is not None:
            trace = reader(self)
        elif key in NAMES:
            trace = self._named()
        else:
            self.unexpected("a value is missing before" if key else "")
        while True:
            key = keys[self.i]
            if key == ".":
                trace = self._property(trace, begin)
            elif key == "[":
                trace = self._index(trace)
            elif key == ":":
                if keys[self.i + 1] not in _BEHIND_COLON:
                    return trace
                trace = self._tested(trace)
            elif key == "!" and self.ladybug:
                self.i += 1
            else:
                return trace

    def _tested(self, trace: int) -> int:
        """Read a label predicate."""
        names, symbols = self.labels()
        self.facts.tested.extend((trace, name) for name in sorted(names))
        if "$" in symbols:
            self.facts.tested.append((trace, None))
        return 0

    def _named(self) -> int:
        """Read what begins with a name: a function's call, a map projection, a variable."""
        keys, i = self.keys, self.i
        after = keys[i + 1]
        if after == "(":
            return self.call()
        if after == "." and keys[i + 2] in NAMES and self._is_dotted_call(i):
            return self.call()
        if after == "{":
            return self._map_projection()
        # `WITH DISTINCT DELETE [n][0]` can be read in two ways; nobody names a variable like that.
        if keys[i] in EFFECTS and after in _BEGINS_VALUE:
            self.unexpected()
        self.i = i + 1
        return self.scope.get(self.folded(self.texts[i]), 0)

    def _is_dotted_call(self, i: int) -> bool:
        keys, j = self.keys, i
        while keys[j + 1] == "." and keys[j + 2] in NAMES:
            j += 2
        return keys[j + 1] == "("

    def _property(self, trace: int, begin: int) -> int:
        alone = self.i == begin + 1
        self.i += 1
        if self.at("*"):
            self.facts.wholes.append((trace, "*"))
            return 0
        facts, ends = self.facts, self.ends
        value = ends[begin] if alone else -1
        facts.dotted[len(facts.reads)] = self.starts[begin], ends[self.i], value
        facts.reads.append((trace, self.name()))
        return trace if trace & IN_MAP else 0

    def _index(self, trace: int) -> int:
        """Read an index or a slice; of an element it would be a property."""
        keys = self.keys
        self.i += 1
        begin = self.i
        if keys[begin] == TEXT and keys[begin + 1] == "]":
            self.facts.reads.append((trace, self.folded(self.texts[begin][1:-1])))
            if "\\" in self.texts[begin]:
                self.facts.lookups.append((trace, self.texts[begin]))
        elif keys[begin] != NUMBER and trace:
            self.facts.lookups.append((trace, self.texts[begin]))
        if keys[begin] not in {"..", ":"}:
            self.free_expression()
        if (self.at("..") or self.at(":")) and keys[self.i] != "]":
            self.free_expression()
        self.expect("]")
        return trace | ITSELF if trace else 0

    def _is_variable(self) -> bool:
        """Whether a keyword that begins a value is only a variable's name."""
        return self.keys[self.i + 1] in _ENDS_VALUE

    def _literal(self) -> int:
        self.i += 1
        return 0

    def _parameter(self) -> int:
        self.i += 1
        self.parameter()
        return 0

    def _parenthesis(self) -> int:
        if self.is_pattern(self.i):
            return self.path_expression()
        self.i += 1
        trace = self.free_expression()
        self.expect(")")
        return trace

    def _list(self) -> int:
        keys, i = self.keys, self.i
        first = keys[i + 1]
        self.i = i + 1
        if first == "]":
            self.i = i + 2
            return 0
        if first in NAMES and keys[i + 2] == "IN":
            return self._comprehension(pattern=False)
        if first == "(" and self.is_pattern(i + 1):
            return self._comprehension(pattern=True)
        if first in NAMES and keys[i + 2] == "=" and keys[i + 3] == "(" and self.is_pattern(i + 3):
            return self._comprehension(pattern=True)
        trace = self.free_expression()
        while self.at(","):
            trace |= self.free_expression()
        self.expect("]")
        return trace | IN_LIST if trace else 0

    def _comprehension(self, *, pattern: bool) -> int:
        """Read ``x IN list`` or a pattern, then ``WHERE`` and ``|`` parts, up to the bracket."""
        outer, in_bars = self.scope, self.in_bars
        self.scope, self.in_bars = dict(outer), True
        if pattern:
            trace = self._comprehended_pattern()
        else:
            variable = self.name()
            self.i += 1
            trace = self.scope[variable] = self.expression()
        if self.at("WHERE"):
            self.expression()
        bars = 0
        while self.at("|"):
            bars += 1
            trace = self.expression()
        if bars > 1:  # one of them may have been a label predicate's
            self.facts.tested.append((UNKNOWN, None))
        self.expect("]")
        self.scope, self.in_bars = outer, in_bars
        return trace | IN_LIST if trace else 0

    def _comprehended_pattern(self) -> int:
        variable = None
        if self.keys[self.i + 1] == "=":
            variable = self.name()
            self.i += 1
        in_bars, self.in_bars = self.in_bars, False
        trace = self.path_expression()
        self.in_bars = in_bars
        if variable is not None:
            self.scope[variable] = trace
        return trace

    def _map(self) -> int:
        self.i += 1
        trace = 0
        while not self.at("}"):
            if not self.at(TEXT):
                self.name()
            self.expect(":")
            trace |= self.free_expression()
            if self.keys[self.i] != "}":
                self.expect(",")
        return trace | IN_MAP if trace else 0

    def _map_projection(self) -> int:
        """Read ``n {.name, .*, key: value, other}``."""
        keys, trace = self.keys, 0
        what = self.texts[self.i]
        owner = self.scope.get(self.name(), 0)
        self.i += 1
        while not self.at("}"):
            if self.at("."):
                if self.at("*"):
                    self.facts.wholes.append((owner, f"{what} {{.*}}"))
                else:
                    self.facts.reads.append((owner, self.name()))
            elif keys[self.i + 1] == ":":
                self.name()
                self.i += 1
                trace |= self.free_expression()
            else:
                trace |= self.scope.get(self.name(), 0)
            if keys[self.i] != "}":
                self.expect(",")
        return trace | IN_MAP if trace else 0

    def _case(self) -> int:
        if self._is_variable():
            return self._named()
        self.deeper()
        self.i += 1
        keys, trace = self.keys, 0
        if keys[self.i] != "WHEN":
            self.free_expression()
        while self.at("WHEN"):
            self._when()
            while self.at(","):
                self._when()
            self.expect("THEN")
            trace |= self.free_expression()
        if self.at("ELSE"):
            trace |= self.free_expression()
        self.expect("END")
        self.shallower()
        return trace

    def _when(self) -> None:
        """Read a condition, which may begin with the operator that compares to the subject."""
        key = self.keys[self.i]
        if key == "IS" and self.keys[self.i + 1] not in _ENDS_VALUE:
            self._is(0)
            return
        if key == "::":
            self.i += 1
            self.type_name()
            return
        if key in {"STARTS", "ENDS"}:
            self.i += 2 if self.keys[self.i + 1] == "WITH" else 0
        elif key in {"=", "<>", "!=", "<", ">", "<=", ">=", "=~", "CONTAINS", "IN"}:
            self.i += 1
        self.free_expression()

    def _is(self, trace: int) -> None:
        """Read ``IS [NOT] NULL``, a type, a normal form, or a label predicate."""
        keys = self.keys
        i = self.i + 1
        if keys[i] == "NOT":
            i += 1
        key = keys[i]
        if key in {"NFC", "NFD", "NFKC", "NFKD"} and self.texts[i + 1].upper() == "NORMALIZED":
            self.i = i + 2
        elif key == "NULL" or self.texts[i].upper() == "NORMALIZED":
            self.i = i + 1
        elif key in {"::", "TYPED"}:
            self.i = i + 1
            self.type_name()
        else:
            self._tested(trace)

    def _subquery(self) -> int:
        """Read ``EXISTS {...}``, ``COUNT {...}`` or ``COLLECT {...}``, or a name like these."""
        keys, i = self.keys, self.i
        if keys[i + 1] != "{" or keys[i + 2] in {".", "}"}:
            return self._named()
        self.deeper()
        outer, in_bars = self.scope, self.in_bars
        self.scope, self.in_bars = dict(outer), False
        self.i = i + 2
        if keys[i + 2] in _BEGINS_PATTERN or keys[i + 3] == "=":
            first = len(self.facts.spots)
            self.pattern_list()
            self.facts.expressed.append((first, len(self.facts.spots)))
            if self.at("WHERE"):
                self.expression()
            trace = 0
        else:
            trace = self.query(final=False)
        self.expect("}")
        self.scope, self.in_bars = outer, in_bars
        self.shallower()
        return trace | IN_LIST if trace and keys[i] == "COLLECT" else 0

    def _quantifier_or_call(self) -> int:
        """Read ``all(x IN list WHERE ...)`` and its like, or a name like these."""
        keys, i = self.keys, self.i
        if keys[i + 1] != "(" or keys[i + 3] != "IN" or keys[i + 2] not in NAMES:
            return self._named()
        outer, in_bars = self.scope, self.in_bars
        self.scope, self.in_bars = dict(outer), False
        self.i = i + 2
        variable = self.name()
        self.i += 1
        self.scope[variable] = self.expression()
        if self.at("WHERE"):
            self.expression()
        self.expect(")")
        self.scope, self.in_bars = outer, in_bars
        return 0

    def _reduce(self) -> int:
        keys, i = self.keys, self.i
        if keys[i + 1] != "(" or keys[i + 3] != "=":
            return self._named()
        outer, in_bars = self.scope, self.in_bars
        self.scope, self.in_bars = dict(outer), True
        self.i = i + 2
        total = self.name()
        self.i += 1
        trace = self.expression()
        self.expect(",")
        variable = self.name()
        self.expect("IN")
        listed = self.scope[variable] = self.expression()
        self.scope[total] = trace | listed
        self.expect("|")
        trace |= self.expression()
        self.expect(")")
        self.scope, self.in_bars = outer, in_bars
        return trace

    def _shortest(self) -> int:
        if self.keys[self.i + 1] != "(":
            return self._named()
        return self.pattern()

    _VALUES: ClassVar[Mapping[str, Callable[..., int]]] = {
        TEXT: _literal,
        NUMBER: _literal,
        "$": _parameter,
        "(": _parenthesis,
        "[": _list,
        "{": _map,
        "CASE": _case,
        **dict.fromkeys(("EXISTS", "COUNT", "COLLECT"), _subquery),
        **dict.fromkeys(("ALL", "ANY", "NONE", "SINGLE"), _quantifier_or_call),
        "REDUCE": _reduce,
        **dict.fromkeys(("SHORTESTPATH", "ALLSHORTESTPATHS"), _shortest),
    }
