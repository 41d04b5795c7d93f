"""Where a parser is in its tokens, and what it says when they are not what it expects."""

from __future__ import annotations

from typing import NoReturn

from dqa.guard.cypher.facts import Facts
from dqa.guard.cypher.failure import NotAllowedError
from dqa.guard.cypher.lexer import Tokens
from dqa.guard.cypher.words import EFFECTS, NAMES
from dqa.guard.verdict import SEVERAL

_DEEPEST = 60
"""Expressions within expressions."""
_HELP = (
    "only MATCH, OPTIONAL MATCH, WHERE, WITH, UNWIND, CALL of listed procedures, RETURN, ORDER BY, "
    "SKIP, LIMIT and UNION may be used"
)


class TokenCursor:
    """Tokens, a position among them, and the names in scope.

    Parameters
    ----------
    found
        The tokens of one statement.
    dialect
        ``"neo4j"`` or ``"ladybug"``.
    functions, procedures
        What may be called, in small letters.
    """

    def __init__(
        self, found: Tokens, dialect: str, functions: frozenset[str], procedures: frozenset[str]
    ) -> None:
        self.keys, self.texts, self.starts, self.ends, self.closing = found
        self.i = 0
        self.ladybug = dialect == "ladybug"
        self.functions = functions
        self.procedures = procedures
        self.facts = Facts()
        self.scope: dict[str, int] = {}
        self.in_bars = False
        self._depth = 0

    def expression(self) -> int:
        """Read an expression, and return its trace."""
        raise NotImplementedError

    def query(self, *, final: bool) -> int:
        """Read a query, and return the trace of what it returns."""
        raise NotImplementedError

    def at(self, key: str) -> bool:
        """Step over `key` if it is next."""
        if self.keys[self.i] == key:
            self.i += 1
            return True
        return False

    def expect(self, key: str) -> None:
        """Step over `key`, which must be next."""
        if self.keys[self.i] != key:
            self.unexpected(f"{key} is missing before")
        self.i += 1

    def name(self) -> str:
        """Step over a name, and return it."""
        i = self.i
        if self.keys[i] not in NAMES:
            self.unexpected("a name is missing before")
        self.i = i + 1
        return self.folded(self.texts[i])

    def folded(self, name: str) -> str:
        """Return what tells a name from others: LadybugDB does not tell capitals apart."""
        return name.lower() if self.ladybug else name

    def deeper(self) -> None:
        """Note that one thing more is nested."""
        self._depth += 1
        if self._depth > _DEEPEST:
            raise NotAllowedError("it is nested too deeply; write it flatter")

    def shallower(self) -> None:
        """Note the end of what `deeper` began."""
        self._depth -= 1

    def unexpected(self, problem: str = "") -> NoReturn:
        """Refuse the token that is next.

        Raises
        ------
        NotAllowedError
            Always.
        """
        key, text = self.keys[self.i], self.texts[self.i]
        if key == ";":
            raise NotAllowedError(SEVERAL)
        if key in EFFECTS:
            raise NotAllowedError(f"it contains {key}, and only reading is allowed")
        what = f"'{text[:40]}' (character {self.starts[self.i] + 1})" if key else "its end"
        if problem:
            raise NotAllowedError(f"{problem} {what}")
        raise NotAllowedError(f"{what} is not expected there: {_HELP}")
