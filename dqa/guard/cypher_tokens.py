"""Split Cypher into tokens, and refuse text that cannot be rewritten exactly.

From the tokens, the guard writes the text that runs. Parsers may read comments, unusual spaces and
escapes differently, so the server never receives them.
"""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple

from dqa.core.schema import quote_name
from dqa.guard.check import Refusal, ScriptTokens

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
_CLOSES = {")": "(", "]": "[", "}": "{"}
_PLAIN_GAP = re.compile(r"[ \t\n\r]*")


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


class Tokens(NamedTuple):
    """The tokens of one statement, as parallel lists that end with an empty token.

    Attributes
    ----------
    keys
        The kind of each token: a symbol, a word in capitals, `NAME`, `NUMBER` or `TEXT`; empty at
        the end.
    texts
        The text of each token. It equals the text in `spelled`, except that names have no quotes.
    spelled
        The text that runs for each token. Names with letters outside of ASCII are in backticks.
    starts, ends
        The start and the end of each token in the statement, in characters.
    closing
        Maps the index of each opening bracket to the index of its closing bracket.
    """

    keys: list[str]
    texts: list[str]
    spelled: list[str]
    starts: list[int]
    ends: list[int]
    closing: dict[int, int]


def is_word(key: str) -> bool:
    """Return whether a token is a word or a name."""
    return key == NAME or key[:1].isalpha() or key[:1] == "_"


def tokens(statement: str, dialect: str) -> Tokens:
    """Return the tokens of `statement`.

    Raises
    ------
    Refusal
        A character belongs to no token, or brackets are unbalanced or nested too deeply.
    """
    found = Tokens([], [], [], [], [], {})
    opened: list[int] = []
    for match in _pattern(dialect).finditer(statement):
        kind = match.lastgroup or ""
        text = match[kind]
        if kind == "comment" and "\\u" not in text:
            continue
        if kind in {"other", "comment"}:
            raise Refusal(_why(statement, match.start(kind)))
        _match_bracket(text, opened, found)
        key = text
        if kind == "word":
            key = text.upper() if text.isascii() else NAME
        elif kind == "name":
            key, text = NAME, text[1:-1].replace("``", "`")
        elif kind in {"number", "text"}:
            key, text = (NUMBER, text) if kind == "number" else (TEXT, decoded(text))
        found.keys.append(key)
        found.texts.append(text)
        found.spelled.append(quote_name(text) if key == NAME else text)
        found.starts.append(match.start(kind))
        found.ends.append(match.end())
        if kind == "end":
            break
    if opened:
        raise Refusal(f"the bracket '{found.keys[opened[-1]]}' is not closed")
    return found


def _match_bracket(text: str, opened: list[int], found: Tokens) -> None:
    """At a closing bracket, store the pair; refuse unbalanced and too deeply nested brackets.

    `text` is the token that will be added to `found` after this call.
    """
    if text in {"(", "[", "{"}:
        opened.append(len(found.keys))
        if len(opened) > DEEPEST:
            raise Refusal("it is nested too deeply; use fewer levels of brackets")
    elif text in _CLOSES:
        if not opened or found.keys[opened[-1]] != _CLOSES[text]:
            raise Refusal(f"the bracket '{text}' has no opening bracket")
        found.closing[opened.pop()] = len(found.keys)


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


def gap(statement: str, found: Tokens, i: int) -> str:
    """Return the white space before a token, with comments replaced by a space."""
    between = statement[found.ends[i - 1] if i else 0 : found.starts[i]]
    return between if _PLAIN_GAP.fullmatch(between) else " "


def decoded(text: str) -> str:
    """Return a string or a name with its Unicode escapes decoded, as Neo4j decodes them."""
    return _ESCAPED.sub(lambda m: chr(int(m[1], 16)) if m[1] else m[0], text)


def _why(statement: str, start: int) -> str:
    return (
        f"it cannot be read at {statement[start : start + 20]!r}: close every quote, comment and "
        "backtick, and use plain characters"
    )
