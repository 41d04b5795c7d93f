"""What an expression in Cypher is made of."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from itertools import accumulate

from dqa.core.situation import Cell, EdgeSchema, NodeSchema, Schema
from dqa.evaluation.analysis.reading import NOTHING, Reading, Value
from dqa.guard.cypher_tokens import NUMBER, TEXT, Tokens, is_word


def words(text: str) -> frozenset[str]:
    """Return the words of a text, which is easier to read than a list of them."""
    return frozenset(text.split())


_SAME = words("round coalesce tofloat tointeger tostring properties floor ceil nodes relationships")
"""Functions that leave a value what it is."""
_COUNTING = words("count size length")
_MIXING = words("sum avg min max stdev stdevp percentilecont percentiledisc")
_SUMMING = _MIXING | words("count collect")
_COMPARING = words("= <> < > <= >= =~ != AND OR XOR NOT IN IS CONTAINS STARTS ENDS")
_WORKING = words("+ - * / % ^ ||")
_SUBQUERIES = words("EXISTS COUNT COLLECT")


@dataclass(slots=True)
class Expressions:
    """Reads the expressions of one statement; places are numbers of its tokens.

    Attributes
    ----------
    found
        Its tokens.
    schema
        The scenario's.
    fold
        What makes two spellings of one name alike.
    reading
        What is known of the statement.
    known
        What the variables are made of.
    groups
        What the rows of a sum are grouped by.
    first
        The first instance of the subquery that is read, or of all: see `Reading.is_settled`.
    """

    found: Tokens
    schema: Schema
    fold: Callable[[str], str]
    reading: Reading = field(init=False)
    known: dict[str, Value] = field(default_factory=dict)
    groups: list[Value] = field(default_factory=list)
    first: int = 0

    def __post_init__(self) -> None:
        self.reading = Reading(self.schema)

    def split(self, begin: int, end: int, words: Collection[str]) -> Iterator[tuple[str, int, int]]:
        """Yield the parts between such words, outside brackets: the word, and where they stand."""
        keys, closing = self.found.keys, self.found.closing
        word, start, i, cases = "", begin, begin, 0
        while i < end:
            key = keys[i]
            cases = max(0, cases + self._deepening(i))
            before = keys[i - 1] if i > begin else ""
            is_word = key in words and not self._is_name(i)
            if is_word and not cases and before not in {"STARTS", "ENDS"}:
                if word or i > start:
                    yield word, start, i
                word, start = key, i + 1
            i = closing[i] + 1 if i in closing else i + 1
        yield word, start, end

    def _is_name(self, i: int) -> bool:
        """Whether a word of the language stands where only a name can."""
        return i > 0 and self.found.keys[i - 1] in {".", ":", "AS"}

    def _deepening(self, i: int) -> int:
        """Return 1 where a CASE begins, -1 where one ends, and else 0."""
        key = self.found.keys[i]
        return 0 if self._is_name(i) else (key == "CASE") - (key == "END")

    def text(self, i: int) -> str:
        """Return a token, as names are compared."""
        return self.fold(self.found.texts[i])

    def sums(self, begin: int, end: int) -> bool:
        """Whether an expression sums or counts, and so is one number a group."""
        return any(
            self._is_call(i) and self.found.texts[i].lower() in _SUMMING for i in range(begin, end)
        )

    def _is_call(self, i: int) -> bool:
        keys = self.found.keys
        return is_word(keys[i]) and keys[i + 1] == "("

    def property(self, value: Value, name: str) -> Value:
        """Return a property of an element, or a part of a map."""
        if value.fields is not None:
            return value.fields.get(self.fold(name), NOTHING)
        if value.whole is None:
            return Value(value.leaves, value.tests)
        table = self.reading.tables[value.whole]
        owners: list[NodeSchema | EdgeSchema] = [*self.schema.nodes, *self.schema.edges]
        if table is None:
            having = [o for o in owners if self._column(o, name) is not None]
            if len(having) != 1:
                return NOTHING
            table = self.reading.tables[value.whole] = having[0].table
        owner = next(o for o in owners if o.table == table)
        column = self._column(owner, name)
        return Value.of((value.whole, column or name))

    def _column(self, owner: NodeSchema | EdgeSchema, name: str) -> str | None:
        columns = {self.fold(known): column for known, column in owner.properties}
        return columns.get(self.fold(name))

    def constant(self, begin: int, end: int) -> list[Cell] | None:
        """Return a literal's value, in a list; None of what is no literal."""
        keys, texts = self.found.keys, self.found.texts
        if end - begin == 2 and keys[begin] == "-" and keys[begin + 1] == NUMBER:
            found = self.constant(begin + 1, end)
            return [-c for c in found or () if isinstance(c, int | float)]
        if end - begin != 1:
            return None
        if keys[begin] == TEXT:
            return [texts[begin][1:-1].replace("\\'", "'").replace('\\"', '"')]
        if keys[begin] == NUMBER:
            number = float(texts[begin].rstrip("dDfF")) if texts[begin][:2].lower() != "0x" else 0.0
            return [int(number) if number.is_integer() else number]
        word = texts[begin].lower()
        return [word == "true"] if word in {"true", "false"} and word not in self.known else None

    def value(self, begin: int, end: int) -> Value:
        """Return what an expression is made of."""
        keys, closing = self.found.keys, self.found.closing
        while keys[begin] == "(" and closing.get(begin) == end - 1:
            begin, end = begin + 1, end - 1
        if keys[begin] == "{" and closing.get(begin) == end - 1:
            return self._spelled(begin)
        if keys[begin] == "[" and closing.get(begin) == end - 1:
            return self._listed(begin)
        if any(word in _COMPARING for word, _, _ in self.split(begin, end, _COMPARING)):
            return Value.made_of(self._operands(begin, end)).as_test
        found = list(self._operands(begin, end))
        return found[0] if len(found) == 1 and self._is_one(begin, end) else Value.made_of(found)

    def _is_one(self, begin: int, end: int) -> bool:
        """Whether a span is one name, property, call or CASE, and no arithmetic."""
        return not any(word in _WORKING for word, _, _ in self.split(begin, end, _WORKING))

    def _operands(self, begin: int, end: int) -> Iterator[Value]:
        keys, closing = self.found.keys, self.found.closing
        i = begin
        while i < end:
            key = keys[i]
            if key == "CASE":
                stop = self._end_of_case(i, end)
                yield self._case(i + 1, stop)
                i = stop + 1
            elif key in _SUBQUERIES and keys[i + 1] == "{":
                i = closing[i + 1] + 1
            elif self._is_call(i) and keys[i - 1] != ".":
                yield self._function(i)
                i = closing[i + 1] + 1
            elif key in {"(", "[", "{"} and i in closing:
                # An index into a list is a part of what stands before it.
                yield self.value(i, closing[i] + 1)
                i = closing[i] + 1
            elif is_word(key) and self.text(i) in self.known:
                value, i = self.known[self.text(i)], i + 1
                while i + 1 < end and keys[i] == ".":
                    value, i = self.property(value, self.found.texts[i + 1]), i + 2
                if i < end and keys[i] == "{":
                    value, i = self._projected(value, i), closing[i] + 1
                yield value
            else:
                i += 1

    def _projected(self, value: Value, begin: int) -> Value:
        """Return a map projection, ``n {.name, .ingoing}``, by its parts."""
        keys, texts = self.found.keys, self.found.texts
        parts: dict[str, Value] = {}
        for _, first, last in self.split(begin + 1, self.found.closing[begin], {","}):
            if keys[first] == "." and keys[first + 1] == "*":
                return value
            if keys[first] == ".":
                parts[self.text(first + 1)] = self.property(value, texts[first + 1])
            elif last - first > 2:
                parts[self.text(first)] = self.value(first + 2, last)
        return self._held(parts)

    def _spelled(self, begin: int) -> Value:
        items = self.split(begin + 1, self.found.closing[begin], {","})
        return self._held({self.text(i): self.value(i + 2, j) for _, i, j in items if j > i + 2})

    def _held(self, parts: dict[str, Value]) -> Value:
        whole = Value.made_of(parts.values())
        return Value(whole.leaves, whole.tests, fields=parts)

    def _listed(self, begin: int) -> Value:
        """Return a list; of a list comprehension what it makes of its items."""
        keys, end = self.found.keys, self.found.closing[begin]
        if is_word(keys[begin + 1]) and keys[begin + 2] == "IN":
            around, name = dict(self.known), self.text(begin + 1)
            parts = list(self.split(begin + 3, end, {"WHERE", "|"}))
            self.known[name] = source = self.value(parts[0][1], parts[0][2])
            made = [self.value(i, j) for word, i, j in parts if word == "|"]
            self.known = around
            return made[0] if made else source
        items = list(self.split(begin + 1, end, {","}))
        made = [self.value(i, j) for _, i, j in items if j > i]
        return made[0] if len(made) == 1 else Value.made_of(made)

    def _end_of_case(self, begin: int, end: int) -> int:
        """Return where the CASE that begins a span ends."""
        depths = accumulate(self._deepening(i) for i in range(begin, end))
        return next((i for i, deep in enumerate(depths, begin) if deep == 0), end)

    def _case(self, begin: int, end: int) -> Value:
        parts = []
        for word, first, last in self.split(begin, end, {"WHEN", "THEN", "ELSE"}):
            value = self.value(first, last) if last > first else NOTHING
            parts.append(value if word in {"THEN", "ELSE"} else value.as_test)
        return Value.made_of(parts)

    def _function(self, i: int) -> Value:
        keys, end = self.found.keys, self.found.closing[i + 1]
        name = self.found.texts[i].lower()
        first = i + 2
        distinct = keys[first] == "DISTINCT"
        first += distinct
        if first >= end or keys[first] == "*":
            return NOTHING
        arguments = [self.value(i, j) for _, i, j in self.split(first, end, {","}) if j > i]
        if name in _COUNTING:
            return Value.made_of(arguments).as_test
        if name in _MIXING:
            function = f"{name} distinct" if distinct else name
            return self.reading.summed(function, arguments[0], self.groups, self.first)
        if name == "collect":
            return arguments[0]
        given = [value for value in arguments if value != NOTHING]
        return given[0] if name in _SAME and len(given) == 1 else Value.made_of(arguments)
