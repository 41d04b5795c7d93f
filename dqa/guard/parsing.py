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

from dqa.guard.check import SEVERAL, Refusal
from dqa.guard.hints import instead_of
from dqa.guard.lists import AllowLists, lists
from dqa.guard.policy import fold
from dqa.guard.text import StatementText, dialect_of, read_text

MARK = "\u0192"
"""Stands before the name of an allowed function in the tree, and nowhere else."""
_MOST_TOKENS = 4_000
_DEEPEST = 50
"""Brackets and CASEs within each other."""
_LONGEST_RUN = 30
"""Operators and brackets in a row without a value between them."""
_LONGEST_CHAIN = 24
"""Calls after calls and subscripts after subscripts: sqlglot copies the chain at each."""
_MOST_OF = {
    TokenType.JOIN: 80,
    TokenType.UNION: 200,
    TokenType.EXCEPT: 200,
    TokenType.INTERSECT: 200,
    TokenType.SELECT: 400,
}
_SPARE_NODES, _NODES = 500, 2
"""How many nodes sqlglot may make for a statement, and for each of its tokens."""
_OPENING = frozenset({TokenType.L_PAREN, TokenType.L_BRACKET, TokenType.L_BRACE, TokenType.CASE})
_CLOSING = frozenset({TokenType.R_PAREN, TokenType.R_BRACKET, TokenType.R_BRACE, TokenType.END})
_NAMES = frozenset({TokenType.VAR, TokenType.IDENTIFIER})
_CHAINING = _CLOSING | _NAMES | {TokenType.DOT}
"""What stands before a bracket that continues a chain."""
_VALUES = frozenset(
    {*_NAMES, TokenType.NUMBER, TokenType.STRING, TokenType.R_PAREN, TokenType.R_BRACKET}
)
"""What ends a value: a name with a bracket after it is not a call there, but an alias."""
_COMPARISONS = frozenset({TokenType.GT, TokenType.LT, TokenType.GTE, TokenType.LTE})
_ENDS_CLAUSE = frozenset(
    {TokenType.HAVING, TokenType.ORDER_BY, TokenType.OFFSET, TokenType.R_PAREN, TokenType.UNION}
)
_OPERATORS = frozenset(
    {
        *(TokenType.DPIPE, TokenType.PLUS, TokenType.DASH, TokenType.STAR, TokenType.SLASH),
        *(TokenType.EQ, TokenType.NEQ, *_COMPARISONS, TokenType.AMP, TokenType.PIPE),
        *(TokenType.CARET, TokenType.DIV, TokenType.MOD),
    }
)
_BRACES = (TokenType.L_BRACE, TokenType.R_BRACE)
_DATE = [TokenType.L_BRACE, TokenType.STRING, TokenType.R_BRACE]
"""The parts of ``{d '2024-01-01'}`` besides the word."""
_TEXTS = (
    *(exp.Anonymous, exp.BitString, exp.ByteString, exp.HexString, exp.Identifier, exp.Literal),
    *(exp.National, exp.RawString, exp.UnicodeString, exp.JSONPathPart, exp.Placeholder),
)
_CLASS = re.compile(r"<class '[\w.]*\.(\w+)'>")


@dataclass(frozen=True)
class Parsed:
    """A statement as it runs, its tree, and the names of joins: ``USING (x) AS name``."""

    text: str
    dialect: str
    tree: exp.Expr
    nodes: Sequence[exp.Expr]
    joins: frozenset[str]

    @cached_property
    def tables(self) -> tuple[exp.Table, ...]:
        """The tables that it names, without names of its own WITH parts."""
        return tuple(node for node in self.nodes if is_table(node) and not self.is_part(node))

    def is_part(self, table: exp.Table) -> bool:
        """Whether a table is a WITH part of the statement that is visible where it stands.

        What could be another name to the database is taken for a table.
        """
        node: exp.Expr | None = table.parent
        below: exp.Expr = table
        while node is not None and not table.db:
            parts: list[exp.Expr] = []
            if isinstance(node, exp.With):
                own = next(n for n, part in enumerate(node.expressions) if part is below)
                # In its own part a name may mean the table: always without RECURSIVE, and in DuckDB
                # but for the second half of a UNION. So may, in MariaDB, the name of a later part.
                union, is_own = below.this, bool(node.args.get("recursive"))
                if self.dialect not in {"sqlite", "mysql", "mariadb"}:
                    is_own = is_own and isinstance(union, exp.Union)
                    is_own = is_own and any(found is table for found in union.expression.walk())
                if any(self._names(part, table) for part in node.expressions[own:]):
                    return is_own and self._names(below, table)
                parts = node.expressions[:own]
            elif (found := node.args.get("with_")) is not None and found is not below:
                parts = found.expressions
            if any(self._names(part, table) for part in parts):
                return True
            below, node = node, node.parent
        return False

    def _names(self, part: exp.Expr, table: exp.Table) -> bool:
        return self._spelled(part.args["alias"].this) == self._spelled(table.this)

    def _spelled(self, name: exp.Expr) -> str:
        is_exact = bool(name.args.get("quoted")) or self.dialect in {"mysql", "mariadb"}
        return name.name if is_exact else fold(name.name)


