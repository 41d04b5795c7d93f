"""A position in the tokens of one Cypher statement, and the findings of its reader."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, NoReturn

from dqa.core.cypher import quote_name
from dqa.guard.check import SEVERAL, Refusal
from dqa.guard.cypher_sizes import ONE, Size
from dqa.guard.cypher_tokens import is_word, tokens
from dqa.guard.lists import lists
from dqa.guard.policy import Policy

_ENDS_VALUE = frozenset({"", ",", ")", "]", "}", ".", "AS", "=", "<>", ";"})
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


class Cursor:
    """A position in the tokens of a statement.

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
        The positions of ``*``, for all properties or for all columns of RETURN.
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
        self.i = 0
        self._around = ""
        self._sizes: dict[str, Size] = {}

    def folded(self, i: int) -> str:
        """Return how a name is compared: LadybugDB ignores case."""
        return self.texts[i].lower() if self.ladybug else self.texts[i]

    def _at(self, *keys: str) -> bool:
        return self.keys[self.i] in keys

    def _is_prefix(self, *words: str) -> bool:
        """Whether a word that could be a name is one of the language here."""
        return self._at(*words) and self.keys[self.i + 1] not in _ENDS_VALUE

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

    @contextmanager
    def _inside(self, around: str = "") -> Iterator[int]:
        """Step into a bracket, and out behind its end, which the context has to reach."""
        end, outer = self.closing[self.i], self._around
        self.i, self._around = self.i + 1, around
        yield end
        if self.i != end:
            self._unexpected()
        self.i, self._around = end + 1, outer

    def _hold(self, name: int, size: Size) -> None:
        """Note how large the value of a name may be, wherever the name stands."""
        known = self._size_of(name, size)
        self._sizes[self.folded(name)] = size if size.total >= known.total else known

    def _size_of(self, name: int, default: Size = ONE) -> Size:
        return self._sizes.get(self.folded(name), default)

    def _unexpected(self, problem: str = "") -> NoReturn:
        """Refuse the token that is next."""
        key, text = self.keys[self.i], self.texts[self.i]
        if key == ";":
            raise Refusal(SEVERAL)
        if key in self.words["writing"] | {"SHOW", "LOAD"}:
            raise Refusal(f"it contains {key}, and only reading is allowed: write MATCH")
        what = f"'{text[:40]}' (character {self.found.starts[self.i] + 1})" if key else "its end"
        raise Refusal(f"{problem} {what}" if problem else f"{what} is not expected there: {_HELP}")
