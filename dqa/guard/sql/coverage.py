"""Whether a syntax tree holds everything that was written.

sqlglot makes a function's node of the arguments that it knows and drops what else stands in its
brackets; options it reads past. A server may run what was dropped. So each name that was written
has to be in the tree or be a word that is known to be syntax, and each FROM has to be that of a
query in the tree: a query in a dropped place has one, or the name of a table.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from sqlglot import Token, TokenType, exp

from dqa.guard.policy import Policy
from dqa.guard.sql.lists import AllowLists, lists
from dqa.guard.sql.parsing import ParsedStatement
from dqa.guard.sql.text import StatementText
from dqa.guard.verdict import Refusal

_NAMES = frozenset({TokenType.VAR, TokenType.IDENTIFIER})
_VARIABLES = frozenset({TokenType.PARAMETER, TokenType.SESSION_PARAMETER})
_AT_IS_OPERATOR = frozenset({"duckdb", "postgres"})
_SOURCE = re.compile(r"\b(?:from|table)\b", re.IGNORECASE)
_WORD = re.compile(r"\w+")
_WITH_FROM = frozenset({"extract", "mid", "overlay", "position", "substr", "substring", "trim"})
"""Functions with a FROM between their arguments."""
_COMPARISONS = (["is", "distinct"], ["not", "distinct"])
"""What stands before the FROM of a comparison."""
_BEFORE_TABLE = frozenset({"from", "join", ",", "summarize", "describe"})
"""What stands before a TABLE that is no query."""
_VALUES = (
    *(exp.Anonymous, exp.BitString, exp.ByteString, exp.Heredoc, exp.HexString, exp.Identifier),
    *(exp.JSONPathPart, exp.Literal, exp.National, exp.Placeholder, exp.RawString),
    exp.UnicodeString,
)
"""Parts of a tree with a text that an author is free to choose. Others keep words of syntax, units
and names of types and character sets as mere text."""


def refuse_left_out(
    parsed: ParsedStatement, text: StatementText, dialect: str, policy: Policy
) -> None:
    """Refuse a statement with a name, a variable or a query that is not in its tree.

    Where a policy limits the columns that are read, a word in the place of a unit of time has to
    be one: in a function, some servers would take any other for a column.
    """
    nodes, tokens = parsed.nodes, parsed.tokens
    places = {node.meta_get("start") for node in nodes if isinstance(node, exp.Identifier)}
    left_out = [
        number
        for number, token in enumerate(tokens)
        if token.token_type in _NAMES and token.start not in places
    ]
    if left_out:
        names = _names(left_out, tokens, lists(dialect))
        _refuse_unless_kept(names, nodes, no_units=policy.limits_columns)
    queries = sum(isinstance(node, exp.From) for node in nodes)
    if len(_SOURCE.findall(text.code)) > queries and _count_queries(tokens, places) > queries:
        raise _refusal("FROM")
    if "@" in text.code and dialect not in _AT_IS_OPERATOR:
        seen = sum(isinstance(node, (exp.Parameter, exp.SessionParameter)) for node in nodes)
        if sum(token.token_type in _VARIABLES for token in tokens) > seen:
            raise _refusal("@")


def _refusal(word: str) -> Refusal:
    return Refusal(
        f"'{word}' stands where it is not understood; check how many arguments the function takes, "
        "or leave the option out"
    )


def _names(left_out: Sequence[int], tokens: Sequence[Token], known: AllowLists) -> Counter[str]:
    """Return names that are no functions, which are looked up as written, and no syntax."""
    names: Counter[str] = Counter()
    for number in left_out:
        name = tokens[number].text.lower()
        is_word = tokens[number].token_type is TokenType.VAR
        if is_word and (name in known.syntax or name in known.options):
            continue
        following = tokens[number + 1].token_type if number + 1 < len(tokens) else None
        names[name] += following is not TokenType.L_PAREN
    return names


def _refuse_unless_kept(names: Counter[str], nodes: Sequence[exp.Expr], *, no_units: bool) -> None:
    """Refuse a name that is left out more often than parts of the tree keep it as a word."""
    if not names.total():
        return
    kept = "\n".join(
        word for node in nodes if not (no_units and _is_unit(node)) for word in _words(node)
    )
    words = Counter(_WORD.findall(kept))
    for name, count in names.items():
        if (words[name] if _WORD.fullmatch(name) else kept.count(name)) < count:
            raise _refusal(name)


def _is_unit(node: exp.Expr) -> bool:
    """Whether a word is taken for a unit of time; some servers take it for a column."""
    return isinstance(node, exp.Var) and (
        node.arg_key == "unit" or isinstance(node.parent, exp.Extract)
    )


def _words(node: exp.Expr) -> list[str]:
    """Return what a node keeps of a statement as text."""
    if isinstance(node, _VALUES):
        return []
    return [value.lower() for value in node.args.values() if isinstance(value, str)]


def _count_queries(tokens: Sequence[Token], places: set[object]) -> int:
    """Return how many FROMs and TABLEs are those of a query: no function's, no comparison's."""
    count = 0
    in_function = [False]
    for number, token in enumerate(tokens):
        kind = token.token_type
        before = [previous.text.lower() for previous in tokens[max(0, number - 2) : number]]
        if kind is TokenType.L_PAREN:
            in_function.append(before[-1:] != [] and before[-1] in _WITH_FROM)
        elif kind is TokenType.R_PAREN and len(in_function) > 1:
            in_function.pop()
        elif kind is TokenType.SELECT:
            in_function[-1] = False
        elif token.start in places:
            continue
        elif kind is TokenType.FROM and before[-1:] != ["rows"] and before not in _COMPARISONS:
            count += not in_function[-1]
            in_function[-1] = False  # which has one
        elif kind is TokenType.TABLE:
            count += before[-1:] == [] or before[-1] not in _BEFORE_TABLE
    return count