def is_table(node: exp.Expr) -> TypeGuard[exp.Table]:
    """Whether a node names a table; functions in FROM are nodes of the same class."""
    return isinstance(node, exp.Table) and isinstance(node.this, exp.Identifier)


def parse(statement: str, dialect: str, functions: frozenset[str] = frozenset()) -> Parsed:
    """Return the tree of one statement; see `parse_text`."""
    return parse_text(read_text(statement, dialect), dialect, functions)


def parse_text(read: StatementText, dialect: str, functions: frozenset[str]) -> Parsed:
    """Return the tree of a statement, whose `functions` the policy allows besides those listed.

    Raises
    ------
    Refusal
        It cannot be read, is more than one statement, or is too large.
    """
    text, tokens = read
    if any(MARK in token.text for token in tokens if token.token_type in _NAMES):
        raise Refusal(f"a name has the letter {MARK}, which is not supported")
    known = lists(dialect)
    _refuse_too_large(tokens)
    allowed = known["functions"] | {name.rpartition(".")[2] for name in functions}
    joins: set[str] = set()
    adapted = [*_adapted([*_marked(tokens, allowed, known)], dialect, known, joins)]
    # MySQL has VALUES ROW(...); MariaDB has plain ones.
    reader = (
        "ansi" if dialect == "mariadb" and adapted[0].token_type is TokenType.VALUES else dialect
    )
    parser = dialect_of(reader).parser(max_nodes=_SPARE_NODES + _NODES * len(adapted))
    try:
        trees = parser.parse(adapted, text)
    except ParseError as error:
        raise Refusal(f"it cannot be read as {dialect}: {_problem(error)}") from error
    tree = trees[0] if len(trees) == 1 else None
    if tree is None:
        raise Refusal(SEVERAL)
    parsed = Parsed(text, dialect, tree, tuple(tree.walk()), frozenset(joins))
    left_out = _left_out(parsed, adapted, known)
    if left_out:
        raise Refusal(
            f"'{left_out}' stands where it is not understood; check how many arguments the "
            f"function takes, or leave the option out. {instead_of(left_out, dialect)}".rstrip(". ")
        )
    return parsed


def _marked(tokens: Sequence[Token], allowed: frozenset[str], known: AllowLists) -> Iterator[Token]:
    """Yield the tokens; the name of each call of an allowed function gets its mark."""
    words = known.syntax | known["options"]
    ends_value = [
        token.token_type in _VALUES
        and not (token.token_type is TokenType.VAR and token.text.lower() in words)
        for token in tokens
    ]
    for number, token in enumerate(tokens):
        name = token.text if token.token_type is TokenType.IDENTIFIER else token.text.lower()
        is_call = (
            name in allowed
            and name not in known["special functions"]
            and number + 1 < len(tokens)
            and tokens[number + 1].token_type is TokenType.L_PAREN
        )
        if is_call and number:
            before = tokens[number - 1]
            is_type = before.token_type in {TokenType.ALIAS, TokenType.DCOLON}
            # What follows `SELECT *` is no call, but what follows `2 *` is one.
            is_star = before.token_type is TokenType.STAR
            is_star &= number < 2 or not ends_value[number - 2]
            is_call = not (is_type or is_star or ends_value[number - 1])
        yield _as(token, TokenType.VAR, MARK + name) if is_call else token


def _as(token: Token, kind: TokenType, text: str) -> Token:
    return Token(kind, text, token.line, token.col, token.start, token.end, [])


