"""What a statement in Cypher shows, by the guard's own lexer and parser."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from dqa.core.situation import Cell, EdgeSchema, NodeSchema, Schema
from dqa.evaluation.analysis.reading import NOTHING, Reading, UnreadableStatementError, Value
from dqa.guard import cypher as guard
from dqa.guard.cypher.failure import NotAllowedError
from dqa.guard.cypher.lexer import NUMBER, TEXT, Tokens, tokens
from dqa.guard.cypher.words import NAMES

_SAME = frozenset(
    "round coalesce tofloat tointeger tostring properties floor ceil nodes relationships".split()
)
"""Functions that leave a value what it is."""
_MIXING = frozenset("sum avg min max stdev stdevp percentilecont percentiledisc".split())
_COMPARING = frozenset(
    "= <> < > <= >= =~ != AND OR XOR NOT IN IS CONTAINS STARTS ENDS".split()
)
_CLAUSES = frozenset("MATCH OPTIONAL WITH UNWIND RETURN CALL ORDER SKIP OFFSET LIMIT WHERE UNION".split())


def read_cypher(statement: str, dialect: str, schema: Schema) -> list[Reading] | None:
    """Return what a query shows, each part of a union by itself; None where it cannot be read.

    Parameters
    ----------
    statement
        As it ran.
    dialect
        One of the guard's for Cypher.
    schema
        The scenario's.
    """
    fold: Callable[[str], str] = str.lower if dialect == "ladybug" else str
    try:
        guard.parsed(statement, dialect)
        found = tokens(statement, dialect)
        reader = _Reader(found, schema, fold)
        parts = list(reader.split(0, len(found.keys) - 1, {"UNION"}))
        return [_Reader(found, schema, fold).read(begin, end) for _, begin, end in parts]
    except (NotAllowedError, RecursionError, UnreadableStatementError):
        return None


@dataclass(slots=True)
class _Reader:
    """Follows what variables are made of, clause by clause."""

    found: Tokens
    schema: Schema
    fold: Callable[[str], str]
    reading: Reading = field(init=False)
    known: dict[str, Value] = field(default_factory=dict)
    groups: list[Value] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.reading = Reading(self.schema)

    def read(self, begin: int, end: int) -> Reading:
        self._clauses(begin, end)
        return self.reading

    def split(self, begin: int, end: int, words: set[str] | frozenset[str]) -> Iterator[tuple[str, int, int]]:
        """Yield the parts between such words, outside brackets: the word, and where they stand."""
        keys, closing = self.found.keys, self.found.closing
        word, start, i, cases = "", begin, begin, 0
        while i < end:
            key = keys[i]
            is_name = i > 0 and keys[i - 1] in {".", ":", "AS"}
            cases += (key == "CASE" and not is_name) - (key == "END" and not is_name and cases > 0)
            before = keys[i - 1] if i > begin else ""
            if key in words and not is_name and not cases and before not in {"STARTS", "ENDS"}:
                if word or i > start:
                    yield word, start, i
                word, start = key, i + 1
            i = closing[i] + 1 if i in closing else i + 1
        yield word, start, end

    def _clauses(self, begin: int, end: int) -> None:
        for word, first, last in self.split(begin, end, _CLAUSES):
            if word == "MATCH":
                self._patterns(first, last)
            elif word == "WHERE":
                self._condition(first, last)
            elif word in {"WITH", "RETURN"}:
                self._projection(first, last, final=word == "RETURN")
            elif word == "UNWIND":
                self._unwind(first, last)
            elif word == "ORDER":
                self._order(first + 1, last)
            elif word == "CALL":
                self._call(first, last)

    def _call(self, begin: int, end: int) -> None:
        keys, closing = self.found.keys, self.found.closing
        start = closing[begin] + 1 if keys[begin] == "(" else begin
        if keys[start] == "{":
            around, shown = dict(self.known), list(self.reading.outputs)
            self._clauses(start + 1, closing[start])
            self.known = around | self.known
            self.reading.outputs = shown
        del end

    def _unwind(self, begin: int, end: int) -> None:
        value = self._value(begin, end - 2)
        self.known[self._text(end - 1)] = value

    def _order(self, begin: int, end: int) -> None:
        for _, first, last in self.split(begin, end, {","}):
            stop = last - (self.found.keys[last - 1] in {"DESC", "ASC", "DESCENDING", "ASCENDING"})
            value = self._value(first, stop)
            if value.term is None:
                self.reading.order.append(value)

    def _projection(self, begin: int, end: int, *, final: bool) -> None:
        """Read the items of WITH or RETURN: those that sum nothing up group the others."""
        keys = self.found.keys
        begin += keys[begin] == "DISTINCT"
        items: list[tuple[str, int, int]] = []
        kept: dict[str, Value] = {}
        for _, first, last in self.split(begin, end, {","}):
            if keys[first] == "*" and last == first + 1:
                kept |= self.known
                continue
            parts = list(self.split(first, last, {"AS"}))
            stop = parts[0][2]
            name = self._text(parts[1][1]) if len(parts) > 1 else self._written(first, last)
            items.append((name, first, stop))
        alone = [(f, l) for _, f, l in items if not self._sums(f, l)]
        self.groups = [*kept.values(), *(self._value(f, l) for f, l in alone)]
        made = {name: self._value(first, last) for name, first, last in items}
        self.groups = []
        if final:
            self.reading.outputs = [*kept.values(), *made.values()]
            self.known = self.known | made
        else:
            self.known = kept | made

    def _written(self, begin: int, end: int) -> str:
        return "".join(self._text(i) for i in range(begin, end))

    def _text(self, i: int) -> str:
        return self.fold(self.found.texts[i])

    def _sums(self, begin: int, end: int) -> bool:
        names = _MIXING | {"count", "collect"}
        return any(self._is_call(i) and self.found.texts[i].lower() in names for i in range(begin, end)) or any(
            self.found.keys[i] == "COLLECT" or self.found.keys[i] == "COUNT" for i in range(begin, end)
        )

    def _is_call(self, i: int) -> bool:
        keys = self.found.keys
        return keys[i] in NAMES and keys[i + 1] == "("

    # Patterns

    def _patterns(self, begin: int, end: int) -> None:
        """Read the nodes and relationships of a MATCH, and what their maps say."""
        keys, closing = self.found.keys, self.found.closing
        i, left = begin, None
        while i < end:
            if keys[i] == "(" and (i == begin or not (keys[i - 1] in NAMES and keys[i - 2] != "=")):
                node = self._element(i, self.schema.nodes)
                if left is not None:
                    self._relationship(left[1], i, left[0], node)
                left = (node, closing[i])
                i = closing[i] + 1
            elif keys[i] == ",":
                left, i = None, i + 1
            elif keys[i] == "WHERE":
                self._condition(i + 1, end)
                return
            else:
                i = closing[i] + 1 if i in closing and keys[i] == "[" else i + 1

    def _relationship(self, begin: int, end: int, left: int, right: int) -> None:
        """Read what stands between two nodes."""
        keys, closing = self.found.keys, self.found.closing
        bracket = next((i for i in range(begin + 1, end) if keys[i] == "["), None)
        from_right = keys[begin + 1] == "<"
        to_right = keys[end - 1] == ">"
        if bracket is None or "*" in keys[bracket : closing[bracket]]:
            if bracket is not None and keys[bracket + 1] in NAMES:
                self.known[self._text(bracket + 1)] = NOTHING
            return
        edge = self._element(bracket, self.schema.edges)
        found = [e for e in self.schema.edges if e.table == self.reading.tables[edge]]
        if not found:
            found = self._possible(left, right)
            if len(found) != 1:
                return
            self.reading.tables[edge] = found[0].table
        schema = found[0]
        ends = self._ends(schema, left, right) if from_right == to_right else None
        if from_right != to_right:
            ends = (right, left) if from_right else (left, right)
        if ends is None:
            return
        for node, (label, column) in zip(ends, (schema.source, schema.target), strict=True):
            made = self.schema.node(label)
            if self.reading.tables[node] is None:
                self.reading.tables[node] = made.table
            self.reading.equate((node, made.key_column), (edge, column))

    def _possible(self, left: int, right: int) -> list[EdgeSchema]:
        """Return the relationships that can stand between two nodes, by their labels."""
        wanted = {self.reading.tables[left], self.reading.tables[right]} - {None}
        tables = {node.label: node.table for node in self.schema.nodes}
        return [
            edge
            for edge in self.schema.edges
            if wanted <= {tables[edge.source[0]], tables[edge.target[0]]}
        ]

    def _ends(self, schema: EdgeSchema, left: int, right: int) -> tuple[int, int] | None:
        """Return source and target where no arrow says it, as far as the labels do."""
        tables = {node.label: node.table for node in self.schema.nodes}
        source, target = tables[schema.source[0]], tables[schema.target[0]]
        here, there = self.reading.tables[left], self.reading.tables[right]
        if source == target:
            return None
        if here == source or there == target:
            return left, right
        return (right, left) if here == target or there == source else None

    def _element(
        self, begin: int, kinds: tuple[NodeSchema, ...] | tuple[EdgeSchema, ...]
    ) -> int:
        """Return the instance of a node or relationship pattern, a new one or a known one."""
        keys, closing = self.found.keys, self.found.closing
        end, i, name = closing[begin], begin + 1, ""
        if keys[i] in NAMES and keys[i] != "WHERE":
            name, i = self._text(i), i + 1
        table = None
        if keys[i] == ":":
            label = self._text(i + 1)
            several = "|" in keys[i:end]
            same = [k.table for k in kinds if self.fold(k.label) == label and not several]
            table = same[0] if same else None
        given = self.known.get(name)
        instance = given.whole if given is not None and given.whole is not None else None
        if instance is None:
            instance = self.reading.instance(table)
            if given is not None and given.term is not None:  # a key handed on under a name
                pass
        elif table is not None and self.reading.tables[instance] is None:
            self.reading.tables[instance] = table
        if name:
            self.known[name] = Value(whole=instance)
        for j in range(i, end):
            if keys[j] == "{":
                self._map(j, instance)
                break
        for j in range(i, end):
            if keys[j] == "WHERE":
                self._condition(j + 1, end)
                break
        return instance

    def _map(self, begin: int, instance: int) -> None:
        """Note what a pattern's map of properties says."""
        for _, first, last in self.split(begin + 1, self.found.closing[begin], {","}):
            value = self._property(Value(whole=instance), self.found.texts[first])
            constant = self._constant(first + 2, last)
            if constant is not None:
                self._restrict(value, constant)
            else:
                self._equal(value, self._value(first + 2, last))

    def _property(self, value: Value, name: str) -> Value:
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

    # Conditions

    def _condition(self, begin: int, end: int) -> None:
        """Note what a condition says: equations of keys by themselves, the rest as it is."""
        keys, closing = self.found.keys, self.found.closing
        while keys[begin] == "(" and closing[begin] == end - 1:
            begin, end = begin + 1, end - 1
        if any(word == "OR" for word, _, _ in self.split(begin, end, {"OR", "XOR"})):
            self.reading.condition(self._value(begin, end))
            return
        parts = list(self.split(begin, end, {"AND"}))
        if len(parts) > 1:
            for _, first, last in parts:
                self._condition(first, last)
            return
        sides = list(self.split(begin, end, {"=", "IN"}))
        if len(sides) != 2 or keys[begin] == "NOT":
            self.reading.condition(self._value(begin, end))
            return
        (_, first, middle), (word, start, last) = sides
        if word == "IN":
            self._membership(self._value(first, middle), start, last)
            return
        constants = self._constant(first, middle), self._constant(start, last)
        values = self._value(first, middle), self._value(start, last)
        if constants[1] is not None:
            self._restrict(values[0], constants[1])
        elif constants[0] is not None:
            self._restrict(values[1], constants[0])
        else:
            self._equal(*values)

    def _membership(self, value: Value, begin: int, end: int) -> None:
        given: list[Cell] | None = None
        if self.found.keys[begin] == "[":
            items = self.split(begin + 1, self.found.closing[begin], {","})
            found = [self._constant(first, last) for _, first, last in items]
            given = [c for one in found for c in one or ()] if None not in found else None
        if given is not None:
            self._restrict(value, given)
            return
        other = self._value(begin, end)
        if value.term is not None and other.term is not None:
            self.reading.equate(value.term, other.term)
        self._note(value)

    def _restrict(self, value: Value, constant: list[Cell]) -> None:
        if value.term is not None:
            self.reading.restrict(value.term, constant)
        self._note(value)

    def _equal(self, one: Value, other: Value) -> None:
        """Note that two values are the same: two terms, or two elements."""
        if one.term is not None and other.term is not None:
            self.reading.equate(one.term, other.term)
        elif one.whole is not None and other.whole is not None:
            for column in self.reading.ends(one.whole):
                self.reading.equate((one.whole, column), (other.whole, column))
        for value in (one, other):
            if value.term is not None and (one.term is None or other.term is None):
                self.reading.settle(value.term)
            self._note(value)

    def _note(self, value: Value) -> None:
        if value.term is None or value.term[1] not in self.reading.ends(value.term[0]):
            self.reading.condition(value)

    def _constant(self, begin: int, end: int) -> list[Cell] | None:
        """Return a literal's value, in a list; None of what is no literal."""
        keys, texts = self.found.keys, self.found.texts
        if end - begin == 2 and keys[begin] == "-" and keys[begin + 1] == NUMBER:
            found = self._constant(begin + 1, end)
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

    # Expressions

    def _value(self, begin: int, end: int) -> Value:
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
        operators = {"+", "-", "*", "/", "%", "^", "||", "CASE"}
        return not any(
            word in operators for word, _, _ in self.split(begin, end, frozenset(operators))
        )

    def _operands(self, begin: int, end: int) -> Iterator[Value]:
        keys, closing = self.found.keys, self.found.closing
        i = begin
        while i < end:
            key = keys[i]
            if key == "CASE":
                stop = self._end_of_case(i, end)
                yield self._case(i + 1, stop)
                i = stop + 1
            elif key in {"EXISTS", "COUNT", "COLLECT"} and keys[i + 1] == "{":
                i = closing[i + 1] + 1
            elif self._is_call(i) and keys[i - 1] != ".":
                yield self._function(i)
                i = closing[i + 1] + 1
            elif key in {"(", "[", "{"} and i in closing:
                # An index into a list is a part of what stands before it.
                yield self._value(i, closing[i] + 1)
                i = closing[i] + 1
            elif key in NAMES and self._text(i) in self.known:
                value, i = self.known[self._text(i)], i + 1
                while i + 1 < end and keys[i] == ".":
                    value, i = self._property(value, self.found.texts[i + 1]), i + 2
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
                parts[self._text(first + 1)] = self._property(value, texts[first + 1])
            elif last - first > 2:
                parts[self._text(first)] = self._value(first + 2, last)
        return self._held(parts)

    def _spelled(self, begin: int) -> Value:
        items = self.split(begin + 1, self.found.closing[begin], {","})
        return self._held({self._text(f): self._value(f + 2, l) for _, f, l in items if l > f + 2})

    def _held(self, parts: dict[str, Value]) -> Value:
        whole = Value.made_of(parts.values())
        return Value(whole.leaves, whole.tests, fields=parts)

    def _listed(self, begin: int) -> Value:
        """Return a list, or a list comprehension: what it goes through and what it makes of that."""
        keys, end = self.found.keys, self.found.closing[begin]
        if keys[begin + 1] in NAMES and keys[begin + 2] == "IN":
            around, name = dict(self.known), self._text(begin + 1)
            parts = list(self.split(begin + 3, end, {"WHERE", "|"}))
            self.known[name] = source = self._value(parts[0][1], parts[0][2])
            made = [self._value(f, l) for word, f, l in parts if word == "|"]
            self.known = around
            return made[0] if made else source
        items = list(self.split(begin + 1, end, {","}))
        made = [self._value(f, l) for _, f, l in items if l > f]
        return made[0] if len(made) == 1 else Value.made_of(made)

    def _end_of_case(self, begin: int, end: int) -> int:
        deep, i = 0, begin
        while i < end:
            deep += (self.found.keys[i] == "CASE") - (self.found.keys[i] == "END")
            if deep == 0:
                return i
            i = self.found.closing.get(i, i) + 1
        return end

    def _case(self, begin: int, end: int) -> Value:
        parts = []
        for word, first, last in self.split(begin, end, {"WHEN", "THEN", "ELSE"}):
            value = self._value(first, last) if last > first else NOTHING
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
        arguments = [self._value(f, l) for _, f, l in self.split(first, end, {","}) if l > f]
        if name == "count":
            return Value.made_of(arguments).as_test
        if name in _MIXING:
            function = f"{name} distinct" if distinct else name
            return self.reading.summed(function, arguments[0], self.groups)
        if name == "collect":
            return arguments[0]
        given = [value for value in arguments if value != NOTHING]
        return given[0] if name in _SAME and len(given) == 1 else Value.made_of(arguments)
