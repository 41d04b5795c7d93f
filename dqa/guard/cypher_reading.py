"""Read the tokens of one Cypher statement, and note its patterns, names and calls.

A recursive reader: each method reads one construct. A word in the place of a clause or an operator
must be one of the lists; a word in the place of a value is a name, whatever it is spelled like.
Whether the statement makes sense, the server decides. Each expression returns how large its text or
list may become, as far as the statement itself shows it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from operator import mul
from typing import Literal, NamedTuple, NoReturn

from dqa.core.cypher import quote_name
from dqa.guard.cypher_tokens import NUMBER, TEXT, is_word, tokens
from dqa.guard.hints import closest
from dqa.guard.lists import lists
from dqa.guard.policy import Policy
from dqa.guard.verdict import SEVERAL, Refusal

_MOST = 1_000_000
"""Items that one range() may make, and times that one text may be repeated."""
_LARGEST = 4_000_000
"""Items and letters that an expression may make in all."""
_MOST_ROWS = 2_000
"""Rows that count where they are collected; servers bound the memory of more themselves."""
_ACCUMULATOR = 1e12
"""The size of a reduce()'s accumulator while its expression is read."""
_SHORTEST = frozenset({"shortestpath", "allshortestpaths"})
_BEFORE_TEST = frozenset({".", ":", "IS", "{"})
"""What follows a name of which only a property, a label or a type is read."""
_AFTER_NAME = frozenset({")", "]", ":", "{", "*", "$", "IS", "WHERE"})
_BEGINS_NODE = frozenset({")", ":", "{", "$", "IS", "WHERE"})
_BEGINS_VALUE = frozenset({"(", "[", "{", "$", NUMBER, TEXT})
_ENDS_VALUE = frozenset({"", ",", ")", "]", "}", ".", "AS", "=", "<>", ";"})
_SUBQUERIES = frozenset({"EXISTS", "COUNT", "COLLECT"})
_BOOLEAN = frozenset({"AND", "OR", "XOR"})
_COMPARISONS = frozenset({"=", "<>", "!=", "<", ">", "<=", ">="})
_NUMERIC = frozenset({"-", "*", "/", "%", "^"})
_OPERATORS = _NUMERIC | {"+", "=~", "<<", ">>", "||", "&", ":=", "IN", "CONTAINS", "STARTS", "ENDS"}
_JOINS = frozenset({"JOIN", "MULTI_JOIN"})
_SIGNS = frozenset({"-", "+", "!"})
_PATHS = ("SHORTEST", "ALL", "TRAIL", "ACYCLIC", "WSHORTEST")
_TRIMMING = ("BOTH", "LEADING", "TRAILING")
_ORDERS = ("ASC", "ASCENDING", "DESC", "DESCENDING")
_CONTINUING = frozenset(["WHERE", "ORDER", "SKIP", "OFFSET", "LIMIT", "YIELD", "USING", "HINT"])
"""Clauses that belong to the one before."""
_HELP = (
    "only MATCH, OPTIONAL MATCH, WHERE, WITH, UNWIND, CALL of listed procedures, RETURN, ORDER BY, "
    "SKIP, LIMIT and UNION may be used"
)


@dataclass(slots=True)
class Element:
    """A node or relationship in a pattern; positions are numbers of tokens.

    Attributes
    ----------
    opening
        Its bracket; of a relationship without one, its first dash.
    variable
        Its variable.
    begin, end
        Its labels or types: after the colon or IS, and after the last of them; both 0 for none.
    names
        The labels or types that are written.
    is_plain
        Whether each of these is one that it may have, with no negation, wildcard or computed name.
    keys
        The properties of its map, and the weight of a shortest path.
    is_many
        Whether it matches any number of relationships.
    """

    kind: Literal["node", "relationship"]
    opening: int
    variable: int | None = None
    begin: int = 0
    end: int = 0
    names: list[int] = field(default_factory=list)
    is_plain: bool = True
    keys: list[int] = field(default_factory=list)
    is_many: bool = False


class Call(NamedTuple):
    """A call of a function: its name in small letters, and its brackets."""

    name: str
    opening: int
    end: int


class Size(NamedTuple):
    """How large a value may be: in all, and each of its items."""

    total: float = 1.0
    item: float = 1.0


