"""Split Cypher into tokens, step through them, and refuse text that cannot be rewritten exactly.

From the tokens, the guard writes the text that runs. Parsers may read comments, unusual spaces and
escapes differently, so the server never receives them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import NoReturn

from dqa.core.schema import quote_name
from dqa.guard.check import SEVERAL, Refusal, ScriptTokens
from dqa.guard.lists import lists
from dqa.guard.policy import small

NAME = "`"
"""The kind of a token that is a name in backticks or with letters outside of ASCII."""
NUMBER = "0"
"""The kind of a token that is a number."""
TEXT = "'"
"""The kind of a token that is a string."""

DEEPEST = 60
"""The maximum depth of nested brackets."""
_UNICODE = r"\\u(?!00[0189]|007[fF]|0022|0027|005[cC]|0060|[dD][89a-fA-F])[0-9a-fA-F]{4}"
"""An escaped letter, which the guard replaces by the letter."""
_ESCAPES = {"neo4j": rf"\\[^uU]|{_UNICODE}", "ladybug": rf"""\\[\\'"bfnrtBFNRT]|{_UNICODE}"""}
_ESCAPED = re.compile(r"\\(?:u([0-9a-fA-F]{4})|.)", re.DOTALL)
_OPENS = frozenset("([{")
_CLOSES = {")": "(", "]": "[", "}": "{"}
_PLAIN_GAP = re.compile(r"[ \t\n\r]*")
_ENDS_VALUE = frozenset({"", ",", ")", "]", "}", ".", "AS", "=", "<>", ";"})
_HELP = (
    "only MATCH, OPTIONAL MATCH, WHERE, WITH, UNWIND, CALL of listed procedures, RETURN, ORDER BY, "
    "SKIP, LIMIT and UNION may be used"
)


@cache
def _pattern(dialect: str) -> re.Pattern[str]:
    escape = _ESCAPES[dialect]
    return re.compile(
        rf"""
        \s*(?:
            (?P<word>[^\W\d][\w$€£¥¢]*)
          | (?P<number>(?:0[xX][0-9a-fA-F]+|0o[0-7]+
              |(?:[0-9][0-9_]*(?:\.[0-9][0-9_]*)?|\.[0-9][0-9_]*)(?:[eE][+-]?[0-9]+)?[dDfF]?)
              (?![\w$]|\.(?!\.)))
          | (?P<symbol><>|<=|>=|=~|!=|<<|>>|\|\||::|:=|\.\.|\+=
              |[-+*%^=<>!|&.,:;$()\[\]{{}}]|/(?![/*]))
          | (?P<text>'(?:[^'\\]|{escape})*'(?!')|"(?:[^"\\]|{escape})*"(?!"))
          | (?P<name>`(?:[^`\\]|``|\\(?!u))+`)
          | (?P<comment>//[^\n\r\x0b\x0c\x85\u2028\u2029]*(?=\r?\n|\Z)|/\*.*?\*/)
          | (?P<end>\Z)
          | (?P<other>.)
        )""",
        re.VERBOSE | re.DOTALL,
    )


def is_word(key: str) -> bool:
    """Return whether a token is a word or a name."""
    return key == NAME or key[:1].isalpha() or key[:1] == "_"


class Cursor:
    """The tokens of one statement, and the position of the next token to read.

    The lists have one entry for each token, and one for the end of the statement.

    Attributes
    ----------
    keys
        The kind of each token: a symbol, a word in capitals, `NAME`, `NUMBER` or `TEXT`; empty at
        the end.
    texts
        The text of each token; names have no quotes.
    spelled
        The text that the server receives for each token. Names with letters outside of ASCII are in
        backticks. A policy changes this text.
    starts, ends
        The start and the end of each token in the statement, in characters.
    closing
        Maps the index of each opening bracket to the index of its closing bracket.

    Raises
    ------
    Refusal
        A character belongs to no token, or brackets are unbalanced or nested too deeply.
    """

    def __init__(self, statement: str, dialect: str) -> None:
        self.ladybug = dialect == "ladybug"
        self.words = lists(dialect)
        self.statement = statement
        self.keys: list[str] = []
        self.texts: list[str] = []
        self.spelled: list[str] = []
        self.starts: list[int] = []
        self.ends: list[int] = []
        self.closing: dict[int, int] = {}
        self.i = 0
        self._around: str | None = None
        self._scope: frozenset[str] = frozenset()  # the names that patterns have bound
        self._tokenize(dialect)

    def _tokenize(self, dialect: str) -> None:
        opened: list[int] = []
        for match in _pattern(dialect).finditer(self.statement):
            kind = match.lastgroup or ""
            key = text = match[kind]
            if kind == "comment" and "\\u" not in text:
                continue
            if kind in {"other", "comment"}:
                raise Refusal(_why(self.statement, match.start(kind)))
            if kind == "word":
                key = text.upper() if text.isascii() else NAME
            elif kind == "name":
                key, text = NAME, text[1:-1].replace("``", "`")
            elif kind == "text":
                key, text = TEXT, decoded(text)
            elif kind == "number":
                key = NUMBER
            else:
                self._match_bracket(text, opened)
            self.keys.append(key)
            self.texts.append(text)
            self.spelled.append(quote_name(text) if key == NAME else text)
            self.starts.append(match.start(kind))
            self.ends.append(match.end())
            if kind == "end":
                break
        if opened:
            raise Refusal(f"the bracket '{self.keys[opened[-1]]}' is not closed")

    def _match_bracket(self, text: str, opened: list[int]) -> None:
        """Store the pair of brackets that the next token closes.

        Refuse unbalanced and too deeply nested brackets.
        """
        if text in _OPENS:
            opened.append(len(self.keys))
            if len(opened) > DEEPEST:
                raise Refusal("it is nested too deeply; use fewer levels of brackets")
        elif text in _CLOSES:
            if not opened or self.keys[opened[-1]] != _CLOSES[text]:
                raise Refusal(f"the bracket '{text}' has no opening bracket")
            self.closing[opened.pop()] = len(self.keys)

    def folded(self, i: int) -> str:
        """Return a name in the form in which names are compared: LadybugDB ignores case."""
        return small(self.texts[i]) if self.ladybug else self.texts[i]

    def gap(self, i: int) -> str:
        """Return the white space before a token, with comments replaced by a space."""
        between = self.statement[self.ends[i - 1] if i else 0 : self.starts[i]]
        return between if _PLAIN_GAP.fullmatch(between) else " "

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
        """Step over exactly these tokens; refuse the statement if a token is missing."""
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
        """Return a name with its namespaces in lower case, and the index of its last token."""
        begin = end = self.i
        while self.keys[end + 1] == "." and is_word(self.keys[end + 2]):
            end += 2
        return ".".join(self.texts[begin : end + 1 : 2]).lower(), end

    @contextmanager
    def _inside(self, around: str = "") -> Iterator[int]:
        """Step over an opening bracket, run the block, and step over the closing bracket.

        The block must read everything between the brackets.
        """
        if self.i not in self.closing:
            self._unexpected("a bracket is missing before")
        end, outer, scope = self.closing[self.i], self._around, self._scope
        self.i, self._around = self.i + 1, around
        yield end
        if self.i != end:
            self._unexpected()
        self.i, self._around, self._scope = end + 1, outer, scope

    def _unexpected(self, problem: str = "") -> NoReturn:
        """Refuse the statement with a message that quotes the next token."""
        key, text = self.keys[self.i], self.texts[self.i]
        if key == ";":
            raise Refusal(SEVERAL)
        if key in self.words["writing"]:
            raise Refusal(
                f"it contains {key}, but only reading is allowed; write a query with MATCH"
            )
        what = f"'{text[:40]}' (character {self.starts[self.i] + 1})" if key else "the end"
        raise Refusal(f"{problem} {what}" if problem else f"{what} is not expected there: {_HELP}")


def script_tokens(script: str, dialect: str) -> ScriptTokens:
    """Return the tokens of a script before the first unreadable character."""
    found: list[tuple[int, int, bool]] = []
    for match in _pattern(dialect).finditer(script):
        kind = match.lastgroup or ""
        begin = match.start(kind)
        if kind == "other":
            return ScriptTokens(found, _why(script, begin), begin)
        if kind not in {"comment", "end"}:
            found.append((begin, match.end(), match[kind] == ";"))
    return ScriptTokens(found, "", len(script))


def decoded(text: str) -> str:
    """Return a string or a name with its Unicode escapes decoded, as Neo4j decodes them."""
    return _ESCAPED.sub(lambda m: chr(int(m[1], 16)) if m[1] else m[0], text)


def _why(statement: str, start: int) -> str:
    return (
        f"it cannot be read at {statement[start : start + 20]!r}: close every quote, comment and "
        "backtick, and use plain characters"
    )
