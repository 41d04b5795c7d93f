"""Reads the brackets of a Cypher statement: patterns of graphs, and all that is no pattern."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, NamedTuple, NoReturn

from dqa.core.cypher import quote_name
from dqa.guard.cypher_tokens import NUMBER, TEXT, is_word, tokens, words_of
from dqa.guard.verdict import SEVERAL, Refusal

SHORTEST = frozenset({"shortestpath", "allshortestpaths"})
"""Functions of patterns."""
_BEHIND_NAME = frozenset({")", "]", ":", "{", "*", "$", "IS", "WHERE"})
_BEGINS_NODE = frozenset({")", ":", "{", "$", "IS", "WHERE"})
_HELP = (
    "only MATCH, OPTIONAL MATCH, WHERE, WITH, UNWIND, CALL of listed procedures, RETURN, ORDER BY, "
    "SKIP, LIMIT and UNION may be used"
)


@dataclass(slots=True)
class Element:
    """A node or relationship in a pattern; places are numbers of tokens.

    Attributes
    ----------
    opening
        Its bracket; of a relationship without one, its first dash.
    variable
        Its variable.
    begin, end
        Its labels or types: behind the colon or IS, and behind the last of them; both 0 for none.
    names
        The labels or types that are written.
    is_plain
        Whether each of these is one that it may have, with no negation, wildcard or computed name.
    keys
        The properties of its map.
    is_many
        Whether it stands for any number of relationships.
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
    """A call of a function: its name, its brackets, and the outermost bracket around it."""

    name: str
    opening: int
    end: int
    group: int


class Use(NamedTuple):
    """Where a name stands as a value, and in which bracket and clause."""

    i: int
    kind: str
    clause: str


@dataclass(slots=True)
class Frame:
    """An open bracket, or the whole statement: what is in it, and where the reader is in that."""

    kind: str
    clause: str = ""
    last: str = ""
    in_pattern: bool = False
    in_chain: bool = False
    element: Element | None = None
    variable: int | None = None
    is_at_key: bool = False
    name: str = ""
    opening: int = 0