_ONE = Size()


def _sum(sizes: Sequence[Size]) -> Size:
    return Size(sum(s.total for s in sizes), max((s.item for s in sizes), default=1.0))


def _times(items: float, each: float) -> float:
    """Return the size of a list; one of a reduce()'s accumulator may have items in the data."""
    return (max(items, 2.0) if each >= _ACCUMULATOR else items) * each


class CypherReader:
    """Reads one statement.

    Attributes
    ----------
    spelled
        The tokens as they will be written; a policy changes them.
    elements
        The nodes and relationships of all patterns.
    tested
        The labels and types that are tested for outside of patterns.
    variables
        Names of nodes, relationships and paths in patterns.
    uses
        Names that stand as whole values.
    compared
        Pairs of these that are compared with each other alone, by ``=`` or ``<>``.
    properties
        The value (or None where it is not a name) and the property that is read with a dot.
    wholes
        Where ``*`` stands for all properties, or for all that RETURN could show.
    aliases
        The value that AS gives another name, and that name.
    calls, procedures
        Functions, and names of procedures.
    returned
        Where each item of RETURN in the whole statement, without a name, begins and ends.
    colons
        What separates labels and is no ``&``.
    used
        The database that USE names, which is not written again.
    shows, explains, searches, has_path_value, has_computed_label
        What SHOW shows; whether there is EXPLAIN or PROFILE, SEARCH, a path outside of patterns, a
        label or type that the server computes.

    Raises
    ------
    Refusal
        The statement does more than reading, could make values too large, or cannot be read.
    """

    def __init__(self, statement: str, dialect: str, policy: Policy) -> None:
        self.statement, self.ladybug = statement, dialect == "ladybug"
        self.found = tokens(statement, dialect)
        self.keys, self.texts, self.closing = self.found.keys, self.found.texts, self.found.closing
        self.spelled = list(self.found.spelled)
        self.words = words = lists(dialect)
        whole = words["functions of whole elements"]
        self._functions = policy.functions | words["functions"] | whole
        described = policy.procedures | words["describing procedures"]
        self._procedures = described | words["procedures"]
        self._operators = _OPERATORS | _COMPARISONS | _BOOLEAN | _JOINS
        self.elements: list[Element] = []
        self.tested: list[int] = []
        self.variables: set[str] = set()
        self.uses: list[int] = []
        self.compared: list[tuple[int, int]] = []
        self.properties: list[tuple[int | None, int]] = []
        self.wholes: list[int] = []
        self.aliases: list[tuple[int, int]] = []
        self.calls: list[Call] = []
        self.procedures: list[str] = []
        self.returned: list[tuple[int, int]] = []
        self.colons: list[int] = []
        self.shows = self.used = ""
        self.explains = self.searches = self.has_path_value = self.has_computed_label = False
        self.i = self._depth = 0
        self._around = ""
        self._sizes: dict[str, Size] = {}
        self._rows = self._returned = 1.0
        self._statement()

    # Tokens

    def folded(self, i: int) -> str:
        """Return how a name is compared: LadybugDB ignores case."""
        return self.texts[i].lower() if self.ladybug else self.texts[i]

    def _at(self, *keys: str) -> bool:
        return self.keys[self.i] in keys

    def _take(self, *keys: str) -> bool:
        """Step over the next token if it is one of `keys`; whether it was."""
        is_one = self.keys[self.i] in keys
        self.i += is_one
        return is_one

    def _expect(self, *keys: str) -> None:
        """Step over exactly these tokens."""
        for key in keys:
            if not self._take(key):
                self._unexpected(f"{key} is missing before")

    def _name(self, what: str = "a name") -> int:
        """Step over a name; one that is spelled as a word that writes is quoted."""
        if self.keys[self.i] in self.words["writing"]:
            self.spelled[self.i] = quote_name(self.texts[self.i])
        return self._property(what)

    def _property(self, what: str = "a property") -> int:
        if not is_word(self.keys[self.i]):
            self._unexpected(f"{what} is missing before")
        self.i += 1
        return self.i - 1

    def _dotted(self) -> tuple[str, int]:
        """Return a name with its namespaces in small letters, and where it ends."""
        begin = end = self.i
        while self.keys[end + 1] == "." and is_word(self.keys[end + 2]):
            end += 2
        return ".".join(self.texts[begin : end + 1 : 2]).lower(), end

    def _unexpected(self, problem: str = "") -> NoReturn:
        """Refuse the token that is next."""
        key, text = self.keys[self.i], self.texts[self.i]
        if key == ";":
            raise Refusal(SEVERAL)
        if key in self.words["writing"] | {"SHOW", "LOAD"}:
            raise Refusal(f"it contains {key}, and only reading is allowed: write MATCH")
        what = f"'{text[:40]}' (character {self.found.starts[self.i] + 1})" if key else "its end"
        raise Refusal(f"{problem} {what}" if problem else f"{what} is not expected there: {_HELP}")

    # The statement

    def _statement(self) -> None:
        end = len(self.keys) - 1
        while end and self.keys[end - 1] == ";":
            end -= 1
        del self.keys[end:-1]
        if not end:
            raise Refusal("it is empty; write MATCH ... RETURN ...")
        self._prefixes()
        if self._at("SHOW") and not self.ladybug:
            self._show()
        last = self._query(end)
        if not self.shows and last not in {"RETURN", "FINISH", "CALL", "WHEN"}:
            raise Refusal("it returns nothing; end it with RETURN")

    def _prefixes(self) -> None:
        """Read EXPLAIN or PROFILE, CYPHER with harmless options, and USE."""
        while True:
            if self._take("EXPLAIN", "PROFILE"):
                if self.explains:
                    raise Refusal("it has EXPLAIN or PROFILE twice; write one of them")
                self.explains = True
                self.i += self.ladybug and self._at("LOGICAL")
            elif not self.ladybug and self._take("CYPHER"):
                self.i += self.texts[self.i] in {"5", "25"}
                while self._take("PLANNER", "RUNTIME"):
                    self._expect("=")
                    self._name("a value")
            elif not self.ladybug and self._at("USE") and self.keys[self.i + 2] not in {".", "("}:
                self.used = self.texts[self.i + 1]
                self.spelled[self.i] = self.spelled[self.i + 1] = ""
                self.i += 2
            else:
                return

    def _show(self) -> None:
        """Read SHOW and its object; YIELD, WHERE and RETURN are read as elsewhere."""
        begin = self.i = self.i + 1
        while self.keys[self.i] in self.words["shown"]:
            self.i += 1
        self.shows = " ".join(self.keys[begin : self.i])
        if self.shows == "DATABASE" and not self._at("YIELD", "WHERE", ""):
            self._name()
        is_own = "CURRENT USER" in self.shows or "USER DEFINED" in self.shows
        is_complete = self._at("", "YIELD", "WHERE")
        if not is_complete or not self.shows or ("USER" in self.shows and not is_own):
            self._unexpected(
                "SHOW may be used with INDEXES, CONSTRAINTS, FUNCTIONS, PROCEDURES and CURRENT "
                "USER, not with"
            )

    # Clauses

    def _query(self, end: int) -> str:
        """Read clauses up to a token; return the last that does not belong to another."""
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
            case "OPTIONAL":
                if not self._at("MATCH", "CALL"):
                    self._unexpected("MATCH is missing before")
            case "UNION" | "NEXT":
                self._take("ALL", "DISTINCT")
            case "FINISH":
                pass
            case "CALL":
                self._call()
            case "SEARCH":
                self._search()
            case "USING":
                self._hint()
            case "WHEN":
                self._when()
            case _:
                self._items(clause)

    def _when(self) -> None:
        self._expression()
        self._expect("THEN")
        self._subquery()
        if self._take("ELSE"):
            self._subquery()

    def _items(self, clause: str) -> None:
        """Read values with commas, each perhaps with a name or an order."""
        if clause == "ORDER":
            self._expect("BY")
        elif clause == "FILTER":
            self._take("WHERE")
        elif clause in {"WITH", "RETURN"} and self._is_prefix("DISTINCT"):
            self.i += 1
        while True:
            begin = self.i
            if self._take("*"):
                self.wholes += [begin] * (clause == "RETURN")
            else:
                self._item(clause)
                if clause == "RETURN" and not self._depth and self.keys[self.i - 2] != "AS":
                    self.returned.append((begin, self.i))
            if not self._take(","):
                return

    def _item(self, clause: str) -> None:
        begin, after = self.i, self.keys[self.i + 1]
        if clause == "LET":
            self._name()
            self._expect("=")
            return self._hold(begin, self._expression())
        is_end = after in {",", "AS", "}", ""} or after in self.words["clauses"]
        is_case = self.keys[begin] == "CASE" and after == "WHEN"
        if clause == "WITH" and is_end and is_word(self.keys[begin]) and not is_case:
            size = self._sizes.get(self.folded(self._name()), _ONE)
        else:
            size = self._expression()
        self._returned = size.total
        if self._take("AS"):
            alias = self._name()
            self.aliases.append((alias - 2, alias))
            if clause == "UNWIND":
                self._rows *= size.total
                size = Size(size.item, size.item)
            self._hold(alias, size)
        self._take(*_ORDERS)
        return None

    def _hold(self, name: int, size: Size) -> None:
        """Note how large the value of a name may be, wherever the name stands."""
        known = self._sizes.get(self.folded(name), size)
        self._sizes[self.folded(name)] = size if size.total >= known.total else known

    def _call(self) -> None:
        """Read a procedure, or a subquery with the names that it imports."""
        if self._take("("):
            while not self._take(")"):
                if not self._take("*"):
                    self._name()
                self._take(",")
            return self._subquery()
        if self._at("{"):
            return self._subquery()
        if not is_word(self.keys[self.i]):
            self._unexpected("a procedure is missing before")
        name, end = self._dotted()
        self.i = end + 1
        if self._at("="):
            raise Refusal(f"CALL {name} = ... changes a setting, and only reading is allowed")
        if name not in self._procedures:
            meant = closest(name, self._procedures, 0.75, whole=True)
            listed = f" CALL may be used with {', '.join(sorted(self._procedures))}"
            raise Refusal(f"the procedure {name} is not known to only read.{meant or listed}")
        self.procedures.append(name)
        if self._at("("):
            self._bracket()
        return None

    def _subquery(self, *, may_be_pattern: bool = False) -> None:
        if not self._at("{"):
            self._unexpected("{ is missing before")
        end, around = self.closing[self.i], self._around
        self.i, self._around = self.i + 1, ""
        self._depth += 1
        if may_be_pattern and self.keys[self.i] not in self.words["clauses"]:
            self._patterns()
            if self._take("WHERE"):
                self._expression()
        else:
            self._query(end)
        self._depth -= 1
        self._expect("}")
        self._around = around

    def _search(self) -> None:
        """Read ``SEARCH n IN (VECTOR INDEX i FOR ... LIMIT 1) SCORE AS s``."""
        self.searches = True
        self._name()
        self._expect("IN", "(")
        while not self._take(")"):
            if not self._take("VECTOR", "INDEX", "FOR", "WHERE", "LIMIT"):
                self._expression()
        if self._take("SCORE"):
            self._expect("AS")
            self._name()

    def _hint(self) -> None:
        """Read ``USING INDEX n:Movie(title)`` and its like."""
        while self.keys[self.i] not in self.words["clauses"] | {"", "}"}:
            if self._take(":"):
                self.tested.append(self._name("a label"))
            elif not self._take("(", ")", ","):
                self._name()

    # Patterns

    def _patterns(self) -> None:
        self._pattern()
        while self._take(","):
            self._pattern()

    def _pattern(self) -> None:
        """Read a path: perhaps a name, words that select, nodes and relationships."""
        for _ in range(2):
            if is_word(self.keys[self.i]) and self.keys[self.i + 1] == "=":
                self.variables.add(self.folded(self._name()))
                self.i += 1
            while self._at(NUMBER) or (
                self.keys[self.i] in self.words["prefixes"] and self.keys[self.i + 1] != "="
            ):
                self.i += 1
        if self.texts[self.i].lower() in _SHORTEST:
            self.i += 1
            self._expect("(")
            self._chain()
            self._expect(")")
        else:
            self._chain()

    def _chain(self) -> None:
        """Read nodes, relationships and quantified groups in a row."""
        while True:
            first, then = self.keys[self.i + 1 : self.i + 3] if self._at("(") else ("", "")
            if first == "(" or (is_word(first) and then == "="):
                self._expect("(")
                self._pattern()
                if self._take("WHERE"):
                    self._expression()
                self._expect(")")
                self._quantifier()
            elif self._at("("):
                self._element("node")
            else:
                self._unexpected("a node is missing before")
            if self._at("-") or (self._at("<") and self.keys[self.i + 1] == "-"):
                self._relationship()
            elif not self._at("("):
                return

    def _relationship(self) -> None:
        self._take("<")
        dash = self.i
        self._expect("-")
        if self._at("["):
            element = self._element("relationship")
        else:
            element = Element("relationship", dash)
            self.elements.append(element)
        self._expect("-")
        self._take(">")
        element.is_many |= self._quantifier()

    def _quantifier(self) -> bool:
        """Read ``*``, ``+`` or ``{1,3}``; whether there is one."""
        if self._at("{"):
            end = self.closing[self.i]
            if not set(self.keys[self.i + 1 : end]) <= {NUMBER, ","}:
                self._unexpected()
            self.i = end + 1
            return True
        return self._take("*", "+")

    def _element(self, kind: Literal["node", "relationship"]) -> Element:
        """Read a node or relationship in its brackets."""
        element = Element(kind, self.i)
        self.elements.append(element)
        end, keys, around = self.closing[self.i], self.keys, self._around
        self.i, self._around = self.i + 1, ""
        key = keys[self.i]
        if is_word(key) and (key not in {"IS", "WHERE"} or keys[self.i + 1] in _AFTER_NAME):
            element.variable = self._name()
            self.variables.add(self.folded(element.variable))
        if self._take(":", "IS"):
            element.begin = self.i
            element.names = self._labels()
            element.end = self.i
            element.is_plain = not {"!", "%", "$"} & set(keys[element.begin : element.end])
        if kind == "relationship" and self._take("*"):
            element.is_many = True
            self._lengths(element)
        if self._at("{"):
            self._map(element=element)
        elif self._at("$"):
            self._operand()
        if self._take("WHERE"):
            self._expression()
        if self.i != end:
            self._unexpected()
        self.i, self._around = end + 1, around
        return element

    def _lengths(self, element: Element) -> None:
        """Read what stands behind the star of a relationship."""
        while self._take(NUMBER, "..") or (self.ladybug and self._take(*_PATHS)):
            pass
        if self.keys[self.i - 1] == "WSHORTEST" and self._take("("):  # by the weight of a property
            element.keys.append(self._name())
            self._expect(")")
            self._lengths(element)
        elif self.ladybug and self._take("("):  # (r, n | WHERE ... | {...}, {...})
            while is_word(self.keys[self.i]):
                self.variables.add(self.folded(self._name()))
                self._take(",")
            while not self._take(")"):
                if not self._take("|", ",", "WHERE"):
                    self._expression()

    def _labels(self) -> list[int]:
        """Read a label expression; return the names in it."""
        names: list[int] = []
        depth, expects_name = 0, True
        while True:
            if expects_name and self._take("("):
                depth += 1
            elif expects_name and not self._take("!"):
                if self._take("$"):
                    self.has_computed_label = True
                    self._take("ALL", "ANY")
                    if not self._at("("):
                        self._unexpected("( is missing before")
                    self._bracket()
                elif not self._take("%"):
                    names.append(self._name("a label"))
                expects_name = False
            elif depth and self._take(")"):
                depth -= 1
            elif self._at("&", ":") or (self._at("|") and (depth or not self._around)):
                self.i += self._at("|") and self.keys[self.i + 1] == ":"
                self.colons += [self.i] * self._at(":")
                self.i += 1
                expects_name = True
            elif not expects_name:
                return names

    # Expressions

    def _expression(self) -> Size:
        """Read values with operators between them; any comparison makes it a truth value."""
        operators: list[str] = []
        sizes: list[Size] = []
        bare: list[int | None] = []
        while True:
            while self._is_prefix("NOT"):
                self.i += 1
            begin = self.i
            sizes.append(self._operand())
            bare.append(begin if self.i == begin + 1 and is_word(self.keys[begin]) else None)
            key = self.keys[self.i]
            if key not in self._operators and (key != "|" or self._around):
                break
            operators.append(key)
            self.i += 1
            if key in {"STARTS", "ENDS"}:
                self._expect("WITH")
            elif key == "-" and self.ladybug:
                self._take(">")
        around = ["AND", *operators, "AND"]
        for number, key in enumerate(operators):
            one, other = bare[number : number + 2]
            is_alone = {around[number], around[number + 2]} <= _BOOLEAN
            if key in {"=", "<>"} and is_alone and one is not None and other is not None:
                self.compared.append((one, other))
        size = sizes[0] if len(sizes) == 1 else _sum(sizes)
        if size.total % _ACCUMULATOR > _LARGEST:
            raise Refusal(
                f"it could make lists or texts of over {_LARGEST:,} items; use smaller numbers"
            )
        if (_COMPARISONS | _BOOLEAN).intersection(operators):
            return _ONE
        return _ONE if operators and _NUMERIC.issuperset(operators) else size

    def _is_prefix(self, *words: str) -> bool:
        """Whether a word that could be a name is one of the language here."""
        return self._at(*words) and self.keys[self.i + 1] not in _ENDS_VALUE

    def _operand(self) -> Size:
        """Read one value, and what stands behind it."""
        while self._take(*_SIGNS):
            pass
        begin, key = self.i, self.keys[self.i]
        size = _ONE
        if key == "(":
            if self._is_pattern(begin):
                self._chain()
            else:
                size = self._bracket()
        elif key == "[":
            size = self._bracket()
        elif key == "{":
            size = self._map()
        elif self._take("$"):
            if not self._take(NUMBER):
                self._name("a parameter's name")
        elif self._take(TEXT):
            length = max(len(self.texts[begin]) - 2.0, 1.0)
            size = Size(length, length)
        elif is_word(key):
            size = self._word(key)
        elif not self._take(NUMBER):
            self._unexpected()
        return self._after_value(begin, size)

    def _after_value(self, begin: int, size: Size) -> Size:
        """Read properties, indexes, tests and projections behind a value."""
        while True:
            is_name = self.i == begin + 1 and is_word(self.keys[begin])
            if self._take("."):
                if self._at("*"):
                    self.wholes.append(self.i)
                    self.i += 1
                else:
                    self.properties.append((begin if is_name else None, self._property()))
            elif self._at("["):
                self._bracket(is_index=True)
            elif self._at(":") and not (self.ladybug and self._around == "index"):
                self.i += 1
                self.tested += self._labels()
                size = _ONE
            elif self._take("::"):
                self._type()
            elif self._take("IS"):
                self._is()
                size = _ONE
            elif self._at("{") and is_name:
                size = _sum([size, self._map(variable=begin)])
            elif not (self.ladybug and self._take("!")):
                return size

    def _word(self, key: str) -> Size:
        """Read what begins with a word: CASE, a subquery, a call or a name."""
        if self._is_prefix("CASE"):
            return self._case()
        after = self.keys[self.i + 1]
        if key in _SUBQUERIES and after == "{" and self.keys[self.i + 2] not in {".", "}"}:
            self.i += 1
            self._subquery(may_be_pattern=True)
            is_list = key == "COLLECT"
            rows = min(self._rows, _MOST_ROWS)
            return Size(_times(rows, self._returned), self._returned) if is_list else _ONE
        name, end = self._dotted()
        if self.keys[end + 1] == "(":
            return self._function(name, end)
        is_before_value = after in _BEGINS_VALUE or (
            is_word(after)
            and after not in self._operators | self.words["operators"] | self.words["clauses"]
        )
        if key in self.words["writing"] and is_before_value:
            self._unexpected()
        i = self._name()
        if after not in _BEFORE_TEST:
            self.uses.append(i)
        return self._sizes.get(self.folded(i), _ONE)

    def _case(self) -> Size:
        """Read CASE ... WHEN ... THEN ... ELSE ... END; one of its values is the result."""
        self.i += 1
        begin, sizes = self.i, [_ONE]
        while not self._take("END"):
            is_result = self._take("THEN", "ELSE")
            if not (is_result or self._take("WHEN", ",") or self.i == begin):
                self._unexpected()
            if not is_result and self._take("IS"):  # as in WHEN IS NULL
                self._is()
                continue
            self.i += not is_result and self.keys[self.i] in self._operators - _SIGNS
            size = self._expression()
            sizes += [size] * is_result
        return max(sizes, key=lambda size: size.total)

    def _function(self, name: str, end: int) -> Size:
        """Read a call, and return how large its result may be."""
        if name in _SHORTEST:
            self.has_path_value = True
            self.i = end + 2
            self._chain()
            self._expect(")")
            return _ONE
        if name not in self._functions:
            if self.keys[self.i] in self.words["writing"]:
                self._unexpected()
            meant = closest(name, self._functions, 0.8, whole=True)
            raise Refusal(f"the function {name} is not known to only read.{meant}".strip("."))
        self.i = end + 1
        self.calls.append(Call(name, self.i, self.closing[self.i]))
        return self._bracket(name)

    def _bracket(self, name: str = "", *, is_index: bool = False) -> Size:
        """Read values in brackets: of a list, a call, an index, or around an expression."""
        keys, first = self.keys, self.i + 1
        is_list, end, around = self._at("["), self.closing[self.i], self._around
        self.i, self._around = first, "index" if is_index else "list" * (is_list or bool(name))
        is_bound = bool(self._around) and is_word(keys[first])
        is_path = is_bound and keys[first + 1] == "="
        if name == "reduce" and is_path:
            size = self._reduce()
        elif is_list and self._is_pattern(first + 2 * is_path):
            self._pattern()
            size = self._repeated(_ONE, end)
        elif is_bound and keys[first + 1] == "IN":
            size = self._repeated(self._bound(), end)
        else:
            sizes = self._arguments(name, end)
            most = max(self._numbers(first, end), default=1.0)
            size = self._result(name, sizes, most, is_list=is_list)
            if name == "range":
                size = Size(self._length(first, end))
        if self.i != end:
            self._unexpected()
        self.i, self._around = end + 1, around
        return _ONE if name in self.words["short functions"] else size

    def _bound(self) -> Size:
        """Read ``x IN list``; return the size of the list."""
        name = self._name()
        self._expect("IN")
        size = self._expression()
        self._hold(name, Size(size.item, size.item))
        return size

    def _repeated(self, size: Size, end: int) -> Size:
        """Read the condition and the value of a comprehension over a list of some size."""
        if self._take("WHERE"):
            self._expression()
        if self._take("|"):
            each = self._expression()
            size = Size(_times(size.total, each.total), each.total)
        while self.i < end and self._take(","):
            self._expression()
        return size

    def _reduce(self) -> Size:
        """Read ``reduce(name = value, x IN list | expression)``.

        The accumulator counts as `_ACCUMULATOR`: an expression of twice that doubles it at every
        step, and so makes a text or a list that no memory holds.
        """
        name = self._name()
        self._expect("=")
        start = self._expression()
        self._expect(",")
        items = self._bound()
        self._expect("|")
        before = self._sizes.get(self.folded(name))
        self._sizes[self.folded(name)] = Size(_ACCUMULATOR, _ACCUMULATOR)
        each = self._expression().total
        self._sizes[self.folded(name)] = before or _ONE
        if each >= 2 * _ACCUMULATOR:
            raise Refusal(f"reduce() could double {self.texts[name]} at each step; use it once")
        added = each % _ACCUMULATOR
        total = start.total + items.total * added
        return Size(total, max(start.item, added))

    def _arguments(self, name: str, end: int) -> list[Size]:
        """Read values with commas, or with the dots of a slice."""
        sizes: list[Size] = []
        between = [",", "..", "|", *([":"] * (self._around == "index"))]
        if name and self._take("*"):
            return sizes
        while self.i < end:
            if self._take(*between):
                continue  # as in list[..2]
            if self._is_prefix("DISTINCT", *(_TRIMMING if name == "trim" else ())):
                self.i += 1
            sizes.append(self._expression())
            if self._take("AS"):
                self._type()
            if self.i < end and not self._take(*between, "WHERE", "FROM"):
                self._unexpected()
        return sizes

    def _result(self, name: str, sizes: list[Size], most: float, *, is_list: bool) -> Size:
        """Return how large the result of a call may be, or what brackets hold."""
        size, words = _sum(sizes), self.words
        total = size.total
        if is_list:
            return Size(total, max((s.total for s in sizes), default=1.0))
        if not name:
            return sizes[0] if len(sizes) == 1 else size
        if name == "collect":
            return Size(total * min(self._rows, _MOST_ROWS), total)
        if name in words["repeating functions"]:
            total = sizes[0].total * self._bounded(name, most)
        elif name in words["padding functions"]:
            total += self._bounded(name, most)
        elif name in words["replacing functions"]:
            total *= max(1.0, sizes[-1].total)
        elif name not in words["functions that do not lengthen"]:
            total *= 2.0
        return Size(total, total)

    def _bounded(self, name: str, items: float) -> float:
        if items > _MOST:
            raise Refusal(f"{name}() may make at most {_MOST:,} items; use smaller numbers")
        return max(items, 1.0)

    def _numbers(self, begin: int, end: int) -> list[float]:
        return [_number(self.texts[i]) for i in range(begin, end) if self.keys[i] == NUMBER]

    def _length(self, begin: int, end: int) -> float:
        """Return how long a range is: as its numbers say, or at most as the longest of them."""
        numbers, written = self._numbers(begin, end), "".join(self.keys[begin:end])
        plain = re.fullmatch("([-+]?)0,([-+]?)0(?:,([-+]?)0)?", written)
        if plain is not None:
            signs = (-1.0 if sign == "-" else 1.0 for sign in plain.groups(""))
            start, stop, step = [*map(mul, signs, numbers), 1.0][:3]
            return self._bounded("range", abs((stop - start) / (step or 1.0)) + 1)
        is_computed = self.ladybug and ("*" in written or "^" in written)
        return self._bounded("range", math.inf if is_computed else max(numbers, default=1.0)) ** 0

    def _map(self, element: Element | None = None, variable: int | None = None) -> Size:
        """Read a map, or the projection of a variable."""
        end, sizes, around = self.closing[self.i], [_ONE], self._around
        self.i, self._around = self.i + 1, ""
        while self.i < end:
            is_key = is_word(self.keys[self.i]) or self._at(TEXT)
            if variable is not None and self._take("."):
                if self._at("*"):
                    self.wholes.append(self.i)
                    self.i += 1
                else:
                    self.properties.append((variable, self._property()))
            elif is_key and self.keys[self.i + 1] == ":":
                if element is not None:
                    element.keys.append(self.i)
                self.i += 2
                sizes.append(self._expression())
            else:
                sizes.append(self._expression())
            if self.i < end:
                self._expect(",")
        self.i, self._around = end + 1, around
        return _sum(sizes)

    def _is_pattern(self, i: int) -> bool:
        """Whether a token begins a node that a relationship follows, as servers look ahead."""
        keys, closing = self.keys, self.closing
        if keys[i] != "(":
            return False
        end = closing[i] + 1
        end += keys[end] == "<"
        if keys[end] != "-":
            return False
        end = closing[end + 1] + 1 if keys[end + 1] == "[" else end + 1
        first = keys[i + 1]
        is_node = first in _BEGINS_NODE or (is_word(first) and keys[i + 2] in _AFTER_NAME)
        return is_node and keys[end] == "-"

    def _is(self) -> None:
        """Read what follows IS: ``[NOT] NULL``, a type, a normal form, or labels."""
        self._take("NOT")
        self._take("NFC", "NFD", "NFKC", "NFKD")
        if not self._take("NULL", "NORMALIZED"):
            if self._take("::", "TYPED"):
                self._type()
            else:
                self.tested += self._labels()

    def _type(self) -> None:
        """Read a type: words, and brackets around others."""
        begin, types = self.i, self.words["types"]
        while self.keys[self.i] in types or (self.i > begin and self._at("<", ">", "!")):
            self.i += 1
            if self.ladybug and self._at("(", "["):
                self.i = self.closing[self.i] + 1
        if self.i == begin:
            self._unexpected("a type is missing before")
        if self._at("|") and self.keys[self.i + 1] in types:
            self.i += 1
            self._type()


def _number(text: str) -> float:
    plain = text.replace("_", "")
    is_coded = plain[:2].lower() in {"0x", "0o"}
    return float(int(plain, 0)) if is_coded else float(plain.rstrip("dDfF"))