def _adapted(
    tokens: Sequence[Token], dialect: str, known: AllowLists, joins: set[str]
) -> Iterator[Token]:
    """Yield the tokens without words that sqlglot does not know and that read nothing.

    These are types before a string (``inet '::1'``), hints such as SQL_NO_CACHE, PostgreSQL's
    ``ORDER BY x USING >``, ``BETWEEN SYMMETRIC`` and ``USING (x) AS name``, which is added to
    `joins`, MariaDB's ``AS OF TIMESTAMP``, ``GROUP BY x DESC`` and ``{d '2024-01-01'}``. The
    database receives them as they were written.
    """
    is_mysql = dialect in {"mysql", "mariadb"}
    clause: TokenType | None = None
    brackets: list[TokenType] = []
    closed: TokenType | None = None  # what stood before the bracket that has just been closed
    join_name, braced = -1, _braces_of_dates(tokens) if is_mysql else set()
    for number, token in enumerate(tokens):
        before, after = tokens[max(number - 1, 0)], tokens[min(number + 1, len(tokens) - 1)]
        kind, name = token.token_type, token.text.lower()
        if kind in _ENDS_CLAUSE or kind in {TokenType.GROUP_BY, TokenType.LIMIT}:
            clause = kind
        opened_by, closed = closed, None
        if kind is TokenType.L_PAREN:
            brackets.append(before.token_type)
        elif kind is TokenType.R_PAREN and brackets:
            closed = brackets.pop()
        is_dropped = number == join_name
        if dialect == "postgres":
            is_type = after.token_type is TokenType.STRING and before.token_type not in _NAMES
            is_named = kind is TokenType.ALIAS and opened_by is TokenType.USING
            if is_named and after.token_type in _NAMES:
                join_name, is_dropped = number + 1, True
                joins.add(after.text.casefold())
            is_dropped |= name == "symmetric" or (
                is_type and name in known["types before a string"]
            )
            is_dropped |= kind is TokenType.USING and after.token_type in _COMPARISONS
            is_dropped |= before.token_type is TokenType.USING and kind in _COMPARISONS
            is_dropped |= name == "@" and after.token_type not in _NAMES
        elif is_mysql:
            if kind in _BRACES and number not in braced:
                raise Refusal("braces may only hold a date or a time, as in {d '2024-01-01'}")
            is_dropped |= name in known["words that change nothing"] or number in braced
            is_dropped |= clause is TokenType.GROUP_BY and kind in {TokenType.ASC, TokenType.DESC}
            is_dropped |= before.text.lower() == "of" and name in {"timestamp", "transaction"}
        if opened_by is TokenType.IN and kind in _OPERATORS:
            yield _as(token, TokenType.AND, "AND")  # sqlglot reads no operator after IN (...)
        elif clause is TokenType.LIMIT and kind is TokenType.MOD and after.token_type in _VALUES:
            yield _as(token, TokenType.STAR, "*")  # sqlglot reads LIMIT a % b as a percentage
        elif not is_dropped:
            yield token


def _braces_of_dates(tokens: Sequence[Token]) -> set[int]:
    """Return the positions of what stands around dates and times: ``{d`` and ``}``."""
    kinds = [token.token_type for token in tokens]
    return {
        number + offset
        for number, word in enumerate(tokens[1:])
        if [kinds[number], *kinds[number + 2 : number + 4]] == _DATE
        and word.text.lower() in {"d", "t", "ts"}
        for offset in (0, 1, 3)
    }


def _refuse_too_large(tokens: Sequence[Token]) -> None:
    """Refuse what would nest sqlglot's calls too deeply, or make it try too much."""
    counts = Counter(token.token_type for token in tokens)
    if len(tokens) > _MOST_TOKENS or any(counts[kind] > most for kind, most in _MOST_OF.items()):
        raise Refusal("it is too long, or has too many parts; write a shorter one")
    run, chains = 0, [0]
    before = tokens[0].token_type
    for token in tokens:
        kind = token.token_type
        is_value = kind in _VALUES or kind is TokenType.COMMA
        run = 0 if is_value else run + (kind not in _OPENING)
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
        if len(chains) > _DEEPEST or run > _LONGEST_RUN or chains[-1] > _LONGEST_CHAIN:
            raise Refusal("it is nested too deeply; write it flatter, with WITH")


def _left_out(parsed: Parsed, tokens: Sequence[Token], known: AllowLists) -> str:
    """Return a name, a call or a query of a statement that is not in its tree."""
    starts = {node.meta_get("start") for node in parsed.nodes if isinstance(node, exp.Identifier)}
    found = Counter(
        word
        for node in parsed.nodes
        if not isinstance(node, _TEXTS)
        for value in node.args.values()
        if isinstance(value, str)
        for word in re.findall(r"[\w$]+", value.lower())
    )
    found.update(node.name.lower() for node in parsed.nodes if isinstance(node, exp.Anonymous))
    written: Counter[str] = Counter()
    for token, after in zip(tokens, [*tokens[1:], None], strict=True):
        name = token.text.lower()
        is_call = after is not None and after.token_type is TokenType.L_PAREN
        is_word = token.token_type is TokenType.VAR and name in known.syntax | known["options"]
        is_word |= is_call and name in known["special functions"]
        if token.token_type in _NAMES and token.start not in starts and not is_word:
            written[name] += 1
    found["SELECT"] = sum(isinstance(node, exp.Select) for node in parsed.nodes)
    written["SELECT"] = sum(token.token_type is TokenType.SELECT for token in tokens)
    return next((name.removeprefix(MARK) for name in written if written[name] > found[name]), "")


def _problem(error: ParseError) -> str:
    if str(error).startswith("Maximum number of AST nodes"):
        return "it can be read in too many ways; write it flatter, and name parts in a WITH"
    first = error.errors[0] if error.errors else {}
    near = f" (line {first.get('line')}, near '{first.get('highlight') or ''}')" if first else ""
    problem = str(first.get("description") or str(error).splitlines()[0])
    return _CLASS.sub(lambda match: match[1].upper(), problem).rstrip(".") + near
