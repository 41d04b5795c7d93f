"""Parse a statement with sqlglot so that its tree has everything that was written.

sqlglot knows a class for most functions. It keeps the arguments that it expects and drops others,
and it renames functions. The guard therefore marks the name of each allowed function, so that
sqlglot takes it for an unknown one and keeps its name and all arguments.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeGuard

from sqlglot import Token, TokenType, exp
from sqlglot.errors import ParseError

from dqa.guard.dialects import dialect_of
from dqa.guard.lists import AllowLists, lists
from dqa.guard.text import read_text
from dqa.guard.verdict import SEVERAL, Refusal

MARK = "\u0192"
"""Stands before the name of an allowed function in the tree, and nowhere else."""
_MOST_TOKENS = 4_000
_DEEPEST = 50
"""Brackets and CASEs within each other."""
_LONGEST_RUN = 30
"""Operators and brackets in a row without a value between them."""
_LONGEST_CHAIN = 24
"""Calls behind calls and subscripts behind subscripts: sqlglot copies the chain at each."""
_COUNTED = {
    TokenType.JOIN: (80, "JOINs"),
    TokenType.UNION: (200, "UNIONs"),
    TokenType.EXCEPT: (200, "EXCEPTs"),
    TokenType.INTERSECT: (200, "INTERSECTs"),
    TokenType.SELECT: (400, "SELECTs"),
}
_SPARE_NODES, _NODES = 500, 2
"""How many nodes sqlglot may make for a statement, and for each of its tokens."""
_OPENING = frozenset({TokenType.L_PAREN, TokenType.L_BRACKET, TokenType.L_BRACE, TokenType.CASE})
_CLOSING = frozenset({TokenType.R_PAREN, TokenType.R_BRACKET, TokenType.R_BRACE, TokenType.END})
_CHAINING = _CLOSING | {TokenType.DOT, TokenType.VAR, TokenType.IDENTIFIER}
"""What stands before a bracket that continues a chain."""
_NAMES = frozenset({TokenType.VAR, TokenType.IDENTIFIER})
_VALUES = frozenset(
    {*_NAMES, TokenType.NUMBER, TokenType.STRING, TokenType.R_PAREN, TokenType.R_BRACKET}
)
"""What ends a value: a name with a bracket behind it is not a call there, but an alias."""
_TYPE_FOLLOWS = frozenset({TokenType.ALIAS, TokenType.DCOLON})
_BRACES = frozenset({TokenType.L_BRACE, TokenType.R_BRACE})
_COMPARISONS = frozenset({TokenType.GT, TokenType.LT, TokenType.GTE, TokenType.LTE})
_DIRECTIONS = frozenset({TokenType.ASC, TokenType.DESC})
_ENDS_CLAUSE = frozenset(
    {TokenType.HAVING, TokenType.ORDER_BY, TokenType.OFFSET, TokenType.R_PAREN, TokenType.UNION}
)
_OPERATORS = frozenset(
    {
        *(TokenType.DPIPE, TokenType.PLUS, TokenType.DASH, TokenType.STAR, TokenType.SLASH),
        *(TokenType.EQ, TokenType.NEQ, *_COMPARISONS),
    }
)
_AS_OF = frozenset({"timestamp", "transaction"})
_KEPT_AS_TEXT = (
    *(exp.Anonymous, exp.BitString, exp.ByteString, exp.HexString, exp.Identifier, exp.Literal),
    *(exp.National, exp.RawString, exp.UnicodeString, exp.JSONPathPart, exp.Placeholder),
)
_CLASS = re.compile(r"<class '[\w.]*\.(\w+)'>")


@dataclass(frozen=True)
class Parsed:
    """A statement as it runs, and its tree."""

    text: str
    dialect: str
    tree: exp.Expr
    nodes: Sequence[exp.Expr]

    @cached_property
    def tables(self) -> tuple[exp.Table, ...]:
        """The tables that it names, without names of its own WITH parts."""
        return tuple(
            node
            for node in self.nodes
            if is_table(node) and node.name.casefold() not in parts_before(node)
        )


def is_table(node: exp.Expr) -> TypeGuard[exp.Table]:
    """Whether a node names a table; functions in FROM are nodes of the same class."""
    return isinstance(node, exp.Table) and isinstance(node.this, exp.Identifier)


def parts_before(table: exp.Expr) -> frozenset[str]:
    """Return the WITH parts, in lower case, that a table without a schema may be."""
    if table.args.get("db") is not None:
        return frozenset()
    found: set[str] = set()
    node: exp.Expr | None = table
    while node is not None:
        part, node = node, node.parent
        if isinstance(node, exp.With):
            names = [one.alias.casefold() for one in node.expressions]
            own = next(n for n, one in enumerate(node.expressions) if one is part)
            found.update(names[: own + 1] if node.args.get("recursive") else names[:own])
        elif (
            node is not None and (with_ := node.args.get("with_")) is not None and with_ is not part
        ):
            found.update(one.alias.casefold() for one in with_.expressions)
    return frozenset(found)


def parse(statement: str, dialect: str, functions: frozenset[str] = frozenset()) -> Parsed:
    """Return the tree of one statement.

    Parameters
    ----------
    statement, dialect
        What was written.
    functions
        Functions that a policy allows, in lower case, perhaps with their schema.

    Raises
    ------
    Refusal
        It cannot be read, is more than one statement, or is too large.
    """
    text, tokens = read_text(statement, dialect)
    if any(MARK in token.text for token in tokens if token.token_type in _NAMES):
        raise Refusal(f"a name has the letter {MARK}, which is not supported")
    known = lists(dialect)
    _refuse_too_large(tokens)
    allowed = known.functions | {name.rpartition(".")[2] for name in functions}
    read = list(_for_parser(_marked(tokens, allowed, known), dialect, known))
    # MySQL has VALUES ROW(...); MariaDB has plain ones.
    reader = "ansi" if dialect == "mariadb" and read[0].token_type is TokenType.VALUES else dialect
    parser = dialect_of(reader).parser(max_nodes=_SPARE_NODES + _NODES * len(read))
    try:
        trees = parser.parse(read, text)
    except ParseError as error:
        raise Refusal(f"it cannot be read as {dialect}: {_problem(error)}") from error
    tree = trees[0] if len(trees) == 1 else None
    if tree is None:
        raise Refusal(SEVERAL)
    parsed = Parsed(text, dialect, tree, tuple(tree.walk()))
    _refuse_left_out(parsed, read, known)
    return parsed


def _marked(tokens: Sequence[Token], allowed: frozenset[str], known: AllowLists) -> Iterator[Token]:
    """Yield the tokens; the name of each call of an allowed function gets its mark."""
    words = known.syntax | known.options
    for number, token in enumerate(tokens):
        before = tokens[number - 1] if number else None
        behind = tokens[number + 1] if number + 1 < len(tokens) else None
        name = token.text if token.token_type is TokenType.IDENTIFIER else token.text.lower()
        is_call = (
            behind is not None
            and behind.token_type is TokenType.L_PAREN
            and name in allowed
            and name not in known.special_functions
            and (before is None or before.token_type not in _TYPE_FOLLOWS)
            and not (before is not None and _is_value(before, words))
            and not _is_star(tokens[:number][-2:], words)
        )
        yield _as(token, TokenType.VAR, MARK + name) if is_call else token


def _is_value(token: Token, words: frozenset[str]) -> bool:
    is_word = token.token_type is TokenType.VAR and token.text.lower() in words
    return token.token_type in _VALUES and not is_word


def _is_star(before: Sequence[Token], words: frozenset[str]) -> bool:
    """Whether a star stands there for all columns: what follows it is no call."""
    if not before or before[-1].token_type is not TokenType.STAR:
        return False
    return len(before) < 2 or not _is_value(before[0], words)


def _as(token: Token, kind: TokenType, text: str) -> Token:
    return Token(kind, text, token.line, token.col, token.start, token.end, [])


def _for_parser(tokens: Iterator[Token], dialect: str, known: AllowLists) -> Iterator[Token]:
    """Yield the tokens without words that sqlglot does not know and that read nothing.

    These are types before a string (``inet '::1'``), hints such as SQL_NO_CACHE, PostgreSQL's
    ``ORDER BY x USING >`` and ``BETWEEN SYMMETRIC``, MariaDB's ``AS OF TIMESTAMP``, ``GROUP BY x
    DESC`` and ``{d '2024-01-01'}``. The database receives them as they were written.
    """
    read = list(tokens)
    is_mysql = dialect in {"mysql", "mariadb"}
    in_group = in_limit = False
    brackets: list[TokenType] = []
    closed: TokenType | None = None
    for number, token in enumerate(read):
        before = read[number - 1] if number else token
        behind = read[number + 1] if number + 1 < len(read) else token
        kind, name = token.token_type, token.text.lower()
        in_group = kind is TokenType.GROUP_BY or (in_group and kind not in _ENDS_CLAUSE)
        in_limit = kind is TokenType.LIMIT or (in_limit and kind not in _ENDS_CLAUSE)
        is_type = behind.token_type is TokenType.STRING and before.token_type not in _NAMES
        is_date = is_mysql and (kind in _BRACES or (before.token_type in _BRACES and is_type))
        opened_by, closed = closed, None
        if kind is TokenType.L_PAREN:
            brackets.append(before.token_type)
        elif kind is TokenType.R_PAREN and brackets:
            closed = brackets.pop()
        if opened_by is TokenType.IN and kind in _OPERATORS:
            yield _as(token, TokenType.AND, "AND")  # sqlglot reads no operator behind IN (...)
            continue
        if in_limit and kind is TokenType.MOD and behind.token_type in _VALUES:
            yield _as(token, TokenType.STAR, "*")  # sqlglot reads LIMIT a % b as a percentage
            continue
        if (
            (dialect == "postgres" and is_type and name in known.string_types)
            or (dialect == "postgres" and name == "symmetric")
            or (dialect == "postgres" and (_is_order(token, behind) or _is_order(before, token)))
            or (dialect == "postgres" and name == "@" and behind.token_type not in _NAMES)
            or (dialect == "mariadb" and before.text.lower() == "of" and name in _AS_OF)
            or (is_mysql and (name in known.silent_words or is_date))
            or (is_mysql and in_group and kind in _DIRECTIONS)
        ):
            continue
        yield token


def _is_order(first: Token, second: Token) -> bool:
    """Whether two tokens name the operator of an order, as in ``ORDER BY x USING >``."""
    return first.token_type is TokenType.USING and second.token_type in _COMPARISONS


def _refuse_too_large(tokens: Sequence[Token]) -> None:
    """Refuse what would nest sqlglot's calls too deeply, or make it try too much."""
    if len(tokens) > _MOST_TOKENS:
        raise Refusal(f"it has more than {_MOST_TOKENS} words and signs; write a shorter one")
    counts = Counter(token.token_type for token in tokens)
    for kind, (most, what) in _COUNTED.items():
        if counts[kind] > most:
            raise Refusal(f"it has more than {most} {what}; write it in parts")
    run = 0
    for token in tokens:
        is_value = token.token_type in _VALUES or token.token_type is TokenType.COMMA
        run = 0 if is_value else run + (token.token_type not in _OPENING)
        if run > _LONGEST_RUN:
            raise Refusal(f"it has {_LONGEST_RUN} operators in a row; write it flatter")
    _refuse_nested(tokens)


