"""Reads the tokens of one Cypher statement from left to right, and notes what it says of a graph.

Only three things are known at each token: whether a clause, a value or an operator may come, which
brackets are open, and whether a pattern is. A word in an operator's place must be one of the lists;
a word in a value's place is a name, whatever it is spelled like. That is enough to know every
clause, call, pattern and name; whether the statement makes sense, the server decides.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Literal, NamedTuple, NoReturn

from dqa.core.cypher import quote_name
from dqa.guard.cypher_tokens import DEEPEST, NAME, NUMBER, TEXT, is_word, tokens, words_of
from dqa.guard.verdict import SEVERAL, Refusal

_SHORTEST = frozenset({"shortestpath", "allshortestpaths"})
_SUBQUERIES = frozenset({"EXISTS", "COUNT", "COLLECT"})
_COMPARING = frozenset({"IS", "STARTS", "ENDS", "CONTAINS", "IN"})
_PATH_KINDS = frozenset({"SHORTEST", "ALL", "TRAIL", "ACYCLIC", "WSHORTEST"})
_ENDS_VALUE = frozenset({"", ",", ")", "]", "}", ".", "AS", "=", "<>", ";"})
_BEGINS_VALUE = frozenset({"(", "[", "{", "$", NUMBER, TEXT})
_BEHIND_NAME = frozenset({")", "]", ":", "{", "*", "$", "IS", "WHERE"})
_BEGINS_NODE = frozenset({")", ":", "{", "$", "IS", "WHERE"})
_SLICING = frozenset({"WHERE", "ORDER", "SKIP", "OFFSET", "LIMIT", "YIELD", "USING", "HINT"})
"""Clauses that belong to the one before."""
_THEN_OPERATOR = frozenset({"END", "ASC", "ASCENDING", "DESC", "DESCENDING", "SCORE"})
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
class _Frame:
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


class CypherReader:
    """Reads one statement; see the module.

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
        self._frames = [_Frame("query")]
        self._labels: set[int] = set()
        self._callees: dict[int, str] = {}
        self._queries: set[int] = set()
        self._item = self._cases = 0
        self._read()

    def folded(self, i: int) -> str:
        """Return what tells a name from others: LadybugDB does not tell capitals apart."""
        return self.texts[i].lower() if self.ladybug else self.texts[i]

    def _read(self) -> None:
        if not self.keys[0]:
            raise Refusal("it is empty; write MATCH ... RETURN ...")
        self._prefixes()
        if self.keys[self.i] == "SHOW" and not self.ladybug:
            self._show()
        while self.keys[self.i] and not self._is_end():
            self._step()
        self._end_item(self.i)
        if not self.shows and self._frames[0].last not in {"RETURN", "FINISH", "CALL", "WHEN"}:
            raise Refusal("it returns nothing; end it with RETURN")
        if self._state == "value" or self._cases:
            self._unexpected()
        del self.keys[self.i : -1]  # semicolons behind the end

    def _is_end(self) -> bool:
        return not any(key and key != ";" for key in self.keys[self.i :])

    def _step(self) -> None:
        key, frame = self.keys[self.i], self._frames[-1]
        was_in_chain, frame.in_chain = frame.in_chain, False
        if self.i in self._labels:
            self._state = "operator"
            self.i += 1
        elif frame.is_at_key and self._key(frame):
            pass
        elif is_word(key):
            self._word(key, frame)
        elif key in {"(", "[", "{"}:
            self._open(key, frame, in_chain=was_in_chain)
        elif key in {")", "]", "}"}:
            self._close()
        else:
            self._symbol(key, frame, in_chain=was_in_chain)

    # Words

    def _word(self, key: str, frame: _Frame) -> None:
        if self._state == "clause":
            if key not in self.words["clauses"]:
                self._begins_wrong(key)
            self._clause(key, frame)
        elif self._state == "operator":
            if key in self.words["clauses"] and key != "WHEN":
                self._clause(key, frame)
            elif key in self.words["operators"]:
                self._operator(key, frame)
            else:
                self._unexpected()
        elif self._is_prefix(key, frame):
            self.i += 1
            if key == "CASE":
                self._nest_case()
        elif key in _SUBQUERIES and self.keys[self.i + 1] == "{" and not self._is_variable(1):
            self.i += 1
            self._queries.add(self.i)
        elif key == "WHERE" and frame.kind == "recursive":
            self.i += 1
        elif self.keys[self.i - 1] == "WHEN" and key in _COMPARING:
            self._operator(key, frame)
        else:
            self._named(frame)

    def _nest_case(self) -> None:
        self._cases += 1
        if self._cases > DEEPEST:
            raise Refusal("it is nested too deeply; write it flatter")
        self.i += self.keys[self.i] == "WHEN"

    def _is_prefix(self, key: str, frame: _Frame) -> bool:
        """Whether a word in a value's place is one of the language."""
        after = self.keys[self.i + 1]
        if key not in self.words["prefixes"]:
            return False
        if frame.kind == "relationship":
            return key in _PATH_KINDS and after != "("
        if key in {"NOT", "CASE", "DISTINCT"}:
            return after not in _ENDS_VALUE
        if key in {"ALL", "ANY"} and after == "(":
            return frame.in_pattern and self.keys[self.i + 3] != "IN"
        is_searching = frame.kind == "paren" and self.searches
        if frame.in_pattern or is_searching or frame.clause in {"USING", "HINT"}:
            return after not in _ENDS_VALUE and after != ":"
        return frame.name == "trim" and after not in _ENDS_VALUE

    def _is_variable(self, beyond: int) -> bool:
        return self.keys[self.i + beyond + 1] in {".", "}"}

    def _named(self, frame: _Frame) -> None:
        """Read what begins with a name: a call, or a variable."""
        keys, i = self.keys, self.i
        end = i
        while keys[end + 1] == "." and is_word(keys[end + 2]):
            end += 2
        name = ".".join(self.texts[i : end + 1 : 2]).lower()
        if frame.kind == "relationship" and keys[i] == "WSHORTEST":
            self._weighted(frame)
            return
        if keys[end + 1] == "(" and not (frame.in_pattern and name not in _SHORTEST):
            self._require_function(name)
            self._callees[end + 1] = name
            self.i = end + 1
            return
        if keys[i] in self.words["writing"] and (
            keys[i + 1] in _BEGINS_VALUE or (is_word(keys[i + 1]) and not self._is_operator(i + 1))
        ):
            self._unexpected()
        is_path = keys[i + 1] == "=" and keys[i + 2] != "="
        if is_path and (frame.in_pattern or keys[i - 1] in {"[", "{", "("}):
            self.variables.add(self.folded(i))
        else:
            self.uses.append(Use(i, frame.kind, frame.clause))
        self._quote(i)
        self._state = "operator"
        self.i += 1

    def _is_operator(self, i: int) -> bool:
        return self.keys[i] in self.words["operators"] | self.words["clauses"]

    def _quote(self, i: int) -> None:
        """Write a name that is spelled as a word that writes so that it can only be a name."""
        if self.keys[i] in self.words["writing"]:
            self.spelled[i] = quote_name(self.texts[i])

    def _require_function(self, name: str) -> None:
        if name in self.functions or name in _SHORTEST:
            return
        if self.keys[self.i] in self.words["writing"]:
            self._unexpected()
        raise Refusal(
            f"the function {name} is not known to only read{_meant(name, self.functions)}"
        )

    def _weighted(self, frame: _Frame) -> None:
        """Read ``WSHORTEST(property)``, of LadybugDB."""
        if frame.element is not None and is_word(self.keys[self.i + 2]):
            frame.element.keys.append(self.i + 2)
        self.i = self.closing[self.i + 1] + 1

    def _operator(self, key: str, frame: _Frame) -> None:
        keys, i = self.keys, self.i
        if key == "AS":
            self._as(frame)
            return
        if key == "IS":
            self._is()
            return
        if key in {"STARTS", "ENDS"}:
            if keys[i + 1] != "WITH":
                self._unexpected("WITH is missing behind")
            self.i += 1
        if key == "IN" and i - 1 in self._queries:
            raise Refusal("CALL { ... } IN TRANSACTIONS commits; leave out what follows the braces")
        self._cases -= key == "END"
        self._state = "operator" if key in _THEN_OPERATOR else "value"
        self.i += 1

    def _as(self, frame: _Frame) -> None:
        i = self.i
        if frame.name == "cast":
            self.i = self._type(i + 1)
            return
        if not is_word(self.keys[i + 1]):
            self._unexpected("a name is missing behind")
        self.aliases.append((i - 1, i + 1))
        self._quote(i + 1)
        if len(self._frames) == 1:
            self._item = 0
        self.i += 2

    def _is(self) -> None:
        """Read ``IS [NOT] NULL``, a type, a normal form, or labels."""
        keys = self.keys
        i = self.i + 1 + (keys[self.i + 1] == "NOT")
        if keys[i] in {"NULL", "NORMALIZED"}:
            self.i = i + 1
        elif keys[i] in {"NFC", "NFD", "NFKC", "NFKD"} and keys[i + 1] == "NORMALIZED":
            self.i = i + 2
        elif keys[i] in {"::", "TYPED"}:
            self.i = self._type(i + 1)
        else:
            _, names = self._label_names(i, has_bars=True)
            self.tested += names
            self.i = i

    def _type(self, i: int) -> int:
        """Return where a type ends: words, and brackets around others."""
        begin, keys = i, self.keys
        while keys[i] in self.words["types"] or (i > begin and keys[i] in {"<", ">", "!"}):
            i += 1
            if self.ladybug and keys[i] in {"(", "["}:
                i = self.closing[i] + 1
        if i == begin:
            self._unexpected("a type is missing behind")
        if keys[i] == "|" and keys[i + 1] in self.words["types"]:
            return self._type(i + 1)
        return i

    # Clauses

    def _clause(self, key: str, frame: _Frame) -> None:
        if frame.kind != "query" and key not in {"WHERE", "LIMIT"}:
            self._unexpected()
        if len(self._frames) == 1 and key != "YIELD":
            self._end_item(self.i)
        if key not in _SLICING:
            frame.last = key
        frame.clause = key
        frame.in_pattern = key == "MATCH"
        self.searches = self.searches or key == "SEARCH"
        self._state = "operator" if key == "FINISH" else "value"
        self.i += 1
        after = self.keys[self.i]
        if key in {"OPTIONAL", "ORDER"}:
            self._require_next({"OPTIONAL": {"MATCH", "CALL"}, "ORDER": {"BY"}}[key])
            self._state = "clause" if key == "OPTIONAL" else "value"
            self.i += key == "ORDER"
        elif key in {"UNION", "NEXT"}:
            self.i += after in {"ALL", "DISTINCT"}
            self._state = "clause"
        elif key in {"WITH", "RETURN"}:
            self.i += after == "DISTINCT" and self.keys[self.i + 1] not in _ENDS_VALUE
            if key == "RETURN" and len(self._frames) == 1:
                self._item = self.i
        elif key == "CALL" and after not in {"{", "("}:
            self._procedure()
        elif key == "FILTER":
            self.i += after == "WHERE"

    def _require_next(self, wanted: set[str]) -> None:
        if self.keys[self.i] not in wanted:
            self._unexpected(f"{' or '.join(sorted(wanted))} is missing before")

    def _end_item(self, end: int) -> None:
        if self._item and end > self._item and self.keys[self._item] != "*":
            self.items.append((self._item, end - 1))
        self._item = 0

    def _procedure(self) -> None:
        keys, begin = self.keys, self.i
        if not is_word(keys[begin]):
            self._unexpected("a procedure is missing before")
        while keys[self.i + 1] == "." and is_word(keys[self.i + 2]):
            self.i += 2
        name = ".".join(self.texts[begin : self.i + 1 : 2]).lower()
        self.i += 1
        if keys[self.i] == "=":
            raise Refusal(f"CALL {name} = ... changes a setting, and only reading is allowed")
        if name not in self.known_procedures:
            listed = f"; CALL may be used with {', '.join(sorted(self.known_procedures))}"
            meant = _meant(name, self.known_procedures)
            raise Refusal(f"the procedure {name} is not known to only read{meant or listed}")
        self.procedures.append(name)
        if keys[self.i] == "(":
            self._callees[self.i] = ""
        self._state = "operator"

    def _prefixes(self) -> None:
        """Read EXPLAIN or PROFILE, CYPHER with harmless options, and USE."""
        keys = self.keys
        while True:
            key = keys[self.i]
            if key in {"EXPLAIN", "PROFILE"}:
                if self.explains:
                    raise Refusal("it has EXPLAIN or PROFILE twice; write one of them")
                self.explains = True
                self.i += 1 + (self.ladybug and keys[self.i + 1] == "LOGICAL")
            elif key == "CYPHER" and not self.ladybug:
                self.i += 1 + (keys[self.i + 1] == NUMBER and self.texts[self.i + 1] in {"5", "25"})
                while keys[self.i + 1 : self.i + 2] == ["="]:
                    if keys[self.i] not in {"PLANNER", "RUNTIME"} or not is_word(keys[self.i + 2]):
                        self._unexpected("only planner and runtime may be set, not")
                    self.i += 3
            elif key == "USE" and not self.ladybug and keys[self.i + 2] not in {".", "("}:
                self.used = self.texts[self.i + 1]
                self.spelled[self.i] = self.spelled[self.i + 1] = ""
                self.i += 2
            else:
                return

    def _show(self) -> None:
        """Read SHOW and what may be shown; YIELD, WHERE and RETURN are read as ever."""
        begin = self.i = self.i + 1
        while self.keys[self.i] in self.words["shown"]:
            self.i += 1
        shown = " ".join(self.keys[begin : self.i])
        self.i += shown == "DATABASE" and self.keys[self.i] not in {"YIELD", "WHERE", ""}
        is_user = "USER" in shown and not ("CURRENT USER" in shown or "USER DEFINED" in shown)
        if self.keys[self.i] not in {"", ";", "YIELD", "WHERE"} or not shown or is_user:
            self._unexpected(
                "SHOW may be used with INDEXES, CONSTRAINTS, FUNCTIONS, PROCEDURES and CURRENT "
                "USER, not with"
            )
        self.shows = shown
        self._state = "operator"

    # Brackets

    def _open(self, key: str, frame: _Frame, *, in_chain: bool) -> None:
        if key == "(":
            self._open_round(frame, in_chain=in_chain)
        elif key == "[":
            if in_chain and self.keys[self.i - 1] == "-":
                self._element("relationship")
            else:
                self._push("index" if self._state == "operator" else "list")
        else:
            self._open_curly(frame, in_chain=in_chain)

    def _open_round(self, frame: _Frame, *, in_chain: bool) -> None:
        keys, i = self.keys, self.i
        name = self._callees.get(i)
        behind_relationship = in_chain and keys[i - 1] in {"-", ">", "+", "*", "}"}
        if name in _SHORTEST:
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

    def _open_curly(self, frame: _Frame, *, in_chain: bool) -> None:
        keys, i = self.keys, self.i
        before = keys[i - 1]
        if in_chain and (before in {"-", ">"} or before == ")"):
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
        self._frames.append(_Frame(kind, opening=self.i, **known))  # type: ignore[arg-type]
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

    def _key(self, frame: _Frame) -> bool:
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
            is_word(after) and (then == "=" or (then == "(" and after.lower() in _SHORTEST))
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

    # Symbols

    def _symbol(self, key: str, frame: _Frame, *, in_chain: bool) -> None:
        i = self.i
        self.i += 1
        if key in {NUMBER, TEXT}:
            self._state = "operator"
        elif key == ".":
            self._dot()
        elif key == "$":
            self.i += 1
            self._state = "operator"
        elif key == ":" and self._state == "operator" and not self._is_slice(frame):
            _, names = self._label_names(self.i, has_bars=frame.kind == "list" or bool(frame.name))
            self.tested += names
        elif key == "::":
            self.i = self._type(self.i)
            self._state = "operator"
        elif key == ",":
            self._comma(frame)
        elif key == ";":
            raise Refusal(SEVERAL)
        elif in_chain and self._link(key):
            frame.in_chain = True
        elif key == "*" and (self._state == "value" or frame.kind == "relationship"):
            self._star(i, frame)
        elif key != "!" or self._state == "value":
            self._state = "value"

    def _link(self, key: str) -> bool:
        """Read a part of what joins two nodes; whether it is one."""
        keys, i = self.keys, self.i - 1
        if key in {"*", "+"} and keys[i - 1] in {"-", ">", ")"}:
            self._quantify(i - 1)
            self._state = "operator"
            return True
        if key not in {"-", "<", ">"}:
            return False
        if key == "-" and keys[self.i] == "-":
            self.elements.append(Element("relationship", i))
            self.i += 1
        self._state = "value"
        return True

    def _star(self, i: int, frame: _Frame) -> None:
        """Read a star that stands for a value, or for any number of relationships."""
        if frame.kind == "relationship" and frame.element is not None:
            frame.element.is_many = True
            self._state = "value"
            return
        if self.keys[i - 1] not in {"RETURN", "WITH", "DISTINCT", "YIELD", "("}:
            self._unexpected()
        self._state = "operator"

    def _dot(self) -> None:
        """Read what stands behind a dot: a property, or ``*`` for all of them."""
        keys, i = self.keys, self.i
        if keys[i] == "*":
            self.wholes.append(i)
        elif is_word(keys[i]):
            is_variable = bool(self.uses) and self.uses[-1].i == i - 2
            self.properties.append((i - 2 if is_variable else None, i))
        else:
            self._unexpected("a property is missing before")
        self.i += 1
        self._state = "operator"

    def _is_slice(self, frame: _Frame) -> bool:
        return self.ladybug and frame.kind == "index"

    def _comma(self, frame: _Frame) -> None:
        self._state = "value"
        frame.is_at_key = frame.kind in {"map", "projection"}
        if len(self._frames) == 1 and frame.clause == "RETURN":
            self._end_item(self.i - 1)
            self._item = self.i

    # Refusals

    def _begins_wrong(self, key: str) -> NoReturn:
        if is_word(key) and key != NAME and key in self.words["writing"] | {"SHOW", "LOAD"}:
            verb = "contains" if self._frames[0].last else "begins with"
            raise Refusal(
                f"it {verb} {key}, and only reading is allowed: write MATCH ... RETURN ..."
            )
        self._unexpected()

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


def _meant(name: str, known: frozenset[str]) -> str:
    """Return ``. Did you mean 'x'`` with what is closest to a dotted name, or nothing."""
    found = get_close_matches(name, sorted(known), n=1, cutoff=0.75)
    return f". Did you mean '{found[0]}'" if found else ""
