"""The guard's own lexer: which characters of a statement are text, names, comments and code.

It knows quotes and comments as each server's manual defines them, and nothing else. Comments are
blanked before sqlglot reads the statement, and sqlglot must then find the same quotes: where two
lexers disagree, one of them could be made to overlook a part. Where the server's own reading
depends on a setting (backslashes, mostly), every reading that is possible must be the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from dqa.guard.quotes import LEXERS, Found, QuotedPart, find
from dqa.guard.sql.lists import lists
from dqa.guard.sql.size import refuse_too_large
from dqa.guard.verdict import SEVERAL, Refusal

_SPACED = frozenset({"mysql", "mariadb"})
"""Where two dashes begin a comment only before a blank, and are two signs elsewhere."""
_MINUSES = re.compile("--")

_RETURN = "it has a carriage return without a line feed; write plain line breaks"
_OPENED = "a quote or a comment is left open; close it, and write ' in text as ''"
_ODD = re.compile(r"[^\w\x20-\x7e\t\n\r]")
_TEMPLATE = re.compile(r"\{[#%]")
_HIDDEN_NAME = re.compile(r"(?<![\w$])[uU]&\"")
_OTHER_QUOTES = re.compile(r"//|(?<![\w$])[nN]?[qQ]'")
"""Comments of Snowflake, quotes of Oracle."""
_LONE_RETURN = re.compile(r"\r(?!\n)")
_NOT_CODE = {"mysql": "\\", "mariadb": "\\", "postgres": "\\`{}", "sqlite": "\\", "ansi": "\\`#{}$"}
_HINT = re.compile(r"\b(\w++)\s*+\(")


@dataclass(frozen=True, slots=True)
class StatementText:
    """A statement without its comments and its last semicolon.

    Attributes
    ----------
    sql
        What is to be parsed.
    code
        The same, with the inside of every quoted part blank; both as long as the statement.
    quoted
        The quoted parts, in order.
    """

    sql: str
    code: str
    quoted: tuple[QuotedPart, ...]


def read(statement: str, dialect: str) -> StatementText:
    """Return a statement's text; `Refusal` where it is none, or more than one way to read it."""
    lexers = LEXERS[dialect]
    if _LONE_RETURN.search(statement):
        raise Refusal(_RETURN)
    found = find(statement, lexers[0])
    quoted, comments, opened = found
    if opened is not None:
        raise Refusal(_OPENED)
    sql, code = _blanked(statement, quoted, comments)
    if "\\" in statement or (dialect == "ansi" and "[" in statement):
        _refuse_other_readings(statement, dialect, found)
    for start, end in comments:
        _check_comment(statement[start:end], dialect)
    _check_code(code, dialect)
    if dialect in _SPACED and "--" in code:
        # A minus behind a minus: any other sign is read at the same places, and begins no comment.
        sql, code = (_put(whole, code, _MINUSES, "-+") for whole in (sql, code))
    if dialect == "ansi" and ("'''" in sql or '"""' in sql):
        raise Refusal("three quotes in a row are read in two ways; write the text differently")
    refuse_too_large(code, dialect)
    end = len(code.rstrip("; \t\r\n"))
    if not end:
        raise Refusal("it is empty; write a SELECT")
    if ";" in code[:end]:
        raise Refusal(SEVERAL)
    return StatementText(sql[:end], code[:end], quoted)


def spaced(statement: str, dialect: str) -> str:
    """Return a statement in which no signs can be taken for a comment by who reads it otherwise.

    ``a--1`` is ``a - -1`` in MySQL, and nothing but ``a`` elsewhere.
    """
    found = find(statement, LEXERS[dialect][0])
    if dialect not in _SPACED or "--" not in statement:
        return statement
    sql, code = _blanked(statement, found.quoted, found.comments)
    return _put(sql, code, _MINUSES, "- -")


def _put(sql: str, code: str, pattern: re.Pattern[str], new: str) -> str:
    """Return `sql` with `new` wherever the pattern is in its code."""
    parts: list[str] = []
    position = 0
    for match in pattern.finditer(code):
        parts += sql[position : match.start()], new
        position = match.end()
    return "".join((*parts, sql[position:]))


class ScriptText(NamedTuple):
    """Statements with semicolons between them.

    Attributes
    ----------
    sql
        The script as long as it was, with blanks for the comments that do nothing.
    ends
        The places of the semicolons that are no part of a text, a name or a comment.
    problem, place
        What cannot be read with certainty, and where it begins; empty for nothing.
    """

    sql: str
    ends: tuple[int, ...]
    problem: str
    place: int


