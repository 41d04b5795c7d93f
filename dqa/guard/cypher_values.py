"""Read the values of a Cypher statement.

Each method reads one construct. A word in the position of an operator must be on an allow-list. A
word in the position of a value is a name, even if it is spelled like a keyword. The methods return
the maximum size of the value that they read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise

from dqa.guard import cypher_sizes as sizing
from dqa.guard.check import Refusal
from dqa.guard.cypher_cursor import Call, Cursor, Element
from dqa.guard.cypher_sizes import ONE, Size, sum_of
from dqa.guard.cypher_tokens import NUMBER, TEXT, is_word
from dqa.guard.hints import closest
from dqa.guard.policy import Policy

SHORTEST = frozenset({"shortestpath", "allshortestpaths"})
AFTER_NAME = frozenset({")", "]", ":", "{", "*", "$", "IS", "WHERE"})
_BEFORE_TEST = frozenset({".", ":", "IS", "{"})
"""Tokens after a name that read only a property, a label or a type of the named value."""
_BEGINS_NODE = frozenset({")", ":", "{", "$", "IS", "WHERE"})
_BEGINS_VALUE = frozenset({"(", "[", "{", "$", NUMBER, TEXT})
_SUBQUERIES = frozenset({"EXISTS", "COUNT", "COLLECT"})
_BOOLEAN = frozenset({"AND", "OR", "XOR"})
_COMPARISONS = frozenset({"=", "<>", "!=", "<", ">", "<=", ">="})
_NUMERIC = frozenset({"-", "*", "/", "%", "^"})
_SIGNS = frozenset({"-", "+", "!"})
_OTHERS = {"+", "=~", "<<", ">>", "||", "&", ":=", "IN", "CONTAINS", "STARTS", "ENDS"}
_OPERATORS = _BOOLEAN | _COMPARISONS | _NUMERIC | _OTHERS | {"JOIN", "MULTI_JOIN"}
_TRIMMING = ("BOTH", "LEADING", "TRAILING")


class ValueReader(Cursor):
    """Reads the values of a statement; a subclass reads patterns and clauses."""

    _subquery: Callable[..., None]
    _pattern: Callable[[], None]
    _chain: Callable[[], None]
    _labels: Callable[[], list[int]]

    def __init__(self, statement: str, dialect: str, policy: Policy) -> None:
        super().__init__(statement, dialect, policy)
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

    @contextmanager
    def _repeated(self, items: float) -> Iterator[None]:
        """Read an expression that a list function evaluates for each of `items` items."""
        steps, self._steps = self._steps, self._steps * items
        if not self.ladybug:  # LadybugDB runs in a worker process, which can be killed
            sizing.require_few_steps(self._steps)
        yield
        self._steps = steps

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
        bare: list[int | None] = []
        while True:
            while self._is_prefix("NOT"):
                self.i += 1
            begin = self.i
            sizes.append(self._operand())
            if operators and operators[-1] == "=~" and not self.ladybug:
                self._require_fast_pattern(begin, sizes[:-1])
            bare.append(begin if self._is_one_name(begin) else None)
            key = self.keys[self.i]
            if key not in _OPERATORS and (key != "|" or self._around):
                break
            operators.append(key)
            self.i += 1
            if key in {"STARTS", "ENDS"}:
                self._expect("WITH")
            elif key == "-" and self.ladybug:
                self._take(">")
        around = ["AND", *operators, "AND"]
        for number, (one, other) in enumerate(pairwise(bare)):
            is_test = operators[number] in {"=", "<>"}
            is_test &= {around[number], around[number + 2]} <= _BOOLEAN
            if is_test and one is not None and other is not None:
                self.compared.append((one, other))
        size = sum_of(sizes)
        sizing.require_small(size)
        self._largest = max(self._largest, size.total % sizing.ACCUMULATOR)
        is_short = operators and _NUMERIC.issuperset(operators)
        return ONE if is_short or (_COMPARISONS | _BOOLEAN).intersection(operators) else size

    def _is_one_name(self, begin: int) -> bool:
        """Return whether the tokens from `begin` to the current position are a single name."""
        return self.i == begin + 1 and is_word(self.keys[begin])

    def _operand(self) -> Size:
        """Read one value and its suffixes, such as properties and indexes."""
        self._skip(*_SIGNS)
        begin, key = self.i, self.keys[self.i]
        size = ONE
        if key == "(" and self._is_pattern(begin):
            self._chain()
        elif key in {"(", "["}:
            size = self._bracket()
        elif key == "{":
            size = sum_of(self._map())
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
            is_name = self._is_one_name(begin)
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
                size = sum_of([size, *self._map(variable=begin)])
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
        ends = _OPERATORS | self.words["operators"] | self.words["clauses"]
        is_value_next = after in _BEGINS_VALUE or (is_word(after) and after not in ends)
        if key in self.words["writing"] and is_value_next:
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
            self.i = end + 2
            self._chain()
            self._expect(")")
            return ONE
        if name not in self._functions:
            if self.keys[self.i] in self.words["writing"]:
                self._unexpected()
            meant = closest(name, self._functions, 0.8, whole=True)
            raise Refusal(
                f"the function {name} is not in the list of functions that only read.{meant}".strip(
                    "."
                )
            )
        self.i = end + 1
        self.calls.append(Call(name, self.i, self.closing[self.i]))
        return self._bracket(name)

    def _bracket(self, name: str = "", *, is_index: bool = False) -> Size:
        """Read the content of brackets: a list, arguments, an index or an expression."""
        keys, first, is_list = self.keys, self.i + 1, self._at("[")
        with self._inside("index" if is_index else "list" * (is_list or bool(name))) as end:
            is_bound = bool(self._around) and is_word(keys[first])
            is_path = is_bound and keys[first + 1] == "="
            if name == "reduce" and is_path:
                size = self._reduce(end)
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
        with self._repeated(size.total):
            if self._take("WHERE"):
                self._expression()
            if self._take("|"):
                size = sizing.repeated(size.total, self._expression().total)
        while self.i < end and self._take(","):
            self._expression()
        return size

    def _reduce(self, end: int) -> Size:
        """Read ``reduce(name = value, x IN list | expression)``.

        If the expression is a map whose values read only keys of the accumulator, each value is
        checked separately.
        """
        name = self._name()
        self._expect("=")
        start = self._expression()
        self._expect(",")
        items = self._bound()
        self._expect("|")
        first, folded, before = self.i, self.folded(name), self._size_of(name)
        self._sizes[folded] = Size.of(sizing.ACCUMULATOR)
        reads_keys = all(
            self.keys[i + 1] == "." and is_word(self.keys[i + 2])
            for i in range(first, end)
            if is_word(self.keys[i]) and self.folded(i) == folded
        )
        is_map = reads_keys and self._at("{") and self.closing[first] + 1 == end
        with self._repeated(items.total):
            values = self._map() if is_map else [self._expression()]
        self._sizes[folded] = before
        return sizing.reduced(self.texts[name], start, items, values)

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
        keys, texts = self.keys[first : self.i], self.texts[first : self.i]
        if name == "range":
            return sizing.range_of(keys, texts, self._largest)
        return sizing.call_of(name, sizes, keys, texts, self.words)

    def _map(self, element: Element | None = None, variable: int | None = None) -> list[Size]:
        """Read a map or a map projection; return the sizes of its values."""
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
        return sizes

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
        """Read what follows IS: ``[NOT] NULL``, a type, a normalization form, or labels."""
        self._take("NOT")
        self._take("NFC", "NFD", "NFKC", "NFKD")
        if self._take("::", "TYPED"):
            self._type()
        elif not self._take("NULL", "NORMALIZED"):
            self.tested += self._labels()

    def _type(self) -> None:
        """Read a type, which may contain further types in brackets."""
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
