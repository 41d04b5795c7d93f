"""Comments on a table and its columns in the text of a CREATE TABLE.

SQLite has no statement for comments and stores that text unchanged. So people write them after a
column on its line, and after the opening bracket for the table::

    CREATE TABLE games (  -- one row a game
      seed INTEGER,  -- what chance followed from
      world TEXT
    )
"""

from __future__ import annotations

import re
from collections.abc import Mapping

_TOKENS = re.compile(
    r"""
      --(?P<line>[^\n]*)
    | /\*(?P<block>.*?)(?:\*/|\Z)
    | (?P<quoted>"(?:[^"]|"")*"|`(?:[^`]|``)*`|\[[^\]]*\])
    | '(?:[^']|'')*'
    | (?P<word>[^\W\d][\w$]*)
    | (?P<sign>[(),\n])
    """,
    re.VERBOSE | re.DOTALL,
)


def read_comments(statement: str) -> Mapping[str, str]:
    """Return the comments of columns by their name in lower case, and of the table by ``""``.

    Parameters
    ----------
    statement
        A CREATE TABLE, as ``sqlite_master`` has it.
    """
    if "--" not in statement and "/*" not in statement:
        return {}
    found: dict[str, str] = {}
    depth = 0
    is_new = False  # whether the next name is a column's
    about: str | None = None  # the subject of the line so far
    for token in _TOKENS.finditer(statement):
        said = token["line"] or token["block"]
        if said is not None:
            if about is not None and (text := " ".join(said.split())):
                found[about] = f"{found[about]} {text}" if about in found else text
        elif token["sign"] is None:
            name = token["quoted"] or token["word"]
            if depth == 1 and is_new and name is not None:
                about, is_new = _bare(name), False
        elif token["sign"] == "(":
            depth += 1
            if depth == 1:
                about, is_new = "", True
        elif token["sign"] == ")":
            depth -= 1
        elif token["sign"] == "," and depth == 1:
            is_new = True
        elif token["sign"] == "\n":
            about = None
    return found


def _bare(name: str) -> str:
    if name[0] in '"`[':
        name = name[1:-1].replace(name[0] * 2, name[0])
    return name.casefold()