def _refuse_nested(tokens: Sequence[Token]) -> None:
    """Refuse brackets that nest too deeply, and chains of calls or subscripts that are too long."""
    chains = [0]
    before = tokens[0].token_type
    for token in tokens:
        kind = token.token_type
        if kind in _OPENING:
            if before not in _CHAINING:
                chains[-1] = 0
            chains.append(0)
        elif kind in _CLOSING and len(chains) > 1:
            chains.pop()
            chains[-1] += 1
        elif kind is TokenType.COMMA:
            chains[-1] = 0
        before = kind
        if len(chains) > _DEEPEST:
            raise Refusal(f"it is nested more than {_DEEPEST} deep; write it flatter with WITH")
        if chains[-1] > _LONGEST_CHAIN:
            raise Refusal("it has too many calls or subscripts in one chain; write it in parts")


def _refuse_left_out(parsed: Parsed, tokens: Sequence[Token], known: AllowLists) -> None:
    """Refuse a statement with a name, a call or a query that is not in its tree."""
    places = {node.meta_get("start") for node in parsed.nodes if isinstance(node, exp.Identifier)}
    kept = Counter(
        word
        for node in parsed.nodes
        if not isinstance(node, _KEPT_AS_TEXT)
        for value in node.args.values()
        if isinstance(value, str)
        for word in re.findall(r"[\w$]+", value.lower())
    )
    kept.update(node.name for node in parsed.nodes if isinstance(node, exp.Anonymous))
    written: Counter[str] = Counter()
    for token, behind in zip(tokens, [*tokens[1:], None], strict=True):
        name = token.text.lower()
        is_call = behind is not None and behind.token_type is TokenType.L_PAREN
        is_word = token.token_type is TokenType.VAR and name in known.syntax | known.options
        is_word |= is_call and name in known.special_functions
        if token.token_type in _NAMES and token.start not in places and not is_word:
            written[name] += 1
    for name in written:
        if written[name] > kept[name]:
            raise LeftOutError(name.removeprefix(MARK))
    queries = sum(isinstance(node, exp.Select) for node in parsed.nodes)
    if sum(token.token_type is TokenType.SELECT for token in tokens) > queries:
        raise LeftOutError("SELECT")


class LeftOutError(Refusal):
    """A word is not in the tree that the parser made of a statement."""

    def __init__(self, word: str) -> None:
        super().__init__(
            f"'{word}' stands where it is not understood; check how many arguments the function "
            "takes, or leave the option out"
        )
        self.word = word


def _problem(error: ParseError) -> str:
    if str(error).startswith("Maximum number of AST nodes"):
        return "it can be read in too many ways; write it flatter, and name parts in a WITH"
    first = error.errors[0] if error.errors else {}
    near = f" (line {first.get('line')}, near '{first.get('highlight') or ''}')" if first else ""
    problem = str(first.get("description") or str(error).splitlines()[0])
    return _CLASS.sub(lambda match: match[1].upper(), problem).rstrip(".") + near
