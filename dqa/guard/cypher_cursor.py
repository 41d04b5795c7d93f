"""Step through the tokens of a Cypher statement, and store the patterns, names and calls in it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, NoReturn

from dqa.core.schema import quote_name
from dqa.guard.check import SEVERAL, Refusal
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
    """A node or relationship in a pattern. Positions are indexes of tokens.

    Attributes
    ----------
    opening
        Its opening bracket; for a relationship without brackets, its first dash.
    variable
        Its variable.
    begin, end
        The range of its labels or types: the position after the colon or IS, and the position after
        the last name. Both are 0 without labels and types.
    names
        Its labels or types.
    is_plain
        Whether the labels contain no negation, wildcard or computed name.
    keys
        The properties of its map, and the weight property of a shortest path.
    is_many
        Whether it matches paths of any length.
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
    """A function call: the name in lower case, and its opening and closing bracket."""

    name: str
    opening: int
    end: int


class Cursor:
    """Steps through the tokens of a statement, and stores the parts that its subclasses read.

    Attributes
    ----------
    spelled
        The text that runs for each token. A policy changes it.
    elements
        The nodes and relationships of all patterns.
    tested
        The labels and types in tests outside of patterns.
    variables
        The names of nodes, relationships and paths in patterns.
    uses
        The names that are used as whole values.
    compared
        Pairs of names in `uses` that are the two operands of ``=`` or ``<>``.
    properties
        Each property that is read with a dot, and the name before the dot. The name is None if
        another value precedes the dot.
    wholes
        The positions of ``*`` that selects all properties, or all columns of RETURN.
    aliases
        Pairs of a value and its alias after AS.
    calls, procedures
        The function calls, and the names of procedures.
    returned
        The start and the end of each item without an alias in the final RETURN.
    colons
        The positions of colons between labels, as in ``:A:B``.
    used
        The database that USE names. The text that runs has no USE.
    shows
        The object of SHOW.
    explains
        Whether the statement contains EXPLAIN or PROFILE.
    searches
        Whether the statement contains SEARCH.
    has_path_value
        Whether the statement contains a path outside of a pattern.
    has_computed_label
        Whether the server computes a label or type of the statement.
    """

    def __init__(self, statement: str, dialect: str, policy: Policy) -> None:
        self.ladybug = dialect == "ladybug"
        self.found = found = tokens(statement, dialect)
        self.keys, self.texts, self.closing = found.keys, found.texts, found.closing
        self.spelled = list(found.spelled)
        self.words = words = lists(dialect)
        whole = words["functions of whole elements"]
        self._functions = policy.functions | words["functions"] | whole
        described = policy.procedures | words["describing procedures"]
        self._procedures = described | words["procedures"]
        self.elements: list[Element] = []
        self.variables: set[str] = set()
        self.tested: list[int] = []
        self.uses: list[int] = []
        self.wholes: list[int] = []
        self.colons: list[int] = []
        self.compared: list[tuple[int, int]] = []
        self.aliases: list[tuple[int, int]] = []
        self.returned: list[tuple[int, int]] = []
        self.properties: list[tuple[int | None, int]] = []
        self.calls: list[Call] = []
        self.procedures: list[str] = []
        self.shows = self.used = ""
        self.explains = self.searches = self.has_path_value = self.has_computed_label = False
        self.i = 0
        self._around = ""

    def folded(self, i: int) -> str:
        """Return a name in the form in which names are compared: LadybugDB ignores case."""
        return self.texts[i].lower() if self.ladybug else self.texts[i]

    def _at(self, *keys: str) -> bool:
        return self.keys[self.i] in keys

    def _is_prefix(self, *words: str) -> bool:
        """Return whether the next token is one of these keywords and not a name."""
        return self._at(*words) and self.keys[self.i + 1] not in _ENDS_VALUE

    def _take(self, *keys: str) -> bool:
        """Step over the next token if it is one of `keys`; return whether this was the case."""
        is_one = self.keys[self.i] in keys
        self.i += is_one
        return is_one

    def _skip(self, *keys: str) -> None:
        """Step over all following tokens that are in `keys`."""
        while self._take(*keys):
            pass

    def _expect(self, *keys: str) -> None:
        """Step over exactly these tokens; refuse the statement if one is missing."""
        for key in keys:
            if not self._take(key):
                self._unexpected(f"{key} is missing before")

    def _name(self, what: str = "a name") -> int:
        """Step over a name; quote it if it is also a keyword in the list `writing`."""
        if self.keys[self.i] in self.words["writing"]:
            self.spelled[self.i] = quote_name(self.texts[self.i])
        return self._property(what)

    def _property(self, what: str = "a property") -> int:
        if not is_word(self.keys[self.i]):
            self._unexpected(f"{what} is missing before")
        self.i += 1
        return self.i - 1

    def _dotted(self) -> tuple[str, int]:
        """Return a name with its namespaces in lower case, and the position where it ends."""
        begin = end = self.i
        while self.keys[end + 1] == "." and is_word(self.keys[end + 2]):
            end += 2
        return ".".join(self.texts[begin : end + 1 : 2]).lower(), end

    @contextmanager
    def _inside(self, around: str = "") -> Iterator[int]:
        """Step over an opening bracket, run the block, and step over the closing bracket.

        The block must read everything between the brackets.
        """
        end, outer = self.closing[self.i], self._around
        self.i, self._around = self.i + 1, around
        yield end
        if self.i != end:
            self._unexpected()
        self.i, self._around = end + 1, outer

    def _unexpected(self, problem: str = "") -> NoReturn:
        """Refuse the statement, and quote its next token."""
        key, text = self.keys[self.i], self.texts[self.i]
        if key == ";":
            raise Refusal(SEVERAL)
        if key in self.words["writing"] | {"SHOW", "LOAD"}:
            raise Refusal(
                f"it contains {key}, but only reading is allowed; write a query with MATCH"
            )
        what = f"'{text[:40]}' (character {self.found.starts[self.i] + 1})" if key else "its end"
        raise Refusal(f"{problem} {what}" if problem else f"{what} is not expected there: {_HELP}")