class PatternReader:
    """The part of a reader that knows brackets and patterns.

    Attributes
    ----------
    spelled
        The tokens as they will be written; whoever restricts the statement changes them.
    elements
        The nodes and relationships of all patterns.
    tested
        The labels and types that are tested for outside of patterns.
    variables
        Names of what a pattern finds: nodes, relationships and paths.
    uses
        Where names stand as values.
    properties
        The value (or None where it is no name) and the name of what is read with a dot.
    wholes
        Where ``*`` stands behind a dot.
    aliases
        The value that AS gives another name, and that name.
    calls
        Functions.
    procedures
        Their names.
    items
        What is returned in the end without a name of its own: the first token and the last.
    colons
        What separates labels and is no ``&``.
    used
        The database that USE names, which is not written again.
    shows, explains, searches, has_path_value
        What SHOW shows; whether there is EXPLAIN or PROFILE, SEARCH, a path that is no pattern's.

    Raises
    ------
    Refusal
        The statement does more than reading, or cannot be read.
    """

    def __init__(
        self, statement: str, dialect: str, functions: frozenset[str], procedures: frozenset[str]
    ) -> None:
        self.statement, self.dialect = statement, dialect
        self.found = tokens(statement, dialect)
        self.keys, self.texts = self.found.keys, self.found.texts
        self.spelled = list(self.found.spelled)
        self.closing = self.found.closing
        self.opening = {end: begin for begin, end in self.closing.items()}
        self.words = words_of(dialect)
        self.functions = functions | self.words["functions"]
        self.functions |= self.words["functions of whole elements"]
        self.known_procedures = (
            procedures | self.words["procedures"] | self.words["describing procedures"]
        )
        self.ladybug = dialect == "ladybug"
        self.elements: list[Element] = []
        self.tested: list[int] = []
        self.variables: set[str] = set()
        self.uses: list[Use] = []
        self.properties: list[tuple[int | None, int]] = []
        self.wholes: list[int] = []
        self.aliases: list[tuple[int, int]] = []
        self.calls: list[Call] = []
        self.procedures: list[str] = []
        self.items: list[tuple[int, int]] = []
        self.colons: list[int] = []
        self.shows = self.used = ""
        self.explains = self.searches = self.has_path_value = False
        self.i = 0
        self._state: Literal["clause", "value", "operator"] = "clause"
        self._frames = [Frame("query")]
        self._labels: set[int] = set()
        self._callees: dict[int, str] = {}
        self._queries: set[int] = set()
        self._item = self._cases = 0

    def folded(self, i: int) -> str:
        """Return what tells a name from others: LadybugDB does not tell capitals apart."""
        return self.texts[i].lower() if self.ladybug else self.texts[i]

    def _quote(self, i: int) -> None:
        """Write a name that is spelled as a word that writes so that it can only be a name."""
        if self.keys[i] in self.words["writing"]:
            self.spelled[i] = quote_name(self.texts[i])

    # Brackets

    def _open(self, key: str, frame: Frame, *, in_chain: bool) -> None:
        if key == "(":
            self._open_round(frame, in_chain=in_chain)
        elif key == "[":
            if in_chain and self.keys[self.i - 1] == "-":
                self._element("relationship")
            else:
                self._push("index" if self._state == "operator" else "list")
        else:
            self._open_curly(frame, in_chain=in_chain)

    def _open_round(self, frame: Frame, *, in_chain: bool) -> None:
        keys, i = self.keys, self.i
        name = self._callees.get(i)
        behind_relationship = in_chain and keys[i - 1] in {"-", ">", "+", "*", "}"}
        if name in SHORTEST:
            self.has_path_value = self.has_path_value or not frame.in_pattern
            self._push("path", in_pattern=True)
        elif name is not None:
            if name:
                self.calls.append(Call(name, i, self.closing[i], self._group()))
            self._push("call", name=name)
        elif frame.kind == "relationship" and self.ladybug:
            self._recursive()
        elif frame.in_pattern or behind_relationship or self._is_pattern():
            if self._is_group():
                self._push("group", in_pattern=True)
            else:
                self._element("node")
        elif keys[i - 1] == "CALL" and frame.clause == "CALL":
            self._push("import")
        else:
            self._push("paren")

    def _open_curly(self, frame: Frame, *, in_chain: bool) -> None:
        keys, i = self.keys, self.i
        before = keys[i - 1]
        if in_chain and (before in {"-", ">"} or before == ")"):
            if not set(keys[i + 1 : self.closing[i]]) <= {NUMBER, ","}:
                self._unexpected()
            self._quantify(i - 1)
            self.i = self.closing[i] + 1
            frame.in_chain = True
            self._state = "operator"
            return
        is_called = frame.clause == "CALL" and frame.kind == "query" and before in {"CALL", ")"}
        is_branch = (
            frame.clause == "WHEN" and before in {"THEN", "ELSE"} and keys[i + 2] not in {":", ","}
        )
        if i in self._queries or is_called or is_branch:
            is_pattern = i in self._queries and keys[i + 1] not in self.words["clauses"]
            self._queries.discard(i)
            if is_called:
                self._queries.add(self.closing[i])
            self._push("query", in_pattern=is_pattern)
            self._state = "value" if is_pattern else "clause"
            self._frames[-1].last = "RETURN"
        elif frame.kind in {"node", "relationship"} and not frame.clause:
            self._push("map", element=frame.element)
        elif self._state == "operator" and is_word(before):
            self._push("projection", variable=i - 1)
        else:
            self._push("paren" if frame.kind == "recursive" else "map")
        if self._frames[-1].kind in {"map", "projection"}:
            self._frames[-1].is_at_key = True

    def _push(self, kind: str, **known: object) -> None:
        self._frames.append(Frame(kind, opening=self.i, **known))  # type: ignore[arg-type]
        self._state = "value"
        self.i += 1
        if kind == "call" and self.keys[self.i] == "*":
            self._state = "operator"
            self.i += 1

    def _group(self) -> int:
        """Return the outermost bracket around a call, within the innermost query."""
        group = self.i
        for frame in reversed(self._frames):
            if frame.kind == "query":
                break
            group = frame.opening
        return group

    def _close(self) -> None:
        closed = self._frames.pop()
        if not self._frames:
            self._unexpected()
        self._frames[-1].in_chain = closed.kind in {"node", "relationship", "group"}
        self._state = "value" if closed.kind in {"import", "relationship"} else "operator"
        self.i += 1

    def _key(self, frame: Frame) -> bool:
        """Read the key of a map, or ``.name`` of a projection; whether there was one."""
        keys, i = self.keys, self.i
        frame.is_at_key = False
        if keys[i] == "." and frame.variable is not None and is_word(keys[i + 1]):
            self.properties.append((frame.variable, i + 1))
            self._state = "operator"
            self.i += 2
            return True
        if (is_word(keys[i]) or keys[i] == TEXT) and keys[i + 1] == ":":
            if frame.element is not None:
                frame.element.keys.append(i)
            self._state = "value"
            self.i += 2
            return True
        return False

    # Patterns

    def _is_pattern(self) -> bool:
        """Whether the parenthesis is a node that a relationship follows, as servers look ahead."""
        keys = self.keys
        end = self.closing[self.i] + 1
        end += keys[end] == "<"
        if keys[end] != "-":
            return False
        end = self.closing[end + 1] + 1 if keys[end + 1] == "[" else end + 1
        if keys[end] != "-":
            return False
        first = keys[self.i + 1]
        return first in _BEGINS_NODE or (is_word(first) and keys[self.i + 2] in _BEHIND_NAME)

    def _is_group(self) -> bool:
        after, then = self.keys[self.i + 1], self.keys[self.i + 2]
        return after == "(" or (
            is_word(after) and (then == "=" or (then == "(" and after.lower() in SHORTEST))
        )

    def _element(self, kind: Literal["node", "relationship"]) -> None:
        """Read a node or relationship up to its labels."""
        keys = self.keys
        element = Element(kind, self.i)
        self.elements.append(element)
        self._push(kind, element=element)
        key = keys[self.i]
        if is_word(key) and (key not in {"IS", "WHERE"} or keys[self.i + 1] in _BEHIND_NAME):
            element.variable = self.i
            self.variables.add(self.folded(self.i))
            self._quote(self.i)
            self.i += 1
        if keys[self.i] in {":", "IS"}:
            self._labels.add(self.i)
            element.begin = self.i + 1
            element.end, element.names = self._label_names(self.i + 1, has_bars=False)
            symbols = set(keys[element.begin : element.end])
            element.is_plain = not symbols & {"!", "%", "$"}
        self._state = "operator"

    def _label_names(self, i: int, *, has_bars: bool) -> tuple[int, list[int]]:
        """Mark the tokens of a label expression; return where it ends, and the names in it.

        `has_bars` where a bar may belong to what stands around.
        """
        keys, names = self.keys, list[int]()
        depth, expects_name = 0, True
        while True:
            key = keys[i]
            if expects_name:
                if is_word(key):
                    names.append(i)
                    self._quote(i)
                elif key == "$":
                    bracket = i + 1 + (keys[i + 1] in {"ALL", "ANY"})
                    if keys[bracket] != "(":
                        self._unexpected("an expression in parentheses is missing before", bracket)
                    self._labels |= set(range(i, bracket))
                    i, expects_name = self.closing[bracket] + 1, False
                    continue
                elif key == "(":
                    depth += 1
                elif key not in {"!", "%"}:
                    self._unexpected("a label is missing before", i)
                expects_name = key in {"!", "("}
            elif key == ")" and depth:
                depth -= 1
            elif key in {"&", ":"} or (key == "|" and (depth or not has_bars)):
                if key == ":":
                    self.colons.append(i)
                expects_name = True
                if key == "|" and keys[i + 1] == ":":
                    self._labels.add(i)
                    self.colons.append(i + 1)
                    i += 1
            else:
                return i, names
            self._labels.add(i)
            i += 1

    def _recursive(self) -> None:
        """Read ``(r, n | WHERE ... | {...}, {...})`` behind the star of LadybugDB."""
        self._push("recursive")
        while is_word(self.keys[self.i]):
            self.variables.add(self.folded(self.i))
            self.i += 1 + (self.keys[self.i + 1] == ",")

    def _quantify(self, i: int) -> None:
        """Note that what ends at token `i`, a relationship or a group, may be any number."""
        for element in reversed(self.elements):
            if self.keys[i] == ")" or element.kind == "relationship":
                element.is_many = element.is_many or self.keys[i] != ")"
                return

    def _unexpected(self, problem: str = "", i: int | None = None) -> NoReturn:
        """Refuse the token that is next."""
        i = self.i if i is None else i
        key, text = self.keys[i], self.texts[i]
        if key == ";":
            raise Refusal(SEVERAL)
        if key in self.words["writing"]:
            raise Refusal(f"it contains {key}, and only reading is allowed")
        what = f"'{text[:40]}' (character {self.found.starts[i] + 1})" if key else "its end"
        if problem:
            raise Refusal(f"{problem} {what}")
        raise Refusal(f"{what} is not expected there: {_HELP}")
