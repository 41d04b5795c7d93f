"""Reads the tokens of one Cypher statement from left to right, and notes what it says of a graph.

Only three things are known at each token: whether a clause, a value or an operator may come, which
brackets are open, and whether a pattern is. A word in an operator's place must be one of the lists;
a word in a value's place is a name, whatever it is spelled like. That is enough to know every
clause, call, pattern and name; whether the statement makes sense, the server decides.
"""

from __future__ import annotations

from difflib import get_close_matches
from typing import NoReturn

from dqa.guard.cypher_patterns import SHORTEST, Element, Frame, PatternReader, Use
from dqa.guard.cypher_tokens import DEEPEST, NAME, NUMBER, TEXT, is_word
from dqa.guard.verdict import SEVERAL, Refusal

_SUBQUERIES = frozenset({"EXISTS", "COUNT", "COLLECT"})
_COMPARING = frozenset({"IS", "STARTS", "ENDS", "CONTAINS", "IN"})
_PATH_KINDS = frozenset({"SHORTEST", "ALL", "TRAIL", "ACYCLIC", "WSHORTEST"})
_ENDS_VALUE = frozenset({"", ",", ")", "]", "}", ".", "AS", "=", "<>", ";"})
_BEGINS_VALUE = frozenset({"(", "[", "{", "$", NUMBER, TEXT})
_SLICING = frozenset({"WHERE", "ORDER", "SKIP", "OFFSET", "LIMIT", "YIELD", "USING", "HINT"})
"""Clauses that belong to the one before."""
_THEN_OPERATOR = frozenset({"END", "ASC", "ASCENDING", "DESC", "DESCENDING", "SCORE"})


class CypherReader(PatternReader):
    """Reads one statement; see the module, and `PatternReader` for what is noted.

    Raises
    ------
    Refusal
        The statement does more than reading, or cannot be read.
    """

    def __init__(
        self, statement: str, dialect: str, functions: frozenset[str], procedures: frozenset[str]
    ) -> None:
        super().__init__(statement, dialect, functions, procedures)
        self._read()

    def _read(self) -> None:
        if not self.keys[0]:
            raise Refusal("it is empty; write MATCH ... RETURN ...")
        self._prefixes()
        if self.keys[self.i] == "SHOW" and not self.ladybug:
            self._show()
        while self.keys[self.i] and not (self.keys[self.i] == ";" and self._is_end()):
            self._step()
        self._end_item(self.i)
        if not self.shows and self._frames[0].last not in {"RETURN", "FINISH", "CALL", "WHEN"}:
            raise Refusal("it returns nothing; end it with RETURN")
        if self._state == "value" or self._cases:
            self._unexpected()
        del self.keys[self.i : -1]  # semicolons behind the end

    def _is_end(self) -> bool:
        return set(self.keys[self.i :]) <= {";", ""}

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

    def _word(self, key: str, frame: Frame) -> None:
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

    def _is_prefix(self, key: str, frame: Frame) -> bool:
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

    def _named(self, frame: Frame) -> None:
        """Read what begins with a name: a call, or a variable."""
        keys, i = self.keys, self.i
        if frame.kind == "relationship" and keys[i] == "WSHORTEST":
            self._weighted(frame)
            return
        name, end = self._dotted()
        if keys[end + 1] == "(" and not (frame.in_pattern and name not in SHORTEST):
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

    def _dotted(self) -> tuple[str, int]:
        """Return a name with its namespaces in small letters, and where it ends."""
        begin = end = self.i
        while self.keys[end + 1] == "." and is_word(self.keys[end + 2]):
            end += 2
        return ".".join(self.texts[begin : end + 1 : 2]).lower(), end

    def _is_operator(self, i: int) -> bool:
        return self.keys[i] in self.words["operators"] | self.words["clauses"]

    def _require_function(self, name: str) -> None:
        if name in self.functions or name in SHORTEST:
            return
        if self.keys[self.i] in self.words["writing"]:
            self._unexpected()
        raise Refusal(
            f"the function {name} is not known to only read{_meant(name, self.functions)}"
        )

    def _weighted(self, frame: Frame) -> None:
        """Read ``WSHORTEST(property)``, of LadybugDB."""
        if frame.element is None or self.keys[self.i + 3] != ")":
            self._unexpected()
        frame.element.keys.append(self.i + 2)
        self.i += 4

    def _operator(self, key: str, frame: Frame) -> None:
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

    def _as(self, frame: Frame) -> None:
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

    def _clause(self, key: str, frame: Frame) -> None:
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
        if not is_word(self.keys[self.i]):
            self._unexpected("a procedure is missing before")
        name, end = self._dotted()
        self.i = end + 1
        if self.keys[self.i] == "=":
            raise Refusal(f"CALL {name} = ... changes a setting, and only reading is allowed")
        if name not in self.known_procedures:
            listed = f"; CALL may be used with {', '.join(sorted(self.known_procedures))}"
            meant = _meant(name, self.known_procedures)
            raise Refusal(f"the procedure {name} is not known to only read{meant or listed}")
        self.procedures.append(name)
        if self.keys[self.i] == "(":
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

    # Symbols

    def _symbol(self, key: str, frame: Frame, *, in_chain: bool) -> None:
        i = self.i
        self.i += 1
        if key in {NUMBER, TEXT}:
            self._state = "operator"
        elif key == ".":
            self._dot()
        elif key == "$":
            if not is_word(self.keys[self.i]) and self.keys[self.i] != NUMBER:
                self._unexpected("a parameter's name is missing before")
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

    def _star(self, i: int, frame: Frame) -> None:
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

    def _is_slice(self, frame: Frame) -> bool:
        return self.ladybug and frame.kind == "index"

    def _comma(self, frame: Frame) -> None:
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


def _meant(name: str, known: frozenset[str]) -> str:
    """Return ``. Did you mean 'x'`` with what is closest to a dotted name, or nothing."""
    found = get_close_matches(name, sorted(known), n=1, cutoff=0.75)
    return f". Did you mean '{found[0]}'" if found else ""