def read_script(script: str, dialect: str) -> ScriptText:
    """Return where the statements of a script end, by the lexer that reads each of them."""
    found = find(script, LEXERS[dialect][0])
    problem, place = (_OPENED, found.opened) if found.opened is not None else ("", len(script))
    for start, end in found.comments:
        # Some servers end a comment there, and what follows it would be no part of a statement.
        if _LONE_RETURN.search(script[start:end].removesuffix("\r")):  # that of a line break
            problem, place = _RETURN, start
            break
    doubtful = [at for at in map(script.find, "\\[" if dialect == "ansi" else "\\") if at >= 0]
    if doubtful:
        try:
            # What one reading takes for text may be a statement in another, beyond this one's end.
            _refuse_other_readings(script[:place], dialect, found)
        except Refusal as refusal:
            problem, place = str(refusal), min(doubtful)
    # What a server may run in a comment belongs to the statement that it stands in.
    certain = (span for span in found.comments if span[0] < place)
    idle = tuple(span for span in certain if _is_idle(script[slice(*span)], dialect))
    _, code = _blanked(script, found.quoted, found.comments)
    ends = (match.start() for match in re.finditer(";", code[:place]))
    return ScriptText(_blanked(script, (), idle)[0], tuple(ends), problem, place)


def _is_idle(comment: str, dialect: str) -> bool:
    try:
        _check_comment(comment, dialect)
    except Refusal:
        return False
    return True


def _blanked(
    statement: str, quoted: tuple[QuotedPart, ...], comments: tuple[tuple[int, int], ...]
) -> tuple[str, str]:
    sql = statement
    if comments:
        parts, position = [], 0
        for start, end in comments:
            parts += [statement[position:start], " " * (end - start)]
            position = end
        sql = "".join([*parts, statement[position:]])
    if not quoted:
        return sql, sql
    parts, position = [], 0
    for part in quoted:
        parts += [sql[position : part.start + 1], " " * (part.end - part.start - 1)]
        position = part.end
    return sql, "".join([*parts, sql[position:]])


def _refuse_other_readings(statement: str, dialect: str, found: Found) -> None:
    _, code = _blanked(statement, found.quoted, found.comments)
    known = {(start, code[start:end]) for start, end in _parts(code, found.opened)}
    for lexer in LEXERS[dialect][1:]:
        other = find(statement, lexer)
        _, code = _blanked(statement, other.quoted, other.comments)
        quoted = tuple(part for part in other.quoted if statement[part.start] != "[")
        _, same = _blanked(statement, quoted, other.comments)
        for start, end in _parts(code, other.opened):
            # With a backslash in its code, the server could not read it this way either.
            if "\\" not in code[start:end] and (start, same[start:end]) not in known:
                raise Refusal(
                    "a backslash or bracket stands before a quote, which servers read in two ways; "
                    "write a quote inside text twice ('it''s')"
                )


def _parts(code: str, opened: int | None) -> Iterator[tuple[int, int]]:
    """Yield where there are statements: a server may run those before a quote that is left open."""
    start = 0
    for match in re.finditer(";" if opened is not None else r";|\Z", code[:opened]):
        if code[start : match.start()].strip():
            yield start, match.start()
        start = match.end()


def _check_comment(comment: str, dialect: str) -> None:
    if not comment.startswith("/*"):
        return
    if dialect in {"mysql", "mariadb", "ansi"} and re.match(r"/\*M?!", comment):
        raise Refusal("it has a comment that the server would run (/*! ... */); leave it out")
    if dialect == "ansi" and "/*" in comment[2:]:
        raise Refusal("a comment stands inside a comment; leave it out")
    if not comment.startswith("/*+"):
        return
    known = lists(dialect).hints
    for hint in _HINT.findall(comment):
        name = hint.lower()
        if name not in known and (dialect in {"mysql", "mariadb"} or name in {"set", "set_var"}):
            raise Refusal(f"the hint {hint} is not known to only choose a plan; leave it out")


def _check_code(code: str, dialect: str) -> None:
    odd = _ODD.search(code)
    if odd is not None:
        raise Refusal(
            f"outside of quotes it has the character U+{ord(odd.group()):04X}, which databases "
            "read in different ways; write plain spaces and signs"
        )
    for character in _NOT_CODE.get(dialect, ""):
        if character in code:
            raise Refusal(f"outside of quotes {dialect} does not know {character}")
    if _TEMPLATE.search(code):
        raise Refusal("it holds a template's comment ({# or {%); write plain SQL")
    if dialect == "ansi" and _OTHER_QUOTES.search(code):
        raise Refusal("it has a comment or a quote that only some databases know; write plain ones")
    if _HIDDEN_NAME.search(code):
        raise Refusal('a name is spelled with escapes (U&"..."); write it plainly')
    if "--" in code and dialect not in _SPACED:
        raise Refusal("-- without a space behind it can be read in two ways; write - -, or -- text")
