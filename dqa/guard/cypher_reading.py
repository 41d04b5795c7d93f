"""Read the tokens of one Cypher statement from left to right, and note its patterns and names.

Only three things are known at each token: whether a clause, a value or an operator may come, which
brackets are open, and whether a pattern is. A word in an operator's place must be one of the lists;
a word in a value's place is a name, whatever it is spelled like. That is enough to know every
clause, call, pattern and name; whether the statement makes sense, the server decides.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, NoReturn

from dqa.core.cypher import quote_name
from dqa.guard.cypher_tokens import DEEPEST, NUMBER, TEXT, is_word, tokens
from dqa.guard.hints import closest
from dqa.guard.lists import lists
from dqa.guard.policy import Policy
from dqa.guard.verdict import SEVERAL, Refusal

_SHORTEST = frozenset({"shortestpath", "allshortestpaths"})
"""Functions of patterns."""
_AFTER_NAME = frozenset({")", "]", ":", "{", "*", "$", "IS", "WHERE"})
_BEGINS_NODE = frozenset({")", ":", "{", "$", "IS", "WHERE"})
_SUBQUERIES = frozenset({"EXISTS", "COUNT", "COLLECT"})
_COMPARING = frozenset({"IS", "STARTS", "ENDS", "CONTAINS", "IN"})
_PATH_KINDS = frozenset({"SHORTEST", "ALL", "TRAIL", "ACYCLIC", "WSHORTEST"})
_ENDS_VALUE = frozenset({"", ",", ")", "]", "}", ".", "AS", "=", "<>", ";"})
_BEGINS_VALUE = frozenset({"(", "[", "{", "$", NUMBER, TEXT})
_SLICING = frozenset({"WHERE", "ORDER", "SKIP", "OFFSET", "LIMIT", "YIELD", "USING", "HINT"})
"""Clauses that belong to the one before."""
_NEXT_WORDS = {"OPTIONAL": {"MATCH", "CALL"}, "ORDER": {"BY"}}
_THEN_OPERATOR = frozenset({"END", "ASC", "ASCENDING", "DESC", "DESCENDING", "SCORE"})
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
        The properties of its map.
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
    """An open bracket, or the whole statement, and the position of the reader in it."""

    kind: str
    clause: str = ""
    in_pattern: bool = False
    in_chain: bool = False
    element: Element | None = None
    variable: int | None = None
    is_at_key: bool = False
    name: str = ""
    opening: int = 0


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
        Where names stand as values.
    properties
        The value (or None where it is not a name) and the property that is read with a dot.
    wholes
        Where ``*`` stands after a dot.
    aliases
        The value that AS gives another name, and that name.
    calls
        Functions.
    procedures
        Their names.
    clauses
        Those of the whole statement: the word, its position, and where its content begins.
    colons
        What separates labels and is no ``&``.
    used
        The database that USE names, which is not written again.
    shows, explains, searches, has_path_value
        What SHOW shows; whether there is EXPLAIN or PROFILE, SEARCH, a path outside of patterns.

    Raises
    ------
    Refusal
        The statement does more than reading, or cannot be read.
    """

    def __init__(self, statement: str, dialect: str, policy: Policy) -> None:
        self.statement, self.ladybug = statement, dialect == "ladybug"
        self.found = tokens(statement, dialect)
        self.keys, self.texts, self.closing = self.found.keys, self.found.texts, self.found.closing
        self.spelled = list(self.found.spelled)
        self.words = lists(dialect)
        words, whole = self.words, self.words["functions of whole elements"]
        self._functions = policy.functions | words["functions"] | whole
        described = policy.procedures | words["describing procedures"]
        self._procedures = described | words["procedures"]
        self.elements: list[Element] = []
        self.tested: list[int] = []
        self.variables: set[str] = set()
        self.uses: list[Use] = []
        self.properties: list[tuple[int | None, int]] = []
        self.wholes: list[int] = []
        self.aliases: list[tuple[int, int]] = []
        self.calls: list[Call] = []
        self.procedures: list[str] = []
        self.clauses: list[tuple[str, int, int]] = []
        self.colons: list[int] = []
        self.shows = self.used = ""
        self.explains = self.searches = self.has_path_value = False
        self.i = self._cases = 0
        self._state: Literal["clause", "value", "operator"] = "clause"
        self._frames = [Frame("query")]
        self._labels: set[int] = set()
        self._callees: dict[int, str] = {}
        self._queries: set[int] = set()
        self._read()

    def folded(self, i: int) -> str:
        """Return how a name is compared: LadybugDB ignores case."""
        return self.texts[i].lower() if self.ladybug else self.texts[i]

    def split(self, begin: int, end: int) -> Iterator[tuple[int, int]]:
        """Yield where each part of a list with commas begins and ends."""
        i = begin
        while i < end:
            if self.keys[i] == ",":
                yield begin, i
                begin = i + 1
            i = self.closing.get(i, i) + 1
        yield begin, end

    def _quote(self, i: int) -> None:
        """Write a name that is spelled as a word that writes so that it can only be a name."""
        if self.keys[i] in self.words["writing"]:
            self.spelled[i] = quote_name(self.texts[i])

    def _unexpected(self, problem: str = "", i: int | None = None) -> NoReturn:
        """Refuse the token that is next."""
        i = self.i if i is None else i
        key, text = self.keys[i], self.texts[i]
        if key == ";":
            raise Refusal(SEVERAL)
        if key in self.words["writing"] | {"SHOW", "LOAD"}:
            raise Refusal(f"it contains {key}, and only reading is allowed: write MATCH")
        what = f"'{text[:40]}' (character {self.found.starts[i] + 1})" if key else "its end"
        raise Refusal(f"{problem} {what}" if problem else f"{what} is not expected there: {_HELP}")

    def _require(self, wanted: set[str], i: int) -> None:
        if self.keys[i] not in wanted:
            self._unexpected(f"{' or '.join(sorted(wanted))} is missing before", i)

    def _require_word(self, what: str, i: int) -> None:
        if not is_word(self.keys[i]):
            self._unexpected(f"{what} is missing before", i)

    def _read(self) -> None:
        keys = self.keys
        if not keys[0]:
            raise Refusal("it is empty; write MATCH ... RETURN ...")
        self._prefixes()
        if keys[self.i] == "SHOW" and not self.ladybug:
            self._show()
        while keys[self.i] and not set(keys[self.i :]) <= {";", ""}:
            self._step()
        last = next((key for key, *_ in reversed(self.clauses) if key not in _SLICING), "")
        if not self.shows and last not in {"RETURN", "FINISH", "CALL", "WHEN"}:
            raise Refusal("it returns nothing; end it with RETURN")
        if self._state == "value" or self._cases:
            self._unexpected()
        del keys[self.i : -1]  # semicolons at the end

    def _step(self) -> None:
        key, frame = self.keys[self.i], self._frames[-1]
        in_chain, frame.in_chain = frame.in_chain, False
        if self.i in self._labels:
            self._state = "operator"
            self.i += 1
        elif frame.is_at_key and self._key(frame):
            pass
        elif key in {NUMBER, TEXT}:
            self._state = "operator"
            self.i += 1
        elif is_word(key):
            self._word(key, frame)
        elif key in {"(", "[", "{"}:
            self._open(key, frame, in_chain=in_chain)
        elif key in {")", "]", "}"}:
            self._close()
        else:
            self._symbol(key, frame, in_chain=in_chain)

    # Words

    def _word(self, key: str, frame: Frame) -> None:
        is_clause = key in self.words["clauses"]
        if self._state == "clause":
            if not is_clause:
                self._unexpected()
            self._clause(key, frame)
        elif self._state == "operator":
            if is_clause and key != "WHEN":
                self._clause(key, frame)
            elif key in self.words["operators"]:
                self._operator(key, frame)
            else:
                self._unexpected()
        elif self._is_prefix(key, frame) or (key == "WHERE" and frame.kind == "recursive"):
            self.i += 1
            if key == "CASE":
                self._cases += 1
                self.i += self.keys[self.i] == "WHEN"
                if self._cases > DEEPEST:
                    raise Refusal("it is nested too deeply; write it flatter")
        elif (
            key in _SUBQUERIES
            and self.keys[self.i + 1] == "{"
            and self.keys[self.i + 2] not in {".", "}"}
        ):
            self.i += 1
            self._queries.add(self.i)
        elif self.keys[self.i - 1] == "WHEN" and key in _COMPARING:
            self._operator(key, frame)
        else:
            self._named(frame)

    def _is_prefix(self, key: str, frame: Frame) -> bool:
        """Whether a word in a value's place is one of the language."""
        after = self.keys[self.i + 1]
        if key not in self.words["prefixes"]:
            return False
        if frame.kind == "relationship":
            return key in _PATH_KINDS and after != "("
        if key in {"ALL", "ANY"} and after == "(":
            return frame.in_pattern and self.keys[self.i + 3] != "IN"
        is_searching = frame.kind == "paren" and self.searches
        is_hint = frame.in_pattern or is_searching or frame.clause in {"USING", "HINT"}
        is_anywhere = key in {"NOT", "CASE", "DISTINCT"} or frame.name == "trim"
        return after not in _ENDS_VALUE and (is_anywhere or (is_hint and after != ":"))

    def _named(self, frame: Frame) -> None:
        """Read what begins with a name: a call, or a variable."""
        keys, i = self.keys, self.i
        name, end = self._dotted()
        if keys[end + 1] == "(" and not (frame.in_pattern and name not in _SHORTEST):
            if name not in self._functions | _SHORTEST:
                if keys[i] in self.words["writing"]:
                    self._unexpected()
                meant = closest(name, self._functions, 0.8, whole=True)
                raise Refusal(f"the function {name} is not known to only read.{meant}".strip("."))
            self._callees[end + 1] = name
            self.i = end + 1
            return
        operators = self.words["operators"] | self.words["clauses"]
        is_before_value = keys[i + 1] in _BEGINS_VALUE or (
            is_word(keys[i + 1]) and keys[i + 1] not in operators
        )
        if keys[i] in self.words["writing"] and is_before_value:
            self._unexpected()
        is_path = keys[i + 1] == "=" and keys[i + 2] != "="
        if is_path and (frame.in_pattern or keys[i - 1] in {"[", "{", "("}):
            self.variables.add(self.folded(i))
        else:
            self.uses.append(Use(i, frame.kind, frame.clause))
        self._quote(i)
        self._state = "operator"
        self.i += 1

    def _dotted(self) -> tuple[str, int]:
        """Return a name with its namespaces in small letters, and where it ends."""
        begin = end = self.i
        while self.keys[end + 1] == "." and is_word(self.keys[end + 2]):
            end += 2
        return ".".join(self.texts[begin : end + 1 : 2]).lower(), end

    def _operator(self, key: str, frame: Frame) -> None:
        i = self.i
        if key == "AS":
            if frame.name == "cast":
                self.i = self._type(i + 1)
                return
            self._require_word("a name", i + 1)
            self.aliases.append((i - 1, i + 1))
            self._quote(i + 1)
            self.i += 2
            return
        if key == "IS":
            self._is()
            return
        if key in {"STARTS", "ENDS"}:
            self._require({"WITH"}, i + 1)
            self.i += 1
        if key == "IN" and i - 1 in self._queries:
            raise Refusal("CALL { ... } IN TRANSACTIONS commits; leave out what follows the braces")
        self._cases -= key == "END"
        self._state = "operator" if key in _THEN_OPERATOR else "value"
        self.i += 1

    def _is(self) -> None:
        """Read ``IS [NOT] NULL``, a type, a normal form, or labels."""
        keys = self.keys
        i = self.i + 1 + (keys[self.i + 1] == "NOT")
        if keys[i] in {"NFC", "NFD", "NFKC", "NFKD"}:
            i += 1
        if keys[i] in {"NULL", "NORMALIZED"}:
            self.i = i + 1
        elif keys[i] in {"::", "TYPED"}:
            self.i = self._type(i + 1)
        else:
            self.tested += self._label_names(i, has_bars=True)[1]
            self.i = i

    def _type(self, i: int) -> int:
        """Return where a type ends: words, and brackets around others."""
        begin, keys = i, self.keys
        while keys[i] in self.words["types"] or (i > begin and keys[i] in {"<", ">", "!"}):
            i += 1
            if self.ladybug and keys[i] in {"(", "["}:
                i = self.closing[i] + 1
        if i == begin:
            self._unexpected("a type is missing before", i)
        is_either = keys[i] == "|" and keys[i + 1] in self.words["types"]
        return self._type(i + 1) if is_either else i

    # Clauses

    def _clause(self, key: str, frame: Frame) -> None:
        if frame.kind != "query" and key not in {"WHERE", "LIMIT"}:
            self._unexpected()
        start = self.i
        frame.clause = key
        frame.in_pattern = key == "MATCH"
        self.searches = self.searches or key == "SEARCH"
        self._state = "operator" if key == "FINISH" else "value"
        self.i += 1
        after = self.keys[self.i]
        if key in _NEXT_WORDS:
            self._require(_NEXT_WORDS[key], self.i)
            self._state = "clause" if key == "OPTIONAL" else "value"
            self.i += key == "ORDER"
        elif key in {"UNION", "NEXT"}:
            self.i += after in {"ALL", "DISTINCT"}
            self._state = "clause"
        elif key in {"WITH", "RETURN"}:
            self.i += after == "DISTINCT" and self.keys[self.i + 1] not in _ENDS_VALUE
        elif key == "CALL" and after not in {"{", "("}:
            self._procedure()
        elif key == "FILTER":
            self.i += after == "WHERE"
        if len(self._frames) == 1:
            self.clauses.append((key, start, self.i))

    def _procedure(self) -> None:
        self._require_word("a procedure", self.i)
        name, end = self._dotted()
        self.i = end + 1
        if self.keys[self.i] == "=":
            raise Refusal(f"CALL {name} = ... changes a setting, and only reading is allowed")
        if name not in self._procedures:
            meant = closest(name, self._procedures, 0.75, whole=True)
            listed = f" CALL may be used with {', '.join(sorted(self._procedures))}"
            raise Refusal(f"the procedure {name} is not known to only read.{meant or listed}")
        self.procedures.append(name)
        if self.keys[self.i] == "(":
            self._callees[self.i] = ""
        self._state = "operator"

    def _prefixes(self) -> None:
        """Read EXPLAIN or PROFILE, CYPHER with harmless options, and USE."""
        keys = self.keys
        while (key := keys[self.i]) in {"EXPLAIN", "PROFILE"} or not self.ladybug:
            if key in {"EXPLAIN", "PROFILE"}:
                if self.explains:
                    raise Refusal("it has EXPLAIN or PROFILE twice; write one of them")
                self.explains = True
                self.i += 1 + (self.ladybug and keys[self.i + 1] == "LOGICAL")
            elif key == "CYPHER":
                self.i += 1 + (self.texts[self.i + 1] in {"5", "25"})
                while keys[self.i + 1 : self.i + 2] == ["="]:
                    self._require({"PLANNER", "RUNTIME"}, self.i)
                    self._require_word("a value", self.i + 2)
                    self.i += 3
            elif key == "USE" and keys[self.i + 2] not in {".", "("}:
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
        is_database = self.shows == "DATABASE" and self.keys[self.i] not in {"YIELD", "WHERE", ""}
        self.i += is_database
        is_own = "CURRENT USER" in self.shows or "USER DEFINED" in self.shows
        is_complete = self.keys[self.i] in {"", ";", "YIELD", "WHERE"}
        if not is_complete or not self.shows or ("USER" in self.shows and not is_own):
            self._unexpected(
                "SHOW may be used with INDEXES, CONSTRAINTS, FUNCTIONS, PROCEDURES and CURRENT "
                "USER, not with"
            )
        self._state = "operator"

    # Symbols

    def _symbol(self, key: str, frame: Frame, *, in_chain: bool) -> None:
        i = self.i
        self.i += 1
        state: Literal["value", "operator"] = "operator"
        if key == ".":
            self._dot()
        elif key == "$":
            if self.keys[self.i] != NUMBER:
                self._require_word("a parameter's name", self.i)
            self.i += 1
        elif (
            key == ":"
            and self._state == "operator"
            and not (self.ladybug and frame.kind == "index")
        ):
            has_bars = frame.kind == "list" or bool(frame.name)
            self.tested += self._label_names(self.i, has_bars=has_bars)[1]
        elif key == "::":
            self.i = self._type(self.i)
        elif key == ";":
            raise Refusal(SEVERAL)
        elif in_chain and self._link(key, i):
            frame.in_chain = True
            state = "operator" if key in {"*", "+"} else "value"
        elif key == "*" and frame.kind == "relationship" and frame.element is not None:
            frame.element.is_many = True
            state = "value"
        elif key == "*" and self._state == "value":
            self._require({"RETURN", "WITH", "DISTINCT", "YIELD", "("}, i - 1)
        elif key != "!" or self._state == "value":
            state = "value"
            if key == ",":
                frame.is_at_key = frame.kind in {"map", "projection"}
        self._state = state

    def _link(self, key: str, i: int) -> bool:
        """Read a part of what joins two nodes; whether it is one."""
        if key in {"*", "+"}:
            is_quantifier = self.keys[i - 1] in {"-", ">", ")"}
            if is_quantifier:
                self._quantify(i - 1)
            return is_quantifier
        if key == "-" and self.keys[self.i] == "-":
            self.elements.append(Element("relationship", i))
            self.i += 1
        return key in {"-", "<", ">"}

    def _dot(self) -> None:
        """Read what stands after a dot: a property, or ``*`` for all of them."""
        i = self.i
        if self.keys[i] == "*":
            self.wholes.append(i)
        else:
            self._require_word("a property", i)
            is_variable = bool(self.uses) and self.uses[-1].i == i - 2
            self.properties.append((i - 2 if is_variable else None, i))
        self.i += 1

    # Brackets

    def _open(self, key: str, frame: Frame, *, in_chain: bool) -> None:
        if key == "(":
            self._open_round(frame, in_chain=in_chain)
        elif key == "{":
            self._open_curly(frame, in_chain=in_chain)
        elif in_chain and self.keys[self.i - 1] == "-":
            self._element("relationship")
        else:
            self._push("index" if self._state == "operator" else "list")

    def _open_round(self, frame: Frame, *, in_chain: bool) -> None:
        keys, i = self.keys, self.i
        name = self._callees.get(i)
        after_relationship = in_chain and keys[i - 1] in {"-", ">", "+", "*", "}"}
        if name in _SHORTEST:
            self.has_path_value = self.has_path_value or not frame.in_pattern
            self._push("path", in_pattern=True)
        elif name is not None:
            if name:
                queries = [f.kind for f in self._frames]
                around = self._frames[len(queries) - queries[::-1].index("query") :]
                group = around[0].opening if around else i
                self.calls.append(Call(name, i, self.closing[i], group))
            self._push("call", name=name)
        elif frame.kind == "relationship" and self.ladybug:
            self._push("recursive")  # (r, n | WHERE ... | {...}, {...}) after the star
            while is_word(keys[self.i]):
                self.variables.add(self.folded(self.i))
                self.i += 1 + (keys[self.i + 1] == ",")
        elif frame.in_pattern or after_relationship or self._is_pattern():
            first, then = keys[i + 1], keys[i + 2]
            is_named = then == "=" or (then == "(" and first.lower() in _SHORTEST)
            if first == "(" or (is_word(first) and is_named):
                self._push("group", in_pattern=True)
            else:
                self._element("node")
        else:
            is_import = keys[i - 1] == "CALL" and frame.clause == "CALL"
            self._push("import" if is_import else "paren")

    def _open_curly(self, frame: Frame, *, in_chain: bool) -> None:
        keys, i = self.keys, self.i
        before, end = keys[i - 1], self.closing[i]
        if in_chain and before in {"-", ">", ")"}:
            if not set(keys[i + 1 : end]) <= {NUMBER, ","}:
                self._unexpected()
            self._quantify(i - 1)
            self.i = end + 1
            frame.in_chain = True
            self._state = "operator"
            return
        is_called = frame.clause == "CALL" and frame.kind == "query" and before in {"CALL", ")"}
        is_branch = frame.clause == "WHEN" and before in {"THEN", "ELSE"}
        if i in self._queries or is_called or (is_branch and keys[i + 2] not in {":", ","}):
            is_pattern = i in self._queries and keys[i + 1] not in self.words["clauses"]
            self._queries.discard(i)
            if is_called:
                self._queries.add(end)
            self._push("query", in_pattern=is_pattern)
            self._state = "value" if is_pattern else "clause"
        elif frame.kind in {"node", "relationship"} and not frame.clause:
            self._push("map", element=frame.element, is_at_key=True)
        elif self._state == "operator" and is_word(before):
            self._push("projection", variable=i - 1, is_at_key=True)
        elif frame.kind == "recursive":
            self._push("paren")
        else:
            self._push("map", is_at_key=True)

    def _push(self, kind: str, **known: object) -> None:
        self._frames.append(Frame(kind, opening=self.i, **known))  # type: ignore[arg-type]
        self._state = "value"
        self.i += 1
        if kind == "call" and self.keys[self.i] == "*":
            self._state = "operator"
            self.i += 1

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
        elif (is_word(keys[i]) or keys[i] == TEXT) and keys[i + 1] == ":":
            if frame.element is not None:
                frame.element.keys.append(i)
            self._state = "value"
        else:
            return False
        self.i += 2
        return True

    # Patterns

    def _is_pattern(self) -> bool:
        """Whether the parenthesis is a node that a relationship follows, as servers look ahead."""
        keys = self.keys
        end = self.closing[self.i] + 1
        end += keys[end] == "<"
        if keys[end] != "-":
            return False
        end = self.closing[end + 1] + 1 if keys[end + 1] == "[" else end + 1
        first = keys[self.i + 1]
        is_node = first in _BEGINS_NODE or (is_word(first) and keys[self.i + 2] in _AFTER_NAME)
        return is_node and keys[end] == "-"

    def _element(self, kind: Literal["node", "relationship"]) -> None:
        """Read a node or relationship up to its labels."""
        keys = self.keys
        element = Element(kind, self.i)
        self.elements.append(element)
        self._push(kind, element=element)
        key = keys[self.i]
        if is_word(key) and (key not in {"IS", "WHERE"} or keys[self.i + 1] in _AFTER_NAME):
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
            if expects_name and key == "$":  # a computed name, which is read as a value
                bracket = i + 1 + (keys[i + 1] in {"ALL", "ANY"})
                self._require({"("}, bracket)
                self._labels |= set(range(i, bracket))
                i, expects_name = self.closing[bracket] + 1, False
                continue
            if expects_name:
                if is_word(key):
                    names.append(i)
                    self._quote(i)
                elif key not in {"!", "%", "("}:
                    self._unexpected("a label is missing before", i)
                depth += key == "("
                expects_name = key in {"!", "("}
            elif key == ")" and depth:
                depth -= 1
            elif key in {"&", ":"} or (key == "|" and (depth or not has_bars)):
                expects_name = True
                if key == "|" and keys[i + 1] == ":":
                    self._labels.add(i)
                    i += 1
                if keys[i] == ":":
                    self.colons.append(i)
            else:
                return i, names
            self._labels.add(i)
            i += 1

    def _quantify(self, i: int) -> None:
        """Note that what ends at token `i`, a relationship or a group, may be any number."""
        for element in reversed(self.elements):
            if self.keys[i] == ")" or element.kind == "relationship":
                element.is_many = element.is_many or self.keys[i] != ")"
                return
