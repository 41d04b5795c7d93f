"""Read the values of a Cypher statement.

Each method reads one construct. A word in the position of an operator must be on an allow-list. A
word in the position of a value is a name, even if it is spelled like a keyword. The methods return
the maximum size of the value that they read.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from dqa.guard import cypher_sizes as sizing
from dqa.guard.check import Refusal
from dqa.guard.cypher_sizes import ONE, Size, sum_of
from dqa.guard.cypher_tokens import NUMBER, TEXT, Cursor, is_word
from dqa.guard.hints import closest
from dqa.guard.policy import Policy

SHORTEST = frozenset({"shortestpath", "allshortestpaths"})
AFTER_NAME = frozenset({")", "]", ":", "{", "*", "$", "IS", "WHERE"})
_BEFORE_TEST = frozenset({".", ":", "IS", "{"})
"""Tokens after a name that read only a property, a label or a type of the named value."""
_BEGINS_NODE = frozenset({")", ":", "{", "$", "IS", "WHERE"})
_BEGINS_VALUE = frozenset({"[", "{", "$", NUMBER, TEXT})
_SUBQUERIES = frozenset({"EXISTS", "COUNT", "COLLECT"})
_SIGNS = frozenset({"-", "+", "!"})
_JOINING = frozenset({"+", "||", ":="})
"""Operators whose result may be as large as both values."""
_NUMERIC = frozenset({"-", "*", "/", "%", "^", "<<", ">>", "&"})
_TESTS = frozenset({"=", "<>", "!=", "<", ">", "<=", ">=", "=~", "AND", "OR", "XOR", "IN"})
_OPERATORS = _JOINING | _NUMERIC | _TESTS | {"CONTAINS", "STARTS", "ENDS"}
_TRIMMING = ("BOTH", "LEADING", "TRAILING")


@dataclass(slots=True)
class Element:
    """A node or relationship in a pattern. Positions are indexes of tokens.

    Attributes
    ----------
    is_node
        Whether the element is a node.
    opening
        The opening bracket; for a relationship without brackets, the first dash.
    variable
        The variable; None without a variable.
    begin, end
        The range of the labels or types: the position after the colon or IS, and the position after
        the last name. Both are 0 without labels and types.
    names
        The labels or types.
    is_plain
        Whether the labels contain no negation, wildcard or computed name.
    keys
        The properties in the map of the element, and the weight property of a shortest path.
    is_many
        Whether the element matches paths of any length.
    is_bound
        Whether an earlier pattern has bound the variable.
    """

    is_node: bool
    opening: int
    variable: int | None = None
    begin: int = 0
    end: int = 0
    names: list[int] = field(default_factory=list)
    is_plain: bool = True
    keys: list[int] = field(default_factory=list)
    is_many: bool = False
    is_bound: bool = False


class ValueReader(Cursor):
    """Reads the values of a statement; a subclass reads patterns and clauses.

    Attributes
    ----------
    elements
        The nodes and relationships of all patterns.
    tested
        The labels and types in tests outside of patterns.
    variables
        The names of nodes, relationships and paths in patterns.
    uses
        The positions of names that are used as whole values.
    properties
        Each property that is read with a dot, and the name before the dot. The name is None if
        another value precedes the dot.
    wholes
        The positions of ``*`` that selects all properties, or all columns of RETURN.
    aliases
        The positions of each value and of its alias after AS.
    calls
        The name of each called function in lower case, and the position of its opening bracket.
    returned
        The start and the end of each item without an alias in the final RETURN.
    describing
        Parts of the statement that describe the whole database, for messages.
    is_limited
        Whether the policy hides a part of the graph.
    has_path_value
        Whether the statement uses a path pattern as a value.
    """

    _subquery: Callable[..., None]
    _pattern: Callable[[], None]
    _chain: Callable[[], None]
    _labels: Callable[[], list[int]]

    def __init__(self, statement: str, dialect: str, policy: Policy) -> None:
        super().__init__(statement, dialect)
        self._policy = policy
        self.is_limited = policy.limits_graph or policy.inside is not None
        self.elements: list[Element] = []
        self.variables: set[str] = set()
        self.tested: list[int] = []
        self.uses: list[int] = []
        self.wholes: list[int] = []
        self.aliases: list[tuple[int, int]] = []
        self.returned: list[tuple[int, int]] = []
        self.properties: list[tuple[int | None, int]] = []
        self.calls: list[tuple[str, int]] = []
        self.describing: list[str] = []
        self.has_path_value = False
        self._sizes: dict[str, Size] = {}
        self._rows = 1.0  # the maximum number of rows so far; UNWIND multiplies it
        self._largest = 1.0  # the size of the largest value so far
        self._last = ONE  # the size of the last value of a WITH or RETURN
        self._steps = 1.0  # how often list functions evaluate the current expression

    # Sizes

    def _store_size(self, name: int, size: Size) -> None:
        """Store the maximum size of the value of a name, for the whole statement."""
        known = self._sizes.get(self.folded(name), size)
        self._sizes[self.folded(name)] = max(size, known, key=lambda one: one.total)

    def _repeat(self, items: float) -> float:
        """Count the steps of a list function that evaluates the next expression for each item.

        Return the steps before. The caller must restore them after the expression.
        """
        before, self._steps = self._steps, self._steps * items
        if not self.ladybug:  # LadybugDB runs in a worker process, which can be killed
            sizing.require_at_most(sizing.MOST_STEPS, self._steps, "evaluations of an expression")
        return before

    def _require_fast_pattern(self, begin: int, searched: Sequence[Size]) -> None:
        """Check the pattern after ``=~``. It must be a text literal."""
        if self.i != begin + 1 or self.keys[begin] != TEXT or self._at("+", "||"):
            raise Refusal("the pattern after =~ must be a single text, such as '.*word.*'")
        sizing.require_fast_pattern(self.texts[begin], sum_of(searched).total)

    def _size_of(self, name: int) -> Size:
        return self._sizes.get(self.folded(name), ONE)

    def _collected(self, each: Size) -> Size:
        """Return the size of a list with one value per row."""
        return sizing.repeated(min(self._rows, sizing.MOST_ROWS), each.total)

    # Values

    def _expression(self) -> Size:
        """Read values joined by operators; return the size of the result, e.g. of a truth value."""
        operators: list[str] = []
        sizes: list[Size] = []
        while True:
            while self._is_prefix("NOT"):
                self.i += 1
            begin = self.i
            sizes.append(self._operand())
            if operators[-1:] == ["=~"] and not self.ladybug:
                self._require_fast_pattern(begin, sizes[:-1])
            key = self.keys[self.i]
            if key not in _OPERATORS and (key != "|" or self._around):
                break
            operators.append(key)
            self.i += 1
            if key in {"STARTS", "ENDS"}:
                self._expect("WITH")
            elif key == "-" and self.ladybug:
                self._take(">")
        size = sum_of(sizes)
        added = size.total % sizing.ACCUMULATOR
        sizing.require_at_most(sizing.LARGEST, added, "items and characters")
        self._largest = max(self._largest, added)
        is_joined = (_JOINING | _NUMERIC).issuperset(operators)
        is_joined &= not operators or not _JOINING.isdisjoint(operators)
        return size if is_joined else ONE

    def _operand(self) -> Size:
        """Read one value, and properties or indexes after the value."""
        self._skip(*_SIGNS)
        begin, key = self.i, self.keys[self.i]
        size = ONE
        if key == "(" and self._is_pattern(begin):
            scope = self._scope
            self._chain()
            self._scope = scope
        elif key in {"(", "["}:
            size = self._bracket()
        elif key == "{":
            size = self._map()
        elif self._take("$"):
            if not self._take(NUMBER):
                self._name("a parameter's name")
        elif self._take(TEXT):
            size = Size.of(max(len(self.texts[begin]) - 2.0, 1.0))
        elif is_word(key):
            size = self._word(key)
        elif not self._take(NUMBER):
            self._unexpected()
        return self._after_value(begin, size)

    def _after_value(self, begin: int, size: Size) -> Size:
        """Read properties, indexes, tests and projections after a value."""
        while True:
            is_name = self.i == begin + 1 and is_word(self.keys[begin])
            if self._take("."):
                self._read_property(begin if is_name else None)
            elif self._at("["):
                self._bracket(is_index=True)
            elif self._at(":") and not (self.ladybug and self._around == "index"):
                self.i += 1
                self.tested += self._labels()
                size = ONE
            elif self._take("::"):
                self._type()
            elif self._take("IS"):
                self._is()
                size = ONE
            elif self._at("{") and is_name:
                size = sum_of([size, self._map(variable=begin)])
            elif not (self.ladybug and self._take("!")):
                return size

    def _read_property(self, value: int | None) -> None:
        """Read a property, or ``*``, after the dot."""
        if self._take("*"):
            self.wholes.append(self.i - 1)
        else:
            self.properties.append((value, self._property()))

    def _word(self, key: str) -> Size:
        """Read a value that begins with a word: CASE, a subquery, a call or a name."""
        if self._is_prefix("CASE"):
            return self._case()
        after = self.keys[self.i + 1]
        if key in _SUBQUERIES and after == "{" and self.keys[self.i + 2] not in {".", "}"}:
            self.i += 1
            self._subquery(may_be_pattern=True)
            return self._collected(self._last) if key == "COLLECT" else ONE
        name, end = self._dotted()
        if self.keys[end + 1] == "(":
            return self._function(name, end)
        if key in self.words["writing"] and after in _BEGINS_VALUE:
            self._unexpected()
        i = self._name()
        if after not in _BEFORE_TEST:
            self.uses.append(i)
        return self._size_of(i)

    def _case(self) -> Size:
        """Read CASE ... WHEN ... THEN ... ELSE ... END; return the size of the largest result."""
        self.i += 1
        begin, sizes = self.i, [ONE]
        while not self._take("END"):
            if not self._take("WHEN", "THEN", "ELSE", ",") and self.i != begin:
                self._unexpected()
            if self._take("IS"):  # as in WHEN IS NULL
                self._is()
            else:
                self.i += self.keys[self.i] in _OPERATORS - _SIGNS  # as in WHEN > 1
                sizes.append(self._expression())
        return max(sizes, key=lambda size: size.total)

    def _function(self, name: str, end: int) -> Size:
        """Read a function call; return the maximum size of its result."""
        if name in SHORTEST:
            self.has_path_value = True
            self._pattern()
            return ONE
        whole = self.words["functions of whole elements"]
        self._require_listed("function", name, self.words["functions"] | whole)
        self.describing += [f"the function {name}"] * (name in whole)
        self.i = end + 1
        self.calls.append((name, self.i))
        return self._bracket(name)

    def _require_listed(self, kind: str, name: str, listed: frozenset[str]) -> None:
        """Refuse a function or procedure that is neither in the lists nor in the policy."""
        known = listed | getattr(self._policy, f"{kind}s")
        if name not in known:
            if self._at(*self.words["writing"]):
                self._unexpected()
            meant = closest(name, known, 0.8, whole=True)
            raise Refusal(f"the {kind} {name} is not in the list of {kind}s that only read.{meant}")

    def _bracket(self, name: str = "", *, is_index: bool = False) -> Size:
        """Read the content of brackets: a list, arguments, an index or an expression."""
        keys, first, is_list = self.keys, self.i + 1, self._at("[")
        with self._inside("index" if is_index else "list" * (is_list or bool(name))) as end:
            is_bound = bool(self._around) and is_word(keys[first])
            is_path = is_bound and keys[first + 1] == "="
            if name == "reduce" and is_path:
                size = self._reduce()
            elif is_list and self._is_pattern(first + 2 * is_path):
                self._pattern()
                size = self._comprehension(ONE, end)
            elif is_bound and keys[first + 1] == "IN":
                size = self._comprehension(self._bound(), end)
            else:
                size = self._result(name, self._arguments(name, end), first, is_list=is_list)
        return ONE if name in self.words["short functions"] else size

    def _bound(self) -> Size:
        """Read ``x IN list``; return the size of the list."""
        name = self._name()
        self._expect("IN")
        size = self._expression()
        self._store_size(name, Size.of(size.item))
        return size

    def _comprehension(self, size: Size, end: int) -> Size:
        """Check the condition and the value of a list comprehension. Its list has `size` items."""
        steps = self._repeat(size.total)
        if self._take("WHERE"):
            self._expression()
        if self._take("|"):
            size = sizing.repeated(size.total, self._expression().total)
        self._steps = steps
        while self.i < end and self._take(","):
            self._expression()
        return size

    def _reduce(self) -> Size:
        """Read ``reduce(name = value, x IN list | expression)``."""
        name = self._name()
        self._expect("=")
        start = self._expression()
        self._expect(",")
        items = self._bound()
        self._expect("|")
        folded, before = self.folded(name), self._size_of(name)
        self._sizes[folded] = Size.of(sizing.ACCUMULATOR)
        steps = self._repeat(items.total)
        value = self._expression()
        self._steps = steps
        self._sizes[folded] = before
        return sizing.reduced(self.texts[name], start, items, value)

    def _arguments(self, name: str, end: int) -> list[Size]:
        """Read comma-separated values, or the bounds of a slice."""
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

    def _result(self, name: str, sizes: list[Size], first: int, *, is_list: bool) -> Size:
        """Return the maximum size of the result of a call, or of a value in brackets."""
        if is_list or not name:
            return sizing.list_of(sizes) if is_list else sum_of(sizes)
        if name == "collect":
            return self._collected(sum_of(sizes))
        if name == "range":
            outer, i = "", first
            while i < self.i:
                outer += self.texts[i]
                i = self.closing.get(i, i) + 1
            return sizing.range_of(outer, self._largest)
        numbers = [self.texts[i] for i in range(first, self.i) if self.keys[i] == NUMBER]
        return sizing.call_of(name, sizes, numbers, self.words)

    def _map(self, element: Element | None = None, variable: int | None = None) -> Size:
        """Read a map or a map projection; return the total size of its values."""
        sizes = [ONE]
        with self._inside() as end:
            while self.i < end:
                is_key = is_word(self.keys[self.i]) or self._at(TEXT)
                if variable is not None and self._take("."):
                    self._read_property(variable)
                else:
                    if is_key and self.keys[self.i + 1] == ":":
                        if element is not None:
                            element.keys.append(self.i)
                        self.i += 2
                    sizes.append(self._expression())
                if self.i < end:
                    self._expect(",")
        return sum_of(sizes)

    def _is_pattern(self, i: int) -> bool:
        """Return whether a token begins a node pattern that a relationship follows."""
        keys, closing = self.keys, self.closing
        if keys[i] != "(":
            return False
        end = closing[i] + 1
        end += keys[end] == "<"
        if keys[end] != "-":
            return False
        end = closing[end + 1] + 1 if keys[end + 1] == "[" else end + 1
        first = keys[i + 1]
        is_node = first in _BEGINS_NODE or (is_word(first) and keys[i + 2] in AFTER_NAME)
        return is_node and keys[end] == "-"

    def _is(self) -> None:
        """Read the words after IS: ``[NOT] NULL``, a type, a normalization form, or labels."""
        self._take("NOT")
        self._take("NFC", "NFD", "NFKC", "NFKD")
        if self._take("::", "TYPED"):
            self._type()
        elif not self._take("NULL", "NORMALIZED"):
            self.tested += self._labels()

    def _type(self) -> None:
        """Read a type, which may contain further types in brackets."""
        if not self._at(*self.words["types"]):
            self._unexpected("a type is missing before")
        while self._take(*self.words["types"], "<", ">", "!"):
            if self.ladybug and self._at("(", "["):
                self.i = self.closing[self.i] + 1
