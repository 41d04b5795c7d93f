"""Whether a syntax tree holds everything that was written.

sqlglot makes a function's node of the arguments that it knows, and drops what else stands in its
brackets; options it reads past. A server may run what was dropped. So each name that was written
has to be in the tree, or to be a word that is known to be syntax: a query in a dropped place has
the name of a table.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from sqlglot import Token, TokenType, exp

from dqa.guard.sql.lists import AllowLists
from dqa.guard.verdict import Refusal

_NAMES = frozenset({TokenType.VAR, TokenType.IDENTIFIER})
_VARIABLES = frozenset({TokenType.PARAMETER, TokenType.SESSION_PARAMETER})


def refuse_left_out(tree: exp.Expr, tokens: Sequence[Token], known: AllowLists) -> None:
    """Refuse a statement with a name or a variable that is not in its tree."""
    places: set[int] = set()
    words: Counter[str] = Counter()
    variables = 0
    for node in tree.walk():
        if isinstance(node, exp.Identifier):
            places.add(node.meta.get("start", -1))
        elif isinstance(node, (exp.Parameter, exp.SessionParameter)):
            variables += 1
        if not isinstance(node, (exp.Identifier, exp.Literal)):
            words.update(_words(node))
    for number, token in enumerate(tokens):
        if token.token_type in _NAMES and token.start not in places:
            _check_name(token, tokens[number + 1 : number + 2], words, known)
        variables -= token.token_type in _VARIABLES
    if variables < 0:
        raise Refusal("an @ stands where the parser does not see it; leave it out")


def _words(node: exp.Expr) -> list[str]:
    """Return what a node keeps as mere words: units, options, names of character sets."""
    kept = []
    for value in node.args.values():
        for word in value if isinstance(value, list) else [value]:
            if isinstance(word, str):
                kept += word.lower().split()
    return kept


def _check_name(
    token: Token, following: Sequence[Token], words: Counter[str], known: AllowLists
) -> None:
    name = token.text.lower()
    if following and following[0].token_type is TokenType.L_PAREN:
        return  # a function, which has been looked up by its name
    if token.token_type is TokenType.VAR and (name in known.syntax or name in known.options):
        return
    if words[name] > 0:
        words[name] -= 1
        return
    raise Refusal(
        f"the parser loses '{token.text}' where it stands; check the arguments of the function, or "
        "the option, that it belongs to"
    )
